// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package rpc

import (
	"crypto/ed25519"
	"crypto/tls"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"connectrpc.com/connect"

	"github.com/undersign/undersign/internal/party"
)

// A Peer is the way to another party. Its connections are made when they are needed, and
// shared by calls.
type Peer struct {
	fingerprint string
	address     string
	http        *http.Client
	key         atomic.Pointer[ed25519.PublicKey]
}

// NewPeer returns the way to the party with a fingerprint, at host:port, for the party id.
func NewPeer(id *party.Identity, fingerprint, address string) *Peer {
	p := &Peer{fingerprint: fingerprint, address: address}
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	config := id.ClientTLS(fingerprint)
	verify := config.VerifyConnection
	config.VerifyConnection = func(s tls.ConnectionState) error {
		if err := verify(s); err != nil {
			return err
		}
		if key, ok := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey); ok {
			p.key.Store(&key)
		}
		return nil
	}
	p.http = &http.Client{
		Transport: &http.Transport{
			Protocols:              protocols,
			TLSClientConfig:        config,
			DialContext:            (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
			TLSHandshakeTimeout:    5 * time.Second,
			IdleConnTimeout:        90 * time.Second,
			MaxResponseHeaderBytes: 64 << 10,
			// A peer that is gone without a word is noticed.
			HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 10 * time.Second, WriteByteTimeout: 15 * time.Second},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return p
}

// PublicKey returns the party's key, or nil before the first connection.
func (p *Peer) PublicKey() ed25519.PublicKey {
	if key := p.key.Load(); key != nil {
		return *key
	}
	return nil
}

// Fingerprint returns the party's name.
func (p *Peer) Fingerprint() string { return p.fingerprint }

// Address returns where the party is.
func (p *Peer) Address() string { return p.address }

// HTTP returns the client for connect's constructors.
func (p *Peer) HTTP() connect.HTTPClient { return p.http }

// URL returns the base for connect's constructors.
func (p *Peer) URL() string { return "https://" + p.address }

// Options returns the options for connect's constructors. What the other sends is
// bounded; 0 means 4 MiB.
func (p *Peer) Options(maxMessage int) []connect.ClientOption {
	if maxMessage <= 0 {
		maxMessage = 4 << 20
	}
	return []connect.ClientOption{
		connect.WithReadMaxBytes(maxMessage),
		connect.WithAcceptCompression("gzip", nil, nil),
	}
}

// Close ends idle connections. Those in use end with their calls.
func (p *Peer) Close() { p.http.CloseIdleConnections() }

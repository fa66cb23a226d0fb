// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package party is who is who on the network. A party is an Ed25519 key, known by its
// fingerprint. Parties speak TLS 1.3 to each other, and to nobody else: each shows a
// certificate that it signed itself, of which nothing counts but the key, and each
// compares the other's fingerprint with those that it knows. No certificate authority,
// name or clock is trusted.
//
// How parties come to know each other is an [Invitation].
package party

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/undersign/undersign/keyfile"
)

// ErrUnknown is in the error of a connection whose other end isn't the party that is
// wanted, or none that is known.
var ErrUnknown = errors.New("party: not a party that is known")

// An Identity is a party's own key, ready for connections.
type Identity struct {
	key         ed25519.PrivateKey
	certificate tls.Certificate
	fingerprint string
}

// NewIdentity returns the identity of a key.
func NewIdentity(k *keyfile.PartyKey) (*Identity, error) {
	fingerprint := keyfile.Fingerprint(k.Party())
	if fingerprint == "" {
		return nil, errors.New("party: no key")
	}
	// The certificate is what the protocol wants around a key, and says nothing.
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:     time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, k.Key.Public(), k.Key)
	if err != nil {
		return nil, fmt.Errorf("party: %w", err)
	}
	return &Identity{k.Key, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: k.Key}, fingerprint}, nil
}

// GenerateKey returns a new party's key.
func GenerateKey() (*keyfile.PartyKey, error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, fmt.Errorf("party: %w", err)
	}
	return &keyfile.PartyKey{Key: key}, nil
}

// Fingerprint returns the party's name.
func (id *Identity) Fingerprint() string { return id.fingerprint }

// PublicKey returns the party's public key.
func (id *Identity) PublicKey() ed25519.PublicKey { return id.key.Public().(ed25519.PublicKey) }

// SigningKey returns the party's key, for what isn't a connection, such as the
// checkpoints of its audit log.
func (id *Identity) SigningKey() ed25519.PrivateKey { return id.key }

// String returns the fingerprint.
func (id Identity) String() string { return id.fingerprint }

// GoString returns the fingerprint.
func (id Identity) GoString() string { return id.fingerprint }

// ServerTLS returns the configuration for those who connect to id. admit decides about
// the fingerprint of each: its error ends the handshake. It is asked again for each
// connection, so that a party that was removed can't come back.
func (id *Identity) ServerTLS(admit func(fingerprint string) error) *tls.Config {
	c := id.config(admit)
	c.ClientAuth = tls.RequireAnyClientCert
	return c
}

// ClientTLS returns the configuration for connecting to the party with the given
// fingerprint.
func (id *Identity) ClientTLS(fingerprint string) *tls.Config {
	c := id.config(func(got string) error {
		if got != fingerprint {
			return fmt.Errorf("%w: the other end is %s, and not %s", ErrUnknown, got, fingerprint)
		}
		return nil
	})
	// The standard verification wants an authority and a name; VerifyConnection, which
	// is always called, wants the key.
	c.InsecureSkipVerify = true
	return c
}

func (id *Identity) config(admit func(string) error) *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{id.certificate},
		NextProtos:             []string{"h2"},
		SessionTicketsDisabled: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			fingerprint, err := Peer(&s)
			if err != nil {
				return err
			}
			return admit(fingerprint)
		},
	}
}

// Peer returns the fingerprint of the party at the other end of a connection. The
// handshake has shown that it has the key.
func Peer(s *tls.ConnectionState) (string, error) {
	if s == nil || s.Version < tls.VersionTLS13 {
		return "", errors.New("party: not a connection by TLS 1.3")
	}
	if len(s.PeerCertificates) != 1 {
		return "", fmt.Errorf("party: %d certificates at the other end, and not one", len(s.PeerCertificates))
	}
	key, ok := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
	if !ok {
		return "", errors.New("party: the other end has no Ed25519 key")
	}
	return keyfile.Fingerprint(&keyfile.Party{Key: key}), nil
}

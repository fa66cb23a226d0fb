// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package client talks to undersign nodes for programs: a [Signer] is a crypto.Signer
// whose key is shared among nodes.
//
// A program is a party of its own, with a key that undersign init makes. The node has to
// know it (undersign invite, undersign join), and a rule of the node's configuration has
// to allow what it calls.
package client

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/keyfile"
)

// Errors that a node answers with.
type (
	// A DeniedError says that the node's policy doesn't allow the call.
	DeniedError = policy.DeniedError
	// A LimitError says that the call is allowed, but not so soon.
	LimitError = policy.LimitError
)

// A Node is the way to a node. Its methods may be called by several goroutines.
type Node struct {
	self string
	peer *rpc.Peer
}

// Dial returns the way to the node at an address, host:port, with a fingerprint. The
// connection is made when it is needed, and fails if another node is there.
func Dial(identity *keyfile.PartyKey, address, fingerprint string) (*Node, error) {
	id, err := party.NewIdentity(identity)
	if err != nil {
		return nil, err
	}
	if err := party.CheckAddress(address); err != nil {
		return nil, err
	}
	if _, err := keyfile.ParseFingerprint(fingerprint); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	return &Node{id.Fingerprint(), rpc.NewPeer(id, fingerprint, address)}, nil
}

// DialURL is Dial for a node that is given as undersign://HOST:PORT/FINGERPRINT.
func DialURL(identity *keyfile.PartyKey, node string) (*Node, error) {
	address, fingerprint, err := ParseURL(node)
	if err != nil {
		return nil, err
	}
	return Dial(identity, address, fingerprint)
}

// ParseURL takes apart what undersign status prints of a node:
// undersign://HOST:PORT/FINGERPRINT.
func ParseURL(s string) (address, fingerprint string, err error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "undersign" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || len(u.Path) < 2 {
		return "", "", errors.New("client: a node is given as undersign://HOST:PORT/FINGERPRINT")
	}
	if err := party.CheckAddress(u.Host); err != nil {
		return "", "", err
	}
	if _, err := keyfile.ParseFingerprint(u.Path[1:]); err != nil {
		return "", "", fmt.Errorf("client: %w", err)
	}
	return u.Host, u.Path[1:], nil
}

// ReadIdentity reads the key of a party from the folder that undersign init made. Nobody
// else may be able to.
func ReadIdentity(dir string) (*keyfile.PartyKey, error) {
	path := filepath.Join(dir, "identity.pem")
	fi, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if runtime.GOOS != "windows" && fi.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("client: others may read or change %s (mode %04o)", path, fi.Mode().Perm())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	defer clear(data)
	v, err := keyfile.ParseInsecurePlaintext(data)
	if err != nil {
		return nil, fmt.Errorf("client: identity.pem: %w", err)
	}
	key, ok := v.(*keyfile.PartyKey)
	if !ok {
		return nil, errors.New("client: identity.pem isn't a party's key")
	}
	return key, nil
}

// Fingerprint returns the node's name.
func (n *Node) Fingerprint() string { return n.peer.Fingerprint() }

// Close ends connections that aren't in use.
func (n *Node) Close() { n.peer.Close() }

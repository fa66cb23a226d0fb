// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package party

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/undersign/undersign/keyfile"
)

// SecretSize is the length of an invitation's secret.
const SecretSize = 16

// An Invitation is what somebody needs to join a node: where it is, who it is, and a
// secret that is good for one use. Its text is a token that can be mailed, typed or
// scanned; whoever has it first can use it.
type Invitation struct {
	Address     string // host:port
	Fingerprint string // of the node
	Secret      [SecretSize]byte
}

const scheme = "undersign"

var secretEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// NewInvitation returns an invitation to a node, with a new secret.
func NewInvitation(address, fingerprint string) (*Invitation, error) {
	inv := &Invitation{Address: address, Fingerprint: fingerprint}
	rand.Read(inv.Secret[:])
	if err := inv.check(); err != nil {
		return nil, err
	}
	return inv, nil
}

func (inv *Invitation) check() error {
	if err := CheckAddress(inv.Address); err != nil {
		return err
	}
	if _, err := keyfile.ParseFingerprint(inv.Fingerprint); err != nil {
		return fmt.Errorf("party: %w", err)
	}
	if inv.Fingerprint != strings.ToLower(inv.Fingerprint) {
		return errors.New("party: a fingerprint in capital letters")
	}
	return nil
}

// CheckAddress returns an error unless address is a host and a port.
func CheckAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("party: %q isn't a host and a port: %w", address, err)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || port[0] == '0' || port[0] == '+' {
		return fmt.Errorf("party: %q isn't a port", port)
	}
	if host == "" || len(host) > 253 || strings.ContainsFunc(host, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune(".-:", r)
	}) {
		return fmt.Errorf("party: %q isn't a host", host)
	}
	return nil
}

// Token returns the invitation as text, which is secret.
func (inv *Invitation) Token() string {
	return (&url.URL{
		Scheme: scheme, User: url.User(secretEncoding.EncodeToString(inv.Secret[:])),
		Host: inv.Address, Path: "/" + inv.Fingerprint,
	}).String()
}

// ParseInvitation reads a token. Space around it is allowed.
func ParseInvitation(token string) (*Invitation, error) {
	token = strings.TrimSpace(token)
	bad := errors.New("party: not an invitation, which is like undersign://SECRET@HOST:PORT/FINGERPRINT")
	u, err := url.Parse(token)
	if err != nil || u.Scheme != scheme || u.User == nil {
		return nil, bad
	}
	inv := &Invitation{Address: u.Host, Fingerprint: strings.TrimPrefix(u.Path, "/")}
	secret, err := secretEncoding.DecodeString(u.User.Username())
	if err != nil || len(secret) != SecretSize {
		return nil, bad
	}
	inv.Secret = [SecretSize]byte(secret)
	if err := inv.check(); err != nil {
		return nil, err
	}
	if inv.Token() != token {
		return nil, bad
	}
	return inv, nil
}

// String returns where the invitation leads, without the secret.
func (inv Invitation) String() string {
	return "invitation to " + inv.Fingerprint + " at " + inv.Address
}

// GoString returns what String does.
func (inv Invitation) GoString() string { return inv.String() }

// SecretHash returns what the node keeps of an invitation's secret.
func SecretHash(secret []byte) [32]byte {
	return sha256.Sum256(append([]byte("undersign/invitation/v1\n"), secret...))
}

// MatchSecret reports in constant time whether a secret is the one with a hash.
func MatchSecret(secret []byte, hash [32]byte) bool {
	got := SecretHash(secret)
	return len(secret) == SecretSize && subtle.ConstantTimeCompare(got[:], hash[:]) == 1
}

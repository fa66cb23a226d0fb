// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

import (
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/tokens"
)

const (
	version = 1
	suite   = 1 // BLS12-381, SHA-256, SHAKE256, Ed25519, AES-256-GCM
)

// scheme is what is particular to this one among those that share code. Tokens are
// sk·Y, which the issuer sees.
var scheme = &tokens.Scheme{Name: "ps16"}

// Domain separation tags.
var (
	dstSign  = scheme.DST("sig")
	dstJoin  = scheme.DST("join")
	dstIssue = scheme.DST("issue")
)

var errWiped = scheme.ErrWiped()

// An IssuerKey admits members. It is used by one goroutine at a time.
//
// A key is for one group: its credentials are good in all groups that it makes, though
// the opener there knows nothing of the member.
type IssuerKey struct {
	k *tokens.IssuerKey
}

// GenerateIssuerKey returns a new key.
func GenerateIssuerKey() *IssuerKey { return &IssuerKey{scheme.GenerateIssuerKey()} }

// Public returns the encoding of the public half, for a [Proposal].
func (k *IssuerKey) Public() []byte { return k.k.Public() }

// Wipe overwrites the secrets. The key is of no use afterwards.
func (k *IssuerKey) Wipe() { k.k.Wipe() }

// Equal reports whether x is the same key.
func (k *IssuerKey) Equal(x *IssuerKey) bool { return x != nil && k.k.Equal(x.k) }

// String shows nothing of the secrets. The receiver is a value, so that printing a
// dereferenced key shows no more.
func (k IssuerKey) String() string { return "ps16.IssuerKey(" + k.k.Fingerprint() + ")" }

// GoString is String.
func (k IssuerKey) GoString() string { return k.String() }

// Format writes String, whatever the verb.
func (k IssuerKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

// MarshalBinary returns the canonical encoding, which is secret; clear it after use.
func (k *IssuerKey) MarshalBinary() ([]byte, error) { return k.k.MarshalBinary() }

// UnmarshalBinary decodes a key.
func (k *IssuerKey) UnmarshalBinary(data []byte) error {
	q, err := scheme.ParseIssuerKey(data)
	if err != nil {
		return err
	}
	k.k = q
	return nil
}

// An OpenerKey opens signatures: it seals the tokens in the [Register], and signs
// lists of revoked members. It may be used by several goroutines.
type OpenerKey struct {
	k *tokens.OpenerKey
}

// GenerateOpenerKey returns a new key.
func GenerateOpenerKey() *OpenerKey { return &OpenerKey{scheme.GenerateOpenerKey()} }

// Public returns the encoding of the public half, for a [Proposal].
func (k *OpenerKey) Public() []byte { return k.k.Public() }

// Wipe overwrites the secrets. The key is of no use afterwards.
func (k *OpenerKey) Wipe() { k.k.Wipe() }

// Equal reports whether x is the same key.
func (k *OpenerKey) Equal(x *OpenerKey) bool { return x != nil && k.k.Equal(x.k) }

// String shows nothing of the secrets.
func (k OpenerKey) String() string { return "ps16.OpenerKey(" + k.k.Fingerprint() + ")" }

// GoString is String.
func (k OpenerKey) GoString() string { return k.String() }

// Format writes String, whatever the verb.
func (k OpenerKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

// MarshalBinary returns the canonical encoding, which is secret; clear it after use.
func (k *OpenerKey) MarshalBinary() ([]byte, error) { return k.k.MarshalBinary() }

// UnmarshalBinary decodes a key.
func (k *OpenerKey) UnmarshalBinary(data []byte) error {
	q, err := scheme.ParseOpenerKey(data)
	if err != nil {
		return err
	}
	k.k = q
	return nil
}

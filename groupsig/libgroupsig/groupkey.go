// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/undersign/undersign/internal/bls12381"
)

// A GroupKey verifies signatures of a group. It is immutable, and may be used by several
// goroutines.
type GroupKey struct {
	scheme Scheme
	data   []byte
	key    schemeKey
}

// A schemeKey is a group key of one scheme.
type schemeKey interface {
	// verify reads the rest of a signature of a text, and of a scope where there are
	// scopes, and checks it. The pseudonym is nil where there are none.
	verify(r *reader, scope, text []byte) (nym *bls12381.G1, err error)
	// entry reads the rest of an entry of the list of members.
	entry(r *reader, e Edition, m *Member)
	// checkEntries checks entries by the group key.
	checkEntries(members []Member) error
}

// readKey reads what follows the header of a scheme's group key.
func readKey(s Scheme, r *reader) (schemeKey, error) {
	switch s {
	case BBS04:
		return readBBS04(r)
	case PS16:
		return readPS16(r)
	case KLAP20:
		return readKLAP20(r)
	case DL21, DL21SEQ:
		return readDL21(r, s == DL21SEQ)
	}
	return nil, s.supported()
}

// ParseGroupKey decodes an exported group key, or its base64, and checks it. Nobody
// signed it: compare its ID with one from somewhere else.
func ParseGroupKey(data []byte) (*GroupKey, error) {
	data, err := decodeText(data)
	if err != nil {
		return nil, fmt.Errorf("libgroupsig: group key: %w", err)
	}
	r := &reader{b: data}
	header := r.next("header", 2)
	if header == nil {
		return nil, fmt.Errorf("libgroupsig: group key: %w", r.err)
	}
	s := Scheme(header[0])
	if err := s.supported(); err != nil {
		return nil, err
	}
	if header[1] != kindGroup {
		return nil, fmt.Errorf("libgroupsig: it is another key of %s, and not a group key", s)
	}
	key, err := readKey(s, r)
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return nil, fmt.Errorf("libgroupsig: group key of %s: %w", s, err)
	}
	return &GroupKey{scheme: s, data: slices.Clone(data), key: key}, nil
}

// Scheme returns the group's scheme.
func (k *GroupKey) Scheme() Scheme { return k.scheme }

// ID is the group key's fingerprint, SHA-256 of its export. The library has none.
func (k *GroupKey) ID() [32]byte { return sha256.Sum256(k.data) }

// MarshalBinary returns the export, as the library writes it.
func (k *GroupKey) MarshalBinary() ([]byte, error) { return slices.Clone(k.data), nil }

// Equal reports whether two keys are the same.
func (k *GroupKey) Equal(x *GroupKey) bool { return k.ID() == x.ID() }

// A Result is what a valid signature says.
type Result struct {
	Scheme Scheme
	// Scope and Text are the parts of the message that are signed, in schemes with
	// scopes; elsewhere Text is the message.
	Scope, Text []byte
	// Pseudonym is the signer's in the scope, compressed (ZCash), in schemes with scopes.
	// See Flaws.
	Pseudonym []byte
	// Flaws say what the signature doesn't show.
	Flaws []string
}

// Verify checks a signature of a message, which in schemes with scopes is the JSON that
// the library was given. The signature is an export, or its base64. Errors of signatures
// are [ErrSignature].
func (k *GroupKey) Verify(msg, sig []byte) (*Result, error) {
	scope, text := []byte(nil), msg
	if k.scheme.HasScopes() {
		var err error
		if scope, text, err = splitMessage(msg); err != nil {
			return nil, refuse("message: %w", err)
		}
	}
	return k.verify(scope, text, sig)
}

// VerifyScoped is Verify in schemes with scopes for a message whose parts are known.
func (k *GroupKey) VerifyScoped(scope, text, sig []byte) (*Result, error) {
	if !k.scheme.HasScopes() {
		return nil, fmt.Errorf("libgroupsig: %s has no scopes", k.scheme)
	}
	if len(scope) == 0 {
		return nil, refuse("the scope is empty, which the library can't sign")
	}
	return k.verify(scope, text, sig)
}

func (k *GroupKey) verify(scope, text, sig []byte) (*Result, error) {
	if len(text) == 0 {
		return nil, refuse("the message is empty, which the library can't sign")
	}
	sig, err := decodeText(sig)
	if err != nil {
		return nil, refuse("%w", err)
	}
	r := &reader{b: sig}
	if code := r.next("header", 1); code != nil && Scheme(code[0]) != k.scheme {
		return nil, refuse("it is one of %s, and the group's scheme is %s", Scheme(code[0]), k.scheme)
	}
	nym, err := k.key.verify(r, scope, text)
	switch {
	case r.err != nil:
		return nil, refuse("%w", r.err)
	case err != nil:
		return nil, err
	}
	res := &Result{Scheme: k.scheme, Scope: slices.Clone(scope), Text: slices.Clone(text), Flaws: k.scheme.Flaws()}
	if nym != nil {
		res.Pseudonym = nym.Bytes()
	}
	return res, nil
}

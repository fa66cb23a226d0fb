// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package zip215 verifies Ed25519 signatures, one or many together, by the rules of
// ZIP-215, so that both ways come to the same verdict whatever the keys and
// signatures are. Keys are kept expanded.
//
// A signature (R, s) of m by A is valid if
//
//   - A and R are encodings of points of the curve, which needn't be canonical,
//   - s is less than the order of the group, and
//   - 8sB = 8R + 8kA, where k = SHA-512(R, A, m).
//
// It is variable time: everything here is public.
package zip215

import (
	"bytes"
	"crypto/sha512"
	"errors"

	"filippo.io/edwards25519"
)

const (
	KeySize       = 32
	SignatureSize = 64
)

var (
	// ErrKey: not the encoding of a point, or not a key to register.
	ErrKey = errors.New("zip215: invalid key")
	// ErrSignature: not a valid signature.
	ErrSignature = errors.New("zip215: invalid signature")
)

// A Key is a public key, ready for verification.
type Key struct {
	enc [KeySize]byte
	neg edwards25519.Point // -A
}

// NewKey reads a public key, of small order and non-canonical ones included: see
// [CheckRegistration].
func NewKey(b []byte) (*Key, error) {
	var p edwards25519.Point
	if len(b) != KeySize {
		return nil, ErrKey
	}
	if _, err := p.SetBytes(b); err != nil {
		return nil, ErrKey
	}
	k := &Key{enc: [KeySize]byte(b)}
	k.neg.Negate(&p)
	return k, nil
}

// Bytes returns the encoding that the key was read from.
func (k *Key) Bytes() [KeySize]byte { return k.enc }

// CheckRegistration returns an error unless b is the canonical encoding of a point that
// isn't of small order. Anybody can sign for a key of small order.
func CheckRegistration(b []byte) error {
	k, err := NewKey(b)
	if err != nil {
		return err
	}
	p := new(edwards25519.Point).Negate(&k.neg)
	if !bytes.Equal(p.Bytes(), b) {
		return ErrKey
	}
	if p.MultByCofactor(p).Equal(edwards25519.NewIdentityPoint()) == 1 {
		return ErrKey
	}
	return nil
}

// Verify verifies a signature.
func (k *Key) Verify(msg, sig []byte) error {
	if len(sig) != SignatureSize {
		return ErrSignature
	}
	h := sha512.New()
	h.Write(sig[:32])
	h.Write(k.enc[:])
	h.Write(msg)
	c, err := new(edwards25519.Scalar).SetUniformBytes(h.Sum(nil))
	if err != nil {
		return ErrSignature
	}
	s, err := new(edwards25519.Scalar).SetCanonicalBytes(sig[32:])
	if err != nil {
		return ErrSignature
	}
	r, err := new(edwards25519.Point).SetBytes(sig[:32])
	if err != nil {
		return ErrSignature
	}
	p := new(edwards25519.Point).VarTimeDoubleScalarBaseMult(c, &k.neg, s)
	p.Subtract(p, r)
	if p.MultByCofactor(p).Equal(edwards25519.NewIdentityPoint()) != 1 {
		return ErrSignature
	}
	return nil
}

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
	"errors"
	"fmt"

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

// A Key is a public key, with its other coordinate, which takes most of the time to find.
type Key struct {
	enc [KeySize]byte // y and the sign of x
	x   [KeySize]byte
}

// NewKey reads a public key, of small order and non-canonical ones included: see
// [CheckRegistration].
func NewKey(b []byte) (*Key, error) {
	if len(b) != KeySize {
		return nil, ErrKey
	}
	p, err := new(edwards25519.Point).SetBytes(b)
	if err != nil {
		return nil, ErrKey
	}
	x, _, _, _ := p.ExtendedCoordinates() // its Z is 1
	return &Key{[KeySize]byte(b), [KeySize]byte(x.Bytes())}, nil
}

// Bytes returns the encoding that the key was read from.
func (k *Key) Bytes() [KeySize]byte { return k.enc }

// CheckRegistration returns an error unless b is the canonical encoding of a point that
// isn't of small order. Anybody can sign for a key of small order.
func CheckRegistration(b []byte) error {
	if len(b) != KeySize {
		return ErrKey
	}
	p, err := new(edwards25519.Point).SetBytes(b)
	if err != nil {
		return ErrKey
	}
	if !bytes.Equal(p.Bytes(), b) {
		return fmt.Errorf("%w: not in canonical form", ErrKey)
	}
	if p.MultByCofactor(p).Equal(edwards25519.NewIdentityPoint()) == 1 {
		return fmt.Errorf("%w: of small order", ErrKey)
	}
	return nil
}

// Verify verifies a signature.
func (k *Key) Verify(msg, sig []byte) error {
	var it item
	if !it.set(k, msg, sig) || !it.holds() {
		return ErrSignature
	}
	return nil
}

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

// coordinates sets p to the key.
func (k *Key) coordinates(p *extended) {
	p.x.SetBytes(k.x[:])
	p.y.SetBytes(k.enc[:])
	p.z.One()
	p.t.Multiply(&p.x, &p.y)
}

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
	var s, c edwards25519.Scalar
	r, ok := parse(&s, sig)
	if !ok {
		return ErrSignature
	}
	challenge(&c, sig, k, msg)
	var a extended
	k.coordinates(&a)
	if !holds(&s, &c, &a, &r) {
		return ErrSignature
	}
	return nil
}

// parse sets s to the second half of a signature, and returns the first.
func parse(s *edwards25519.Scalar, sig []byte) (r extended, ok bool) {
	if len(sig) != SignatureSize {
		return r, false
	}
	if _, err := s.SetCanonicalBytes(sig[32:]); err != nil {
		return r, false
	}
	var p edwards25519.Point
	if _, err := p.SetBytes(sig[:32]); err != nil {
		return r, false
	}
	x, y, z, t := p.ExtendedCoordinates()
	return extended{*x, *y, *z, *t}, true
}

// challenge sets c to SHA-512(R, A, m).
func challenge(c *edwards25519.Scalar, sig []byte, key *Key, msg []byte) {
	h := sha512.New()
	h.Write(sig[:32])
	h.Write(key.enc[:])
	h.Write(msg)
	var sum [sha512.Size]byte
	c.SetUniformBytes(h.Sum(sum[:0]))
}

// holds reports whether 8(sB - cA - R) = 0.
func holds(s, c *edwards25519.Scalar, a, r *extended) bool {
	var minusA, p edwards25519.Point
	if _, err := minusA.SetExtendedCoordinates(&a.x, &a.y, &a.z, &a.t); err != nil {
		return false
	}
	minusA.Negate(&minusA)
	p.VarTimeDoubleScalarBaseMult(c, &minusA, s)
	x, y, z, t := p.ExtendedCoordinates()
	sum := extended{*x, *y, *z, *t}
	minusR := *r
	minusR.negate()
	sum.addExtended(&minusR)
	return sum.isSmall()
}

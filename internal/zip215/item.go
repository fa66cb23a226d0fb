// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package zip215

import (
	"crypto/sha512"

	"filippo.io/edwards25519"
	"filippo.io/edwards25519/field"

	"github.com/undersign/undersign/internal/edwards"
)

// An item is the equation of a signature: 8(R + kA - sB) = 0.
type item struct {
	s, k edwards25519.Scalar
	a, r edwards.Affine
	bad  bool // not an equation
}

// set sets it to the equation of a signature, or returns false if there is none.
func (it *item) set(key *Key, msg, sig []byte) bool {
	if len(sig) != SignatureSize {
		return false
	}
	if _, err := it.s.SetCanonicalBytes(sig[32:]); err != nil {
		return false
	}
	var r edwards25519.Point
	if _, err := r.SetBytes(sig[:32]); err != nil {
		return false
	}
	x, y, _, _ := r.ExtendedCoordinates() // its Z is 1
	it.r.Set(x, y)
	key.affine(&it.a)

	h := sha512.New()
	h.Write(sig[:32])
	h.Write(key.enc[:])
	h.Write(msg)
	var sum [sha512.Size]byte
	it.k.SetUniformBytes(h.Sum(sum[:0]))
	return true
}

// affine sets a to the key.
func (k *Key) affine(a *edwards.Affine) {
	var x, y field.Element
	x.SetBytes(k.x[:])
	y.SetBytes(k.enc[:])
	a.Set(&x, &y)
}

// holds reports whether the equation holds.
func (it *item) holds() bool {
	minusA := it.a.Library()
	minusA.Negate(minusA)
	var sum edwards.Point
	sum.SetLibrary(new(edwards25519.Point).VarTimeDoubleScalarBaseMult(&it.k, minusA, &it.s))
	sum.SubAffine(&it.r)
	return sum.IsSmall()
}

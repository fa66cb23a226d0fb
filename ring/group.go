// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"

	"filippo.io/edwards25519"

	"github.com/undersign/undersign/internal/bls12381"
)

// A Group is the group of prime order that a ring is in.
type Group uint8

const (
	// Ristretto255 is the group of RFC 9496, and what most callers should use.
	Ristretto255 Group = 1
	// BLS12381G1 is the group G1 of BLS12-381.
	BLS12381G1 Group = 2
)

// groups has the arithmetic of each.
var groups = map[Group]engine{
	Ristretto255: &lsag[edwards25519.Point]{ristretto{}, Ristretto255},
	BLS12381G1:   &lsag[bls12381.G1]{g1{}, BLS12381G1},
}

// Groups returns all groups.
func Groups() []Group { return []Group{Ristretto255, BLS12381G1} }

// String returns the group's name.
func (g Group) String() string {
	switch g {
	case Ristretto255:
		return "ristretto255"
	case BLS12381G1:
		return "bls12381-g1"
	}
	return fmt.Sprintf("group %d", uint8(g))
}

// ParseGroup is the inverse of String.
func ParseGroup(name string) (Group, error) {
	for _, g := range Groups() {
		if g.String() == name {
			return g, nil
		}
	}
	return 0, fmt.Errorf("ring: there is no group %q; there are %s and %s", name, Ristretto255, BLS12381G1)
}

// dst returns the tag that separates one use of a hash from others.
func (g Group) dst(operation string) []byte {
	return []byte("undersign/ring/v1/" + g.String() + "/" + operation)
}

// A scalar is the canonical encoding of an integer modulo the group's order.
type scalar [scalarSize]byte

const scalarSize = 32

// An engine is the scheme over one group.
type engine interface {
	pointSize() int
	// decode returns a point, which isn't the identity, and says what is wrong with its
	// encoding. checkScalar says it of a scalar's.
	decode(b []byte) (any, error)
	checkScalar(b []byte) error
	newSecret() *scalar // not zero
	publicKey(secret *scalar) []byte
	newKeys(encoded [][]byte) (keys, error)
}

// keys are the decoded ones of a ring. A signature is of as many.
type keys interface {
	// sign returns a signature, of a holder of one of the keys.
	sign(secret *scalar, public []byte, st *statement) *Signature
	// image returns the key image.
	image(secret *scalar, st *statement) []byte
	// verify checks a signature in the compact layout.
	verify(st *statement, sig *Signature) bool
	// last returns c_0 of a signature in the layout for batches.
	last(st *statement, sig *Signature) *scalar
	// expand returns the layout for batches of a valid compact signature, else nil.
	expand(st *statement, sig *Signature) *Signature
	// batch returns which of some signatures in the layout for batches don't hold.
	batch(sts []*statement, sigs []*Signature) (bad []int)
}

// An arithmetic is that of a group with elements of type P. Only what carries the suffix
// VarTime is variable time.
type arithmetic[P any] interface {
	pointSize() int
	parse(b []byte) (*P, error) // of anything but the identity
	encode(p *P) []byte
	selectPoint(x, y *P, cond int) *P // x if cond is 1, y if it is 0
	hashVarTime(msg, dst []byte) *P

	checkScalar(b []byte) error
	reduce(wide *[64]byte) *scalar
	short(b *[16]byte) *scalar      // an integer below 2^128
	mulAdd(x, y, z *scalar) *scalar // x·y + z
	neg(x *scalar) *scalar

	mult(k *scalar, p *P) *P // with nil for G
	// round returns the function from s, c and P to s·G + c·P and s·H + c·Y.
	round(h, y *P) func(s, c *scalar, p *P) (l, r *P)
	// roundVarTime returns the same, for n calls with public values.
	roundVarTime(h, y *P, n int) func(s, c *scalar, p *P) (l, r *P)

	sumVarTime(terms []term[P]) *P
	sub(p, q *P) *P
	isIdentity(p *P) bool
}

// A term is k·p, with nil for G.
type term[P any] struct {
	k *scalar
	p *P
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"errors"
	"fmt"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"

	"github.com/undersign/undersign/internal/opcount"
)

// Lengths of encoded elements.
const (
	G1Size             = 48 // compressed
	G1SizeUncompressed = 96
	G2Size             = 96
	G2SizeUncompressed = 192
	GTSize             = 576
)

// Flags in the first byte of an encoding (ZCash's format, as in RFC 9591's and
// the BLS draft's appendices).
const (
	flagCompressed = 0x80
	flagIdentity   = 0x40
)

var errIdentity = errors.New("bls12381: point is the identity")

// Bytes returns the compressed encoding of p, in 48 bytes.
func (p *G1) Bytes() []byte { return p.Append(nil) }

// Append appends the compressed encoding of p to b.
func (p *G1) Append(b []byte) []byte {
	q := p.normal()
	at := len(b)
	b = feAppend(b, &q.x)
	id := feIsZero(&q.z)
	largest := feLarger(&q.y) &^ id
	b[at] |= byte(flagCompressed | id*flagIdentity | largest*flagLargest)
	return b
}

// SetBytes sets p to a point other than the identity from its compressed encoding.
// It demands exactly 48 bytes, a canonical coordinate and a point of the subgroup.
func (p *G1) SetBytes(b []byte) error { return p.decode(b, G1Size, false) }

// SetBytesOrIdentity is SetBytes, and accepts the identity.
func (p *G1) SetBytesOrIdentity(b []byte) error { return p.decode(b, G1Size, true) }

// UncompressedBytes returns the uncompressed encoding of p, in 96 bytes.
func (p *G1) UncompressedBytes() []byte {
	q := p.normal()
	id := feIsZero(&q.z)
	feSelect(&q.y, &fe{}, &q.y, id)
	b := feAppend(nil, &q.x)
	b = feAppend(b, &q.y)
	b[0] |= byte(id * flagIdentity)
	return b
}

// SetUncompressed is SetBytes for the uncompressed encoding, in 96 bytes.
func (p *G1) SetUncompressed(b []byte) error { return p.decode(b, G1SizeUncompressed, false) }

// SetUncompressedUnsafe is SetUncompressed without the test that the point is in
// the subgroup. Such a point may be added, and tested with [G1.InSubgroupVarTime];
// products and pairings of it are undefined.
func (p *G1) SetUncompressedUnsafe(b []byte) error {
	a, err := g1DecodeCurve(b, G1SizeUncompressed, false)
	if err != nil {
		return err
	}
	*p = g1FromAffine(&a)
	return nil
}

func (p *G1) decode(b []byte, size int, identity bool) error {
	a, err := g1DecodeCurve(b, size, identity)
	if err != nil {
		return err
	}
	if !g1InSubgroup(&a) {
		return errors.New("bls12381: point of G1 isn't in the subgroup")
	}
	*p = g1FromAffine(&a)
	return nil
}

// g1DecodeCurve decodes a point of the curve.
func g1DecodeCurve(b []byte, size int, identity bool) (a bls.G1Affine, err error) {
	opcount.Decode(opcount.DecodeG1, b)
	if err := checkFlags(b, size, size == G1Size, identity); err != nil {
		return a, err
	}
	if b[0]&flagIdentity != 0 {
		return a, nil
	}
	var x [G1Size]byte
	copy(x[:], b)
	x[0] &= 0x1f
	if a.X.SetBytesCanonical(x[:]) != nil {
		return a, errNotCanonical
	}
	if size == G1SizeUncompressed {
		if a.Y.SetBytesCanonical(b[G1Size:]) != nil {
			return a, errNotCanonical
		}
		if !a.IsOnCurve() || a.IsInfinity() {
			return a, errNotOnCurve
		}
		return a, nil
	}
	var y2, four fe
	four.SetUint64(4)
	y2.Square(&a.X)
	y2.Mul(&y2, &a.X)
	y2.Add(&y2, &four)
	if !feSqrtVarTime(&a.Y, &y2) {
		return a, errNotOnCurve
	}
	if a.Y.LexicographicallyLargest() != (b[0]&flagLargest != 0) {
		a.Y.Neg(&a.Y)
	}
	return a, nil
}

const flagLargest = 0x20

var (
	errNotCanonical = errors.New("bls12381: coordinate isn't below the field's modulus")
	errNotOnCurve   = errors.New("bls12381: point isn't on the curve")
	errFlags        = errors.New("bls12381: bad flags in an encoded point")
)

// checkFlags checks length and flags, and an encoded identity to the last bit.
func checkFlags(b []byte, size int, compressed, identity bool) error {
	if len(b) != size {
		return fmt.Errorf("bls12381: encoded point has %d bytes instead of %d", len(b), size)
	}
	if (b[0]&flagCompressed != 0) != compressed {
		return errFlags
	}
	if !compressed && b[0]&flagLargest != 0 {
		return errFlags
	}
	if b[0]&flagIdentity == 0 {
		return nil
	}
	rest := b[0] & 0x3f
	for _, x := range b[1:] {
		rest |= x
	}
	switch {
	case rest != 0:
		return errFlags
	case !identity:
		return errIdentity
	}
	return nil
}

// InSubgroupVarTime reports whether p is in the subgroup: for sums of points from
// [G1.SetUncompressedUnsafe]. All others are.
func (p *G1) InSubgroupVarTime() bool {
	a := p.toAffine()
	return g1InSubgroup(&a)
}

// String shows no coordinates: a point may be secret.
func (p G1) String() string { return "bls12381.G1" }

// GoString shows no coordinates.
func (p G1) GoString() string { return "bls12381.G1" }

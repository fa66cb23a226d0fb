// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"errors"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"

	"github.com/undersign/undersign/internal/opcount"
)

// Bytes returns the compressed encoding of p, in 96 bytes.
func (p *G2) Bytes() []byte { return p.Append(nil) }

// Append appends the compressed encoding of p to b.
func (p *G2) Append(b []byte) []byte {
	q := p.normal()
	at := len(b)
	b = fe2Append(b, &q.x)
	id := fe2IsZero(&q.z)
	largest := fe2Larger(&q.y) &^ id
	b[at] |= byte(flagCompressed | id*flagIdentity | largest*flagLargest)
	return b
}

// SetBytes sets p to a point other than the identity from its compressed encoding.
// It demands exactly 96 bytes, a canonical coordinate and a point of the subgroup.
func (p *G2) SetBytes(b []byte) error { return p.decode(b, G2Size, false) }

// SetBytesOrIdentity is SetBytes, and accepts the identity.
func (p *G2) SetBytesOrIdentity(b []byte) error { return p.decode(b, G2Size, true) }

// UncompressedBytes returns the uncompressed encoding of p, in 192 bytes.
func (p *G2) UncompressedBytes() []byte {
	q := p.normal()
	id := fe2IsZero(&q.z)
	fe2Select(&q.y, &fe2{}, &q.y, id)
	b := fe2Append(nil, &q.x)
	b = fe2Append(b, &q.y)
	b[0] |= byte(id * flagIdentity)
	return b
}

// SetUncompressed is SetBytes for the uncompressed encoding, in 192 bytes.
func (p *G2) SetUncompressed(b []byte) error { return p.decode(b, G2SizeUncompressed, false) }

// SetUncompressedUnsafe is SetUncompressed without the test that the point is in
// the subgroup. Such a point may be added, and tested with [G2.InSubgroupVarTime];
// products and pairings of it are undefined.
func (p *G2) SetUncompressedUnsafe(b []byte) error {
	a, err := g2DecodeCurve(b, G2SizeUncompressed, false)
	if err != nil {
		return err
	}
	*p = g2FromAffine(&a)
	return nil
}

// SetBytesUnsafe is SetBytesOrIdentity without the test that the point is in the subgroup:
// for [PairingCheckUncheckedVarTime].
func (p *G2) SetBytesUnsafe(b []byte) error {
	a, err := g2DecodeCurve(b, G2Size, true)
	if err != nil {
		return err
	}
	*p = g2FromAffine(&a)
	return nil
}

func (p *G2) decode(b []byte, size int, identity bool) error {
	a, err := g2DecodeCurve(b, size, identity)
	if err != nil {
		return err
	}
	if !a.IsInSubGroup() {
		return errors.New("bls12381: point of G2 isn't in the subgroup")
	}
	*p = g2FromAffine(&a)
	return nil
}

// g2DecodeCurve decodes a point of the curve.
func g2DecodeCurve(b []byte, size int, identity bool) (a bls.G2Affine, err error) {
	opcount.Decode(opcount.DecodeG2, b)
	if err := checkFlags(b, size, size == G2Size, identity); err != nil {
		return a, err
	}
	if b[0]&flagIdentity != 0 {
		return a, nil
	}
	// The coefficient of u comes first.
	var x [G2Size]byte
	copy(x[:], b)
	x[0] &= 0x1f
	if a.X.A1.SetBytesCanonical(x[:G1Size]) != nil || a.X.A0.SetBytesCanonical(x[G1Size:]) != nil {
		return a, errNotCanonical
	}
	if size == G2SizeUncompressed {
		y := b[G2Size:]
		if a.Y.A1.SetBytesCanonical(y[:G1Size]) != nil || a.Y.A0.SetBytesCanonical(y[G1Size:]) != nil {
			return a, errNotCanonical
		}
		if !a.IsOnCurve() || a.IsInfinity() {
			return a, errNotOnCurve
		}
		return a, nil
	}
	var y2, b2 fe2
	b2.A0.SetUint64(4)
	b2.A1 = b2.A0
	y2.Square(&a.X)
	y2.Mul(&y2, &a.X)
	y2.Add(&y2, &b2)
	// The square root isn't checked by the backend.
	var check fe2
	a.Y.Sqrt(&y2)
	if check.Square(&a.Y); !check.Equal(&y2) {
		return a, errNotOnCurve
	}
	if a.Y.LexicographicallyLargest() != (b[0]&flagLargest != 0) {
		a.Y.Neg(&a.Y)
	}
	return a, nil
}

// InSubgroupVarTime reports whether p is in the subgroup: for sums of points from
// [G2.SetUncompressedUnsafe], and points from [G2.SetBytesUnsafe]. All others are.
func (p *G2) InSubgroupVarTime() bool {
	a := p.toAffine()
	return a.IsInSubGroup()
}

// String shows no coordinates: a point may be secret.
func (p G2) String() string { return "bls12381.G2" }

// GoString shows no coordinates.
func (p G2) GoString() string { return "bls12381.G2" }

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"errors"

	"github.com/undersign/undersign/internal/opcount"
)

// GTSizeCompressed is the length of an element of GT on the torus.
const GTSizeCompressed = GTSize / 2

// The elements a + bw of norm a² - vb² = 1 over Fp6, which those of GT are among, are a
// curve that one coordinate describes (Rubin and Silverberg 2003):
//
//	g = (1 + a)/b,  a + bw = (g + w)/(g - w) = (g² + v + 2gw)/(g² - v)
//
// for all but 1. v is no square in Fp6, so that no denominator is 0.

// AppendCompressed appends the coordinate of z, in 288 bytes: six coefficients, the highest
// first. There is none of 1, for which it appends zeros, which aren't decoded.
func (z *GT) AppendCompressed(b []byte) []byte {
	v := z.fixed()
	var g, inv fe6
	fe6Invert(&inv, &v.C1)
	g = v.C0
	feAdd(&g.B0.A0, &g.B0.A0, &feOne)
	fe6Mul(&g, &g, &inv)
	for _, c := range []*fe2{&g.B2, &g.B1, &g.B0} {
		b = fe2Append(b, c)
	}
	return b
}

// SetCompressed sets z to an element other than 1. It demands exactly 288 bytes, canonical
// coefficients and an element of order r.
func (z *GT) SetCompressed(b []byte) error {
	opcount.Decode(opcount.DecodeGT, b)
	if len(b) != GTSizeCompressed {
		return errors.New("bls12381: an element of GT has 288 bytes when compressed")
	}
	var g fe6
	for i, c := range []*fe2{&g.B2, &g.B1, &g.B0} {
		if c.A1.SetBytesCanonical(b[96*i:96*i+48]) != nil || c.A0.SetBytesCanonical(b[96*i+48:96*i+96]) != nil {
			return errNotCanonical
		}
	}
	var sq, v, den fe6
	v.B1.A0 = feOne
	fe6Mul(&sq, &g, &g)
	fe6Sub(&den, &sq, &v)
	fe6Invert(&den, &den)
	var f fe12
	fe6Add(&sq, &sq, &v)
	fe6Mul(&f.C0, &sq, &den)
	fe6Add(&g, &g, &g)
	fe6Mul(&f.C1, &g, &den)
	if !f.IsInSubGroup() {
		return errors.New("bls12381: element isn't in GT")
	}
	z.v = f
	return nil
}

// fe6Invert sets z = 1/x, and 0 for 0, with one inversion in Fp2 (Devegili et al. 2006).
func fe6Invert(z, x *fe6) {
	var a, b, c, t, n fe2
	fe2Sqr(&a, &x.B0)
	fe2Mul(&t, &x.B1, &x.B2)
	fe2MulXi(&t, &t)
	fe2Sub(&a, &a, &t)
	fe2Sqr(&b, &x.B2)
	fe2MulXi(&b, &b)
	fe2Mul(&t, &x.B0, &x.B1)
	fe2Sub(&b, &b, &t)
	fe2Sqr(&c, &x.B1)
	fe2Mul(&t, &x.B0, &x.B2)
	fe2Sub(&c, &c, &t)

	fe2Mul(&n, &x.B2, &b)
	fe2Mul(&t, &x.B1, &c)
	fe2Add(&n, &n, &t)
	fe2MulXi(&n, &n)
	fe2Mul(&t, &x.B0, &a)
	fe2Add(&n, &n, &t)
	fe2Invert(&n, &n)
	fe2Mul(&z.B0, &a, &n)
	fe2Mul(&z.B1, &b, &n)
	fe2Mul(&z.B2, &c, &n)
}

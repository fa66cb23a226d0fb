// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import bls "github.com/consensys/gnark-crypto/ecc/bls12-381"

// fe2 is an element a0 + a1·u of Fp2 = Fp[u]/(u² + 1). With hasMul2, what is called
// of the backend is assembly without branches; its negation isn't.
type fe2 = bls.E2

func fe2Add(z, x, y *fe2) {
	if hasMul2 {
		z.Add(x, y)
		return
	}
	feAdd(&z.A0, &x.A0, &y.A0)
	feAdd(&z.A1, &x.A1, &y.A1)
}

func fe2Sub(z, x, y *fe2) {
	if hasMul2 {
		z.Sub(x, y)
		return
	}
	feSub(&z.A0, &x.A0, &y.A0)
	feSub(&z.A1, &x.A1, &y.A1)
}

func fe2Neg(z, x *fe2) {
	feNeg(&z.A0, &x.A0)
	feNeg(&z.A1, &x.A1)
}

func fe2Conj(z, x *fe2) {
	z.A0 = x.A0
	feNeg(&z.A1, &x.A1)
}

// fe2Mul is Karatsuba's product.
func fe2Mul(z, x, y *fe2) {
	if hasMul2 {
		z.Mul(x, y)
		return
	}
	var a, b, c fe
	feAdd(&a, &x.A0, &x.A1)
	feAdd(&b, &y.A0, &y.A1)
	feMul(&a, &a, &b)
	feMul(&b, &x.A0, &y.A0)
	feMul(&c, &x.A1, &y.A1)
	feSub(&a, &a, &b)
	feSub(&z.A1, &a, &c)
	feSub(&z.A0, &b, &c)
}

// fe2Sqr sets z = (a0+a1)(a0-a1) + 2·a0·a1·u.
func fe2Sqr(z, x *fe2) {
	if hasMul2 {
		z.Square(x)
		return
	}
	var a, b, c fe
	feAdd(&a, &x.A0, &x.A1)
	feSub(&b, &x.A0, &x.A1)
	feMul(&c, &x.A0, &x.A1)
	feMul(&z.A0, &a, &b)
	feAdd(&z.A1, &c, &c)
}

// fe2MulXi sets z = (1+u)x.
func fe2MulXi(z, x *fe2) {
	if hasMul2 {
		z.MulByNonResidue(x)
		return
	}
	var t fe
	feSub(&t, &x.A0, &x.A1)
	feAdd(&z.A1, &x.A0, &x.A1)
	z.A0 = t
}

// fe2Mul12 sets z = 12(1+u)x, which is 3b for the curve of G2.
func fe2Mul12(z, x *fe2) {
	var t fe2
	fe2MulXi(&t, x)
	fe2Add(z, &t, &t)
	fe2Add(z, z, &t)
	fe2Add(z, z, z)
	fe2Add(z, z, z)
}

func fe2Select(z, x, y *fe2, c uint64) {
	feSelect(&z.A0, &x.A0, &y.A0, c)
	feSelect(&z.A1, &x.A1, &y.A1, c)
}

func fe2CondNeg(z *fe2, c uint64) {
	feCondNeg(&z.A0, c)
	feCondNeg(&z.A1, c)
}

func fe2IsZero(x *fe2) uint64 { return feIsZero(&x.A0) & feIsZero(&x.A1) }

// fe2Invert sets z = 1/x = (a0 - a1·u)/(a0² + a1²), and 0 for 0.
func fe2Invert(z, x *fe2) {
	var n, t fe
	feMul(&n, &x.A0, &x.A0)
	feMul(&t, &x.A1, &x.A1)
	feAdd(&n, &n, &t)
	feInvert(&n, &n)
	feMul(&z.A0, &x.A0, &n)
	feMul(&t, &x.A1, &n)
	feNeg(&z.A1, &t)
}

var fe2One = fe2{A0: feOne}

// fe2Append appends x to b, in 96 bytes: the coefficient of u comes first.
func fe2Append(b []byte, x *fe2) []byte { return feAppend(feAppend(b, &x.A1), &x.A0) }

// fe2Larger returns 1 if x > -x, by the coefficient of u unless it is 0.
func fe2Larger(x *fe2) uint64 {
	zero := mask(feIsZero(&x.A1))
	return feLarger(&x.A1)&^zero | feLarger(&x.A0)&zero
}

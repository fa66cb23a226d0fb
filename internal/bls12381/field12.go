// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
)

// Fp6 = Fp2[v]/(v³ - xi) and Fp12 = Fp6[w]/(w² - v) with xi = 1+u, in the
// backend's types. What is here is branch-free, for secret exponents.

type (
	fe6  = bls.E6
	fe12 = bls.E12
)

func fe6Add(z, x, y *fe6) {
	fe2Add(&z.B0, &x.B0, &y.B0)
	fe2Add(&z.B1, &x.B1, &y.B1)
	fe2Add(&z.B2, &x.B2, &y.B2)
}

func fe6Sub(z, x, y *fe6) {
	fe2Sub(&z.B0, &x.B0, &y.B0)
	fe2Sub(&z.B1, &x.B1, &y.B1)
	fe2Sub(&z.B2, &x.B2, &y.B2)
}

func fe6Neg(z, x *fe6) {
	fe2Neg(&z.B0, &x.B0)
	fe2Neg(&z.B1, &x.B1)
	fe2Neg(&z.B2, &x.B2)
}

// fe6MulV sets z = vx.
func fe6MulV(z, x *fe6) {
	t := x.B2
	z.B2 = x.B1
	z.B1 = x.B0
	fe2MulXi(&z.B0, &t)
}

// fe6Mul is the product with six products in Fp2 (Devegili et al. 2006, section 4).
func fe6Mul(z, x, y *fe6) {
	var t0, t1, t2, c0, c1, c2, s fe2
	fe2Mul(&t0, &x.B0, &y.B0)
	fe2Mul(&t1, &x.B1, &y.B1)
	fe2Mul(&t2, &x.B2, &y.B2)

	fe2Add(&c0, &x.B1, &x.B2)
	fe2Add(&s, &y.B1, &y.B2)
	fe2Mul(&c0, &c0, &s)
	fe2Sub(&c0, &c0, &t1)
	fe2Sub(&c0, &c0, &t2)
	fe2MulXi(&c0, &c0)
	fe2Add(&c0, &c0, &t0)

	fe2Add(&c1, &x.B0, &x.B1)
	fe2Add(&s, &y.B0, &y.B1)
	fe2Mul(&c1, &c1, &s)
	fe2Sub(&c1, &c1, &t0)
	fe2Sub(&c1, &c1, &t1)
	fe2MulXi(&s, &t2)
	fe2Add(&c1, &c1, &s)

	fe2Add(&c2, &x.B0, &x.B2)
	fe2Add(&s, &y.B0, &y.B2)
	fe2Mul(&c2, &c2, &s)
	fe2Sub(&c2, &c2, &t0)
	fe2Sub(&c2, &c2, &t2)
	fe2Add(&c2, &c2, &t1)

	z.B0, z.B1, z.B2 = c0, c1, c2
}

func fe12Mul(z, x, y *fe12) {
	var a, b, c fe6
	fe6Add(&a, &x.C0, &x.C1)
	fe6Add(&b, &y.C0, &y.C1)
	fe6Mul(&a, &a, &b)
	fe6Mul(&b, &x.C0, &y.C0)
	fe6Mul(&c, &x.C1, &y.C1)
	fe6Sub(&a, &a, &b)
	fe6Sub(&z.C1, &a, &c)
	fe6MulV(&c, &c)
	fe6Add(&z.C0, &b, &c)
}

// fe12Conj is the inverse, for elements of the cyclotomic subgroup.
func fe12Conj(z, x *fe12) {
	z.C0 = x.C0
	fe6Neg(&z.C1, &x.C1)
}

// fe4Sqr sets c0 + c1·s = (a + b·s)² where s² = xi.
func fe4Sqr(c0, c1, a, b *fe2) {
	var t0, t1, s fe2
	fe2Sqr(&t0, a)
	fe2Sqr(&t1, b)
	fe2Add(&s, a, b)
	fe2Sqr(&s, &s)
	fe2Sub(&s, &s, &t0)
	fe2Sub(c1, &s, &t1)
	fe2MulXi(&t1, &t1)
	fe2Add(c0, &t0, &t1)
}

// fe12SqrCyclotomic squares an element of the cyclotomic subgroup (Granger and
// Scott 2010, section 3.2).
func fe12SqrCyclotomic(z, x *fe12) {
	var t0, t1, t2, t3, t4, t5 fe2
	fe4Sqr(&t0, &t1, &x.C0.B0, &x.C1.B1)
	fe4Sqr(&t2, &t3, &x.C1.B0, &x.C0.B2)
	fe4Sqr(&t4, &t5, &x.C0.B1, &x.C1.B2)
	fe2MulXi(&t5, &t5)
	minus(&z.C0.B0, &t0, &x.C0.B0)
	minus(&z.C0.B1, &t2, &x.C0.B1)
	minus(&z.C0.B2, &t4, &x.C0.B2)
	plus(&z.C1.B0, &t5, &x.C1.B0)
	plus(&z.C1.B1, &t1, &x.C1.B1)
	plus(&z.C1.B2, &t3, &x.C1.B2)
}

// minus sets z = 3t - 2x.
func minus(z, t, x *fe2) {
	var s fe2
	fe2Sub(&s, t, x)
	fe2Add(&s, &s, &s)
	fe2Add(z, &s, t)
}

// plus sets z = 3t + 2x.
func plus(z, t, x *fe2) {
	var s fe2
	fe2Add(&s, t, x)
	fe2Add(&s, &s, &s)
	fe2Add(z, &s, t)
}

// frobenius[i] is xi^(i(p-1)/6), the factor of wⁱ under x -> x^p.
var frobenius = func() (g [6]fe2) {
	e := new(big.Int).Sub(fp.Modulus(), big.NewInt(1))
	e.Quo(e, big.NewInt(6))
	xi := fe2{A0: feOne, A1: feOne}
	g[0] = fe2One
	g[1].Exp(xi, e)
	for i := 2; i < 6; i++ {
		fe2Mul(&g[i], &g[i-1], &g[1])
	}
	return g
}()

// fe12Frobenius sets z = x^p.
func fe12Frobenius(z, x *fe12) {
	coefficient := func(z, x *fe2, i int) {
		fe2Conj(z, x)
		fe2Mul(z, z, &frobenius[i])
	}
	fe2Conj(&z.C0.B0, &x.C0.B0)
	coefficient(&z.C1.B0, &x.C1.B0, 1)
	coefficient(&z.C0.B1, &x.C0.B1, 2)
	coefficient(&z.C1.B1, &x.C1.B1, 3)
	coefficient(&z.C0.B2, &x.C0.B2, 4)
	coefficient(&z.C1.B2, &x.C1.B2, 5)
}

// fe12Words are the coefficients of x, for tables.
func fe12Words(x *fe12) [12]*fe {
	return [12]*fe{
		&x.C0.B0.A0, &x.C0.B0.A1, &x.C0.B1.A0, &x.C0.B1.A1, &x.C0.B2.A0, &x.C0.B2.A1,
		&x.C1.B0.A0, &x.C1.B0.A1, &x.C1.B1.A0, &x.C1.B1.A1, &x.C1.B2.A0, &x.C1.B2.A1,
	}
}

// fe12IsZero returns 1 if x is 0.
func fe12IsZero(x *fe12) uint64 {
	c := uint64(1)
	for _, f := range fe12Words(x) {
		c &= feIsZero(f)
	}
	return c
}

// fe12CondConj sets z = conj(z) if c is 1.
func fe12CondConj(z *fe12, c uint64) {
	words := fe12Words(z)
	for _, f := range words[6:] {
		feCondNeg(f, c)
	}
}

func fe12One() (z fe12) {
	z.C0.B0.A0 = feOne
	return z
}

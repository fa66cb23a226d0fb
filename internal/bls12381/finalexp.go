// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

// The backend has the same, but forgets some of the elements that can't be decompressed, and
// can't compute with vectors. All of this is for public values.

// finalExponentiation sets z = f^(3(p¹²-1)/r).
func finalExponentiation(z, f *fe12) {
	a, b := finalFactors(f)
	z.Mul(&a, &b)
}

// finalIsOne reports whether f^((p¹²-1)/r) = 1. That to the power of 3 is 1 for no others:
// its order divides r.
func finalIsOne(f *fe12) bool {
	if fe12IsZero(f) == 1 {
		return false
	}
	a, b := finalFactors(f)
	fe12Conj(&b, &b) // the inverse
	return a == b
}

// finalFactors returns a and b with ab = f^(3(p¹²-1)/r), and zeros for 0. The exponent is
//
//	(p⁶-1)(p²+1)·((z-1)²(z+p)(z²+p²-1) + 3)
//
// where z is the curve's seed (Hayashida, Hayasaka and Teruya 2020, section 4).
func finalFactors(f *fe12) (a, b fe12) {
	var g, t fe12
	t.Inverse(f)
	fe12Conj(&g, f)
	g.Mul(&g, &t)
	t.FrobeniusSquare(&g)
	g.Mul(&g, &t)

	b = g
	for range 2 {
		fe12PowSeed(&t, &b)
		fe12Conj(&b, &b)
		b.Mul(&b, &t)
	}
	fe12PowSeed(&t, &b)
	b.Frobenius(&b)
	b.Mul(&b, &t)
	a.FrobeniusSquare(&b)
	fe12PowSeed(&t, &b)
	fe12PowSeed(&t, &t)
	fe12Conj(&b, &b)
	b.Mul(&b, &t)
	b.Mul(&b, &a)
	a.CyclotomicSquare(&g)
	a.Mul(&a, &g)
	return a, b
}

// seedOnes are where |z| has its ones: 2⁶³ + 2⁶² + 2⁶⁰ + 2⁵⁷ + 2⁴⁸ + 2¹⁶.
var seedOnes = [6]int{16, 48, 57, 60, 62, 63}

// fe12PowSeed sets y = x^z for x in the cyclotomic subgroup, where the seed z is negative.
func fe12PowSeed(y, x *fe12) {
	var powers [len(seedOnes)]fe12
	if !compressedPowers(&powers, x) {
		at := 0
		t := *x
		for i, bit := range seedOnes {
			for ; at < bit; at++ {
				t.CyclotomicSquare(&t)
			}
			powers[i] = t
		}
	}
	acc := powers[0]
	for i := range powers[1:] {
		acc.Mul(&acc, &powers[i+1])
	}
	fe12Conj(y, &acc)
}

// A compressed is an element of the cyclotomic subgroup without two of its coefficients,
// on which its square's don't depend: Karabina 2013, section 3.
type compressed struct{ c01, c02, c10, c12 fe2 }

// compressedPowers sets out to x to the powers of 2 that seedOnes has. It reports whether
// it can: elements with a coefficient of 0, such as 1, are left to others.
func compressedPowers(out *[len(seedOnes)]fe12, x *fe12) bool {
	var c [len(out)]compressed
	squares(&c, &compressed{x.C0.B1, x.C0.B2, x.C1.B0, x.C1.B2})
	// One inversion for all: prod[i] is the product of the first i.
	var prod [len(out) + 1]fe2
	prod[0] = fe2One
	for i := range c {
		fe2Mul(&prod[i+1], &prod[i], &c[i].c10)
	}
	inv := prod[len(out)]
	if fe2IsZero(&inv) == 1 {
		return false
	}
	inv.Inverse(&inv)
	for i := len(c) - 1; i >= 0; i-- {
		var one fe2
		fe2Mul(&one, &inv, &prod[i])
		fe2Mul(&inv, &inv, &c[i].c10)
		c[i].decompress(&out[i], &one)
	}
	return true
}

// squares sets out to c to the powers of 2 that seedOnes has.
func squares(out *[len(seedOnes)]compressed, c *compressed) {
	at := 0
	if !hasVector {
		var t fe12
		t.C0.B1, t.C0.B2, t.C1.B0, t.C1.B2 = c.c01, c.c02, c.c10, c.c12
		for i, bit := range seedOnes {
			for ; at < bit; at++ {
				t.CyclotomicSquareCompressed(&t)
			}
			out[i] = compressed{t.C0.B1, t.C0.B2, t.C1.B0, t.C1.B2}
		}
		return
	}
	var v, w octet
	for i, x := range c.words() {
		v.set(i, x)
	}
	vectorMul(&v, &v, &vectorIn)
	for i, bit := range seedOnes {
		vectorCompressed(&v, bit-at)
		at = bit
		vectorMul(&w, &v, &vectorOut)
		for j, x := range out[i].words() {
			w.get(x, j)
		}
	}
}

func (c *compressed) words() [lanes]*fe {
	return [lanes]*fe{&c.c01.A0, &c.c01.A1, &c.c02.A0, &c.c02.A1, &c.c10.A0, &c.c10.A1, &c.c12.A0, &c.c12.A1}
}

// decompress sets z to the element of c, given the inverse of its c10 (Karabina 2013,
// theorem 3.1):
//
//	c11 = (xi·c12² + 3·c01² - 2·c02) / 4·c10
//	c00 = xi·(2·c11² + c10·c12 - 3·c01·c02) + 1
func (c *compressed) decompress(z *fe12, inverse *fe2) {
	var s, t, u fe2
	fe2Sqr(&s, &c.c12)
	fe2MulXi(&s, &s)
	fe2Sqr(&t, &c.c01)
	minus(&t, &t, &c.c02) // 3·c01² - 2·c02
	fe2Add(&s, &s, &t)
	s.A0.Halve()
	s.A1.Halve()
	s.A0.Halve()
	s.A1.Halve()
	fe2Mul(&s, &s, inverse)

	fe2Sqr(&t, &s)
	fe2Mul(&u, &c.c01, &c.c02)
	fe2Sub(&t, &t, &u)
	fe2Add(&t, &t, &t)
	fe2Sub(&t, &t, &u)
	fe2Mul(&u, &c.c10, &c.c12)
	fe2Add(&t, &t, &u)
	fe2MulXi(&t, &t)
	feAdd(&t.A0, &t.A0, &feOne)

	z.C0.B0, z.C0.B1, z.C0.B2 = t, c.c01, c.c02
	z.C1.B0, z.C1.B1, z.C1.B2 = c.c10, s, c.c12
}

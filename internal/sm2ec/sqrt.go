// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

// sqrtLanes is how many roots are taken together. The squarings of one wait for
// each other; those of two go on at once.
const sqrtLanes = 8

// SqrtBatch sets every element to a square root of itself where there is one, to
// zero where there is none, and sets ok accordingly. The lengths must agree.
//
// All follow the chain of [Element.Sqrt] together.
func SqrtBatch(xs []Element, ok []bool) { current.sqrtBatch(xs, ok[:len(xs)]) }

func sqrtBatch(xs []Element, ok []bool) {
	for len(xs) > 0 {
		m := min(sqrtLanes, len(xs))
		sqrtSome(xs[:m], ok[:m])
		xs, ok = xs[m:], ok[m:]
	}
}

// sqrtSome is SqrtBatch for at most sqrtLanes elements.
func sqrtSome(xs []Element, ok []bool) {
	var bufs [5][sqrtLanes]Element
	n := len(xs)
	z, x3, x6, x12, x32 := bufs[0][:n], bufs[1][:n], bufs[2][:n], bufs[3][:n], bufs[4][:n]

	// Exponents 2ᵏ-1 for k = 2, 3, 6, 12, 24, 30, 31, 32.
	copy(z, xs)
	sqrMul(z, 1, xs)
	sqrMul(z, 1, xs)
	copy(x3, z)
	sqrMul(z, 3, x3)
	copy(x6, z)
	sqrMul(z, 6, x6)
	copy(x12, z)
	sqrMul(z, 12, x12)
	sqrMul(z, 6, x6)
	sqrMul(z, 1, xs)
	sqrVec(z, 1)
	for i := range z {
		x32[i].Mul(&z[i], &xs[i])
	}
	// (p+1)/4: 31 ones, a zero, 128 ones, 31 zeros, a one, 62 zeros.
	for range 4 {
		sqrMul(z, 32, x32)
	}
	sqrMul(z, 32, xs)
	sqrVec(z, 62)
	for i := range z {
		var s Element
		s.Sqr(&z[i])
		ok[i] = s == xs[i]
		if !ok[i] {
			z[i] = Element{}
		}
		xs[i] = z[i]
	}
}

// sqrVecGeneric squares all of zs n times.
func sqrVecGeneric(zs []Element, n int) {
	for i := range zs {
		zs[i].sqrN(n)
	}
}

// sqrMul squares all of zs n times, and multiplies them by xs.
func sqrMul(zs []Element, n int, xs []Element) {
	sqrVec(zs, n)
	for i := range zs {
		zs[i].Mul(&zs[i], &xs[i])
	}
}

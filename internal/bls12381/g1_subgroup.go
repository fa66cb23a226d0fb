// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"math/bits"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
)

// beta2 is beta², the other cube root of unity.
var beta2 = func() (z fe) {
	feMul(&z, &beta, &beta)
	return z
}()

// g1InSubgroup reports whether a point of the curve is in the subgroup: exactly where
//
//	seed²·(x, y) = (beta²·x, -y)
//
// (Scott 2021, "A note on group membership tests for G1, G2 and GT on BLS pairing-
// friendly curves", section 5). The endomorphism that is the difference of both sides
// has r for its degree, so it vanishes on no other point of the curve.
func g1InSubgroup(a *bls.G1Affine) bool {
	if a.IsInfinity() {
		return true
	}
	p := g1SeedTimes(a)
	if p.Z.IsZero() {
		return false
	}
	// Doubling and adding don't use the curve's constant. So (x, y) without z is a
	// point of another curve in affine form, with the same multiples but for a factor
	// in z.
	q := g1SeedTimes(&bls.G1Affine{X: p.X, Y: p.Y})
	var z2, z3, t fe
	if feMul(&z3, &p.Z, &q.Z); z3.IsZero() {
		return false
	}
	feSquareTimes(&z2, &z3, 1)
	feMul(&z3, &z2, &z3)
	feMul(&t, &a.X, &beta2)
	feMul(&t, &t, &z2)
	if t != q.X {
		return false
	}
	feMul(&t, &a.Y, &z3)
	feNeg(&t, &t)
	return t == q.Y
}

// g1SeedTimes returns seed·a, for a that isn't the identity.
func g1SeedTimes(a *bls.G1Affine) bls.G1Jac {
	p := bls.G1Jac{X: a.X, Y: a.Y, Z: feOne}
	for i, n := range seedRuns {
		if i > 0 {
			g1AddAffine(&p, a)
		}
		g1DoubleTimes(&p, n)
	}
	return p
}

// seedRuns are how often to double between the additions that make up the seed, from
// its highest bit.
var seedRuns = func() (runs []int) {
	rest := uint64(seed)
	for rest != 0 {
		high := bits.Len64(rest)
		rest &^= 1 << (high - 1)
		runs = append(runs, high-max(bits.Len64(rest), 1))
	}
	return runs
}()

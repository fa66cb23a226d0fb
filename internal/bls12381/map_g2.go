// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/hash_to_curve"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
)

// The backend takes roots in Fp2 by a power of 758 bits in Fp2, as RFC 9380 does for any
// field. Here they are two powers of 379 bits in Fp, which take a quarter of the time.

// swuA, swuB and swuZ are the constants of the map to the curve isogenous to that of G2:
// RFC 9380, section 8.8.2.
var (
	swuA, swuB = hash_to_curve.G2SSWUIsogenyCurveCoefficients()
	swuZ       = hash_to_curve.G2SSWUIsogenyZ()
	sqrtMinus5 = func() (z fe) { // -norm(Z) is a square, for neither norm(Z) nor -1 is one
		var five fe
		five.SetUint64(5)
		five.Neg(&five)
		z.Sqrt(&five)
		return z
	}()
)

// mapToG2VarTime returns the point of E(Fp2) that u is mapped to: RFC 9380, section
// 6.6.3, with the simplified SWU map of section 6.6.2 and the isogeny. It isn't in the
// subgroup.
func mapToG2VarTime(u *fe2) (a bls.G2Affine) {
	var zu, d, n, x, g, y fe2
	zu.Square(u)
	zu.Mul(&zu, &swuZ) // Zu²
	d.Square(&zu)
	d.Add(&d, &zu)
	n.SetOne()
	n.Add(&n, &d)
	n.Mul(&n, &swuB)
	if d.IsZero() {
		d = swuZ
	} else {
		d.Neg(&d)
	}
	d.Mul(&d, &swuA)
	d.Inverse(&d)
	x.Mul(&n, &d) // x1 = B(Z²u⁴+Zu²+1) / -A(Z²u⁴+Zu²)
	g.Square(&x)
	g.Add(&g, &swuA)
	g.Mul(&g, &x)
	g.Add(&g, &swuB) // g(x1) = x1³ + A·x1 + B
	if !sqrtOrZVarTime(&y, &g) {
		// g(Zu²·x1) = (Zu²)³·g(x1), whose root is Zu²·u·sqrt(Z·g(x1)).
		x.Mul(&x, &zu)
		y.Mul(&y, &zu)
		y.Mul(&y, u)
	}
	if hash_to_curve.G2Sgn0(u) != hash_to_curve.G2Sgn0(&y) {
		y.Neg(&y)
	}
	hash_to_curve.G2Isogeny(&x, &y)
	return bls.G2Affine{X: x, Y: y}
}

// sqrtOrZVarTime sets y to a square root of g if there is one, and else to one of Z·g,
// and reports which.
//
// A root x0 + x1·i of g0 + g1·i has x0² = (g0+α)/2 with α² = norm(g), or the same with
// -α, and x1 = g1/(2·x0). As p = 3 mod 4, the power s = δ^((p-3)/4) gives both the root
// δ·s of δ or of -δ, and its inverse.
func sqrtOrZVarTime(y, g *fe2) bool {
	var norm, alpha, t fe
	norm.Square(&g.A0)
	t.Square(&g.A1)
	norm.Add(&norm, &t)
	alpha.ExpBySqrtPm3o4(norm)
	alpha.Mul(&alpha, &norm)
	t.Square(&alpha) // norm, or -norm if that isn't a square
	isSquare := t.Equal(&norm)
	h := *g
	if !isSquare {
		h.Mul(&h, &swuZ)
		alpha.Mul(&alpha, &sqrtMinus5) // its square is -5·(-norm) = norm(Z·g)
	}
	var delta, half, s fe
	delta.Add(&h.A0, &alpha)
	delta.Halve()
	if delta.IsZero() { // so that g1 = 0
		delta = h.A0
	}
	half = h.A1
	half.Halve()
	s.ExpBySqrtPm3o4(delta)
	t.Mul(&s, &delta)
	half.Mul(&half, &s)
	s.Square(&t)
	if s.Equal(&delta) {
		y.A0, y.A1 = t, half
	} else { // t² = -δ, so that t is x1
		y.A0.Neg(&half)
		y.A1 = t
	}
	return isSquare
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import bls "github.com/consensys/gnark-crypto/ecc/bls12-381"

// A G2 is a point of the subgroup of order r of y² = x³ + 4(1+u). The zero value is
// the identity.
//
// It is kept and computed with like a [G1].
type G2 struct {
	x, y, z fe2
	affine  bool // z is 1, or the point is the identity
}

// fixed returns p with the identity in its proper form.
func (p *G2) fixed() G2 {
	q := *p
	zero := fe2IsZero(&q.y) & fe2IsZero(&q.z)
	fe2Select(&q.y, &fe2One, &q.y, zero)
	return q
}

// NewG2 returns the identity.
func NewG2() *G2 { return new(G2).SetIdentity() }

// G2Generator returns the standard generator P2.
func G2Generator() *G2 { return new(G2).SetGenerator() }

// SetIdentity sets p to the identity.
func (p *G2) SetIdentity() *G2 {
	*p = G2{y: fe2One, affine: true}
	return p
}

// SetGenerator sets p = P2.
func (p *G2) SetGenerator() *G2 {
	*p = g2Generator
	return p
}

// Set sets p = q.
func (p *G2) Set(q *G2) *G2 {
	*p = *q
	return p
}

// Add sets p = q + s.
func (p *G2) Add(q, s *G2) *G2 {
	a, b := q.fixed(), s.fixed()
	g2Add(p, &a, &b)
	return p
}

// Sub sets p = q - s.
func (p *G2) Sub(q, s *G2) *G2 {
	a, b := q.fixed(), s.fixed()
	fe2Neg(&b.y, &b.y)
	g2Add(p, &a, &b)
	return p
}

// Double sets p = 2q.
func (p *G2) Double(q *G2) *G2 {
	a := q.fixed()
	g2Double(p, &a)
	return p
}

// Neg sets p = -q.
func (p *G2) Neg(q *G2) *G2 {
	*p = q.fixed()
	fe2Neg(&p.y, &p.y)
	return p
}

// Select sets p = q if c is 1, and p = s if c is 0.
func (p *G2) Select(q, s *G2, c int) *G2 {
	a, b := q.fixed(), s.fixed()
	p.affine = a.affine && b.affine
	fe2Select(&p.x, &a.x, &b.x, uint64(c&1))
	fe2Select(&p.y, &a.y, &b.y, uint64(c&1))
	fe2Select(&p.z, &a.z, &b.z, uint64(c&1))
	return p
}

// IsIdentity reports whether p is the identity.
func (p *G2) IsIdentity() bool { return fe2IsZero(&p.z) == 1 }

// Equal reports whether p = q.
func (p *G2) Equal(q *G2) bool {
	a, b := p.fixed(), q.fixed()
	var s, t fe2
	fe2Mul(&s, &a.x, &b.z)
	fe2Mul(&t, &b.x, &a.z)
	fe2Sub(&s, &s, &t)
	equal := fe2IsZero(&s)
	fe2Mul(&s, &a.y, &b.z)
	fe2Mul(&t, &b.y, &a.z)
	fe2Sub(&s, &s, &t)
	return equal&fe2IsZero(&s) == 1
}

// Wipe sets p to the identity, leaving nothing of its coordinates.
func (p *G2) Wipe() { p.SetIdentity() }

// NormalizeG2 divides out the z coordinates of points with one inversion. The
// points don't change, but their encodings and pairings come cheaper.
func NormalizeG2(points ...*G2) {
	// Montgomery's trick: prod[i] is the product of the first i.
	prod := make([]fe2, len(points)+1)
	zs := make([]fe2, len(points))
	prod[0] = fe2One
	for i, p := range points {
		*p = p.fixed()
		fe2Select(&zs[i], &fe2One, &p.z, fe2IsZero(&p.z))
		fe2Mul(&prod[i+1], &prod[i], &zs[i])
	}
	var inv, zi fe2
	fe2Invert(&inv, &prod[len(points)])
	for i := len(points) - 1; i >= 0; i-- {
		p := points[i]
		fe2Mul(&zi, &inv, &prod[i])
		fe2Mul(&inv, &inv, &zs[i])
		g2Scale(p, &zi)
	}
	clear(prod)
	clear(zs)
}

// g2Scale makes p affine, where zi is the inverse of its z, or anything for the
// identity.
func g2Scale(p *G2, zi *fe2) {
	id := fe2IsZero(&p.z)
	fe2Mul(&p.x, &p.x, zi)
	fe2Mul(&p.y, &p.y, zi)
	fe2Select(&p.x, &fe2{}, &p.x, id)
	fe2Select(&p.y, &fe2One, &p.y, id)
	fe2Select(&p.z, &p.z, &fe2One, id)
	p.affine = true
}

// normal returns p with z = 1, or the identity.
func (p *G2) normal() G2 {
	q := p.fixed()
	if !q.affine {
		var zi fe2
		fe2Invert(&zi, &q.z)
		g2Scale(&q, &zi)
	}
	return q
}

// toAffine returns the backend's form, in which the identity is (0, 0).
func (p *G2) toAffine() bls.G2Affine {
	q := p.normal()
	fe2Select(&q.y, &fe2{}, &q.y, fe2IsZero(&q.z))
	return bls.G2Affine{X: q.x, Y: q.y}
}

func g2FromAffine(a *bls.G2Affine) G2 {
	p := G2{x: a.X, y: a.Y, z: fe2One, affine: true}
	if a.IsInfinity() {
		p.SetIdentity()
	}
	return p
}

// g2FromJacobian is for public points.
func g2FromJacobian(j *bls.G2Jac) G2 {
	var a bls.G2Affine
	a.FromJacobian(j)
	return g2FromAffine(&a)
}

func (p *G2) jacobian() (j bls.G2Jac) {
	a := p.toAffine()
	j.FromAffine(&a)
	return j
}

// Projective formulas. The result may be an operand.

// g2Add is algorithm 7.
func g2Add(p, a, b *G2) {
	var t0, t1, t2, t3, t4, x3, y3, z3 fe2
	fe2Mul(&t0, &a.x, &b.x)
	fe2Mul(&t1, &a.y, &b.y)
	fe2Mul(&t2, &a.z, &b.z)
	fe2Add(&t3, &a.x, &a.y)
	fe2Add(&t4, &b.x, &b.y)
	fe2Mul(&t3, &t3, &t4)
	fe2Add(&t4, &t0, &t1)
	fe2Sub(&t3, &t3, &t4)
	fe2Add(&t4, &a.y, &a.z)
	fe2Add(&x3, &b.y, &b.z)
	fe2Mul(&t4, &t4, &x3)
	fe2Add(&x3, &t1, &t2)
	fe2Sub(&t4, &t4, &x3)
	fe2Add(&x3, &a.x, &a.z)
	fe2Add(&y3, &b.x, &b.z)
	fe2Mul(&x3, &x3, &y3)
	fe2Add(&y3, &t0, &t2)
	fe2Sub(&y3, &x3, &y3)
	fe2Add(&x3, &t0, &t0)
	fe2Add(&t0, &x3, &t0)
	fe2Mul12(&t2, &t2)
	fe2Add(&z3, &t1, &t2)
	fe2Sub(&t1, &t1, &t2)
	fe2Mul12(&y3, &y3)
	fe2Mul(&x3, &t4, &y3)
	fe2Mul(&t2, &t3, &t1)
	fe2Sub(&p.x, &t2, &x3)
	fe2Mul(&y3, &y3, &t0)
	fe2Mul(&t1, &t1, &z3)
	fe2Add(&p.y, &t1, &y3)
	fe2Mul(&t0, &t0, &t3)
	fe2Mul(&z3, &z3, &t4)
	fe2Add(&p.z, &z3, &t0)
	p.affine = false
}

// g2AddMixed is algorithm 8: p = a + (x, y), where the latter isn't the identity.
func g2AddMixed(p, a *G2, bx, by *fe2) {
	var t0, t1, t2, t3, t4, x3, y3, z3 fe2
	fe2Mul(&t0, &a.x, bx)
	fe2Mul(&t1, &a.y, by)
	fe2Add(&t3, bx, by)
	fe2Add(&t4, &a.x, &a.y)
	fe2Mul(&t3, &t3, &t4)
	fe2Add(&t4, &t0, &t1)
	fe2Sub(&t3, &t3, &t4)
	fe2Mul(&t4, by, &a.z)
	fe2Add(&t4, &t4, &a.y)
	fe2Mul(&y3, bx, &a.z)
	fe2Add(&y3, &y3, &a.x)
	fe2Add(&x3, &t0, &t0)
	fe2Add(&t0, &x3, &t0)
	fe2Mul12(&t2, &a.z)
	fe2Add(&z3, &t1, &t2)
	fe2Sub(&t1, &t1, &t2)
	fe2Mul12(&y3, &y3)
	fe2Mul(&x3, &t4, &y3)
	fe2Mul(&t2, &t3, &t1)
	fe2Sub(&p.x, &t2, &x3)
	fe2Mul(&y3, &y3, &t0)
	fe2Mul(&t1, &t1, &z3)
	fe2Add(&p.y, &t1, &y3)
	fe2Mul(&t0, &t0, &t3)
	fe2Mul(&z3, &z3, &t4)
	fe2Add(&p.z, &z3, &t0)
	p.affine = false
}

// g2Double is algorithm 9.
func g2Double(p, a *G2) {
	var t0, t1, t2, x3, y3, z3 fe2
	fe2Mul(&t0, &a.y, &a.y)
	fe2Add(&z3, &t0, &t0)
	fe2Add(&z3, &z3, &z3)
	fe2Add(&z3, &z3, &z3)
	fe2Mul(&t1, &a.y, &a.z)
	fe2Mul(&t2, &a.z, &a.z)
	fe2Mul12(&t2, &t2)
	fe2Mul(&x3, &t2, &z3)
	fe2Add(&y3, &t0, &t2)
	fe2Mul(&z3, &t1, &z3)
	fe2Add(&t1, &t2, &t2)
	fe2Add(&t2, &t1, &t2)
	fe2Sub(&t0, &t0, &t2)
	fe2Mul(&y3, &t0, &y3)
	fe2Mul(&t1, &a.x, &a.y)
	fe2Add(&p.y, &x3, &y3)
	fe2Mul(&x3, &t0, &t1)
	fe2Add(&p.x, &x3, &x3)
	p.z = z3
	p.affine = false
}

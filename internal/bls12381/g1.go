// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import bls "github.com/consensys/gnark-crypto/ecc/bls12-381"

// A G1 is a point of the subgroup of order r of y² = x³ + 4. The zero value is
// the identity.
//
// It is kept in projective coordinates (x/z, y/z), and added and doubled by the
// complete formulas of Renes, Costello and Batina 2016 (algorithms 7 to 9), which
// hold for all points without a case distinction.
type G1 struct {
	x, y, z fe
	affine  bool // z is 1, or the point is the identity
}

// fixed returns p with the identity in its proper form.
func (p *G1) fixed() G1 {
	q := *p
	zero := feIsZero(&q.y) & feIsZero(&q.z)
	feSelect(&q.y, &feOne, &q.y, zero)
	return q
}

// NewG1 returns the identity.
func NewG1() *G1 { return new(G1).SetIdentity() }

// G1Generator returns the standard generator P1.
func G1Generator() *G1 { return new(G1).SetGenerator() }

var g1Generator, g2Generator = func() (G1, G2) {
	_, _, p, q := bls.Generators()
	return g1FromAffine(&p), g2FromAffine(&q)
}()

// SetIdentity sets p to the identity.
func (p *G1) SetIdentity() *G1 {
	*p = G1{y: feOne, affine: true}
	return p
}

// SetGenerator sets p = P1.
func (p *G1) SetGenerator() *G1 {
	*p = g1Generator
	return p
}

// Set sets p = q.
func (p *G1) Set(q *G1) *G1 {
	*p = *q
	return p
}

// Add sets p = q + s.
func (p *G1) Add(q, s *G1) *G1 {
	a, b := q.fixed(), s.fixed()
	g1Add(p, &a, &b)
	return p
}

// Sub sets p = q - s.
func (p *G1) Sub(q, s *G1) *G1 {
	a, b := q.fixed(), s.fixed()
	feNeg(&b.y, &b.y)
	g1Add(p, &a, &b)
	return p
}

// Double sets p = 2q.
func (p *G1) Double(q *G1) *G1 {
	a := q.fixed()
	g1Double(p, &a)
	return p
}

// Neg sets p = -q.
func (p *G1) Neg(q *G1) *G1 {
	*p = q.fixed()
	feNeg(&p.y, &p.y)
	return p
}

// Select sets p = q if c is 1, and p = s if c is 0.
func (p *G1) Select(q, s *G1, c int) *G1 {
	a, b := q.fixed(), s.fixed()
	p.affine = a.affine && b.affine
	feSelect(&p.x, &a.x, &b.x, uint64(c&1))
	feSelect(&p.y, &a.y, &b.y, uint64(c&1))
	feSelect(&p.z, &a.z, &b.z, uint64(c&1))
	return p
}

// IsIdentity reports whether p is the identity.
func (p *G1) IsIdentity() bool { return feIsZero(&p.z) == 1 }

// Equal reports whether p = q.
func (p *G1) Equal(q *G1) bool {
	a, b := p.fixed(), q.fixed()
	var s, t fe
	feMul(&s, &a.x, &b.z)
	feMul(&t, &b.x, &a.z)
	feSub(&s, &s, &t)
	equal := feIsZero(&s)
	feMul(&s, &a.y, &b.z)
	feMul(&t, &b.y, &a.z)
	feSub(&s, &s, &t)
	return equal&feIsZero(&s) == 1
}

// Wipe sets p to the identity, leaving nothing of its coordinates.
func (p *G1) Wipe() { p.SetIdentity() }

// NormalizeG1 divides out the z coordinates of points with one inversion. The
// points don't change, but their encodings and pairings come cheaper.
func NormalizeG1(points ...*G1) {
	// Montgomery's trick: prod[i] is the product of the first i.
	prod := make([]fe, len(points)+1)
	zs := make([]fe, len(points))
	prod[0] = feOne
	for i, p := range points {
		*p = p.fixed()
		feSelect(&zs[i], &feOne, &p.z, feIsZero(&p.z))
		feMul(&prod[i+1], &prod[i], &zs[i])
	}
	var inv, zi fe
	feInvert(&inv, &prod[len(points)])
	for i := len(points) - 1; i >= 0; i-- {
		p := points[i]
		feMul(&zi, &inv, &prod[i])
		feMul(&inv, &inv, &zs[i])
		g1Scale(p, &zi)
	}
	clear(prod)
	clear(zs)
}

// g1Scale makes p affine, where zi is the inverse of its z, or anything for the
// identity.
func g1Scale(p *G1, zi *fe) {
	id := feIsZero(&p.z)
	feMul(&p.x, &p.x, zi)
	feMul(&p.y, &p.y, zi)
	feSelect(&p.x, &fe{}, &p.x, id)
	feSelect(&p.y, &feOne, &p.y, id)
	feSelect(&p.z, &p.z, &feOne, id)
	p.affine = true
}

// normal returns p with z = 1, or the identity.
func (p *G1) normal() G1 {
	q := p.fixed()
	if !q.affine {
		var zi fe
		feInvert(&zi, &q.z)
		g1Scale(&q, &zi)
	}
	return q
}

// toAffine returns the backend's form, in which the identity is (0, 0).
func (p *G1) toAffine() bls.G1Affine {
	q := p.normal()
	feSelect(&q.y, &fe{}, &q.y, feIsZero(&q.z))
	return bls.G1Affine{X: q.x, Y: q.y}
}

func g1FromAffine(a *bls.G1Affine) G1 {
	p := G1{x: a.X, y: a.Y, z: feOne, affine: true}
	if a.IsInfinity() {
		p.SetIdentity()
	}
	return p
}

// g1FromJacobian is for public points.
func g1FromJacobian(j *bls.G1Jac) G1 {
	var a bls.G1Affine
	a.FromJacobian(j)
	return g1FromAffine(&a)
}

func (p *G1) jacobian() (j bls.G1Jac) {
	a := p.toAffine()
	j.FromAffine(&a)
	return j
}

// Projective formulas. The result may be an operand.

// g1Add is algorithm 7.
func g1Add(p, a, b *G1) {
	if hasKernel {
		addComplete(&p.x[0], &a.x[0], &b.x[0])
		p.affine = false
		return
	}
	var t0, t1, t2, t3, t4, x3, y3, z3 fe
	feMul(&t0, &a.x, &b.x)
	feMul(&t1, &a.y, &b.y)
	feMul(&t2, &a.z, &b.z)
	feAdd(&t3, &a.x, &a.y)
	feAdd(&t4, &b.x, &b.y)
	feMul(&t3, &t3, &t4)
	feAdd(&t4, &t0, &t1)
	feSub(&t3, &t3, &t4)
	feAdd(&t4, &a.y, &a.z)
	feAdd(&x3, &b.y, &b.z)
	feMul(&t4, &t4, &x3)
	feAdd(&x3, &t1, &t2)
	feSub(&t4, &t4, &x3)
	feAdd(&x3, &a.x, &a.z)
	feAdd(&y3, &b.x, &b.z)
	feMul(&x3, &x3, &y3)
	feAdd(&y3, &t0, &t2)
	feSub(&y3, &x3, &y3)
	feAdd(&x3, &t0, &t0)
	feAdd(&t0, &x3, &t0)
	feMul12(&t2, &t2)
	feAdd(&z3, &t1, &t2)
	feSub(&t1, &t1, &t2)
	feMul12(&y3, &y3)
	feMul(&x3, &t4, &y3)
	feMul(&t2, &t3, &t1)
	feSub(&p.x, &t2, &x3)
	feMul(&y3, &y3, &t0)
	feMul(&t1, &t1, &z3)
	feAdd(&p.y, &t1, &y3)
	feMul(&t0, &t0, &t3)
	feMul(&z3, &z3, &t4)
	feAdd(&p.z, &z3, &t0)
	p.affine = false
}

// g1AddMixed is algorithm 8: p = a + e, where e isn't the identity.
func g1AddMixed(p, a *G1, e *g1Entry) {
	if hasKernel {
		addMixed(&p.x[0], &a.x[0], &e.x[0])
		p.affine = false
		return
	}
	bx, by := &e.x, &e.y
	var t0, t1, t2, t3, t4, x3, y3, z3 fe
	feMul(&t0, &a.x, bx)
	feMul(&t1, &a.y, by)
	feAdd(&t3, bx, by)
	feAdd(&t4, &a.x, &a.y)
	feMul(&t3, &t3, &t4)
	feAdd(&t4, &t0, &t1)
	feSub(&t3, &t3, &t4)
	feMul(&t4, by, &a.z)
	feAdd(&t4, &t4, &a.y)
	feMul(&y3, bx, &a.z)
	feAdd(&y3, &y3, &a.x)
	feAdd(&x3, &t0, &t0)
	feAdd(&t0, &x3, &t0)
	feMul12(&t2, &a.z)
	feAdd(&z3, &t1, &t2)
	feSub(&t1, &t1, &t2)
	feMul12(&y3, &y3)
	feMul(&x3, &t4, &y3)
	feMul(&t2, &t3, &t1)
	feSub(&p.x, &t2, &x3)
	feMul(&y3, &y3, &t0)
	feMul(&t1, &t1, &z3)
	feAdd(&p.y, &t1, &y3)
	feMul(&t0, &t0, &t3)
	feMul(&z3, &z3, &t4)
	feAdd(&p.z, &z3, &t0)
	p.affine = false
}

// g1Double is algorithm 9.
func g1Double(p, a *G1) {
	if hasKernel {
		doubleComplete(&p.x[0], &a.x[0])
		p.affine = false
		return
	}
	var t0, t1, t2, x3, y3, z3 fe
	feMul(&t0, &a.y, &a.y)
	feAdd(&z3, &t0, &t0)
	feAdd(&z3, &z3, &z3)
	feAdd(&z3, &z3, &z3)
	feMul(&t1, &a.y, &a.z)
	feMul(&t2, &a.z, &a.z)
	feMul12(&t2, &t2)
	feMul(&x3, &t2, &z3)
	feAdd(&y3, &t0, &t2)
	feMul(&z3, &t1, &z3)
	feAdd(&t1, &t2, &t2)
	feAdd(&t2, &t1, &t2)
	feSub(&t0, &t0, &t2)
	feMul(&y3, &t0, &y3)
	feMul(&t1, &a.x, &a.y)
	feAdd(&p.y, &x3, &y3)
	feMul(&x3, &t0, &t1)
	feAdd(&p.x, &x3, &x3)
	p.z = z3
	p.affine = false
}

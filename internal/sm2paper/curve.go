// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2paper

import "github.com/undersign/undersign/internal/sm2ec"

var (
	curveB, curve2B, curve4B = coefficientB()

	// order is n as a field element, and gap is p-n: below it, x and x+n are both
	// coordinates, and both are r-e modulo n.
	order, gap = orderAndGap()

	one = newElement(1)
)

// coefficientB returns b, 2b and 4b, where y² = x³-3x+b holds for the generator.
func coefficientB() (b, b2, b4 element) {
	g := sm2ec.Generator()
	f := field{new(Cost)}
	f.sqr(&b2, &g.X)
	b2 = sub(b2, newElement(3))
	f.mul(&b2, &b2, &g.X)
	f.sqr(&b, &g.Y)
	b = sub(b, b2)
	return b, double(b), quadruple(b)
}

func orderAndGap() (n element, d [32]byte) {
	var minus1 sm2ec.Scalar
	minus1.SetUint64(1)
	minus1.Neg(&minus1)
	b := minus1.Bytes()
	n.SetBytes(&b)
	n = add(n, newElement(1))
	minusN := neg(n)
	return n, minusN.Bytes()
}

// curve is y² = x³ + ax + b', of which arithmetic needs a alone.
type curve struct{ a element }

// sm2Curve is the curve itself.
var sm2Curve = curve{neg(newElement(3))}

// double sets p = 2q by 10 multiplications, for any a: the paper counts them on
// the curve itself too, where a = -3 would allow 8. There is no point of order 2
// on the curve, its twist, or the curves of step 2, which are isomorphic to one of
// them. Infinity gives infinity.
func (f field) double(c *curve, p, q *sm2ec.Jacobian) {
	var x2, y2, y4, z2, s, m element
	f.sqr(&x2, &q.X)
	f.sqr(&y2, &q.Y)
	f.sqr(&z2, &q.Z)
	f.mul(&s, &q.X, &y2)
	s = quadruple(s)
	f.sqr(&y4, &y2)
	f.sqr(&m, &z2)
	f.mul(&m, &m, &c.a)
	m = add(m, triple(x2))
	f.mul(&p.Z, &q.Y, &q.Z)
	p.Z = double(p.Z)
	f.sqr(&p.X, &m)
	p.X = sub(p.X, double(s))
	s = sub(s, p.X)
	f.mul(&p.Y, &m, &s)
	p.Y = sub(p.Y, double(quadruple(y4)))
}

// addAffine sets p = q + r by 11 multiplications.
func (f field) addAffine(c *curve, p, q *sm2ec.Jacobian, r *sm2ec.Affine) {
	if q.IsInfinity() {
		*p = r.Jacobian()
		return
	}
	var z2, z3, h, w, h2, h3, v, t element
	f.sqr(&z2, &q.Z)
	f.mul(&z3, &z2, &q.Z)
	f.mul(&h, &r.X, &z2)
	h = sub(h, q.X)
	f.mul(&w, &r.Y, &z3)
	w = sub(w, q.Y)
	if h.IsZero() {
		if w.IsZero() {
			f.double(c, p, q)
		} else {
			*p = sm2ec.Jacobian{}
		}
		return
	}
	f.sqr(&h2, &h)
	f.mul(&h3, &h2, &h)
	f.mul(&v, &q.X, &h2)
	f.mul(&t, &q.Y, &h3)
	f.mul(&p.Z, &q.Z, &h)
	f.sqr(&p.X, &w)
	p.X = sub(sub(p.X, h3), double(v))
	v = sub(v, p.X)
	f.mul(&p.Y, &w, &v)
	p.Y = sub(p.Y, t)
}

// affine returns the coordinates of p, given 1/Z.
func (f field) affine(p *sm2ec.Jacobian, zi *element) (a sm2ec.Affine) {
	var z2 element
	f.sqr(&z2, zi)
	f.mul(&a.X, &p.X, &z2)
	f.mul(&z2, &z2, zi)
	f.mul(&a.Y, &p.Y, &z2)
	return a
}

// bit returns bit i of k.
func bit(k *sm2ec.Scalar, i int) uint { return uint(k[i/64]>>(i%64)) & 1 }

// rhs returns c = x³ - 3x + b by 2 multiplications.
func (f field) rhs(x *element) (c element) {
	f.sqr(&c, x)
	c = sub(c, newElement(3))
	f.mul(&c, &c, x)
	return add(c, curveB)
}

// seminumeric multiplies a point by k, knowing its x and c = x³+ax+b = y² alone,
// and returns the x-coordinate as num/den. With y² = c, (x, vy) on the curve is
// (cx, c²v) on
//
//	Y² = X³ + ac²X + bc³,
//
// and both cx and c² are known for v = 1. So it is binary multiplication on
// that curve, whose a is another one for every signature. It reports false if
// the product is infinity.
func (f field) seminumeric(x, c *element, k *sm2ec.Scalar) (num, den element, ok bool) {
	var base sm2ec.Affine
	f.mul(&base.X, c, x)
	f.sqr(&base.Y, c)
	e := curve{neg(triple(base.Y))}
	i := 255
	for i > 0 && bit(k, i) == 0 {
		i--
	}
	p := base.Jacobian()
	for i--; i >= 0; i-- {
		f.double(&e, &p, &p)
		if bit(k, i) == 1 {
			f.addAffine(&e, &p, &p, &base)
		}
	}
	// X/Z² = cx(kR)
	f.sqr(&den, &p.Z)
	f.mul(&den, &den, c)
	return p.X, den, !p.IsInfinity()
}

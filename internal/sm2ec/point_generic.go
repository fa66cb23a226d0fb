// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

// The formulas for points, as the assembly has them too.

// doubleNGeneric doubles p n times. Infinity stays infinity.
//
// The formula is
//
//	M = 3(X - Z²)(X + Z²), S = 4XY², X3 = M² - 2S, Y3 = M(S - X3) - 8Y⁴, Z3 = 2YZ.
func doubleNGeneric(p *Jacobian, n int) {
	for range n {
		var s, zz, m, t Element
		zz.Sqr(&p.Z)
		s.Double(&p.Y)
		p.Z.Mul(&p.Z, &s)
		s.Sqr(&s)
		m.Add(&p.X, &zz)
		t.Sub(&p.X, &zz)
		t.Mul(&t, &m)
		m.Double(&t)
		m.Add(&m, &t)
		t.Mul(&s, &p.X)
		p.X.Sqr(&m)
		p.X.Sub(&p.X, &t)
		p.X.Sub(&p.X, &t)
		t.Sub(&t, &p.X)
		t.Mul(&t, &m)
		s.Sqr(&s)
		s.halve(&s)
		p.Y.Sub(&t, &s)
	}
}

// addDistinctAffineGeneric sets p = q + r, where q isn't infinity, and reports true,
// or leaves p alone and reports false if both have the same x.
func addDistinctAffineGeneric(p, q *Jacobian, r *Affine) bool {
	var z2, h, w Element
	z2.Sqr(&q.Z)
	h.Mul(&r.X, &z2)
	h.Sub(&h, &q.X)
	if h.IsZero() {
		return false
	}
	w.Mul(&z2, &q.Z)
	w.Mul(&w, &r.Y)
	w.Sub(&w, &q.Y)
	p.Z.Mul(&q.Z, &h)
	p.addTail(&q.X, &q.Y, &h, &w)
	return true
}

// addDistinctGeneric sets p = q + r, where neither is infinity, and reports true,
// or leaves p alone and reports false if both have the same x.
func addDistinctGeneric(p, q, r *Jacobian) bool {
	var qz2, rz2, u, s, h, w, z Element
	qz2.Sqr(&q.Z)
	rz2.Sqr(&r.Z)
	u.Mul(&q.X, &rz2)
	h.Mul(&r.X, &qz2)
	h.Sub(&h, &u)
	if h.IsZero() {
		return false
	}
	s.Mul(&rz2, &r.Z)
	s.Mul(&s, &q.Y)
	w.Mul(&qz2, &q.Z)
	w.Mul(&w, &r.Y)
	w.Sub(&w, &s)
	z.Mul(&q.Z, &r.Z)
	p.Z.Mul(&z, &h)
	p.addTail(&u, &s, &h, &w)
	return true
}

// addTail sets X and Y of a sum, given those of its first operand over the
// common denominator and the differences h of the x and w of the y:
// X3 = w² - h³ - 2 u h², Y3 = w (u h² - X3) - s h³.
func (p *Jacobian) addTail(u, s, h, w *Element) {
	var h2, h3, v, t Element
	h2.Sqr(h)
	h3.Mul(&h2, h)
	v.Mul(u, &h2)
	t.Mul(s, &h3)
	p.X.Sqr(w)
	p.X.Sub(&p.X, &h3)
	p.X.Sub(&p.X, &v)
	p.X.Sub(&p.X, &v)
	v.Sub(&v, &p.X)
	v.Mul(&v, w)
	p.Y.Sub(&v, &t)
}

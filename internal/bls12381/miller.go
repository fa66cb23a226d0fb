// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import bls "github.com/consensys/gnark-crypto/ecc/bls12-381"

// A line is r0 + r1·v + r2·vw, of the points of E that the map from the twist gives.
type line struct{ r0, r1, r2 fe2 }

// A miller is one pair of a Miller loop, with neither point the identity.
type miller struct {
	p bls.G1Affine
	q bls.G2Affine
	t point2 // multiple of q
}

// A point2 is (x/z, y/z) on the twist.
type point2 struct{ x, y, z fe2 }

// millerLoop returns the product of the Miller functions. Its squarings are shared, and
// lines are multiplied by one another first, as their product has few coefficients. In the
// end each t is |z|q.
func millerLoop(pairs []miller) (f fe12) {
	f = fe12One()
	for i := range pairs {
		m := &pairs[i]
		m.t = point2{m.q.X, m.q.Y, fe2One}
	}
	var l1, l2 line
	for bit := 62; bit >= 0; bit-- {
		if bit < 62 {
			f.Square(&f)
		}
		if uint64(seed)>>bit&1 == 1 {
			for i := range pairs {
				m := &pairs[i]
				m.t.double(&l1, &m.p)
				m.t.add(&l2, &m.q, &m.p)
				mulLines(&f, &l1, &l2)
			}
			continue
		}
		i := 0
		for ; i+1 < len(pairs); i += 2 {
			pairs[i].t.double(&l1, &pairs[i].p)
			pairs[i+1].t.double(&l2, &pairs[i+1].p)
			mulLines(&f, &l1, &l2)
		}
		if i < len(pairs) {
			pairs[i].t.double(&l1, &pairs[i].p)
			f.MulBy014(&l1.r0, &l1.r1, &l1.r2)
		}
	}
	f.Conjugate(&f) // the seed is negative
	return f
}

// mulLines multiplies f by a and b.
func mulLines(f *fe12, a, b *line) {
	var s, t fe2
	var c [5]fe2 // of 1, v, v², vw, v²w
	c[0].Mul(&a.r0, &b.r0)
	c[2].Mul(&a.r1, &b.r1)
	s.Add(&a.r0, &a.r1)
	t.Add(&b.r0, &b.r1)
	c[1].Mul(&s, &t)
	c[1].Sub(&c[1], &c[0])
	c[1].Sub(&c[1], &c[2])
	var d fe2
	d.Mul(&a.r2, &b.r2)
	s.Add(&a.r0, &a.r2)
	t.Add(&b.r0, &b.r2)
	c[3].Mul(&s, &t)
	c[3].Sub(&c[3], &c[0])
	c[3].Sub(&c[3], &d)
	s.Add(&a.r1, &a.r2)
	t.Add(&b.r1, &b.r2)
	c[4].Mul(&s, &t)
	c[4].Sub(&c[4], &c[2])
	c[4].Sub(&c[4], &d)
	d.MulByNonResidue(&d) // (vw)² = xi
	c[0].Add(&c[0], &d)
	f.MulBy01245(&c)
}

// double doubles t, and sets l to the tangent at p (Aranha et al. 2013, section 4.3). If y
// or z is 0, z becomes 0.
func (t *point2) double(l *line, p *bls.G1Affine) {
	var a, b, c, e, f, g, h, s fe2
	a.Mul(&t.x, &t.y)
	a.Halve()
	b.Square(&t.y)
	c.Square(&t.z)
	e.Double(&c)
	e.Add(&e, &c)
	e.MulBybTwistCurveCoeff(&e)
	f.Double(&e)
	f.Add(&f, &e)
	g.Add(&b, &f)
	g.Halve()
	h.Add(&t.y, &t.z)
	h.Square(&h)
	s.Add(&b, &c)
	h.Sub(&h, &s)

	l.r0.Sub(&e, &b)
	l.r1.Square(&t.x)
	s.Double(&l.r1)
	l.r1.Add(&l.r1, &s)
	l.r1.MulByElement(&l.r1, &p.X)
	l.r2.MulByElement(&h, &p.Y)
	l.r2.Neg(&l.r2)

	e.Square(&e)
	s.Double(&e)
	e.Add(&e, &s)
	s.Sub(&b, &f)
	t.x.Mul(&a, &s)
	t.y.Square(&g)
	t.y.Sub(&t.y, &e)
	t.z.Mul(&b, &h)
}

// add adds q to t, and sets l to the line through both at p (Aranha et al. 2013, section
// 4.3). If z is 0 or t is q or -q, z becomes 0.
func (t *point2) add(l *line, q *bls.G2Affine, p *bls.G1Affine) {
	var o, d, c, e, g, h, s fe2
	s.Mul(&q.Y, &t.z)
	o.Sub(&t.y, &s)
	s.Mul(&q.X, &t.z)
	d.Sub(&t.x, &s)

	l.r0.Mul(&q.X, &o)
	s.Mul(&d, &q.Y)
	l.r0.Sub(&l.r0, &s)
	l.r1.MulByElement(&o, &p.X)
	l.r1.Neg(&l.r1)
	l.r2.MulByElement(&d, &p.Y)

	c.Square(&o)
	g.Square(&d)
	e.Mul(&d, &g)
	c.Mul(&t.z, &c)
	g.Mul(&t.x, &g)
	h.Add(&e, &c)
	s.Double(&g)
	h.Sub(&h, &s)
	t.x.Mul(&d, &h)
	s.Mul(&t.y, &e)
	t.y.Sub(&g, &h)
	t.y.Mul(&t.y, &o)
	t.y.Sub(&t.y, &s)
	t.z.Mul(&e, &t.z)
}

// inSubgroup reports, after the loop, whether q is in the subgroup: the endomorphism of
// [G2.ScalarMult] multiplies it by z there, and nowhere else (Scott 2021, section 4). Where
// a step met a case that the formulas don't have, z is 0 since, which no point of order r
// leads to: its multiples up to |z| are different from it, its opposite and the identity.
func (m *miller) inSubgroup() bool {
	if m.t.z.IsZero() {
		return false
	}
	var x, y fe2
	x.Conjugate(&m.q.X)
	x.Mul(&x, &psiX)
	x.Mul(&x, &m.t.z)
	y.Conjugate(&m.q.Y)
	y.Mul(&y, &psiY)
	y.Mul(&y, &m.t.z)
	y.Neg(&y)
	return x.Equal(&m.t.x) && y.Equal(&m.t.y)
}

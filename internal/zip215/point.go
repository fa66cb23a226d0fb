// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package zip215

import (
	"filippo.io/edwards25519"
	"filippo.io/edwards25519/field"
)

// Points of the curve -x² + y² = 1 + dx²y², after Hisil, Wong, Carter and Dawson 2008
// (Twisted Edwards Curves Revisited, sections 3.1 and 3.3). The formulas of addition are
// complete: d isn't a square, so they hold for all points, of small order too.

// An extended point is (X/Z, Y/Z), with T = XY/Z.
type extended struct{ x, y, z, t field.Element }

// An affine point is one to be added often: y+x, y-x and 2dxy.
type affine struct{ plus, minus, t2d field.Element }

// d2 is 2d, for d = -121665/121666.
var d2 = func() *field.Element {
	d := new(field.Element).Mult32(new(field.Element).Invert(element(121666)), 121665)
	d.Negate(d)
	return d.Add(d, d)
}()

var (
	two  = element(2)
	four = element(4)
	half = new(field.Element).Invert(two)
)

// generator is B.
var generator = func() *affine {
	x, y, _, _ := edwards25519.NewGeneratorPoint().ExtendedCoordinates() // its Z is 1
	a := new(affine)
	a.set(x, y)
	return a
}()

func element(v uint32) *field.Element {
	e := new(field.Element).One()
	return e.Mult32(e, v)
}

func (p *extended) setIdentity() {
	p.x.Zero()
	p.y.One()
	p.z.One()
	p.t.Zero()
}

// isIdentity reports whether p is (0, 1).
func (p *extended) isIdentity() bool {
	var zero field.Element
	return p.x.Equal(&zero) == 1 && p.y.Equal(&p.z) == 1
}

// isSmall reports whether 8p is the identity.
func (p *extended) isSmall() bool {
	q := *p
	for range 3 {
		q.double()
	}
	return q.isIdentity()
}

// setPoint sets p to q.
func (p *extended) setPoint(q *edwards25519.Point) {
	x, y, z, t := q.ExtendedCoordinates()
	*p = extended{*x, *y, *z, *t}
}

// libraryPoint returns a, which must be on the curve.
func (a *affine) libraryPoint() *edwards25519.Point {
	p := a.extended()
	q, err := new(edwards25519.Point).SetExtendedCoordinates(&p.x, &p.y, &p.z, &p.t)
	if err != nil {
		panic("zip215: a point that isn't on the curve")
	}
	return q
}

// extended returns a as an extended point.
func (a *affine) extended() (p extended) {
	p.x.Subtract(&a.plus, &a.minus) // 2x
	p.y.Add(&a.plus, &a.minus)      // 2y
	p.z.Set(two)
	p.t.Multiply(&p.x, &p.y)
	p.t.Multiply(&p.t, half)
	return p
}

// setAffine sets p to a, or to -a: with 4 for Z there is one product.
func (p *extended) setAffine(a *affine, minus bool) {
	if minus {
		p.x.Subtract(&a.minus, &a.plus)
	} else {
		p.x.Subtract(&a.plus, &a.minus) // 2x
	}
	p.y.Add(&a.plus, &a.minus) // 2y
	p.t.Multiply(&p.x, &p.y)
	p.x.Add(&p.x, &p.x)
	p.y.Add(&p.y, &p.y)
	p.z.Set(four)
}

func (a *affine) set(x, y *field.Element) {
	a.plus.Add(y, x)
	a.minus.Subtract(y, x)
	a.t2d.Multiply(x, y)
	a.t2d.Multiply(&a.t2d, d2)
}

// A scratch is room for what additions compute on the way.
type scratch struct{ a, b, c, d, e, f, g, h field.Element }

// add sets p to p + q.
func (p *extended) add(q *affine, s *scratch) {
	s.a.Subtract(&p.y, &p.x)
	s.b.Add(&p.y, &p.x)
	s.a.Multiply(&s.a, &q.minus)
	s.b.Multiply(&s.b, &q.plus)
	s.c.Multiply(&p.t, &q.t2d)
	s.d.Add(&p.z, &p.z)
	s.f.Subtract(&s.d, &s.c)
	s.g.Add(&s.d, &s.c)
	p.finish(s)
}

// sub sets p to p - q. The point -q has plus and minus exchanged, and -t2d.
func (p *extended) sub(q *affine, s *scratch) {
	s.a.Subtract(&p.y, &p.x)
	s.b.Add(&p.y, &p.x)
	s.a.Multiply(&s.a, &q.plus)
	s.b.Multiply(&s.b, &q.minus)
	s.c.Multiply(&p.t, &q.t2d)
	s.d.Add(&p.z, &p.z)
	s.f.Add(&s.d, &s.c)
	s.g.Subtract(&s.d, &s.c)
	p.finish(s)
}

// addExtended sets p to p + q.
func (p *extended) addExtended(q *extended, s *scratch) {
	s.a.Subtract(&p.y, &p.x)
	s.e.Subtract(&q.y, &q.x)
	s.a.Multiply(&s.a, &s.e)
	s.b.Add(&p.y, &p.x)
	s.e.Add(&q.y, &q.x)
	s.b.Multiply(&s.b, &s.e)
	s.c.Multiply(&p.t, &q.t)
	s.c.Multiply(&s.c, d2)
	s.d.Multiply(&p.z, &q.z)
	s.d.Add(&s.d, &s.d)
	s.f.Subtract(&s.d, &s.c)
	s.g.Add(&s.d, &s.c)
	p.finish(s)
}

// finish is the common end of additions.
func (p *extended) finish(s *scratch) {
	s.e.Subtract(&s.b, &s.a)
	s.h.Add(&s.b, &s.a)
	p.x.Multiply(&s.e, &s.f)
	p.y.Multiply(&s.g, &s.h)
	p.t.Multiply(&s.e, &s.h)
	p.z.Multiply(&s.f, &s.g)
}

// double sets p to 2p.
func (p *extended) double() {
	var a, b, c, e, f, g, h field.Element
	a.Square(&p.x)
	b.Square(&p.y)
	c.Square(&p.z)
	c.Add(&c, &c)
	h.Add(&a, &b)
	e.Add(&p.x, &p.y)
	e.Square(&e)
	e.Subtract(&h, &e)
	g.Subtract(&a, &b)
	f.Add(&c, &g)
	p.x.Multiply(&e, &f)
	p.y.Multiply(&g, &h)
	p.t.Multiply(&e, &h)
	p.z.Multiply(&f, &g)
}

func (p *extended) negate() {
	p.x.Negate(&p.x)
	p.t.Negate(&p.t)
}

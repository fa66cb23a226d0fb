// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package edwards

import (
	"filippo.io/edwards25519"
	"filippo.io/edwards25519/field"
)

// Points of the curve -x² + y² = 1 + dx²y², after Hisil, Wong, Carter and Dawson 2008
// (Twisted Edwards Curves Revisited, sections 3.1 and 3.3). The formulas of addition are
// complete: d isn't a square, so they hold for all points, of small order too.

// A Point is (X/Z, Y/Z), with T = XY/Z. The zero value is none: see SetIdentity.
type Point struct{ x, y, z, t field.Element }

// An Affine point is one to be added often: y+x, y-x and 2dxy.
type Affine struct{ plus, minus, t2d field.Element }

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

var generator = *new(Affine).SetLibrary(edwards25519.NewGeneratorPoint())

// Generator returns B.
func Generator() *Affine {
	g := generator
	return &g
}

func element(v uint32) *field.Element {
	e := new(field.Element).One()
	return e.Mult32(e, v)
}

// SetIdentity sets p to (0, 1).
func (p *Point) SetIdentity() {
	p.x.Zero()
	p.y.One()
	p.z.One()
	p.t.Zero()
}

// IsIdentity reports whether p is (0, 1).
func (p *Point) IsIdentity() bool {
	var zero field.Element
	return p.x.Equal(&zero) == 1 && p.y.Equal(&p.z) == 1
}

// IsSmall reports whether 8p is the identity.
func (p *Point) IsSmall() bool {
	q := *p
	for range 3 {
		q.double()
	}
	return q.IsIdentity()
}

// SetLibrary sets p to q.
func (p *Point) SetLibrary(q *edwards25519.Point) {
	x, y, z, t := q.ExtendedCoordinates()
	*p = Point{*x, *y, *z, *t}
}

// Library returns a.
func (a *Affine) Library() *edwards25519.Point {
	p := a.Point()
	return p.Library()
}

// Library returns p. It panics if p isn't on the curve: no point is that comes from one.
func (p *Point) Library() *edwards25519.Point {
	q, err := new(edwards25519.Point).SetExtendedCoordinates(&p.x, &p.y, &p.z, &p.t)
	if err != nil {
		panic("edwards: a point that isn't on the curve")
	}
	return q
}

// Point returns a.
func (a *Affine) Point() (p Point) {
	p.x.Subtract(&a.plus, &a.minus) // 2x
	p.y.Add(&a.plus, &a.minus)      // 2y
	p.z.Set(two)
	p.t.Multiply(&p.x, &p.y)
	p.t.Multiply(&p.t, half)
	return p
}

// setAffine sets p to a, or to -a: with 4 for Z there is one product.
func (p *Point) setAffine(a *Affine, minus bool) {
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

// Set sets a to (x, y) and returns it. The caller knows that it is on the curve.
func (a *Affine) Set(x, y *field.Element) *Affine {
	a.plus.Add(y, x)
	a.minus.Subtract(y, x)
	a.t2d.Multiply(x, y)
	a.t2d.Multiply(&a.t2d, d2)
	return a
}

// SetLibrary sets a to q and returns it.
func (a *Affine) SetLibrary(q *edwards25519.Point) *Affine {
	x, y, z, _ := q.ExtendedCoordinates()
	if z.Equal(one) != 1 { // as it is of what was decoded
		z.Invert(z)
		x.Multiply(x, z)
		y.Multiply(y, z)
	}
	return a.Set(x, y)
}

// A scratch is room for what additions compute on the way.
type scratch struct{ a, b, c, d, e, f, g, h field.Element }

// Add sets p to p + q.
func (p *Point) Add(q *Point) { p.addPoint(q, new(scratch)) }

// SubAffine sets p to p - q.
func (p *Point) SubAffine(q *Affine) { p.sub(q, new(scratch)) }

// add sets p to p + q.
func (p *Point) add(q *Affine, s *scratch) {
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
func (p *Point) sub(q *Affine, s *scratch) {
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

// addPoint sets p to p + q.
func (p *Point) addPoint(q *Point, s *scratch) {
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
func (p *Point) finish(s *scratch) {
	s.e.Subtract(&s.b, &s.a)
	s.h.Add(&s.b, &s.a)
	p.x.Multiply(&s.e, &s.f)
	p.y.Multiply(&s.g, &s.h)
	p.t.Multiply(&s.e, &s.h)
	p.z.Multiply(&s.f, &s.g)
}

// double sets p to 2p.
func (p *Point) double() {
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

// Negate sets p to -p.
func (p *Point) Negate() {
	p.x.Negate(&p.x)
	p.t.Negate(&p.t)
}

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
	half = new(field.Element).Invert(two)
)

// base is the generator B.
var base = func() *affine {
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

// extended returns a as an extended point.
func (a *affine) extended() (p extended) {
	p.x.Subtract(&a.plus, &a.minus) // 2x
	p.y.Add(&a.plus, &a.minus)      // 2y
	p.z.Set(two)
	p.t.Multiply(&p.x, &p.y)
	p.t.Multiply(&p.t, half)
	return p
}

func (a *affine) set(x, y *field.Element) {
	a.plus.Add(y, x)
	a.minus.Subtract(y, x)
	a.t2d.Multiply(x, y)
	a.t2d.Multiply(&a.t2d, d2)
}

// add sets p to p + q.
func (p *extended) add(q *affine) {
	var a, b, c, d field.Element
	a.Subtract(&p.y, &p.x)
	b.Add(&p.y, &p.x)
	a.Multiply(&a, &q.minus)
	b.Multiply(&b, &q.plus)
	c.Multiply(&p.t, &q.t2d)
	d.Add(&p.z, &p.z)
	p.finish(&a, &b, &c, &d)
}

// sub sets p to p - q.
func (p *extended) sub(q *affine) {
	var a, b, c, d field.Element
	a.Subtract(&p.y, &p.x)
	b.Add(&p.y, &p.x)
	a.Multiply(&a, &q.plus)
	b.Multiply(&b, &q.minus)
	c.Multiply(&p.t, &q.t2d)
	c.Negate(&c)
	d.Add(&p.z, &p.z)
	p.finish(&a, &b, &c, &d)
}

// addExtended sets p to p + q.
func (p *extended) addExtended(q *extended) {
	var a, b, c, d, t field.Element
	a.Subtract(&p.y, &p.x)
	t.Subtract(&q.y, &q.x)
	a.Multiply(&a, &t)
	b.Add(&p.y, &p.x)
	t.Add(&q.y, &q.x)
	b.Multiply(&b, &t)
	c.Multiply(&p.t, &q.t)
	c.Multiply(&c, d2)
	d.Multiply(&p.z, &q.z)
	d.Add(&d, &d)
	p.finish(&a, &b, &c, &d)
}

// finish is the common end of additions.
func (p *extended) finish(a, b, c, d *field.Element) {
	var e, f, g, h field.Element
	e.Subtract(b, a)
	f.Subtract(d, c)
	g.Add(d, c)
	h.Add(b, a)
	p.x.Multiply(&e, &f)
	p.y.Multiply(&g, &h)
	p.t.Multiply(&e, &h)
	p.z.Multiply(&f, &g)
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

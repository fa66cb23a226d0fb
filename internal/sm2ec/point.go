// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

// An Affine is a point by its coordinates. It can't be infinity. Equal points
// are == and so can be keys of maps.
type Affine struct{ X, Y Element }

// A Jacobian is the point (X/Z², Y/Z³), or infinity if Z is zero, as it is in
// the zero value.
type Jacobian struct{ X, Y, Z Element }

var generator = Affine{
	X: Element{0x61328990f418029e, 0x3e7981eddca6c050, 0xd6a1ed99ac24c3c3, 0x91167a5ee1c13b05},
	Y: Element{0xc1354e593c2d0ddd, 0xc1f5e5788d3295fa, 0x8d4cfb066e2a48f8, 0x63cd65d481d735bd},
}

// Generator returns the base point G.
func Generator() Affine { return generator }

// SetBytes sets p to the point with big-endian coordinates x and y, and reports
// false, leaving p alone, if they aren't below p or no point of the curve.
func (p *Affine) SetBytes(x, y *[32]byte) bool {
	var q Affine
	if !q.X.SetBytes(x) || !q.Y.SetBytes(y) || !q.IsOnCurve() {
		return false
	}
	*p = q
	return true
}

// IsOnCurve reports whether the coordinates satisfy the equation of the curve.
func (p *Affine) IsOnCurve() bool {
	var y2, c Element
	y2.Sqr(&p.Y)
	curveRHS(&c, &p.X)
	return y2 == c
}

// curveRHS sets z = x³ - 3x + b.
func curveRHS(z, x *Element) {
	var t, three Element
	three.Add(x, x)
	three.Add(&three, x)
	t.Sqr(x)
	t.Mul(&t, x)
	t.Sub(&t, &three)
	z.Add(&t, &feB)
}

// Neg sets p = -q.
func (p *Affine) Neg(q *Affine) {
	p.X = q.X
	p.Y.Neg(&q.Y)
}

// Jacobian returns p in the other form.
func (p *Affine) Jacobian() Jacobian { return Jacobian{p.X, p.Y, feOne} }

// IsInfinity reports whether p is infinity.
func (p *Jacobian) IsInfinity() bool { return p.Z.IsZero() }

// Affine returns the coordinates of p, and false if it is infinity.
func (p *Jacobian) Affine() (a Affine, ok bool) {
	if p.IsInfinity() {
		return a, false
	}
	var zi Element
	zi.Inv(&p.Z)
	p.scale(&a, &zi)
	return a, true
}

// scale sets a to p, given 1/Z.
func (p *Jacobian) scale(a *Affine, zi *Element) {
	var z2 Element
	z2.Sqr(zi)
	a.X.Mul(&p.X, &z2)
	z2.Mul(&z2, zi)
	a.Y.Mul(&p.Y, &z2)
}

// Normalize sets dst[i] to the coordinates of ps[i], of which none may be
// infinity, with one inversion.
func Normalize(dst []Affine, ps []Jacobian) {
	zs := make([]Element, len(ps))
	for i := range ps {
		zs[i] = ps[i].Z
	}
	InvBatch(zs)
	for i := range ps {
		ps[i].scale(&dst[i], &zs[i])
	}
}

// normalizeSome is Normalize for points most of which may have Z = 1 already.
func normalizeSome(dst []Affine, ps []Jacobian) {
	for i := range ps {
		if ps[i].Z != feOne {
			Normalize(dst, ps)
			return
		}
		dst[i] = Affine{ps[i].X, ps[i].Y}
	}
}

// Equal reports whether p = q.
func (p *Jacobian) Equal(q *Jacobian) bool {
	if p.IsInfinity() || q.IsInfinity() {
		return p.IsInfinity() == q.IsInfinity()
	}
	var pz, qz, l, r Element
	pz.Sqr(&p.Z)
	qz.Sqr(&q.Z)
	l.Mul(&p.X, &qz)
	r.Mul(&q.X, &pz)
	if l != r {
		return false
	}
	pz.Mul(&pz, &p.Z)
	qz.Mul(&qz, &q.Z)
	l.Mul(&p.Y, &qz)
	r.Mul(&q.Y, &pz)
	return l == r
}

// xIs reports whether x(p) = x. The point must not be infinity.
func (p *Jacobian) xIs(x *Element) bool {
	if p.Z == feOne {
		return p.X == *x
	}
	var t Element
	t.Sqr(&p.Z)
	t.Mul(&t, x)
	return t == p.X
}

// Neg sets p = -q.
func (p *Jacobian) Neg(q *Jacobian) {
	p.X, p.Z = q.X, q.Z
	p.Y.Neg(&q.Y)
}

// Double sets p = 2q. Infinity gives infinity, and no other point has a double that is.
func (p *Jacobian) Double(q *Jacobian) {
	*p = *q
	p.doubleN(1)
}

// AddAffine sets p = q + r.
func (p *Jacobian) AddAffine(q *Jacobian, r *Affine) {
	if q.IsInfinity() {
		*p = r.Jacobian()
		return
	}
	if !p.addDistinctAffine(q, r) {
		s := r.Jacobian()
		p.addSameX(q, &s)
	}
}

// Add sets p = q + r.
func (p *Jacobian) Add(q, r *Jacobian) {
	switch {
	case q.IsInfinity():
		*p = *r
	case r.IsInfinity():
		*p = *q
	case !p.addDistinct(q, r):
		p.addSameX(q, r)
	}
}

// addSameX sets p = q + r for points with the same x: equal, or else opposite ones.
func (p *Jacobian) addSameX(q, r *Jacobian) {
	if q.Equal(r) {
		p.Double(q)
	} else {
		*p = Jacobian{}
	}
}

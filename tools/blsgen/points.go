// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// kernel writes the field's chains of squares and the formulas of points in G1.
// Coordinates in Go's memory are reduced, before and after.
func kernel(c *Context) {
	f := newField(c)
	f.products()
	squareTimes(f)
	squareTimesMul(f)
	doubleTimes(f)
	addAffine(f)
	addJacobian(f)
	addMixed(f)
	addComplete(f)
	doubleComplete(f)
}

// begin starts a function.
func (f *field) begin(name, signature string, doc ...string) {
	f.Function(name) // with a check of the stack: frames are large
	f.Pragma("noescape")
	f.SignatureExpr(signature)
	f.Doc(doc...)
	f.spare = f.AllocLocal(spareBytes)
	f.acc = nil
}

// pointer loads the parameter, through which elements are read and written.
func (f *field) pointer(name string, r GPPhysical) { f.Load(f.Param(name), r) }

// read copies elements from behind r to the frame.
func (f *field) read(r GPPhysical, n int) (out []*value) {
	out = f.locals(n)
	for i, v := range out {
		f.copy(v, &value{Mem{Base: r, Disp: i * feBytes}, 1})
	}
	return out
}

// write reduces elements, and stores them to where the parameter points.
func (f *field) write(name string, vs ...*value) {
	for _, v := range vs {
		f.reduce(v, v)
	}
	f.Load(f.Param(name), RDI)
	for i, v := range vs {
		f.copy(&value{m: Mem{Base: RDI, Disp: i * feBytes}}, v)
	}
}

// repeat runs body as often as the parameter n says. Its variables stay below max.
func (f *field) repeat(vars []*value, max []float64, body func()) {
	left := f.AllocLocal(8)
	f.Load(f.Param("n"), RAX)
	f.MOVQ(RAX, left)
	for i, v := range vars {
		if v.max > max[i] {
			panic("blsgen: a loop starts too high")
		}
		v.max = max[i]
	}
	f.Label("again")
	f.acc = nil
	body()
	for i, v := range vars {
		if v.max > max[i] {
			panic(fmt.Sprintf("blsgen: variable %d of a loop grows to %.3fp", i, v.max))
		}
		v.max = max[i]
	}
	f.DECQ(left)
	f.JNZ(LabelRef("again"))
	f.acc = nil
}

func squareTimes(f *field) {
	f.begin("squareTimesADX", "func(z, x *uint64, n int)",
		"squareTimesADX squares x n times.")
	f.pointer("x", RSI)
	v := f.read(RSI, 1)
	f.repeat(v, []float64{1.2}, func() { f.sqr(v[0], v[0]) })
	f.write("z", v...)
	f.RET()
}

func squareTimesMul(f *field) {
	f.begin("squareTimesMulADX", "func(z, x, y *uint64, n int)",
		"squareTimesMulADX squares x n times, and then multiplies it by y.")
	f.pointer("x", RSI)
	v := f.read(RSI, 1)
	f.pointer("y", RSI)
	y := f.read(RSI, 1)
	f.repeat(v, []float64{1.2}, func() { f.sqr(v[0], v[0]) })
	f.mul(v[0], v[0], y[0])
	f.write("z", v...)
	f.RET()
}

// doubleTimes is for Jacobian coordinates (x/z², y/z³). With m = 3x²/2 and s = xy²:
// x' = m² - 2s, y' = m(s - x') - y⁴, z' = yz.
func doubleTimes(f *field) {
	f.begin("doubleTimesADX", "func(z, x *uint64, n int)",
		"doubleTimesADX doubles a point of 18 words in Jacobian coordinates n times.")
	f.pointer("x", RSI)
	v := f.read(RSI, 3)
	x, y, z := v[0], v[1], v[2]
	w := f.locals(4)
	m, b, s, t := w[0], w[1], w[2], w[3]
	f.repeat(v, []float64{3, 2.4, 1.35}, func() {
		f.sqr(m, x)
		f.sqr(b, y)
		f.half(t, m)
		f.add(m, t, m)
		f.mul(s, x, b)
		f.mul(z, y, z)
		f.sqr(x, m)
		f.twice(t, s)
		f.subLow(x, x, t)
		f.subLow(s, s, x)
		f.neg(t, b)
		f.mul2(y, m, s, b, t)
	})
	f.write("z", x, y, z)
	f.RET()
}

// addAffine is Hankerson, Menezes and Vanstone 2004, algorithm 3.22, without its
// cases: z' is 0 where they are needed.
func addAffine(f *field) {
	f.begin("addAffineADX", "func(z, x, y *uint64)",
		"addAffineADX adds a point of 12 words to one of 18 in Jacobian coordinates. Where",
		"they have the same x coordinate, the z coordinate of the result is 0.")
	f.pointer("x", RSI)
	v := f.read(RSI, 3)
	f.pointer("y", RSI)
	w := f.read(RSI, 2)
	x1, y1, z1, x2, y2 := v[0], v[1], v[2], w[0], w[1]
	u := f.locals(3)
	r, h, t := u[0], u[1], u[2]
	f.sqr(t, z1)
	f.mul(x2, x2, t)
	f.mul(t, t, z1)
	f.mul(y2, y2, t)
	f.sub(h, x2, x1)
	f.sub(r, y2, y1)
	f.addRest(x1, y1, z1, r, h, t, x2, y2)
	f.write("z", x1, y1, z1)
	f.RET()
}

// addRest is what both sums have in common: h = x2 - x1 and r = y2 - y1 over common
// denominators, z1 is z without the factor h. With v = x1·h² it is
// x' = r² - h³ - 2v, y' = r(v - x') - y1·h³.
func (f *field) addRest(x1, y1, z1, r, h, t, v, neg *value) {
	f.mul(z1, z1, h)
	f.sqr(t, h)
	f.mul(v, x1, t)
	f.mul(h, h, t)
	f.sqr(x1, r)
	f.twice(t, v)
	f.add(t, t, h)
	f.subLow(x1, x1, t)
	f.sub(v, v, x1)
	f.neg(neg, y1)
	f.mul2(y1, r, v, h, neg)
}

func addJacobian(f *field) {
	f.begin("addJacobianADX", "func(z, x, y *uint64)",
		"addJacobianADX adds two points of 18 words in Jacobian coordinates. Where they have",
		"the same x coordinate, the z coordinate of the result is 0.")
	f.pointer("x", RSI)
	v := f.read(RSI, 3)
	f.pointer("y", RSI)
	w := f.read(RSI, 3)
	x1, y1, z1, x2, y2, z2 := v[0], v[1], v[2], w[0], w[1], w[2]
	u := f.locals(3)
	r, h, t := u[0], u[1], u[2]
	f.sqr(t, z1)
	f.mul(x2, x2, t)
	f.mul(t, t, z1)
	f.mul(y2, y2, t)
	f.sqr(t, z2)
	f.mul(x1, x1, t)
	f.mul(t, t, z2)
	f.mul(y1, y1, t)
	f.mul(z1, z1, z2)
	f.sub(h, x2, x1)
	f.sub(r, y2, y1)
	f.addRest(x1, y1, z1, r, h, t, x2, y2)
	f.write("z", x1, y1, z1)
	f.RET()
}

// timesTwelve sets z = 12x, for the curve's 3b, and changes t.
func (f *field) timesTwelve(z, x, t *value) {
	f.twice(t, x)
	for k := 4; t.max > 4; k /= 2 {
		f.less(t, t, k)
	}
	f.less(t, t, 2)
	f.twice(t, t)
	f.less(t, t, 2)
	f.twice(z, t)
	f.add(z, z, t)
	f.less(z, z, 3)
}

// The complete formulas of Renes, Costello and Batina 2016, in projective coordinates,
// hold for all points, and take secrets.

// addMixed is algorithm 8.
func addMixed(f *field) {
	f.begin("addMixedADX", "func(z, x, y *uint64)",
		"addMixedADX adds a point of 12 words to one of 18 in projective coordinates, by the",
		"complete formulas.")
	f.pointer("x", RSI)
	v := f.read(RSI, 3)
	f.pointer("y", RSI)
	w := f.read(RSI, 2)
	x1, y1, z1, x2, y2 := v[0], v[1], v[2], w[0], w[1]
	s := newComplete(f)
	f.mul(s.xx, x1, x2)
	f.mul(s.yy, y1, y2)
	s.cross(s.xy, x1, y1, x2, y2, s.xx, s.yy)
	f.mul(s.yz, y2, z1)
	f.add(s.yz, s.yz, y1)
	f.mul(s.xz, x2, z1)
	f.add(s.xz, s.xz, x1)
	s.finish(x1, y1, z1, z1)
}

// addComplete is algorithm 7.
func addComplete(f *field) {
	f.begin("addCompleteADX", "func(z, x, y *uint64)",
		"addCompleteADX adds two points of 18 words in projective coordinates, by the complete",
		"formulas.")
	f.pointer("x", RSI)
	v := f.read(RSI, 3)
	f.pointer("y", RSI)
	w := f.read(RSI, 3)
	x1, y1, z1, x2, y2, z2 := v[0], v[1], v[2], w[0], w[1], w[2]
	zz := f.locals(1)[0]
	s := newComplete(f)
	f.mul(s.xx, x1, x2)
	f.mul(s.yy, y1, y2)
	f.mul(zz, z1, z2)
	s.cross(s.xy, x1, y1, x2, y2, s.xx, s.yy)
	s.cross(s.yz, y1, z1, y2, z2, s.yy, zz)
	s.cross(s.xz, x1, z1, x2, z2, s.xx, zz)
	s.finish(x1, y1, z1, zz)
}

// A complete has products of the coordinates of two points: xy is x1·y2 + x2·y1, and
// so are yz and xz. Neighbours in the frame are operands of double products.
type complete struct {
	*field
	xz, yy, neg, xy, yz, xx, sum, t *value
}

func newComplete(f *field) *complete {
	u := f.locals(8)
	return &complete{f, u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7]}
}

// cross sets z = a1·b2 + a2·b1, where aa and bb are a1·a2 and b1·b2.
func (s *complete) cross(z, a1, b1, a2, b2, aa, bb *value) {
	s.add(z, a2, b2)
	s.add(s.t, a1, b1)
	s.mul(z, z, s.t)
	s.add(s.t, aa, bb)
	s.sub(z, z, s.t)
}

// finish ends the function with
//
//	x' = xy·(yy - 12zz) - yz·12xz
//	y' = (yy + 12zz)·(yy - 12zz) + 12xz·3xx
//	z' = (yy + 12zz)·yz + 3xx·xy
func (s *complete) finish(x, y, z, zz *value) {
	s.twice(s.t, s.xx)
	s.add(s.xx, s.xx, s.t)
	s.timesTwelve(s.neg, zz, s.t)
	s.add(s.sum, s.yy, s.neg)
	s.sub(s.yy, s.yy, s.neg)
	s.timesTwelve(s.xz, s.xz, s.t)
	s.field.neg(s.neg, s.xz)
	s.mul2(x, s.xy, s.yy, s.yz, s.neg)
	s.mul2(y, s.xz, s.xx, s.yy, s.sum)
	s.mul2(z, s.xx, s.xy, s.sum, s.yz)
	s.write("z", x, y, z)
	s.RET()
}

// doubleComplete is algorithm 9.
func doubleComplete(f *field) {
	f.begin("doubleCompleteADX", "func(z, x *uint64)",
		"doubleCompleteADX doubles a point of 18 words in projective coordinates, by the",
		"complete formulas.")
	f.pointer("x", RSI)
	v := f.read(RSI, 3)
	x, y, z := v[0], v[1], v[2]
	u := f.locals(5)
	y8, d, b, s, t := u[0], u[1], u[2], u[3], u[4]
	f.mul(x, x, y)
	f.mul(t, y, z)
	f.sqr(b, z)
	f.sqr(s, y)
	f.twice(y8, s)
	f.twice(y8, y8)
	f.twice(y8, y8)
	f.mul(z, y8, t)
	f.timesTwelve(b, b, t)
	f.twice(t, b)
	f.add(t, t, b)
	f.less(t, t, 4)
	f.sub(d, s, t)
	f.add(s, s, b)
	f.mul2(y, y8, b, d, s) // 8y²·12z² + (y² - 36z²)(y² + 12z²)
	f.mul(x, d, x)
	f.twice(x, x)
	f.write("z", x, y, z)
	f.RET()
}

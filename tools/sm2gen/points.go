// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// coordinates of the Jacobian point at p.
func coordinates(p Register) (x, y, z Mem) {
	return at(p, 0), at(p, element), at(p, 2*element)
}

// temporaries returns n elements on the stack.
func (f field) temporaries(n int) []Mem {
	local := f.AllocLocal(n * element)
	ms := make([]Mem, n)
	for i := range ms {
		ms[i] = local.Offset(i * element)
	}
	return ms
}

// Products of points wait for each other. The order of those below puts others
// in between where it can.

func double(f field) {
	f.function("doubleADX", "func(p *uint64, n int)", "doubleADX doubles p n times, n > 0, by 4M + 4S.")
	tmp := f.temporaries(6)
	s, zz, m, xs, y4, u := tmp[0], tmp[1], tmp[2], tmp[3], tmp[4], tmp[5]
	f.pointer("p", RDI)
	f.pointer("n", RCX)
	x, y, z := coordinates(RDI)

	f.Label("next")
	f.Comment("Z3 = 2YZ; M = 3(X - Z²)(X + Z²); S = 4XY².")
	f.sqr(z)
	f.store(zz)
	f.load(y)
	f.double()
	f.store(s)
	f.mul(s, z)
	f.store(z)
	f.sqr(s)
	f.store(s)
	f.load(x)
	f.add(zz)
	f.store(m)
	f.load(x)
	f.sub(zz)
	f.store(zz)
	f.mul(m, zz)
	f.store(m)
	f.double()
	f.add(m)
	f.store(m)
	f.mul(s, x)
	f.store(xs)
	f.Comment("X3 = M² - 2S; Y3 = M(S - X3) - 8Y⁴.")
	f.sqr(m)
	f.sub(xs)
	f.sub(xs)
	f.store(x)
	f.sqr(s)
	f.halve()
	f.store(y4)
	f.load(xs)
	f.sub(x)
	f.store(u)
	f.mul(m, u)
	f.sub(y4)
	f.store(y)
	f.DECQ(RCX)
	f.JNE(LabelRef("next"))
	f.RET()
}

func addAffine(f field) {
	f.function("addAffineADX", "func(p, q, r *uint64) bool",
		"addAffineADX sets p = q + r, for r affine and q not infinity, and reports true, or",
		"leaves p alone and reports false if both have the same x.")
	tmp := f.temporaries(6)
	zz, h, w := tmp[0], tmp[1], tmp[2]
	f.pointer("p", RDI)
	f.pointer("q", RSI)
	f.pointer("r", RCX)
	x1, y1, z1 := coordinates(RSI)
	x2, y2 := at(RCX, 0), at(RCX, element)
	_, _, z3 := coordinates(RDI)

	f.sqr(z1)
	f.store(zz)
	f.mul(y2, z1)
	f.store(w)
	f.mul(x2, zz)
	f.difference(x1, h)
	f.mul(w, zz)
	f.sub(y1)
	f.store(w)
	f.mul(z1, h)
	f.store(z3)
	f.tail(x1, y1, h, w, tmp[3:])
}

func add(f field) {
	f.function("addADX", "func(p, q, r *uint64) bool",
		"addADX sets p = q + r, for points that aren't infinity, and reports true, or",
		"leaves p alone and reports false if both have the same x.")
	tmp := f.temporaries(9)
	zz1, zz2, u, s, h, w := tmp[0], tmp[1], tmp[2], tmp[3], tmp[4], tmp[5]
	f.pointer("p", RDI)
	f.pointer("q", RSI)
	f.pointer("r", RCX)
	x1, y1, z1 := coordinates(RSI)
	x2, y2, z2 := coordinates(RCX)
	_, _, z3 := coordinates(RDI)

	f.sqr(z1)
	f.store(zz1)
	f.sqr(z2)
	f.store(zz2)
	f.mul(y1, z2)
	f.store(s)
	f.mul(y2, z1)
	f.store(w)
	f.mul(x1, zz2)
	f.store(u)
	f.mul(x2, zz1)
	f.difference(u, h)
	f.mul(s, zz2)
	f.store(s)
	f.mul(w, zz1)
	f.sub(s)
	f.store(w)
	f.mul(z1, z2)
	f.store(zz1)
	f.mul(zz1, h)
	f.store(z3)
	f.tail(u, s, h, w, tmp[6:])
}

// difference sets h = acc - x, and returns false from the function if that is zero.
func (f field) difference(x, h Mem) {
	f.sub(x)
	f.store(h)
	f.MOVQ(acc[0], lo)
	for _, r := range acc[1:] {
		f.ORQ(r, lo)
	}
	f.JNE(LabelRef("different"))
	ret, err := f.ReturnIndex(0).Resolve()
	if err != nil {
		panic(err)
	}
	f.MOVB(U8(0), ret.Addr)
	f.RET()
	f.Label("different")
}

// tail sets X3 = w² - h³ - 2uh² and Y3 = w(uh² - X3) - sh³, and returns true.
func (f field) tail(u, s, h, w Mem, tmp []Mem) {
	h2, v, r := tmp[0], tmp[1], tmp[2]
	x3, y3, _ := coordinates(RDI)
	f.sqr(h)
	f.store(h2)
	f.mul(u, h2)
	f.store(v)
	f.mul(h, h2)
	f.store(h2)
	f.mul(s, h2)
	f.store(r)
	f.sqr(w)
	f.sub(h2)
	f.sub(v)
	f.sub(v)
	f.store(x3)
	f.load(v)
	f.sub(x3)
	f.store(v)
	f.mul(w, v)
	f.sub(r)
	f.store(y3)
	ret, err := f.ReturnIndex(0).Resolve()
	if err != nil {
		panic(err)
	}
	f.MOVB(U8(1), ret.Addr)
	f.RET()
}

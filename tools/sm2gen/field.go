// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Field elements are four limbs in memory, and in acc while they are worked on.
// Registers are physical: the twelve below are for arithmetic, and RDI, RSI and
// RCX are left for pointers.
var (
	lo, hi Register = RAX, RBX
	zero   Register = RBP
	t               = []Register{R8, R9, R10, R11, R12, R13, R14, R15}
	// acc is where every operation leaves its result.
	acc = t[4:]
)

func at(base Register, disp int) Mem { return Mem{Base: base, Disp: disp} }

func limb(m Mem, i int) Mem { return m.Offset(8 * i) }

// A field writes arithmetic modulo p.
type field struct {
	*Context
	p1, p3 Mem // limbs of p that aren't all ones
}

func newField(c *Context) field {
	p := c.StaticGlobal("limbs")
	c.DataAttributes(attr.NOPTR | attr.RODATA)
	c.AddDatum(0, U64(0xffffffff00000000))
	c.AddDatum(8, U64(0xfffffffeffffffff))
	return field{c, p, p.Offset(8)}
}

// mul sets acc = xy, for x and y in memory.
func (f field) mul(x, y Mem) {
	f.MOVQ(limb(x, 0), RDX)
	f.MULXQ(limb(y, 0), t[0], t[1])
	f.MULXQ(limb(y, 1), lo, t[2])
	f.ADDQ(lo, t[1])
	f.MULXQ(limb(y, 2), lo, t[3])
	f.ADCQ(lo, t[2])
	f.MULXQ(limb(y, 3), lo, t[4])
	f.ADCQ(lo, t[3])
	f.ADCQ(I8(0), t[4])
	for i := 1; i < 4; i++ {
		f.MOVQ(limb(x, i), RDX)
		f.XORQ(zero, zero) // and clears both carries
		for j := range 4 {
			h := hi
			if j == 3 {
				h = t[i+4]
			}
			f.MULXQ(limb(y, j), lo, h)
			f.ADCXQ(lo, t[i+j])
			if j < 3 {
				f.ADOXQ(h, t[i+j+1])
			}
		}
		f.ADOXQ(zero, t[i+4])
		f.ADCXQ(zero, t[i+4])
	}
	f.redc()
}

// sqr sets acc = x², for x in memory.
func (f field) sqr(x Mem) {
	// Products of different limbs, each once: x0·(x1 x2 x3), x1·(x2 x3), x2·x3.
	f.MOVQ(limb(x, 0), RDX)
	f.MULXQ(limb(x, 1), t[1], t[2])
	f.MULXQ(limb(x, 2), lo, t[3])
	f.ADDQ(lo, t[2])
	f.MULXQ(limb(x, 3), lo, t[4])
	f.ADCQ(lo, t[3])
	f.ADCQ(I8(0), t[4])
	f.MOVQ(limb(x, 1), RDX)
	f.XORQ(zero, zero)
	f.MULXQ(limb(x, 2), lo, hi)
	f.ADCXQ(lo, t[3])
	f.ADOXQ(hi, t[4])
	f.MULXQ(limb(x, 3), lo, t[5])
	f.ADCXQ(lo, t[4])
	f.MOVQ(limb(x, 2), RDX)
	f.MULXQ(limb(x, 3), lo, t[6])
	f.ADOXQ(lo, t[5])
	f.ADCXQ(zero, t[5])
	f.ADOXQ(zero, t[6])
	f.ADCXQ(zero, t[6])

	// Twice that by one carry, and the squares by the other.
	f.MOVQ(limb(x, 0), RDX)
	f.XORQ(zero, zero)
	f.MULXQ(RDX, t[0], hi)
	f.ADCXQ(t[1], t[1])
	f.ADOXQ(hi, t[1])
	for i := 1; i < 4; i++ {
		f.MOVQ(limb(x, i), RDX)
		h := hi
		if i == 3 {
			h = t[7]
		}
		f.MULXQ(RDX, lo, h)
		f.ADCXQ(t[2*i], t[2*i])
		f.ADOXQ(lo, t[2*i])
		if i < 3 {
			f.ADCXQ(t[2*i+1], t[2*i+1])
			f.ADOXQ(h, t[2*i+1])
		}
	}
	f.ADCXQ(zero, t[7])
	f.ADOXQ(zero, t[7])
	f.redc()
}

// redc sets acc = t/2²⁵⁶ mod p, for t below 2²⁵⁶·p. Each step adds m·p, m = t0,
// and drops the lowest limb. With m·2³² = (h a), what it adds above that limb is
//
//	m - m·2³² - m·2¹⁶⁰ + m·2¹⁹²,
//
// taken away as (h a) - m from limb 1 and (h a) from limb 3, with m for the new
// highest limb.
func (f field) redc() {
	w := []Register{t[0], t[1], t[2], t[3]}
	a, h, ml, mh := lo, hi, Register(RDX), zero
	for range 4 {
		f.MOVQ(w[0], a)
		f.MOVQ(w[0], h)
		f.SHLQ(U8(32), a)
		f.SHRQ(U8(32), h)
		f.MOVQ(a, ml)
		f.MOVQ(h, mh)
		f.SUBQ(w[0], ml)
		f.SBBQ(I8(0), mh)
		f.SUBQ(ml, w[1])
		f.SBBQ(mh, w[2])
		f.SBBQ(a, w[3])
		f.SBBQ(h, w[0])
		w = append(w[1:], w[0])
	}
	f.XORL(EDX, EDX)
	f.ADDQ(w[0], t[4])
	f.ADCQ(w[1], t[5])
	f.ADCQ(w[2], t[6])
	f.ADCQ(w[3], t[7])
	f.ADCQ(I8(0), RDX)
	f.reduceOnce(RDX, w)
}

// reduceOnce subtracts p from acc, with a carry of 0 or 1 above it, unless it
// is less. It uses the registers s.
func (f field) reduceOnce(carry Register, s []Register) {
	for i, r := range acc {
		f.MOVQ(r, s[i])
	}
	f.SUBQ(I8(-1), s[0])
	f.SBBQ(f.p1, s[1])
	f.SBBQ(I8(-1), s[2])
	f.SBBQ(f.p3, s[3])
	f.SBBQ(I8(0), carry)
	for i, r := range acc {
		f.CMOVQCC(s[i], r)
	}
}

// load sets acc = x.
func (f field) load(x Mem) {
	for i, r := range acc {
		f.MOVQ(limb(x, i), r)
	}
}

// store writes acc to z.
func (f field) store(z Mem) {
	for i, r := range acc {
		f.MOVQ(r, limb(z, i))
	}
}

// sub subtracts y from acc.
func (f field) sub(y Mem) {
	f.SUBQ(limb(y, 0), acc[0])
	for i := 1; i < 4; i++ {
		f.SBBQ(limb(y, i), acc[i])
	}
	// Adds p if that borrowed.
	m, m1, m3 := lo, hi, zero
	f.SBBQ(m, m)
	f.MOVQ(m, m1)
	f.SHLQ(U8(32), m1)
	f.MOVQ(f.p3, m3)
	f.ANDQ(m, m3)
	f.ADDQ(m, acc[0])
	f.ADCQ(m1, acc[1])
	f.ADCQ(m, acc[2])
	f.ADCQ(m3, acc[3])
}

// double sets acc = 2·acc.
func (f field) double() {
	f.XORL(EDX, EDX)
	f.ADDQ(acc[0], acc[0])
	for _, r := range acc[1:] {
		f.ADCQ(r, r)
	}
	f.ADCQ(I8(0), RDX)
	f.reduceOnce(RDX, t[:4])
}

// add adds y to acc.
func (f field) add(y Mem) {
	f.XORL(EDX, EDX)
	f.ADDQ(limb(y, 0), acc[0])
	for i := 1; i < 4; i++ {
		f.ADCQ(limb(y, i), acc[i])
	}
	f.ADCQ(I8(0), RDX)
	f.reduceOnce(RDX, t[:4])
}

// halve sets acc = acc/2.
func (f field) halve() {
	m, m1, m3 := lo, hi, zero
	f.MOVQ(acc[0], m)
	f.ANDQ(I8(1), m)
	f.NEGQ(m) // all ones if acc is odd
	f.MOVQ(m, m1)
	f.SHLQ(U8(32), m1)
	f.MOVQ(f.p3, m3)
	f.ANDQ(m, m3)
	f.XORL(EDX, EDX)
	f.ADDQ(m, acc[0])
	f.ADCQ(m1, acc[1])
	f.ADCQ(m, acc[2])
	f.ADCQ(m3, acc[3])
	f.ADCQ(I8(0), RDX)
	for i, r := range acc {
		up := Register(RDX)
		if i < 3 {
			up = acc[i+1]
		}
		f.MOVQ(up, lo)
		f.SHLQ(U8(63), lo)
		f.SHRQ(U8(1), r)
		f.ORQ(lo, r)
	}
}

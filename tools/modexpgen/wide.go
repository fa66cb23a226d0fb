// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The wide kernel multiplies two numbers, whose limbs of 52 bits lie side by side
// in vectors: one operand and the sum are in registers, and the limbs of the other
// operand are met one by one.
//
// Numbers come and go in limbs of 64 bits, l of them, with R = 2^(64·l). Inside
// there are 10l/8 limbs of 52 bits; one operand is shifted up by the l/8 bytes by
// which that is longer.
var wideSizes = []int{24, 32, 40, 48, 56, 64}

func vec(base Register, i int) Mem { return Mem{Base: base, Disp: 64 * i} }

func wide(c *Context) {
	index := c.StaticGlobal("wide_index")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for j := range 8 {
		var v uint64
		for k := range 8 {
			v |= uint64(52*j/8+k) << (8 * k)
		}
		c.AddDatum(8*j, U64(v))
	}
	shifts := c.StaticGlobal("wide_shift")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for j := range 8 {
		c.AddDatum(8*j, U64(uint64(52*j%8)))
	}
	for _, l := range wideSizes {
		mulWide(c, l, index, shifts)
	}
}

// split52 sets z to limbs of 52 bits from the number at x, beginning with the byte at
// from; the number has size bytes, and what is outside of it is zero.
func split52(c *Context, x Register, from, size int, index, shift, mask, z VecPhysical) {
	var bytes uint64
	for k := range 64 {
		if from+k >= 0 && from+k < size {
			bytes |= 1 << k
		}
	}
	c.MOVQ(U64(bytes), RAX)
	c.KMOVQ(RAX, K1)
	c.VMOVDQU8_Z(Mem{Base: x, Disp: from}, K1, z)
	c.VPERMB(z, index, z)
	c.VPSRLVQ(shift, z, z)
	c.VPANDQ(mask, z, z)
}

func mulWide(c *Context, l int, index, shifts Mem) {
	limbs := 10 * l / 8
	v := (limbs + 7) / 8
	c.Function(fmt.Sprintf("mulWide%d", l))
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.SignatureExpr("func(z, x, y, n, n52, k0, t *uint64)")
	c.Doc(fmt.Sprintf("mulWide%d sets z = x·y/2^(64·%d) mod n, reduced, for x·y below 2^(64·%d)·n.", l, l, l),
		fmt.Sprintf("Numbers have %d limbs; n52 is n in limbs of 52 bits, and k0 = -1/n. t is", l),
		"scratch for twice as many limbs.")

	a := []VecPhysical{Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9}[:v]
	sum := []VecPhysical{Z10, Z11, Z12, Z13, Z14, Z15, Z16, Z17, Z18, Z19}[:v]
	b, m, high, null, mask, k0 := Z20, Z21, Z22, Z23, Z24, Z25
	x, y, n52, t, left := RSI, RDI, RCX, R8, R11

	c.Load(c.Param("x"), x)
	c.Load(c.Param("y"), y)
	c.Load(c.Param("n52"), n52)
	c.Load(c.Param("t"), t)
	c.MOVQ(U64(1<<52-1), RAX)
	c.VPBROADCASTQ(RAX, mask)
	c.VMOVDQU64(index, Z30)
	c.VMOVDQU64(shifts, Z31)
	for i := range v {
		split52(c, x, 52*i-l/8, 8*l, Z30, Z31, mask, a[i])
		split52(c, y, 52*i, 8*l, Z30, Z31, mask, b)
		c.VMOVDQU64(b, vec(t, i))
	}
	for _, s := range sum {
		c.VPXORQ(s, s, s)
	}
	c.VPXORQ(null, null, null)
	c.Load(c.Param("k0"), R11)
	c.VPBROADCASTQ(Mem{Base: R11}, k0)
	c.MOVL(U32(1), EAX)
	c.KMOVQ(RAX, K1)
	c.MOVL(U32(limbs), left.As32())

	c.Comment("sum = (sum + a·b_i + n·m)/2^52, where m makes that exact. Sums stay below 2^61.")
	c.Label("limb")
	c.VPBROADCASTQ(Mem{Base: t}, b)
	c.VPMADD52LUQ(b, a[0], sum[0])
	c.VPXORQ(m, m, m)
	c.VPMADD52LUQ(k0, sum[0], m)
	c.VPXORQ(high, high, high)
	c.VPMADD52HUQ(b, a[0], high)
	c.VPBROADCASTQ(m.AsX(), m)
	for i := 1; i < v; i++ {
		c.VPMADD52LUQ(b, a[i], sum[i])
	}
	for i := range v {
		c.VPMADD52LUQ(vec(n52, i), m, sum[i])
	}
	c.VPMADD52HUQ(vec(n52, 0), m, high)
	c.VPSRLQ_Z(U8(52), sum[0], K1, Z26)
	c.VPADDQ(Z26, high, high)
	for i := range v {
		top := null
		if i+1 < v {
			top = sum[i+1]
		}
		c.VALIGNQ(U8(1), sum[i], top, sum[i])
		if i == 0 {
			c.VPADDQ(high, sum[0], sum[0])
			continue
		}
		c.VPMADD52HUQ(b, a[i], sum[i])
		c.VPMADD52HUQ(vec(n52, i), m, sum[i])
	}
	c.ADDQ(U8(8), t)
	c.DECQ(left)
	c.JNE(LabelRef("limb"))

	c.Comment("Carry, and pack in limbs of 64 bits.")
	c.Load(c.Param("t"), t)
	for i, s := range sum {
		c.VMOVDQU64(s, vec(t, i))
	}
	c.VZEROUPPER()
	carry, limb, low, next := RAX, RDX, R9, R10
	c.XORL(carry.As32(), carry.As32())
	c.XORL(low.As32(), low.As32())
	c.MOVQ(U64(1<<52-1), R11)
	word := 0
	for i := range limbs {
		c.MOVQ(at(t, i), limb)
		c.ADDQ(carry, limb)
		c.MOVQ(limb, carry)
		c.SHRQ(U8(52), carry)
		c.ANDQ(R11, limb)
		off := 52 * i % 64
		if off != 0 {
			c.MOVQ(limb, next)
			c.SHLQ(U8(off), next)
			c.ORQ(next, low)
		} else {
			c.MOVQ(limb, low)
		}
		if off+52 > 64 || off+52 == 64 && i < limbs-1 {
			c.MOVQ(low, at(t, word))
			word++
			if off+52 > 64 {
				c.SHRQ(U8(64-off), limb)
				c.MOVQ(limb, low)
			} // else off is 0 for the next limb
		}
	}
	c.Comment("What is above the limbs of 64 bits is 0 or 1. Subtract n for a trial.")
	c.MOVQ(low, carry)
	n, z := RSI, RBX
	values := []Register{RDX, R9, R10, R12, R13}
	c.Load(c.Param("n"), n)
	c.Load(c.Param("z"), z)
	for k := range l {
		r := values[k%len(values)]
		c.MOVQ(at(t, k), r)
		if k == 0 {
			c.SUBQ(at(n, k), r)
		} else {
			c.SBBQ(at(n, k), r)
		}
		c.MOVQ(r, at(z, k))
	}
	c.SBBQ(U8(0), carry)
	c.Comment("The carry flag says that the sum is below n: take the sum then.")
	for k := range l {
		r := values[k%len(values)]
		c.MOVQ(at(z, k), r)
		c.CMOVQCS(at(t, k), r)
		c.MOVQ(r, at(z, k))
	}
	c.RET()
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Six vectors of eight primes hide each other's latency.
const groups = 6

var (
	rem   = []VecPhysical{Z0, Z1, Z2, Z3, Z4, Z5}
	inv   = []VecPhysical{Z6, Z7, Z8, Z9, Z10, Z11} // floor(2^52/p)
	neg   = []VecPhysical{Z12, Z13, Z14, Z15, Z16, Z17}
	quo   = []VecPhysical{Z18, Z19, Z20, Z21, Z22, Z23}
	digit = Z24
)

func vec(base Register, i int) Mem { return Mem{Base: base, Disp: 64 * i} }

// constant sets all of z to v.
func constant(c *Context, v uint64, z VecPhysical) {
	c.MOVQ(U64(v), RAX)
	c.VPBROADCASTQ(RAX, z)
}

func roots(c *Context) {
	c.Function("rootsIFMA")
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.SignatureExpr("func(roots, p, digits *uint64, count int, bits, width uint64) uint64")
	c.Doc("rootsIFMA is rootGroup.findGeneric with AVX-512 IFMA, for count digits of so many",
		"bits. Primes times 2^bits are at most 2^50.")

	out, p, d, left := RDI, RSI, RBX, RCX
	c.Load(c.Param("roots"), out)
	c.Load(c.Param("p"), p)
	c.Load(c.Param("digits"), d)
	c.Load(c.Param("count"), left)

	c.Comment("2^52/p is at least 1/p from a whole number, and rounded by less than that.")
	constant(c, math.Float64bits(1<<52), Z25)
	constant(c, 1<<52, Z26)
	for i := range groups {
		c.VCVTUQQ2PD(vec(p, i), Z27)
		c.VDIVPD(Z27, Z25, Z27)
		c.VCVTTPD2UQQ(Z27, inv[i])
		c.VPSUBQ(vec(p, i), Z26, neg[i])
		c.VPXORQ(rem[i], rem[i], rem[i])
	}

	c.Load(c.Param("bits"), RAX)
	c.VMOVQ(RAX, X28)
	c.Comment("r = 2^bits·r + digit mod p, below 3p/2. Bits from 52 on are of no consequence.")
	c.Label("digit")
	c.VPBROADCASTQ(Mem{Base: d}, digit)
	for i := range groups {
		c.VPSLLQ(X28, rem[i], rem[i])
		c.VPXORQ(quo[i], quo[i], quo[i])
	}
	for i := range groups {
		c.VPADDQ(digit, rem[i], rem[i])
	}
	for i := range groups {
		c.VPMADD52HUQ(inv[i], rem[i], quo[i])
	}
	for i := range groups {
		c.VPMADD52LUQ(neg[i], quo[i], rem[i])
	}
	c.ADDQ(U8(8), d)
	c.DECQ(left)
	c.JNE(LabelRef("digit"))

	c.Comment("1/12 mod p = ((12 - p mod 12)·p + 1)/12.")
	mask, twelve, recip, one, width := Z24, Z25, Z26, Z27, Z28
	constant(c, 1<<52-1, mask)
	constant(c, 12, twelve)
	constant(c, 1<<52/12+1, recip) // rounded up: exact for what is below 2^48
	constant(c, 1, one)
	c.Load(c.Param("width"), RAX)
	c.VPBROADCASTQ(RAX, width)
	c.XORL(EDX, EDX)
	for i := range groups {
		twelfth, k, t, r, prime := quo[i], Z29, Z30, rem[i], Z31
		c.VMOVDQU64(vec(p, i), prime)
		c.VPXORQ(k, k, k)
		c.VPMADD52HUQ(recip, prime, k) // p/12
		c.VPADDQ(one, k, k)
		c.VPXORQ(t, t, t)
		c.VPMADD52LUQ(twelve, k, t)
		c.VPSUBQ(prime, t, t) // 12 - p mod 12
		c.VMOVDQA64(one, k)
		c.VPMADD52LUQ(prime, t, k)
		c.VPXORQ(twelfth, twelfth, twelfth)
		c.VPMADD52HUQ(recip, k, twelfth)

		c.VPANDQ(mask, r, r)
		c.VPSUBQ(prime, r, t)
		c.VPMINUQ(t, r, r)
		c.VPADDQ(prime, twelfth, k)
		c.VPSUBQ(one, k, k)
		c.VPSUBQ(r, k, k)
		c.VPSUBQ(prime, k, t)
		c.VPMINUQ(t, k, k)
		c.VMOVDQU64(k, vec(out, groups+i)) // l
		c.VPADDQ(twelfth, k, r)
		c.VPSUBQ(prime, r, t)
		c.VPMINUQ(t, r, r)
		c.VMOVDQU64(r, vec(out, i)) // k
		c.VPMINUQ(r, k, k)
		c.VPCMPUQ(U8(1), width, k, K1)
		c.KMOVW(K1, EAX)
		c.SHLQ(U8(8*i), RAX)
		c.ORQ(RAX, RDX)
	}
	c.VZEROUPPER()
	c.Store(RDX, c.ReturnIndex(0))
	c.RET()
}

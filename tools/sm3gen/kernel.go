// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/bits"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The kernel hashes sixteen messages: a vector holds one word of 32 bits of each.
// Z0..Z15 are the last sixteen words of the message schedule, Z16..Z23 the state
// A..H, and Z24..Z31 hold what is computed on the way.
var (
	words  = []VecPhysical{Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15}
	states = []VecPhysical{Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23}
	temps  = []VecPhysical{Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31}
)

const vector = 64 // bytes

// Truth tables of three variables for VPTERNLOGD.
const (
	parity   = 0x96 // a ^ b ^ c
	majority = 0xe8 // ab | bc | ca
	choice   = 0xca // ab | ~ac
)

func vec(base Register, i int) Mem { return Mem{Base: base, Disp: vector * i} }

func blocks(c *Context) {
	constants := c.StaticGlobal("constants")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for j := range 64 {
		t := uint32(0x79cc4519)
		if j >= 16 {
			t = 0x7a879d8a
		}
		c.AddDatum(4*j, U32(bits.RotateLeft32(t, j)))
	}
	swap := c.StaticGlobal("swap")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		c.AddDatum(4*i, U32(0x00010203+0x04040404*uint32(i%4)))
	}

	c.Function("blocksAVX512")
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.SignatureExpr("func(state *uint32, blocks **[64]byte, n int)")
	c.Doc("blocksAVX512 compresses n > 0 blocks of 64 bytes in each of sixteen lanes. Word",
		"i of the state of lane j is state[16i+j], and block i of lane j is at",
		"blocks[16i+j].")
	state, pointers, left := RDI, RSI, RCX
	c.Load(c.Param("state"), state)
	c.Load(c.Param("blocks"), pointers)
	c.Load(c.Param("n"), left)
	for i, s := range states {
		c.VMOVDQU32(vec(state, i), s)
	}
	c.Label("block")
	g := &generator{Context: c, w: load(c, pointers, swap), constants: constants}
	copy(g.s[:], states)
	for j := range 64 {
		g.round(j)
	}
	for i, s := range g.s {
		c.VPXORD(vec(state, i), s, states[i])
		c.VMOVDQU32(states[i], vec(state, i))
	}
	c.ADDQ(U32(16*8), pointers)
	c.DECQ(left)
	c.JNE(LabelRef("block"))
	c.VZEROUPPER()
	c.RET()
}

// load reads a block of each lane and transposes them: the result is the words.
func load(c *Context, pointers Register, swap Mem) []VecPhysical {
	row := append([]VecPhysical{}, words...)
	free := temps[:1:1]
	addresses := []Register{RAX, RBX, RDX, R8}
	for i, r := range row {
		p := addresses[i%len(addresses)]
		c.MOVQ(Mem{Base: pointers, Disp: 8 * i}, p)
		c.VMOVDQU32(Mem{Base: p}, r)
		c.VPSHUFB(swap, r, r)
	}
	// pair replaces two rows by what two instructions make of them.
	pair := func(i, j int, low, high func(x, y, z VecPhysical)) {
		x, y, z := row[i], row[j], free[0]
		low(x, y, z)
		high(x, y, x)
		row[i], row[j], free[0] = z, x, y
	}
	// Words, then pairs of words: row 4i+k has word k of four lanes in each quarter.
	for i := 0; i < 16; i += 2 {
		pair(i, i+1, func(x, y, z VecPhysical) { c.VPUNPCKLDQ(y, x, z) }, func(x, y, z VecPhysical) { c.VPUNPCKHDQ(y, x, z) })
	}
	for i := 0; i < 16; i += 4 {
		for k := range 2 {
			pair(i+k, i+k+2, func(x, y, z VecPhysical) { c.VPUNPCKLQDQ(y, x, z) }, func(x, y, z VecPhysical) { c.VPUNPCKHQDQ(y, x, z) })
		}
		row[i+1], row[i+2] = row[i+2], row[i+1]
	}
	// Quarters, even and odd ones, twice.
	even := func(x, y, z VecPhysical) { c.VSHUFI32X4(U8(0x88), y, x, z) }
	odd := func(x, y, z VecPhysical) { c.VSHUFI32X4(U8(0xdd), y, x, z) }
	w := make([]VecPhysical, 16)
	for k := range 4 {
		pair(k, 4+k, even, odd)
		pair(8+k, 12+k, even, odd)
		pair(k, 8+k, even, odd)
		pair(4+k, 12+k, even, odd)
		w[k], w[8+k], w[4+k], w[12+k] = row[k], row[8+k], row[4+k], row[12+k]
	}
	return w
}

type generator struct {
	*Context
	w         []VecPhysical // word j of the schedule in w[j%16]
	s         [8]VecPhysical
	constants Mem
}

// expand computes word n of the schedule:
//
//	P1(W[n-16] ^ W[n-9] ^ (W[n-3] <<< 15)) ^ (W[n-13] <<< 7) ^ W[n-6]
//	P1(x) = x ^ (x <<< 15) ^ (x <<< 23)
func (g *generator) expand(n int) {
	w := func(i int) VecPhysical { return g.w[(n+i)%16] }
	x, t, u := w(-16+16), temps[0], temps[1]
	g.VPROLD(U8(15), w(-3+16), t)
	g.VPTERNLOGD(U8(parity), t, w(-9+16), x)
	g.VPROLD(U8(15), x, t)
	g.VPROLD(U8(23), x, u)
	g.VPTERNLOGD(U8(parity), t, u, x)
	g.VPROLD(U8(7), w(-13+16), t)
	g.VPTERNLOGD(U8(parity), t, w(-6+16), x)
}

func (g *generator) round(j int) {
	a, b, c, d, e, f, k, h := g.s[0], g.s[1], g.s[2], g.s[3], g.s[4], g.s[5], g.s[6], g.s[7]
	ss1, ss2, ff, gg, t, u := temps[2], temps[3], temps[4], temps[5], temps[6], temps[7]
	w := g.w[j%16]

	g.Commentf("Round %d.", j)
	g.VPROLD(U8(12), a, ss2)
	g.VPADDD_BCST(g.constants.Offset(4*j), e, ss1)
	g.VPADDD(ss2, ss1, ss1)
	g.VPXORD(g.w[(j+4)%16], w, t) // W'
	g.VPADDD(t, d, d)
	g.VPADDD(w, h, h)
	g.VPROLD(U8(7), ss1, ss1)
	g.VPXORD(ss1, ss2, ss2)

	g.VMOVDQA64(a, ff)
	g.VMOVDQA64(e, gg)
	if j < 16 {
		g.VPTERNLOGD(U8(parity), b, c, ff)
		g.VPTERNLOGD(U8(parity), f, k, gg)
	} else {
		g.VPTERNLOGD(U8(majority), b, c, ff)
		g.VPTERNLOGD(U8(choice), k, f, gg)
	}
	g.VPADDD(ff, d, d)
	g.VPADDD(gg, h, h)
	g.VPADDD(ss1, h, h) // TT2
	g.VPADDD(ss2, d, d) // TT1
	g.VPROLD(U8(9), h, t)
	g.VPROLD(U8(17), h, u)
	g.VPROLD(U8(9), b, b)
	g.VPROLD(U8(19), f, f)
	g.VPTERNLOGD(U8(parity), t, u, h) // P0
	if n := j + 5; n >= 16 && n < 68 {
		g.expand(n)
	}
	g.s = [8]VecPhysical{d, a, b, c, h, e, f, k}
}

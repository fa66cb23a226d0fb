// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// transpose makes rows of columns, of eight words each. The result is in t, and z is
// overwritten.
func (f laneField) transpose(z, t []VecPhysical) {
	for i := 0; i < 8; i += 2 {
		f.VPUNPCKLQDQ(z[i+1], z[i], t[i])
		f.VPUNPCKHQDQ(z[i+1], z[i], t[i+1])
	}
	// Now t[i] and t[i+1] have the even and the odd words of two rows, in quarters.
	const evens, odds = 0x88, 0xdd
	for i := range 2 {
		u0, u1, v0, v1 := z[4*i], z[4*i+1], z[4*i+2], z[4*i+3]
		f.VSHUFI64X2(U8(evens), t[2+i], t[i], u0)
		f.VSHUFI64X2(U8(odds), t[2+i], t[i], u1)
		f.VSHUFI64X2(U8(evens), t[6+i], t[4+i], v0)
		f.VSHUFI64X2(U8(odds), t[6+i], t[4+i], v1)
	}
	for i := range 2 {
		u0, u1, v0, v1 := z[4*i], z[4*i+1], z[4*i+2], z[4*i+3]
		f.VSHUFI64X2(U8(evens), v0, u0, t[i])
		f.VSHUFI64X2(U8(odds), v0, u0, t[4+i])
		f.VSHUFI64X2(U8(evens), v1, u1, t[2+i])
		f.VSHUFI64X2(U8(odds), v1, u1, t[6+i])
	}
}

func laneGather(f laneField) {
	f.function("gatherIFMA", "func(dst *uint64, from *uintptr, n int)",
		"gatherIFMA sets n > 0 blocks of points to packed ones, whose addresses are given, plus",
		"one if the point is to be negated.")
	dst, from, n := RDI, RSI, RBX
	f.pointer("dst", dst)
	f.pointer("from", from)
	f.pointer("n", n)
	f.constants()
	rows := []VecPhysical{Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7}
	words := []VecPhysical{Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15}
	ones := Z27
	f.MOVL(U32(1), EAX)
	f.VPBROADCASTQ(RAX, ones)
	p2 := []VecPhysical{Z22, Z23, Z24, Z25, Z26}
	for i, r := range p2 {
		f.VPBROADCASTQ(f.multiples[2].Offset(8*i), r)
	}
	f.Label("next")
	for i, r := range rows {
		f.MOVQ(Mem{Base: from, Disp: 8 * i}, RAX)
		f.ANDQ(I8(-2), RAX)
		f.VMOVDQU64(Mem{Base: RAX}, r)
	}
	f.VPTESTMQ(Mem{Base: from}, ones, K1)
	f.transpose(rows, words)
	for k := range 2 {
		w, z := words[4*k:], left
		f.VPANDQ(mask52, w[0], z[0])
		for i := 1; i < 4; i++ {
			f.VPSRLQ(U8(64-12*i), w[i-1], tmp1)
			f.VPSLLQ(U8(12*i), w[i], z[i])
			f.VPORQ(tmp1, z[i], z[i])
			f.VPANDQ(mask52, z[i], z[i])
		}
		f.VPSRLQ(U8(16), w[3], z[4])
		if k == 1 {
			for i, r := range z {
				f.VPSUBQ(r, p2[i], K1, r)
			}
			f.carry(z)
		}
		f.store(z, at(dst, k*block))
	}
	f.ADDQ(U32(lpoint), dst)
	f.ADDQ(U8(64), from)
	f.DECQ(n)
	f.JNE(LabelRef("next"))
	f.end()
}

func laneScatter(f laneField) {
	f.function("scatterIFMA", "func(dst, src *uint64, n int)",
		"scatterIFMA packs n > 0 blocks of points, one after the other: integers below 2²⁵⁶, not",
		"always below p.")
	dst, src, n := RDI, RSI, RBX
	f.pointer("dst", dst)
	f.pointer("src", src)
	f.pointer("n", n)
	f.constants()
	words := []VecPhysical{Z18, Z19, Z20, Z21, Z22, Z23, Z24, Z25}
	rows := []VecPhysical{Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15}
	f.Label("next")
	for k := range 2 {
		z, w := left, words[4*k:]
		f.load(at(src, k*block), z)
		for range 2 {
			f.fold(z)
			f.carry(z)
		}
		for i := range 4 {
			// 52 - 12i bits of one limb, and 12 + 12i of the next.
			if i > 0 {
				f.VPSRLQ(U8(12*i), z[i], z[i])
			}
			f.VPSLLQ(U8(52-12*i), z[i+1], tmp1)
			f.VPORQ(tmp1, z[i], w[i])
		}
	}
	f.transpose(words, rows)
	for i, r := range rows {
		f.VMOVDQU64(r, Mem{Base: dst, Disp: vector * i})
	}
	f.ADDQ(U32(8*vector), dst)
	f.ADDQ(U32(lpoint), src)
	f.DECQ(n)
	f.JNE(LabelRef("next"))
	f.end()
}

func laneFetch(f laneField) {
	f.function("fetchIFMA", "func(from *uintptr, step, n int)",
		"fetchIFMA fetches n > 0 times eight lines, whose addresses are step bytes from those before.")
	from, step, n := RSI, RCX, RBX
	f.pointer("from", from)
	f.pointer("step", step)
	f.pointer("n", n)
	f.Label("next")
	for i := range 8 {
		f.MOVQ(Mem{Base: from, Disp: 8 * i}, RAX)
		f.PREFETCHT1(Mem{Base: RAX})
	}
	f.ADDQ(step, from)
	f.DECQ(n)
	f.JNE(LabelRef("next"))
	f.RET()
}

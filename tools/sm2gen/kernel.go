// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// Sizes in memory.
const (
	element = 32
	affine  = 2 * element
)

func kernel(c *Context) {
	f := newField(c)
	mul(f)
	sqrN(f)
	sqrVec(f)
	differences(f)
	additions(f)
	double(f)
	addAffine(f)
	add(f)
}

func (f field) function(name, signature string, doc ...string) {
	f.Function(name)
	f.Attributes(attr.NOSPLIT)
	f.Pragma("noescape")
	f.SignatureExpr(signature)
	f.Doc(doc...)
}

// pointer loads a parameter. Only RDI, RSI and RCX survive arithmetic.
func (f field) pointer(name string, r Register) { f.Load(f.Param(name), r) }

func mul(f field) {
	f.function("mulADX", "func(z, x, y *uint64)", "mulADX sets z = xy.")
	f.pointer("x", RSI)
	f.pointer("y", RCX)
	f.pointer("z", RDI)
	f.AllocLocal(8) // so that RBP is saved
	f.mul(at(RSI, 0), at(RCX, 0))
	f.store(at(RDI, 0))
	f.RET()
}

func sqrN(f field) {
	f.function("sqrADX", "func(z, x *uint64, n int)", "sqrADX sets z to x squared n times, n > 0.")
	f.pointer("x", RSI)
	f.pointer("n", RCX)
	f.pointer("z", RDI)
	f.AllocLocal(8)
	f.sqr(at(RSI, 0))
	f.store(at(RDI, 0))
	f.DECQ(RCX)
	f.JE(LabelRef("done"))
	f.Label("again")
	f.sqr(at(RDI, 0))
	f.store(at(RDI, 0))
	f.DECQ(RCX)
	f.JNE(LabelRef("again"))
	f.Label("done")
	f.RET()
}

func sqrVec(f field) {
	f.function("sqrVecADX", "func(x *uint64, pairs, n int)",
		"sqrVecADX squares each of x[0], ..., x[2·pairs-1] n times, pairs > 0 and n > 0.",
		"Two at once, for one alone has to wait for its carries.")
	pairs := f.AllocLocal(8)
	f.pointer("pairs", RDX)
	f.MOVQ(RDX, pairs)
	f.pointer("x", RDI)
	f.Label("next")
	f.Load(f.Param("n"), RCX)
	f.Label("again")
	for i := range 2 {
		f.sqr(at(RDI, i*element))
		f.store(at(RDI, i*element))
	}
	f.DECQ(RCX)
	f.JNE(LabelRef("again"))
	f.ADDQ(U8(2*element), RDI)
	f.DECQ(pairs)
	f.JNE(LabelRef("next"))
	f.RET()
}

// Layout of a quotient in memory: the divisor, and the product of those before.
const (
	divisor  = 0
	product  = element
	quotient = 2 * element
)

func differences(f field) {
	f.function("differencesADX", "func(q, a, b *uint64, pairs int, zero *bool) (zeros int)",
		"differencesADX is [differences] for 2·pairs points, pairs > 0.")
	local := f.AllocLocal(24)
	pairs, zeros, flags := local, local.Offset(8), local.Offset(16)
	f.pointer("pairs", RDX)
	f.MOVQ(RDX, pairs)
	f.pointer("zero", RDX)
	f.MOVQ(RDX, flags)
	f.XORL(EDX, EDX)
	f.MOVQ(RDX, zeros)
	f.pointer("q", RDI)
	f.pointer("a", RSI)
	f.pointer("b", RCX)
	f.Label("next")
	names := []string{"zero0", "zero1"}
	for i := range 2 {
		f.load(at(RCX, i*affine))
		f.sub(at(RSI, i*affine))
		f.MOVQ(acc[0], lo)
		for _, r := range acc[1:] {
			f.ORQ(r, lo)
		}
		f.JE(LabelRef(names[i]))
		f.Label("stored" + names[i])
		f.store(at(RDI, i*quotient+divisor))
	}
	for i := range 2 {
		f.mul(at(RDI, i*quotient+divisor), at(RDI, i*quotient+product))
		f.store(at(RDI, (i+2)*quotient+product))
	}
	f.ADDQ(U32(2*quotient), RDI)
	f.ADDQ(U32(2*affine), RSI)
	f.ADDQ(U32(2*affine), RCX)
	f.ADDQ(U8(2), flags)
	f.DECQ(pairs)
	f.JNE(LabelRef("next"))
	f.MOVQ(zeros, RDX)
	f.Store(RDX, f.ReturnIndex(0))
	f.RET()

	for i := range 2 {
		f.Label(names[i])
		f.Comment("Takes 1, in Montgomery form, and notes it.")
		f.INCQ(zeros)
		f.MOVQ(flags, RDX)
		f.MOVB(U8(1), Mem{Base: RDX, Disp: i})
		f.MOVQ(U32(1), acc[0])
		f.MOVL(U32(0xffffffff), acc[1].(GPPhysical).As32())
		f.XORL(acc[2].(GPPhysical).As32(), acc[2].(GPPhysical).As32())
		f.MOVQ(U64(1<<32), acc[3])
		f.JMP(LabelRef("stored" + names[i]))
	}
}

func additions(f field) {
	f.function("additionsADX", "func(inv, q, a, b *uint64, pairs int)",
		"additionsADX is [additions] for 2·pairs points, pairs > 0.")
	local := f.AllocLocal(16 + 6*element)
	pairs := local
	inverse := func(i int) Mem { return local.Offset(16 + i*element) }
	slope := func(i int) Mem { return local.Offset(16 + (2+i)*element) }
	diff := func(i int) Mem { return local.Offset(16 + (4+i)*element) }

	f.pointer("inv", RDX)
	for i := range 2 {
		f.load(at(RDX, i*element))
		f.store(inverse(i))
	}
	f.pointer("q", RDI)
	f.pointer("a", RSI)
	f.pointer("b", RCX)
	f.pointer("pairs", RDX)
	f.MOVQ(RDX, pairs)
	f.SHLQ(U8(7), RDX) // two points, and two quotients, have 128 bytes
	f.ADDQ(RDX, RDI)
	f.ADDQ(RDX, RSI)
	f.ADDQ(RDX, RCX)
	f.Label("next")
	for _, r := range []Register{RDI, RSI, RCX} {
		f.ADDQ(I8(-128), r)
	}
	each := func(g func(i int, a, b, q Mem)) {
		for i := range 2 {
			g(i, at(RSI, i*affine), at(RCX, i*affine), at(RDI, i*quotient))
		}
	}
	each(func(i int, a, b, q Mem) {
		f.Comment("1/(x2 - x1), and y2 - y1.")
		f.mul(inverse(i), q.Offset(product))
		f.store(slope(i))
		f.load(b.Offset(element))
		f.sub(a.Offset(element))
		f.store(diff(i))
	})
	each(func(i int, a, b, q Mem) {
		f.Comment("The slope.")
		f.mul(slope(i), diff(i))
		f.store(slope(i))
	})
	each(func(i int, a, b, q Mem) {
		f.Comment("The inverse of the product of the divisors before.")
		f.mul(inverse(i), q.Offset(divisor))
		f.store(inverse(i))
	})
	each(func(i int, a, b, q Mem) {
		f.Comment("x3, and x1 - x3.")
		f.sqr(slope(i))
		f.sub(a)
		f.sub(b)
		f.store(diff(i))
		f.load(a)
		f.sub(diff(i))
		x3 := t[:4]
		for k, r := range x3 {
			f.MOVQ(limb(diff(i), k), r)
		}
		f.store(diff(i))
		for k, r := range x3 {
			f.MOVQ(r, limb(a, k))
		}
	})
	each(func(i int, a, b, q Mem) {
		f.Comment("y3.")
		f.mul(slope(i), diff(i))
		f.sub(a.Offset(element))
		f.store(a.Offset(element))
	})
	f.DECQ(pairs)
	f.JNE(LabelRef("next"))
	f.pointer("inv", RDX)
	for i := range 2 {
		f.load(inverse(i))
		f.store(at(RDX, i*element))
	}
	f.RET()
}

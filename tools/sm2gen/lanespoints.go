// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func lanes(c *Context) {
	f := newLaneField(c)
	mulLanes(f)
	sqrLanes(f)
	laneDifferences(f)
	laneAdditions(f)
	laneDouble(f)
	laneAddMixed(f)
	laneGather(f)
	laneScatter(f)
}

func (f laneField) pointer(name string, r Register) { f.Load(f.Param(name), r) }

func (f laneField) end() {
	f.VZEROUPPER()
	f.RET()
}

// both writes a stage for two blocks. Products of one block wait for each other, those of
// the other fill the gaps.
func both(g func(i int)) {
	g(0)
	g(1)
}

func mulLanes(f laneField) {
	f.function("mulIFMA", "func(z, x, y *uint64, step, n int)",
		"mulIFMA sets z = xy for n > 0 blocks. y advances by step bytes for each.")
	z, x, y, step, n := RDI, RSI, RDX, RCX, RBX
	f.pointer("z", z)
	f.pointer("x", x)
	f.pointer("y", y)
	f.pointer("step", step)
	f.pointer("n", n)
	f.constants()
	f.Label("next")
	f.product(at(z, 0), at(x, 0), at(y, 0))
	f.ADDQ(U32(block), z)
	f.ADDQ(U32(block), x)
	f.ADDQ(step, y)
	f.DECQ(n)
	f.JNE(LabelRef("next"))
	f.end()
}

func sqrLanes(f laneField) {
	f.function("sqrIFMA", "func(z *uint64, pairs, times int)",
		"sqrIFMA squares 2·pairs blocks so many times, both above zero.")
	z, pairs, times, k := RDI, RBX, RCX, RDX
	f.pointer("z", z)
	f.pointer("pairs", pairs)
	f.pointer("times", times)
	f.constants()
	f.Label("next")
	f.MOVQ(times, k)
	f.Label("again")
	both(func(i int) {
		f.load(at(z, i*block), left)
		f.sqr()
		f.carry(raw)
		f.store(raw, at(z, i*block))
	})
	f.DECQ(k)
	f.JNE(LabelRef("again"))
	f.ADDQ(U32(2*block), z)
	f.DECQ(pairs)
	f.JNE(LabelRef("next"))
	f.end()
}

// Layout of the quotients of a block: divisors, and the products of those before.
const (
	laneDivisor  = 0
	laneProduct  = block
	laneQuotient = 2 * block
)

func laneDifferences(f laneField) {
	f.function("differencesIFMA", "func(q, a, b *uint64, pairs int, zero *uint8) (zeros uint64)",
		"differencesIFMA is [laneDifferencesGeneric] for 2·pairs blocks, pairs > 0.")
	q, a, b, pairs, zero, any := RDI, RSI, RCX, RBX, RDX, R8
	f.pointer("q", q)
	f.pointer("a", a)
	f.pointer("b", b)
	f.pointer("pairs", pairs)
	f.pointer("zero", zero)
	f.constants()
	limit := Z23
	f.MOVQ(U64(1<<52-3), RAX)
	f.VPBROADCASTQ(RAX, limit)
	f.XORL(any.As32(), any.As32())
	f.Label("next")
	both(func(i int) {
		f.diff(at(b, i*lpoint), at(a, i*lpoint), left)
		f.carry(left)
		f.Comment("p, 2p and 3p end like that, and nothing else does by chance. They become 1.")
		f.VPCMPUQ(U8(5), limit, left[0], K1)
		f.KMOVB(K1, EAX)
		f.MOVB(AL, Mem{Base: zero, Disp: i})
		f.ORL(EAX, any.As32())
		for k, r := range left {
			f.VPBROADCASTQ(f.one.Offset(8*k), K1, r)
		}
		f.store(left, at(q, i*laneQuotient+laneDivisor))
		f.mul(at(q, i*laneQuotient+laneProduct))
		f.carry(raw)
		f.store(raw, at(q, (i+2)*laneQuotient+laneProduct))
	})
	f.ADDQ(U32(2*laneQuotient), q)
	f.ADDQ(U32(2*lpoint), a)
	f.ADDQ(U32(2*lpoint), b)
	f.ADDQ(U8(2), zero)
	f.DECQ(pairs)
	f.JNE(LabelRef("next"))
	f.Store(any, f.ReturnIndex(0))
	f.end()
}

func laneAdditions(f laneField) {
	f.function("additionsIFMA", "func(inv, q, a, b, tmp *uint64, pairs int, next *uintptr)",
		"additionsIFMA is [laneAdditionsGeneric] for 2·pairs blocks, pairs > 0. Meanwhile it fetches",
		"16·pairs lines into the cache, whose addresses are in next unless that is nil.")
	inv, q, a, b, tmp, pairs, next := R8, RDI, RSI, RCX, RDX, RBX, R9
	f.pointer("next", next)
	f.pointer("inv", inv)
	f.pointer("q", q)
	f.pointer("a", a)
	f.pointer("b", b)
	f.pointer("tmp", tmp)
	f.pointer("pairs", pairs)
	f.IMUL3Q(U32(2*lpoint), pairs, RAX) // two points, and two quotients, have the same size
	f.ADDQ(RAX, q)
	f.ADDQ(RAX, a)
	f.ADDQ(RAX, b)
	f.constants()
	f.Label("next")
	for _, r := range []Register{q, a, b} {
		f.SUBQ(U32(2*lpoint), r)
	}
	slope := func(i int) Mem { return at(tmp, i*block) }
	diff := func(i int) Mem { return at(tmp, (2+i)*block) }
	f.TESTQ(next, next)
	f.JE(LabelRef("fetched"))
	for i := range 16 {
		f.MOVQ(Mem{Base: next, Disp: 8 * i}, RAX)
		f.PREFETCHT1(Mem{Base: RAX})
	}
	f.ADDQ(U32(128), next)
	f.Label("fetched")
	both(func(i int) {
		f.Comment("1/(x2 - x1).")
		f.product(slope(i), at(inv, i*block), at(q, i*laneQuotient+laneProduct))
	})
	both(func(i int) {
		f.Comment("The inverse of the product of the divisors before.")
		f.product(at(inv, i*block), at(inv, i*block), at(q, i*laneQuotient+laneDivisor))
	})
	both(func(i int) {
		f.Comment("The slope.")
		f.diff(at(b, i*lpoint+block), at(a, i*lpoint+block), left)
		f.carry(left)
		f.mul(slope(i))
		f.carry(raw)
		f.store(raw, slope(i))
	})
	both(func(i int) {
		f.Comment("x3, and x1 - x3.")
		f.load(slope(i), left)
		f.sqr()
		x1 := at(a, i*lpoint)
		f.subMem(x1, raw)
		f.subMem(at(b, i*lpoint), raw)
		f.addPrime(3, raw)
		f.fold(raw)
		f.carry(raw)
		f.load(x1, left)
		for k, r := range left {
			f.VPSUBQ(raw[k], r, r)
		}
		f.addPrime(2, left)
		f.carry(left)
		f.store(raw, x1)
		f.store(left, diff(i))
	})
	both(func(i int) {
		f.Comment("y3.")
		y1 := at(a, i*lpoint+block)
		f.load(slope(i), left)
		f.mul(diff(i))
		f.subMem(y1, raw)
		f.addPrime(3, raw)
		f.fold(raw)
		f.carry(raw)
		f.store(raw, y1)
	})
	f.DECQ(pairs)
	f.JNE(LabelRef("next"))
	f.end()
}

func laneDouble(f laneField) {
	f.function("doubleIFMA", "func(p, tmp *uint64, times int)",
		"doubleIFMA doubles two blocks of points so many times, above zero, by 4M + 4S of",
		"which the last two products have one reduction.")
	p, tmp, times := RDI, RSI, RCX
	f.pointer("p", p)
	f.pointer("tmp", tmp)
	f.pointer("times", times)
	f.constants()
	coords := func(i int) (x, y, z Mem) {
		return at(p, i*ljac), at(p, i*ljac+block), at(p, i*ljac+2*block)
	}
	temp := func(i, k int) Mem { return at(tmp, (5*i+k)*block) }
	f.Label("next")
	both(func(i int) {
		f.Comment("B = 2Y².")
		_, y, _ := coords(i)
		f.load(y, left)
		f.sqr()
		for _, r := range raw {
			f.VPADDQ(r, r, r)
		}
		f.carry(raw)
		f.store(raw, temp(i, 0))
	})
	both(func(i int) {
		f.Comment("U = X - Z², V = 3(X + Z²).")
		x, _, z := coords(i)
		f.load(z, left)
		f.sqr()
		f.load(x, left)
		for k, r := range left {
			f.VPSUBQ(raw[k], r, r)
		}
		f.addPrime(2, left)
		f.carry(left)
		f.store(left, temp(i, 1))
		f.addMem(x, raw)
		for _, r := range raw {
			f.VPADDQ(r, r, tmp1)
			f.VPADDQ(tmp1, r, r)
		}
		f.carry(raw)
		f.store(raw, temp(i, 2))
	})
	both(func(i int) {
		f.Comment("Z3 = 2YZ.")
		_, y, z := coords(i)
		f.load(y, left)
		f.mul(z)
		for _, r := range raw {
			f.VPADDQ(r, r, r)
		}
		f.carry(raw)
		f.store(raw, z)
	})
	both(func(i int) {
		f.Comment("M = UV.")
		f.product(temp(i, 1), temp(i, 1), temp(i, 2))
	})
	both(func(i int) {
		f.Comment("C = XB.")
		x, _, _ := coords(i)
		f.product(temp(i, 2), x, temp(i, 0))
	})
	both(func(i int) {
		f.Comment("X3 = M² - 4C, and E = X3 - 2C.")
		x, _, _ := coords(i)
		f.load(temp(i, 1), left)
		f.sqr()
		f.subTimes(2, temp(i, 2), raw)
		f.addPrime(5, raw)
		f.fold(raw)
		f.carry(raw)
		f.store(raw, x)
		f.subTimes(1, temp(i, 2), raw)
		f.addPrime(3, raw)
		f.carry(raw)
		f.store(raw, temp(i, 3))
	})
	both(func(i int) {
		f.Comment("Y3 = -(2B² + ME).")
		_, y, _ := coords(i)
		f.load(temp(i, 0), left)
		f.squares()
		for _, t := range cols {
			f.VPADDQ(t, t, t)
		}
		f.load(temp(i, 1), left)
		f.accumulate(temp(i, 3))
		f.reduce()
		f.negateFrom(4)
		f.fold(raw)
		f.carry(raw)
		f.store(raw, y)
	})
	f.DECQ(times)
	f.JNE(LabelRef("next"))
	f.end()
}

// negateFrom sets raw = kp - raw.
func (f laneField) negateFrom(k int) {
	for i, r := range raw {
		f.VPBROADCASTQ(f.multiples[k].Offset(8*i), tmp1)
		f.VPSUBQ(r, tmp1, r)
	}
}

func laneAddMixed(f laneField) {
	f.function("addMixedIFMA", "func(p, q, tmp *uint64)",
		"addMixedIFMA adds two blocks of affine points to two of others, by 8M + 3S of which",
		"two products have one reduction. Where both have the same x, and where Z is zero, the sum has a Z of zero.")
	p, q, tmp := RDI, RSI, RCX
	f.pointer("p", p)
	f.pointer("q", q)
	f.pointer("tmp", tmp)
	f.constants()
	coords := func(i int) (x, y, z Mem) {
		return at(p, i*ljac), at(p, i*ljac+block), at(p, i*ljac+2*block)
	}
	temp := func(i, k int) Mem { return at(tmp, (5*i+k)*block) }
	both(func(i int) {
		f.Comment("Z².")
		_, _, z := coords(i)
		f.load(z, left)
		f.sqr()
		f.carry(raw)
		f.store(raw, temp(i, 0))
	})
	both(func(i int) {
		f.Comment("H = x2·Z² - X1.")
		x, _, _ := coords(i)
		f.load(at(q, i*lpoint), left)
		f.mul(temp(i, 0))
		f.subMem(x, raw)
		f.addPrime(2, raw)
		f.carry(raw)
		f.store(raw, temp(i, 1))
	})
	both(func(i int) {
		f.Comment("Z³.")
		_, _, z := coords(i)
		f.product(temp(i, 0), temp(i, 0), z)
	})
	both(func(i int) {
		f.Comment("H².")
		f.load(temp(i, 1), left)
		f.sqr()
		f.carry(raw)
		f.store(raw, temp(i, 2))
	})
	both(func(i int) {
		f.Comment("r = y2·Z³ - Y1.")
		_, y, _ := coords(i)
		f.load(at(q, i*lpoint+block), left)
		f.mul(temp(i, 0))
		f.subMem(y, raw)
		f.addPrime(2, raw)
		f.carry(raw)
		f.store(raw, temp(i, 0))
	})
	both(func(i int) {
		f.Comment("Z3 = Z·H.")
		_, _, z := coords(i)
		f.product(z, z, temp(i, 1))
	})
	both(func(i int) {
		f.Comment("H³.")
		f.product(temp(i, 1), temp(i, 1), temp(i, 2))
	})
	both(func(i int) {
		f.Comment("V = X1·H².")
		x, _, _ := coords(i)
		f.product(temp(i, 2), x, temp(i, 2))
	})
	both(func(i int) {
		f.Comment("X3 = r² - H³ - 2V, and E = X3 - V.")
		x, _, _ := coords(i)
		f.load(temp(i, 0), left)
		f.sqr()
		f.subMem(temp(i, 1), raw)
		f.subTimes(1, temp(i, 2), raw)
		f.addPrime(4, raw)
		f.fold(raw)
		f.carry(raw)
		f.store(raw, x)
		f.subMem(temp(i, 2), raw)
		f.addPrime(2, raw)
		f.carry(raw)
		f.store(raw, temp(i, 3))
	})
	both(func(i int) {
		f.Comment("Y3 = -(r·E + Y1·H³).")
		_, y, _ := coords(i)
		f.load(temp(i, 0), left)
		f.columns()
		f.accumulate(temp(i, 3))
		f.load(y, left)
		f.accumulate(temp(i, 1))
		f.reduce()
		f.negateFrom(3)
		f.fold(raw)
		f.carry(raw)
		f.store(raw, y)
	})
	f.end()
}

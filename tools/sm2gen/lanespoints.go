// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

func lanes(c *Context) {
	f := newLaneField(c)
	mulLanes(f)
	for _, n := range []int{2, 4} {
		sqrLanes(f, n)
		laneDifferences(f, n)
		laneAdditions(f, n)
	}
	laneDouble(f, 2) // four, by more code, aren't faster
	laneAddMixed(f, 2)
	laneGather(f)
	laneScatter(f)
	laneFetch(f)
}

func (f laneField) pointer(name string, r Register) { f.Load(f.Param(name), r) }

func (f laneField) end() {
	f.VZEROUPPER()
	f.RET()
}

func mulLanes(f laneField) {
	f.function("mulIFMA", "func(z, x, y *uint64, zs, xs, ys, n int)",
		"mulIFMA sets z = xy for n > 0 blocks. z, x and y advance by so many bytes for each.")
	z, x, y, n := RDI, RSI, RDX, RBX
	zs, xs, ys := R8, R9, R10
	f.pointer("z", z)
	f.pointer("x", x)
	f.pointer("y", y)
	f.pointer("zs", zs)
	f.pointer("xs", xs)
	f.pointer("ys", ys)
	f.pointer("n", n)
	f.constants()
	f.Label("next")
	s := multiplyFull(
		func(int) Mem { return at(z, 0) },
		func(int) Mem { return at(x, 0) },
		func(int) Mem { return at(y, 0) },
	)
	s.columns(f, 0)
	s.rest(f, 0)
	f.ADDQ(zs, z)
	f.ADDQ(xs, x)
	f.ADDQ(ys, y)
	f.DECQ(n)
	f.JNE(LabelRef("next"))
	f.end()
}

func sqrLanes(f laneField, n int) {
	name := fmt.Sprintf("sqr%dIFMA", n)
	f.function(name, "func(z *uint64, count, times int)",
		fmt.Sprintf("%s squares %d·count blocks so many times, both above zero, for products alone.", name, n))
	z, count, times, k := RDI, RBX, RCX, RDX
	f.pointer("z", z)
	f.pointer("count", count)
	f.pointer("times", times)
	f.constants()
	columns := func(i int) {
		f.load(at(z, i*block), left)
		f.with(i%2).squares(0, 0)
	}
	rest := func(i int) {
		g := f.with(i % 2)
		g.reduce()
		g.carryLoose(g.raw)
		g.store(g.raw, at(z, i*block))
	}
	others := func() {
		for i := range n - 1 {
			f.merge(func() { rest(i) }, func() { columns(i + 1) })
		}
	}
	f.Label("next")
	f.MOVQ(times, k)
	columns(0)
	others()
	f.DECQ(k)
	f.JE(LabelRef("last"))
	f.Label("again")
	f.merge(func() { rest(n - 1) }, func() { columns(0) })
	others()
	f.DECQ(k)
	f.JNE(LabelRef("again"))
	f.Label("last")
	rest(n - 1)
	f.ADDQ(U32(n*block), z)
	f.DECQ(count)
	f.JNE(LabelRef("next"))
	f.end()
}

// Layout of the quotients of a block: divisors, and the products of those before.
const (
	laneDivisor  = 0
	laneProduct  = block
	laneQuotient = 2 * block
)

// chains is the number of chains of products, by turns.
const chains = 4

// fetch fetches eight lines for each of n blocks, whose addresses are in next unless that is zero.
func (f laneField) fetch(next Register, n int) {
	f.TESTQ(next, next)
	f.JE(LabelRef("fetched"))
	for i := range 8 * n {
		f.MOVQ(Mem{Base: next, Disp: 8 * i}, RAX)
		f.PREFETCHT1(Mem{Base: RAX})
	}
	f.ADDQ(U32(64*n), next)
	f.Label("fetched")
}

func laneDifferences(f laneField, n int) {
	name := fmt.Sprintf("differences%dIFMA", n)
	f.function(name, "func(q, a, b *uint64, times int, zero *uint8, next *uintptr) (zeros uint64)",
		fmt.Sprintf("%s is [laneDifferencesGeneric] for so many times %d blocks. Meanwhile it fetches", name, n),
		"eight lines a block into the cache, whose addresses are in next unless that is nil.")
	q, a, b, times, zero, next, any := RDI, RSI, RCX, RBX, RDX, R9, R8
	f.pointer("q", q)
	f.pointer("a", a)
	f.pointer("b", b)
	f.pointer("times", times)
	f.pointer("zero", zero)
	f.pointer("next", next)
	f.constants()
	f.XORL(any.As32(), any.As32())
	f.Label("next")
	f.fetch(next, n)
	f.pipeline(n, stage{
		func(f laneField, i int) {
			f.diff(at(b, i*lpoint), at(a, i*lpoint), left)
			f.carryBy(left, stream)
			// p, 2p and 3p end like that, and nothing else does by chance. They become 1.
			f.VPCMPUQ_BCST(U8(5), f.scalars.Offset(32), left[0], K1)
			f.KMOVB(K1, EAX)
			f.MOVB(AL, Mem{Base: zero, Disp: i})
			f.ORL(EAX, any.As32())
			for k, r := range left {
				f.VPBROADCASTQ(f.one.Offset(8*k), K1, r)
			}
			f.store(left, at(q, i*laneQuotient+laneDivisor))
			f.times(at(q, i*laneQuotient+laneProduct), 0)
		},
		func(f laneField, i int) {
			f.reduce()
			f.carryLoose(f.raw)
			f.store(f.raw, at(q, (i+chains)*laneQuotient+laneProduct))
		},
	})
	f.ADDQ(U32(n*laneQuotient), q)
	f.ADDQ(U32(n*lpoint), a)
	f.ADDQ(U32(n*lpoint), b)
	f.ADDQ(U8(n), zero)
	f.DECQ(times)
	f.JNE(LabelRef("next"))
	f.Store(any, f.ReturnIndex(0))
	f.end()
}

func laneAdditions(f laneField, n int) {
	name := fmt.Sprintf("additions%dIFMA", n)
	f.function(name, "func(inv, q, a, b, tmp *uint64, times int, next *uintptr)",
		fmt.Sprintf("%s is [laneAdditionsGeneric] for so many times %d blocks. Meanwhile it fetches", name, n),
		"eight lines a block into the cache, whose addresses are in next unless that is nil.")
	inv, q, a, b, tmp, times, next := R8, RDI, RSI, RCX, RDX, RBX, R9
	f.pointer("next", next)
	f.pointer("inv", inv)
	f.pointer("q", q)
	f.pointer("a", a)
	f.pointer("b", b)
	f.pointer("tmp", tmp)
	f.pointer("times", times)
	f.IMUL3Q(U32(n*lpoint), times, RAX) // a point and a quotient have the same size
	f.ADDQ(RAX, q)
	f.ADDQ(RAX, a)
	f.ADDQ(RAX, b)
	f.constants()
	f.Label("next")
	for _, r := range []Register{q, a, b} {
		f.SUBQ(U32(n*lpoint), r)
	}
	inverse := func(i int) Mem { return at(inv, i*block) }
	slope := func(i int) Mem { return at(tmp, i*block) }
	diff := func(i int) Mem { return at(tmp, (n+i)*block) }
	x1 := func(i int) Mem { return at(a, i*lpoint) }
	y1 := func(i int) Mem { return at(a, i*lpoint+block) }
	f.fetch(next, n)
	f.pipeline(n,
		// 1/(x2 - x1).
		multiply(slope, inverse, func(i int) Mem { return at(q, i*laneQuotient+laneProduct) }),
		// The inverse of the product of the divisors before.
		multiply(inverse, inverse, func(i int) Mem { return at(q, i*laneQuotient+laneDivisor) }),
		// The slope.
		stage{
			func(f laneField, i int) {
				f.diff(at(b, i*lpoint+block), y1(i), left)
				f.carryLooseBy(left, stream)
				f.times(slope(i), 0)
			},
			func(f laneField, i int) {
				f.reduce()
				f.carryLoose(f.raw)
				f.store(f.raw, slope(i))
			},
		},
		// x3, and x1 - x3.
		stage{
			func(f laneField, i int) {
				f.load(slope(i), left)
				f.squares(4, 0)
			},
			func(f laneField, i int) {
				f.reduce()
				f.subMem(x1(i), f.raw)
				f.subMem(at(b, i*lpoint), f.raw)
				f.fold(f.raw)
				f.carry(f.raw)
				f.load(x1(i), f.free)
				f.store(f.raw, x1(i))
				for k, r := range f.free {
					f.VPSUBQ(f.raw[k], r, r)
				}
				f.addPrime(2, f.free)
				f.carryLoose(f.free)
				f.store(f.free, diff(i))
			},
		},
		// y3.
		stage{
			func(f laneField, i int) {
				f.load(slope(i), left)
				f.times(diff(i), 3)
			},
			func(f laneField, i int) {
				f.reduce()
				f.subMem(y1(i), f.raw)
				f.fold(f.raw)
				f.carry(f.raw)
				f.store(f.raw, y1(i))
			},
		},
	)
	f.DECQ(times)
	f.JNE(LabelRef("next"))
	f.end()
}

func laneDouble(f laneField, n int) {
	name := fmt.Sprintf("double%dIFMA", n)
	f.function(name, "func(p, tmp *uint64, times int)",
		fmt.Sprintf("%s doubles %d blocks of points so many times, above zero, by 4M + 4S of", name, n),
		"which the last two products have one reduction.")
	p, tmp, times := RDI, RSI, RCX
	f.pointer("p", p)
	f.pointer("tmp", tmp)
	f.pointer("times", times)
	f.constants()
	x := func(i int) Mem { return at(p, i*ljac) }
	y := func(i int) Mem { return at(p, i*ljac+block) }
	z := func(i int) Mem { return at(p, i*ljac+2*block) }
	temp := func(k int) func(i int) Mem { return func(i int) Mem { return at(tmp, (5*i+k)*block) } }
	b, u, v, e := temp(0), temp(1), temp(2), temp(3)
	m, c := u, v // later
	f.Label("next")
	f.pipeline(n,
		// U = X - Z², V = 3(X + Z²). It comes first since it doesn't wait for Y.
		stage{
			func(f laneField, i int) {
				f.load(z(i), left)
				f.squares(0, 0)
			},
			func(f laneField, i int) {
				f.reduce()
				f.load(x(i), f.free)
				for k, r := range f.free {
					f.VPSUBQ(f.raw[k], r, r)
				}
				f.addPrime(2, f.free)
				f.carryLoose(f.free)
				f.store(f.free, u(i))
				f.addMem(x(i), f.raw)
				for _, r := range f.raw {
					f.VPADDQ(r, r, tmp1)
					f.VPADDQ(tmp1, r, r)
				}
				f.carryLoose(f.raw)
				f.store(f.raw, v(i))
			},
		},
		// B = 2Y².
		stage{
			func(f laneField, i int) {
				f.load(y(i), left)
				f.squares(0, 0)
			},
			func(f laneField, i int) {
				f.reduce()
				f.doubleRaw()
				f.carryLoose(f.raw)
				f.store(f.raw, b(i))
			},
		},
		// Z3 = 2YZ.
		stage{
			func(f laneField, i int) {
				f.load(y(i), left)
				f.times(z(i), 0)
			},
			func(f laneField, i int) {
				f.reduce()
				f.doubleRaw()
				f.carryLoose(f.raw)
				f.store(f.raw, z(i))
			},
		},
		// M = UV, C = XB.
		multiply(m, u, v),
		multiplyFull(c, x, b),
		// X3 = M² - 4C, and E = X3 - 2C.
		stage{
			func(f laneField, i int) {
				f.load(m(i), left)
				f.squares(6, 0)
			},
			func(f laneField, i int) {
				f.reduce()
				f.subTimes(2, c(i), f.raw)
				f.fold(f.raw)
				f.carry(f.raw)
				f.store(f.raw, x(i))
				f.subTimes(1, c(i), f.raw)
				f.addPrime(3, f.raw)
				f.carryLoose(f.raw)
				f.store(f.raw, e(i))
			},
		},
		// Y3 = -(2B² + ME).
		stage{
			func(f laneField, i int) {
				f.load(b(i), left)
				f.squares(0, 1)
				for _, t := range f.cols {
					f.VPADDQ(t, t, t)
				}
				f.load(m(i), left)
				f.accumulate(e(i))
			},
			func(f laneField, i int) {
				f.reduce()
				f.negateFrom(4)
				f.fold(f.raw)
				f.carry(f.raw)
				f.store(f.raw, y(i))
			},
		},
	)
	f.DECQ(times)
	f.JNE(LabelRef("next"))
	f.end()
}

func (f laneField) doubleRaw() {
	for _, r := range f.raw {
		f.VPADDQ(r, r, r)
	}
}

// negateFrom sets raw = kp - raw.
func (f laneField) negateFrom(k int) {
	for i, r := range f.raw {
		f.VPBROADCASTQ(f.multiples[k].Offset(8*i), tmp1)
		f.VPSUBQ(r, tmp1, r)
	}
}

func laneAddMixed(f laneField, n int) {
	name := fmt.Sprintf("addMixed%dIFMA", n)
	f.function(name, "func(p, q, tmp *uint64)",
		fmt.Sprintf("%s adds %d blocks of affine points to as many others, by 8M + 3S of which", name, n),
		"two products have one reduction. Where both have the same x, and where Z is zero, the sum has a Z of zero.")
	p, q, tmp := RDI, RSI, RCX
	f.pointer("p", p)
	f.pointer("q", q)
	f.pointer("tmp", tmp)
	f.constants()
	x := func(i int) Mem { return at(p, i*ljac) }
	y := func(i int) Mem { return at(p, i*ljac+block) }
	z := func(i int) Mem { return at(p, i*ljac+2*block) }
	x2 := func(i int) Mem { return at(q, i*lpoint) }
	y2 := func(i int) Mem { return at(q, i*lpoint+block) }
	temp := func(k int) func(i int) Mem { return func(i int) Mem { return at(tmp, (5*i+k)*block) } }
	zz, h, hh, e := temp(0), temp(1), temp(2), temp(3)
	zzz, r, hhh, v := zz, zz, h, hh // later
	// minus is x·y - z.
	minus := func(to, x, y, z func(i int) Mem) stage {
		return stage{
			func(f laneField, i int) {
				f.load(x(i), left)
				f.times(y(i), 2)
			},
			func(f laneField, i int) {
				f.reduce()
				f.subMem(z(i), f.raw)
				f.carryLoose(f.raw)
				f.store(f.raw, to(i))
			},
		}
	}
	square := func(to, x func(i int) Mem) stage {
		return stage{
			func(f laneField, i int) {
				f.load(x(i), left)
				f.squares(0, 0)
			},
			func(f laneField, i int) {
				f.reduce()
				f.carryLoose(f.raw)
				f.store(f.raw, to(i))
			},
		}
	}
	f.pipeline(n,
		square(zz, z),
		minus(h, x2, zz, x), // H = x2·Z² - X1
		multiply(zzz, zz, z),
		square(hh, h),
		minus(r, y2, zzz, y), // r = y2·Z³ - Y1
		multiply(z, z, h),    // Z3 = Z·H
		multiplyFull(hhh, h, hh),
		multiplyFull(v, x, hh), // V = X1·H²
		// X3 = r² - H³ - 2V, and E = X3 - V.
		stage{
			func(f laneField, i int) {
				f.load(r(i), left)
				f.squares(4, 0)
			},
			func(f laneField, i int) {
				f.reduce()
				f.subMem(hhh(i), f.raw)
				f.subTimes(1, v(i), f.raw)
				f.fold(f.raw)
				f.carry(f.raw)
				f.store(f.raw, x(i))
				f.subMem(v(i), f.raw)
				f.addPrime(2, f.raw)
				f.carryLoose(f.raw)
				f.store(f.raw, e(i))
			},
		},
		// Y3 = -(r·E + Y1·H³).
		stage{
			func(f laneField, i int) {
				f.load(r(i), left)
				f.times(e(i), 0)
				f.load(y(i), left)
				f.accumulate(hhh(i))
			},
			func(f laneField, i int) {
				f.reduce()
				f.negateFrom(3)
				f.fold(f.raw)
				f.carry(f.raw)
				f.store(f.raw, y(i))
			},
		},
	)
	f.end()
}

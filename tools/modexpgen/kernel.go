// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The kernel works in blocks of eight limbs. A block b[0..7] stays in memory
// and eight registers hold a window of the sum, while the limbs of the other
// operand stream past: for each the window moves up by one limb and one
// finished limb of the sum goes out. ADCX and ADOX keep the carries of the low
// and of the high halves of the products apart.
//
// Registers throughout: DX the multiplier, AX and BX one product, BP zero,
// R8..R15 the window. All of them are physical, for their number just suffices.
var (
	lo, hi = RAX, RBX
	zero   = RBP
	window = []Register{R8, R9, R10, R11, R12, R13, R14, R15}
)

func kernel(c *Context) {
	mul(c)
	sqr(c)
	redc(c)
	double(c)
	selectEntry(c)
	cpuidFunc(c)
}

func at(base Register, limb int) Mem {
	return Mem{Base: base, Disp: 8 * limb}
}

// row adds the eight limbs of block, times DX, to the window. If z is given, it
// is added to the lowest limb and replaced by it. The lowest limb is otherwise
// dropped. The window has then moved up by one limb.
func row(c *Context, w []Register, block Mem, z *Mem) []Register {
	c.XORQ(zero, zero) // and clears both carries
	if z != nil {
		c.ADOXQ(*z, w[0])
	}
	for k := range 8 {
		b := block.Offset(8 * k)
		top := hi
		if k == 7 {
			top = w[0].(GPPhysical) // free by now
		}
		c.MULXQ(b, lo, top)
		c.ADCXQ(lo, w[k])
		if k == 0 && z != nil {
			c.MOVQ(w[0], *z)
		}
		if k < 7 {
			c.ADOXQ(hi, w[k+1])
		} else {
			c.ADOXQ(zero, w[0])
			c.ADCXQ(zero, w[0])
		}
	}
	return append(append([]Register{}, w[1:]...), w[0])
}

// stream adds block times the limbs from y up to the address end to the limbs
// from z on. There is a multiple of eight of them, and at least eight. On
// return the window holds the eight limbs to be added above, and z points there.
func stream(c *Context, label string, block Mem, y, z Register, end Mem) {
	c.Label(label)
	w := window
	for j := range 8 {
		c.MOVQ(at(y, j), RDX)
		out := at(z, j)
		w = row(c, w, block, &out)
	}
	c.ADDQ(U8(64), y)
	c.ADDQ(U8(64), z)
	c.CMPQ(y, end)
	c.JNE(LabelRef(label))
}

// clearLimbs zeroes the limbs from z up to the address end, a multiple of eight.
func clearLimbs(c *Context, label string, z Register, end Register) {
	c.VPXOR(Y0, Y0, Y0)
	c.Label(label)
	c.VMOVDQU(Y0, at(z, 0))
	c.VMOVDQU(Y0, at(z, 4))
	c.ADDQ(U8(64), z)
	c.CMPQ(z, end)
	c.JNE(LabelRef(label))
	c.VZEROUPPER()
}

func mul(c *Context) {
	c.Function("mulADX")
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.SignatureExpr("func(t, x, y *uint64, l int)")
	c.Doc("mulADX sets t = x·y, where x and y have l limbs, a multiple of eight.")

	local := c.AllocLocal(4 * 8)
	xEnd, yEnd, yStart, zStart := local, local.Offset(8), local.Offset(16), local.Offset(24)
	x, y, z := RSI, RCX, RDI

	c.Load(c.Param("t"), z)
	c.Load(c.Param("x"), x)
	c.Load(c.Param("y"), y)
	c.Load(c.Param("l"), RAX)
	c.MOVQ(y, yStart)
	c.MOVQ(z, zStart)
	c.LEAQ(Mem{Base: x, Index: RAX, Scale: 8}, RDX)
	c.MOVQ(RDX, xEnd)
	c.LEAQ(Mem{Base: y, Index: RAX, Scale: 8}, RDX)
	c.MOVQ(RDX, yEnd)
	c.LEAQ(Mem{Base: z, Index: RAX, Scale: 8}, RDX)
	clearLimbs(c, "clear", z, RDX)

	c.Label("block")
	c.MOVQ(yStart, y)
	c.MOVQ(zStart, z)
	c.ADDQ(U8(64), zStart)
	for _, r := range window {
		c.XORL(r.(GPPhysical).As32(), r.(GPPhysical).As32())
	}
	stream(c, "stream", at(x, 0), y, z, yEnd)
	for k, r := range window {
		c.MOVQ(r, at(z, k))
	}
	c.ADDQ(U8(64), x)
	c.CMPQ(x, xEnd)
	c.JNE(LabelRef("block"))
	c.RET()
}

func sqr(c *Context) {
	c.Function("sqrADX")
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.SignatureExpr("func(t, x *uint64, l int)")
	c.Doc("sqrADX sets t = x², where x has l limbs, a multiple of eight.")

	local := c.AllocLocal(3 * 8)
	xEnd, xStart, zStart := local, local.Offset(8), local.Offset(16)
	x, y, z := RSI, RCX, RDI

	c.Load(c.Param("t"), z)
	c.Load(c.Param("x"), x)
	c.Load(c.Param("l"), RAX)
	c.MOVQ(x, xStart)
	c.MOVQ(z, zStart)
	c.LEAQ(Mem{Base: x, Index: RAX, Scale: 8}, RDX)
	c.MOVQ(RDX, xEnd)
	c.LEAQ(Mem{Base: z, Index: RAX, Scale: 8}, RDX)
	clearLimbs(c, "clear", z, RDX)

	c.Comment("Products of different limbs, each once.")
	c.Label("block")
	c.MOVQ(zStart, z)
	c.SUBQ(I8(-128), zStart)
	triangle(c, x, z)
	c.ADDQ(U8(64), z)
	c.LEAQ(at(x, 8), y)
	c.CMPQ(y, xEnd)
	c.JE(LabelRef("last"))
	stream(c, "stream", at(x, 0), y, z, xEnd)
	for k, r := range window {
		c.MOVQ(r, at(z, k))
	}
	c.ADDQ(U8(64), x)
	c.JMP(LabelRef("block"))
	c.Label("last")
	for k, r := range window {
		c.MOVQ(r, at(z, k))
	}

	c.Comment("Double them, and add the squares.")
	c.MOVQ(xStart, x)
	c.Load(c.Param("t"), z)
	c.XORL(ECX, ECX)
	c.Label("double")
	a, b := R8, R9
	for k := range 8 {
		c.MOVQ(at(x, k), RDX)
		c.MULXQ(RDX, lo, hi)
		if k == 0 {
			// Both carries of the eight before, at most 2. Squares are 0 or 1
			// mod 4, so the low limb has room for them.
			c.ADDQ(RCX, lo)
			c.XORQ(zero, zero)
		}
		c.MOVQ(at(z, 2*k), a)
		c.MOVQ(at(z, 2*k+1), b)
		c.ADCXQ(a, a)
		c.ADOXQ(lo, a)
		c.ADCXQ(b, b)
		c.ADOXQ(hi, b)
		c.MOVQ(a, at(z, 2*k))
		c.MOVQ(b, at(z, 2*k+1))
	}
	c.MOVQ(zero, RCX)
	c.ADCXQ(zero, RCX)
	c.ADOXQ(zero, RCX)
	c.ADDQ(U8(64), x)
	c.SUBQ(I8(-128), z)
	c.CMPQ(x, xEnd)
	c.JNE(LabelRef("double"))
	c.RET()
}

// triangle adds x_i·x_j, i < j, for the eight limbs at x to z. It leaves limbs
// 8 to 15 of the sum in the window.
func triangle(c *Context, x, z Register) {
	// col[k] is the register that holds limb k of the sum.
	col := map[int]Register{}
	free := append([]Register{}, window...)
	take := func(k int) Register {
		col[k], free = free[0], free[1:]
		return col[k]
	}
	for k := 1; k <= 7; k++ {
		c.MOVQ(at(z, k), take(k))
	}
	// Row i reaches limb 8+i, which is new, and finishes limbs 2i+1 and 2i+2.
	for i := range 7 {
		c.MOVQ(at(x, i), RDX)
		top := take(8 + i)
		c.XORQ(zero, zero)
		for j := i + 1; j < 8; j++ {
			h := hi
			if j == 7 {
				h = top.(GPPhysical)
			}
			c.MULXQ(at(x, j), lo, h)
			c.ADCXQ(lo, col[i+j])
			if j < 7 {
				c.ADOXQ(h, col[i+j+1])
			}
		}
		c.ADOXQ(zero, top)
		c.ADCXQ(zero, top)
		for k := 2*i + 1; k <= 2*i+2 && k < 8; k++ {
			c.MOVQ(col[k], at(z, k))
			free = append(free, col[k])
			delete(col, k)
		}
	}
	top := take(15).(GPPhysical).As32()
	c.XORL(top, top)
	permute(c, col)
}

// permute moves limb 8+k, in register col[8+k], to window[k].
func permute(c *Context, col map[int]Register) {
	src := make([]Register, 8)
	for k := range src {
		src[k] = col[8+k]
	}
	done := make([]bool, 8)
	for k := range src {
		if done[k] || src[k] == window[k] {
			continue
		}
		// Follow the cycle that k is on, with lo for a spare.
		c.MOVQ(window[k], lo)
		for j := k; ; {
			done[j] = true
			from := src[j]
			if from == window[k] {
				c.MOVQ(lo, window[j])
				break
			}
			c.MOVQ(from, window[j])
			for i := range window {
				if window[i] == from {
					j = i
				}
			}
		}
	}
}

func redc(c *Context) {
	c.Function("redcADX")
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.SignatureExpr("func(z, t, n *uint64, k0 uint64, l int)")
	c.Doc("redcADX sets z = t/2^(64·l) mod n, for t below 2^(64·l)·n, and destroys t.",
		"n has l limbs, a multiple of eight, and k0 = -1/n mod 2^64.")

	local := c.AllocLocal(12 * 8)
	m := local // eight multipliers
	nEnd, tStart, blocks, carry := local.Offset(64), local.Offset(72), local.Offset(80), local.Offset(88)
	n, y, z := RSI, RCX, RDI

	c.Load(c.Param("t"), z)
	c.Load(c.Param("n"), n)
	c.Load(c.Param("l"), RAX)
	c.LEAQ(Mem{Base: n, Index: RAX, Scale: 8}, RDX)
	c.MOVQ(RDX, nEnd)
	c.SHRQ(U8(3), RAX)
	c.MOVQ(RAX, blocks)
	c.XORL(EAX, EAX)
	c.MOVQ(RAX, carry)
	c.MOVQ(z, tStart)

	c.Label("block")
	for k, r := range window {
		c.MOVQ(at(z, k), r)
	}
	c.Comment("Eight multipliers, each of which clears one limb.")
	w := window
	k0 := c.Param("k0")
	for i := range 8 {
		c.Load(k0, RDX)
		c.IMULQ(w[0], RDX)
		c.MOVQ(RDX, m.Offset(8*i))
		w = row(c, w, at(n, 0), nil)
	}
	c.ADDQ(U8(64), z)
	c.LEAQ(at(n, 8), y)
	c.CMPQ(y, nEnd)
	c.JE(LabelRef("top"))
	stream(c, "stream", m, y, z, nEnd)
	c.Label("top")
	c.XORL(EAX, EAX)
	c.MOVQ(carry, RDX)
	c.NEGQ(RDX) // sets the carry flag if it was not zero
	for k, r := range window {
		c.ADCQ(at(z, k), r)
		c.MOVQ(r, at(z, k))
	}
	c.ADCQ(U8(0), RAX)
	c.MOVQ(RAX, carry)
	c.MOVQ(tStart, z)
	c.ADDQ(U8(64), z)
	c.MOVQ(z, tStart)
	c.DECQ(blocks)
	c.JNE(LabelRef("block"))

	c.Comment("Now the sum is at z, with the carry. Subtract n for a trial.")
	x, out := RDI, RBX
	c.Load(c.Param("z"), out)
	c.MOVQ(n, RCX)
	c.XORL(EDX, EDX) // borrow
	c.Label("trial")
	c.NEGQ(RDX)
	for k := range 8 {
		r := window[k]
		c.MOVQ(at(x, k), r)
		c.SBBQ(at(RCX, k), r)
		c.MOVQ(r, at(out, k))
	}
	c.SBBQ(RDX, RDX)
	c.NEGQ(RDX)
	c.ADDQ(U8(64), x)
	c.ADDQ(U8(64), RCX)
	c.ADDQ(U8(64), out)
	c.CMPQ(RCX, nEnd)
	c.JNE(LabelRef("trial"))

	c.Comment("Take the sum itself if that borrowed more than the carry.")
	c.Load(c.Param("z"), out)
	c.MOVQ(tStart, x)
	c.MOVQ(RDX, RBP)
	c.SUBQ(RAX, RBP) // 1 if the sum is below n, else 0
	c.Label("select")
	c.TESTQ(RBP, RBP)
	for k := range 8 {
		r := window[k]
		c.MOVQ(at(out, k), r)
		c.CMOVQNE(at(x, k), r)
		c.MOVQ(r, at(out, k))
	}
	c.ADDQ(U8(64), x)
	c.ADDQ(U8(64), out)
	c.ADDQ(U8(64), n)
	c.CMPQ(n, nEnd)
	c.JNE(LabelRef("select"))
	c.RET()
}

func double(c *Context) {
	c.Function("doubleADX")
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.SignatureExpr("func(z, n *uint64, l int)")
	c.Doc("doubleADX sets z = 2z mod n, for z below n. Both have l limbs, a multiple",
		"of eight.")

	z, n, end, carry, borrow := RDI, RSI, RCX, RAX, RBX
	c.Load(c.Param("z"), z)
	c.Load(c.Param("n"), n)
	c.Load(c.Param("l"), RDX)
	c.LEAQ(Mem{Base: n, Index: RDX, Scale: 8}, end)
	c.XORL(EAX, EAX)
	c.XORL(EBX, EBX)

	c.Comment("Double and subtract n.")
	c.Label("subtract")
	for k, r := range window {
		c.MOVQ(at(z, k), r)
	}
	c.NEGQ(carry)
	for _, r := range window {
		c.ADCQ(r, r)
	}
	c.SBBQ(carry, carry)
	c.NEGQ(borrow)
	for k, r := range window {
		c.SBBQ(at(n, k), r)
		c.MOVQ(r, at(z, k))
	}
	c.SBBQ(borrow, borrow)
	c.ADDQ(U8(64), z)
	c.ADDQ(U8(64), n)
	c.CMPQ(n, end)
	c.JNE(LabelRef("subtract"))

	c.Comment("Add n again if that borrowed more than was carried out.")
	mask := RDX
	c.MOVQ(borrow, mask)
	c.SUBQ(carry, mask)
	c.Load(c.Param("z"), z)
	c.Load(c.Param("n"), n)
	c.XORL(EAX, EAX)
	c.Label("add")
	for k, r := range window {
		c.MOVQ(at(n, k), r)
		c.ANDQ(mask, r)
	}
	c.NEGQ(carry)
	for k, r := range window {
		c.ADCQ(at(z, k), r)
		c.MOVQ(r, at(z, k))
	}
	c.SBBQ(carry, carry)
	c.ADDQ(U8(64), z)
	c.ADDQ(U8(64), n)
	c.CMPQ(n, end)
	c.JNE(LabelRef("add"))
	c.RET()
}

func selectEntry(c *Context) {
	c.Function("selectAVX2")
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.SignatureExpr("func(z, table *uint64, l, count int, i uint64)")
	c.Doc("selectAVX2 sets z to entry i of the count entries of table, reading all.",
		"An entry has l limbs, a multiple of eight.")

	z, p, stride, left, k := RDI, RSI, RCX, RDX, RAX
	table := RBX
	c.Load(c.Param("z"), z)
	c.Load(c.Param("table"), table)
	c.Load(c.Param("l"), left)
	c.LEAQ(Mem{Base: left, Index: left, Scale: 1}, stride)
	c.SHLQ(U8(2), stride)
	index, counter, one, mask := Y0, Y1, Y2, Y3
	c.Load(c.Param("i"), RAX)
	c.VMOVQ(RAX, X0)
	c.VPBROADCASTQ(X0, index)
	c.MOVL(U32(1), EAX)
	c.VMOVQ(RAX, X2)
	c.VPBROADCASTQ(X2, one)

	c.Label("limbs")
	c.MOVQ(table, p)
	c.VPXOR(counter, counter, counter)
	c.VPXOR(Y4, Y4, Y4)
	c.VPXOR(Y5, Y5, Y5)
	c.Load(c.Param("count"), k)
	c.Label("entry")
	c.VPCMPEQQ(index, counter, mask)
	c.VPADDQ(one, counter, counter)
	c.VPAND(at(p, 0), mask, Y6)
	c.VPAND(at(p, 4), mask, Y7)
	c.VPOR(Y6, Y4, Y4)
	c.VPOR(Y7, Y5, Y5)
	c.ADDQ(stride, p)
	c.DECQ(k)
	c.JNE(LabelRef("entry"))
	c.VMOVDQU(Y4, at(z, 0))
	c.VMOVDQU(Y5, at(z, 4))
	c.ADDQ(U8(64), z)
	c.ADDQ(U8(64), table)
	c.SUBQ(U8(8), left)
	c.JNE(LabelRef("limbs"))
	c.VZEROUPPER()
	c.RET()
}

// cpuidFunc tells processors apart.
func cpuidFunc(c *Context) {
	c.Function("cpuid")
	c.Attributes(attr.NOSPLIT)
	c.SignatureExpr("func(leaf uint32) (a, b, c, d uint32)")
	c.Doc("cpuid returns what the processor says of itself in a leaf, of subleaf 0.")
	c.Load(c.Param("leaf"), EAX)
	c.XORL(ECX, ECX)
	c.CPUID()
	c.Store(EAX, c.Return("a"))
	c.Store(EBX, c.Return("b"))
	c.Store(ECX, c.Return("c"))
	c.Store(EDX, c.Return("d"))
	c.RET()
}

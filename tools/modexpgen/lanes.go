// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The lane kernel multiplies eight pairs of numbers modulo eight moduli. A
// vector holds one limb of 52 bits of each, and a number is a column of vectors
// in memory. It works in blocks of ten limbs: a block stays in registers, ten
// more hold a window of the sums, and the limbs of the other operand stream
// past, as in the scalar kernel. The sums have 64 bits and aren't carried until
// the reduction meets them.
//
// Registers throughout: Z0..Z9 the block, Z10..Z19 the window.
// Only addresses, counts and the bit of an exponent's public position are in
// general registers: no branch and no address depends on what is computed.
const block = 10

var (
	blockRegs = []VecPhysical{Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9}
	laneSums  = []VecPhysical{Z10, Z11, Z12, Z13, Z14, Z15, Z16, Z17, Z18, Z19}
	modRegs   = []VecPhysical{Z20, Z21, Z22, Z23, Z24, Z25, Z26, Z27, Z28, Z29}
	limb      = Z30 // of the operand that streams past
	mask52    = Z31

	// Where modRegs aren't needed.
	spare, carryReg, shiftReg = Z20, Z21, Z22
)

const vector = 64 // bytes

func vec(base Register, i int) Mem { return Mem{Base: base, Disp: vector * i} }

func lanes(c *Context) {
	montgomery(c, "mulIFMA", false)
	montgomery(c, "sqrIFMA", true)
	selectLanes(c)
}

// step adds limb times the block to the window. The sum that comes to an end is
// passed to finish, and its register, set by enter, becomes the new top. from
// leaves out the products with the first limbs of the block.
func step(c *Context, w []VecPhysical, from int, finish, enter func(sum VecPhysical)) []VecPhysical {
	if from == 0 {
		c.VPMADD52LUQ(blockRegs[0], limb, w[0])
	}
	finish(w[0])
	enter(w[0])
	for j := max(from, 1); j < block; j++ {
		c.VPMADD52LUQ(blockRegs[j], limb, w[j])
	}
	w = append(append([]VecPhysical{}, w[1:]...), w[0])
	for j := from; j < block; j++ {
		c.VPMADD52HUQ(blockRegs[j], limb, w[j])
	}
	return w
}

// montgomery writes z = x·y·R⁻¹ mod n or, for squares, x².
func montgomery(c *Context, name string, square bool) {
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	if square {
		c.SignatureExpr("func(z, x, n, k0, t, e *uint64, bit uint64, blocks int)")
		c.Doc("sqrIFMA sets z = 2^b·x²/R mod n in each of eight lanes, where b is the given",
			"bit of e, R = 2^(520·blocks) > 64n, and x and z are below 4n. k0 = -1/n mod",
			"2^52. t is scratch for twice the limbs.")
	} else {
		c.SignatureExpr("func(z, x, y, n, k0, t *uint64, blocks int)")
		c.Doc("mulIFMA sets z = x·y/R mod n in each of eight lanes, where R = 2^(520·blocks)",
			"> 64n, x and y are below 4n and z is below 5n/4. k0 = -1/n mod 2^52. t is",
			"scratch for twice the limbs.")
	}
	c.MOVQ(U64(1<<52-1), RAX)
	c.VPBROADCASTQ(RAX, mask52)
	if square {
		triangles(c)
	} else {
		product(c)
	}
	reduction(c, square)
	c.VZEROUPPER()
	c.RET()
}

// streamBlock adds ten limbs from src times the block to the window, which goes
// to dst. The sums in dst are added unless they are the first.
func streamBlock(c *Context, src, dst Register, first bool) {
	w := laneSums
	for i := range block {
		c.VMOVDQU64(vec(src, i), limb)
		w = step(c, w, 0, store(c, dst, i, first), zeroTop(c))
	}
}

func store(c *Context, dst Register, i int, first bool) func(VecPhysical) {
	return func(sum VecPhysical) {
		if !first {
			c.VPADDQ(vec(dst, i), sum, sum)
		}
		c.VMOVDQU64(sum, vec(dst, i))
	}
}

func zeroTop(c *Context) func(VecPhysical) {
	return func(sum VecPhysical) { c.VPXORQ(sum, sum, sum) }
}

func clearSums(c *Context) {
	for _, s := range laneSums {
		c.VPXORQ(s, s, s)
	}
}

func storeSums(c *Context, dst Register) {
	for k, s := range laneSums {
		c.VMOVDQU64(s, vec(dst, k))
	}
}

// product writes t = x·y.
func product(c *Context) {
	src, y, t, dst, left, blocks := RSI, RCX, RDI, R8, RDX, RBX
	c.Load(c.Param("y"), y)
	c.Load(c.Param("t"), t)
	c.Load(c.Param("blocks"), blocks)
	for _, first := range []bool{true, false} {
		name := "product"
		if first {
			name = "first"
		}
		if !first {
			c.Label(name)
		}
		for k, r := range blockRegs {
			c.VMOVDQU64(vec(y, k), r)
		}
		clearSums(c)
		c.Load(c.Param("x"), src)
		c.MOVQ(t, dst)
		c.Load(c.Param("blocks"), left)
		c.Label(name + "_stream")
		streamBlock(c, src, dst, first)
		c.ADDQ(U32(block*vector), src)
		c.ADDQ(U32(block*vector), dst)
		c.DECQ(left)
		c.JNE(LabelRef(name + "_stream"))
		storeSums(c, dst)
		c.ADDQ(U32(block*vector), y)
		c.ADDQ(U32(block*vector), t)
		c.DECQ(blocks)
		if first {
			c.JE(LabelRef("reduce"))
		} else {
			c.JNE(LabelRef(name))
		}
	}
	c.Label("reduce")
}

// triangles writes the products of different limbs of x to t, each once.
func triangles(c *Context) {
	src, x, t, dst, left, blocks := RSI, RCX, RDI, R8, RDX, RBX
	c.Load(c.Param("x"), x)
	c.Load(c.Param("t"), t)
	c.Load(c.Param("blocks"), blocks)
	for _, first := range []bool{true, false} {
		name := "product"
		if first {
			name = "first"
		}
		if !first {
			c.Label(name)
		}
		for k, r := range blockRegs {
			c.VMOVDQU64(vec(x, k), r)
		}
		clearSums(c)
		c.LEAQ(vec(x, block), src)
		c.LEAQ(vec(t, block), dst)
		c.Comment("Products within the block.")
		w := laneSums
		for i := range block {
			if i < block-1 {
				c.VMOVDQA64(blockRegs[i], limb)
			}
			w = step(c, w, i+1, store(c, t, i, first), zeroTop(c))
		}
		c.MOVQ(blocks, left)
		c.DECQ(left)
		c.JE(LabelRef(name + "_window"))
		c.Label(name + "_stream")
		streamBlock(c, src, dst, first)
		c.ADDQ(U32(block*vector), src)
		c.ADDQ(U32(block*vector), dst)
		c.DECQ(left)
		c.JNE(LabelRef(name + "_stream"))
		c.Label(name + "_window")
		storeSums(c, dst)
		c.ADDQ(U32(block*vector), x)
		c.ADDQ(U32(2*block*vector), t)
		c.DECQ(blocks)
		if first {
			c.JE(LabelRef("reduce"))
		} else {
			c.JNE(LabelRef(name))
		}
	}
	c.Label("reduce")
}

// fresh loads limb i of t. For a square, that are products of different limbs,
// which count twice, and the square of a limb comes on top, x being at the
// limb i/2 for i = 0.
func fresh(c *Context, t, x Register, i int, square bool, z, spare VecPhysical) {
	c.VMOVDQU64(vec(t, i), z)
	if !square {
		return
	}
	c.VPADDQ(z, z, z)
	c.VMOVDQU64(vec(x, i/2), spare)
	if i%2 == 0 {
		c.VPMADD52LUQ(spare, spare, z)
	} else {
		c.VPMADD52HUQ(spare, spare, z)
	}
}

// reduction writes z = 2^b·t/R mod n. For each limb it takes d = t_i·k0 mod 2^52
// and t = (t + d·n)/2^52. The lowest limb of that sum is a multiple of 2^52: it
// is t_i rounded up, and lo(d·n_0) needn't be computed.
func reduction(c *Context, square bool) {
	n, x, t, dst, left, blocks, z, k0 := RSI, RCX, RDI, R8, RDX, RBX, R9, R10
	c.Load(c.Param("t"), t)
	c.Load(c.Param("k0"), k0)
	c.Load(c.Param("blocks"), blocks)
	if square {
		c.Load(c.Param("x"), x)
	}

	// digits finds the multiples for the ten limbs at t, and leaves the window
	// that begins ten limbs above.
	digits := func(square bool) {
		c.Load(c.Param("n"), n)
		for k := range block {
			fresh(c, t, x, k, square, laneSums[k], limb)
		}
		for k := range block {
			c.VMOVDQU64(vec(n, k), modRegs[k])
		}
		w := laneSums
		for i := range block {
			d := blockRegs[i]
			c.VPXORQ(d, d, d)
			c.VPMADD52LUQ(vec(k0, 0), w[0], d)
			c.VPADDQ(mask52, w[0], limb)
			c.VPSRLQ(U8(52), limb, limb)
			c.VPADDQ(limb, w[1], w[1])
			for j := 1; j < block; j++ {
				c.VPMADD52LUQ(modRegs[j], d, w[j])
			}
			fresh(c, t, x, block+i, square, w[0], limb)
			w = append(append([]VecPhysical{}, w[1:]...), w[0])
			for j := range block {
				c.VPMADD52HUQ(modRegs[j], d, w[j])
			}
		}
		c.LEAQ(vec(t, block), dst)
		c.ADDQ(U32(block*vector), n)
		if square {
			c.ADDQ(U32(block/2*vector), x)
		}
	}
	// carried writes a limb of the result.
	carried := func(i int, sum VecPhysical) {
		if square {
			c.VPSLLVQ(shiftReg, sum, sum)
		}
		c.VPADDQ(carryReg, sum, sum)
		c.VPSRLQ(U8(52), sum, carryReg)
		c.VPANDQ(mask52, sum, sum)
		c.VMOVDQU64(sum, vec(z, i))
	}
	// stream adds ten more limbs of n times the digits.
	stream := func(square, last bool) {
		w := laneSums
		for i := range block {
			c.VMOVDQU64(vec(n, i), limb)
			w = step(c, w, 0, func(sum VecPhysical) {
				if last {
					carried(i, sum)
				} else {
					c.VMOVDQU64(sum, vec(dst, i))
				}
			}, func(sum VecPhysical) {
				fresh(c, dst, x, block+i, square, sum, spare)
			})
		}
		c.ADDQ(U32(block*vector), n)
		c.ADDQ(U32(block*vector), dst)
		if last {
			c.ADDQ(U32(block*vector), z)
		}
		if square {
			c.ADDQ(U32(block/2*vector), x)
		}
	}
	// streams runs over n but for its first ten limbs. What is fresh of t in all
	// blocks but the first are its last ten limbs.
	streams := func(name string, last bool) {
		c.Load(c.Param("blocks"), left)
		c.SUBQ(U8(2), left)
		c.JE(LabelRef(name + "_top"))
		c.Label(name + "_stream")
		stream(false, last)
		c.DECQ(left)
		c.JNE(LabelRef(name + "_stream"))
		c.Label(name + "_top")
		stream(square, last)
	}
	result := func() {
		c.Load(c.Param("z"), z)
		c.VPXORQ(carryReg, carryReg, carryReg)
		if square {
			c.Load(c.Param("e"), RAX)
			c.VMOVDQU64(vec(RAX, 0), shiftReg)
			c.Load(c.Param("bit"), RAX)
			c.VMOVQ(RAX, spare.AsX())
			c.VPSRLQ(spare.AsX(), shiftReg, shiftReg)
			c.VPSLLQ(U8(63), shiftReg, shiftReg)
			c.VPSRLQ(U8(63), shiftReg, shiftReg)
		}
	}

	c.Comment("The reduction of the first ten limbs.")
	digits(square)
	c.DECQ(blocks)
	c.JE(LabelRef("only"))
	c.MOVQ(blocks, left)
	c.Label("reduce_stream")
	stream(square, false)
	c.DECQ(left)
	c.JNE(LabelRef("reduce_stream"))
	storeSums(c, dst)
	c.ADDQ(U32(block*vector), t)
	c.DECQ(blocks)
	c.JE(LabelRef("last"))

	c.Label("middle")
	digits(false)
	streams("middle", false)
	storeSums(c, dst)
	c.ADDQ(U32(block*vector), t)
	c.DECQ(blocks)
	c.JNE(LabelRef("middle"))

	c.Comment("The last ten limbs, with carries.")
	c.Label("last")
	digits(false)
	result()
	streams("last", true)
	c.JMP(LabelRef("window"))
	c.Label("only")
	result()
	c.Label("window")
	for i, sum := range laneSums {
		carried(i, sum)
	}
}

// selectLanes reads a table under a mask.
func selectLanes(c *Context) {
	c.Function("selectIFMA")
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.SignatureExpr("func(z, table, index *uint64, limbs, count int)")
	c.Doc("selectIFMA sets each lane of z to that of the entry of table that index",
		"names for it, reading all of the count entries. An entry has limbs vectors,",
		"a multiple of ten.")
	z, table, p, left, k, stride := RDI, RBX, RSI, RDX, RCX, R8
	index, counter, one := Z20, Z21, Z22
	c.Load(c.Param("index"), RAX)
	c.VMOVDQU64(vec(RAX, 0), index)
	c.MOVL(U32(1), EAX)
	c.VPBROADCASTQ(RAX, one)
	c.Load(c.Param("z"), z)
	c.Load(c.Param("table"), table)
	c.Load(c.Param("limbs"), left)
	c.MOVQ(left, stride)
	c.SHLQ(U8(6), stride)
	c.Label("limbs")
	c.MOVQ(table, p)
	clearSums(c)
	c.VPXORQ(counter, counter, counter)
	c.Load(c.Param("count"), k)
	c.Label("entry")
	c.VPCMPEQQ(index, counter, K1)
	c.VPADDQ(one, counter, counter)
	for i, s := range laneSums {
		c.VMOVDQU64(vec(p, i), K1, s)
	}
	c.ADDQ(stride, p)
	c.DECQ(k)
	c.JNE(LabelRef("entry"))
	storeSums(c, z)
	c.ADDQ(U32(block*vector), z)
	c.ADDQ(U32(block*vector), table)
	c.SUBQ(U8(block), left)
	c.JNE(LabelRef("limbs"))
	c.VZEROUPPER()
	c.RET()
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/bits"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The lane kernels multiply eight or four pairs of numbers modulo as many moduli. A
// vector holds one limb of 52 bits of each, and a number is a column of vectors
// in memory. They work in blocks of ten limbs: a block stays in registers, ten
// more hold a window of the sums, and the limbs of the other operand stream
// past, as in the scalar kernel. The sums have 64 bits and aren't carried until
// the reduction meets them.
//
// Only addresses, counts and the bit of an exponent's public position are in
// general registers: no branch and no address depends on what is computed.
const block = 10

// A laneKernel is a kernel to be written. Eight lanes have Z registers and four have
// the Y registers of the same numbers.
type laneKernel struct {
	*Context
	lanes   int
	count   string        // the lanes, in words
	vectors []VecPhysical // all 32

	blockRegs, laneSums, modRegs []VecPhysical
	limb                         VecPhysical // of the operand that streams past
	mask52                       VecPhysical
	spare, carryReg, shiftReg    VecPhysical // where modRegs aren't needed
}

func newLaneKernel(c *Context, lanes int, count string) *laneKernel {
	k := &laneKernel{Context: c, lanes: lanes, count: count}
	for _, z := range []VecPhysical{
		Z0, Z1, Z2, Z3, Z4, Z5, Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15,
		Z16, Z17, Z18, Z19, Z20, Z21, Z22, Z23, Z24, Z25, Z26, Z27, Z28, Z29, Z30, Z31,
	} {
		if lanes == 4 {
			z = z.AsY().(VecPhysical)
		}
		k.vectors = append(k.vectors, z)
	}
	v := k.vectors
	k.blockRegs, k.laneSums, k.modRegs = v[:10], v[10:20], v[20:30]
	k.limb, k.mask52 = v[30], v[31]
	k.spare, k.carryReg, k.shiftReg = v[20], v[21], v[22]
	return k
}

// size is that of a vector in bytes.
func (c *laneKernel) size() int { return 8 * c.lanes }

func (c *laneKernel) vec(base Register, i int) Mem { return Mem{Base: base, Disp: c.size() * i} }

// name returns the name of a function: mulIFMA8, for example.
func (c *laneKernel) name(what string) string { return fmt.Sprintf("%sIFMA%d", what, c.lanes) }

func lanes(c *Context) { newLaneKernel(c, 8, "eight").write() }

func lanes4(c *Context) { newLaneKernel(c, 4, "four").write() }

func (c *laneKernel) write() {
	c.montgomery("mul", false)
	c.montgomery("sqr", true)
	c.selectLanes()
}

// step adds limb times the block to the window. The sum that comes to an end is
// passed to finish, and its register, set by enter, becomes the new top. from
// leaves out the products with the first limbs of the block.
func (c *laneKernel) step(w []VecPhysical, from int, finish, enter func(sum VecPhysical)) []VecPhysical {
	if from == 0 {
		c.VPMADD52LUQ(c.blockRegs[0], c.limb, w[0])
	}
	finish(w[0])
	enter(w[0])
	for j := max(from, 1); j < block; j++ {
		c.VPMADD52LUQ(c.blockRegs[j], c.limb, w[j])
	}
	w = append(append([]VecPhysical{}, w[1:]...), w[0])
	for j := from; j < block; j++ {
		c.VPMADD52HUQ(c.blockRegs[j], c.limb, w[j])
	}
	return w
}

// montgomery writes z = x·y·R⁻¹ mod n or, for squares, x².
func (c *laneKernel) montgomery(name string, square bool) {
	name = c.name(name)
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	if square {
		c.SignatureExpr("func(z, x, n, k0, t, e *uint64, bit uint64, blocks int)")
		c.Doc(name+" sets z = 2^b·x²/R mod n in each of "+c.count+" lanes, where b is the given",
			"bit of e, R = 2^(520·blocks) > 64n, and x and z are below 4n. k0 = -1/n mod",
			"2^52. t is scratch for twice the limbs.")
	} else {
		c.SignatureExpr("func(z, x, y, n, k0, t *uint64, blocks int)")
		c.Doc(name+" sets z = x·y/R mod n in each of "+c.count+" lanes, where R = 2^(520·blocks)",
			"> 64n, x and y are below 4n and z is below 5n/4. k0 = -1/n mod 2^52. t is",
			"scratch for twice the limbs.")
	}
	c.MOVQ(U64(1<<52-1), RAX)
	c.VPBROADCASTQ(RAX, c.mask52)
	if square {
		c.triangles()
	} else {
		c.product()
	}
	c.reduction(square)
	c.VZEROUPPER()
	c.RET()
}

// streamBlock adds ten limbs from src times the block to the window, which goes
// to dst. The sums in dst are added unless they are the first.
func (c *laneKernel) streamBlock(src, dst Register, first bool) {
	w := c.laneSums
	for i := range block {
		c.VMOVDQU64(c.vec(src, i), c.limb)
		w = c.step(w, 0, c.store(dst, i, first), c.zeroTop())
	}
}

func (c *laneKernel) store(dst Register, i int, first bool) func(VecPhysical) {
	return func(sum VecPhysical) {
		if !first {
			c.VPADDQ(c.vec(dst, i), sum, sum)
		}
		c.VMOVDQU64(sum, c.vec(dst, i))
	}
}

func (c *laneKernel) zeroTop() func(VecPhysical) {
	return func(sum VecPhysical) { c.VPXORQ(sum, sum, sum) }
}

func (c *laneKernel) clearSums() {
	for _, s := range c.laneSums {
		c.VPXORQ(s, s, s)
	}
}

func (c *laneKernel) storeSums(dst Register) {
	for k, s := range c.laneSums {
		c.VMOVDQU64(s, c.vec(dst, k))
	}
}

// product writes t = x·y.
func (c *laneKernel) product() {
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
		for k, r := range c.blockRegs {
			c.VMOVDQU64(c.vec(y, k), r)
		}
		c.clearSums()
		c.Load(c.Param("x"), src)
		c.MOVQ(t, dst)
		c.Load(c.Param("blocks"), left)
		c.Label(name + "_stream")
		c.streamBlock(src, dst, first)
		c.ADDQ(U32(block*c.size()), src)
		c.ADDQ(U32(block*c.size()), dst)
		c.DECQ(left)
		c.JNE(LabelRef(name + "_stream"))
		c.storeSums(dst)
		c.ADDQ(U32(block*c.size()), y)
		c.ADDQ(U32(block*c.size()), t)
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
func (c *laneKernel) triangles() {
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
		for k, r := range c.blockRegs {
			c.VMOVDQU64(c.vec(x, k), r)
		}
		c.clearSums()
		c.LEAQ(c.vec(x, block), src)
		c.LEAQ(c.vec(t, block), dst)
		c.Comment("Products within the block.")
		w := c.laneSums
		for i := range block {
			if i < block-1 {
				c.VMOVDQA64(c.blockRegs[i], c.limb)
			}
			w = c.step(w, i+1, c.store(t, i, first), c.zeroTop())
		}
		c.MOVQ(blocks, left)
		c.DECQ(left)
		c.JE(LabelRef(name + "_window"))
		c.Label(name + "_stream")
		c.streamBlock(src, dst, first)
		c.ADDQ(U32(block*c.size()), src)
		c.ADDQ(U32(block*c.size()), dst)
		c.DECQ(left)
		c.JNE(LabelRef(name + "_stream"))
		c.Label(name + "_window")
		c.storeSums(dst)
		c.ADDQ(U32(block*c.size()), x)
		c.ADDQ(U32(2*block*c.size()), t)
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
func (c *laneKernel) fresh(t, x Register, i int, square bool, z, spare VecPhysical) {
	c.VMOVDQU64(c.vec(t, i), z)
	if !square {
		return
	}
	c.VPADDQ(z, z, z)
	c.VMOVDQU64(c.vec(x, i/2), spare)
	if i%2 == 0 {
		c.VPMADD52LUQ(spare, spare, z)
	} else {
		c.VPMADD52HUQ(spare, spare, z)
	}
}

// reduction writes z = 2^b·t/R mod n. For each limb it takes d = t_i·k0 mod 2^52
// and t = (t + d·n)/2^52. The lowest limb of that sum is a multiple of 2^52: it
// is t_i rounded up, and lo(d·n_0) needn't be computed.
func (c *laneKernel) reduction(square bool) {
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
			c.fresh(t, x, k, square, c.laneSums[k], c.limb)
		}
		for k := range block {
			c.VMOVDQU64(c.vec(n, k), c.modRegs[k])
		}
		w := c.laneSums
		for i := range block {
			d := c.blockRegs[i]
			c.VPXORQ(d, d, d)
			c.VPMADD52LUQ(c.vec(k0, 0), w[0], d)
			c.VPADDQ(c.mask52, w[0], c.limb)
			c.VPSRLQ(U8(52), c.limb, c.limb)
			c.VPADDQ(c.limb, w[1], w[1])
			for j := 1; j < block; j++ {
				c.VPMADD52LUQ(c.modRegs[j], d, w[j])
			}
			c.fresh(t, x, block+i, square, w[0], c.limb)
			w = append(append([]VecPhysical{}, w[1:]...), w[0])
			for j := range block {
				c.VPMADD52HUQ(c.modRegs[j], d, w[j])
			}
		}
		c.LEAQ(c.vec(t, block), dst)
		c.ADDQ(U32(block*c.size()), n)
		if square {
			c.ADDQ(U32(block/2*c.size()), x)
		}
	}
	// carried writes a limb of the result.
	carried := func(i int, sum VecPhysical) {
		if square {
			c.VPSLLVQ(c.shiftReg, sum, sum)
		}
		c.VPADDQ(c.carryReg, sum, sum)
		c.VPSRLQ(U8(52), sum, c.carryReg)
		c.VPANDQ(c.mask52, sum, sum)
		c.VMOVDQU64(sum, c.vec(z, i))
	}
	// stream adds ten more limbs of n times the digits.
	stream := func(square, last bool) {
		w := c.laneSums
		for i := range block {
			c.VMOVDQU64(c.vec(n, i), c.limb)
			w = c.step(w, 0, func(sum VecPhysical) {
				if last {
					carried(i, sum)
				} else {
					c.VMOVDQU64(sum, c.vec(dst, i))
				}
			}, func(sum VecPhysical) {
				c.fresh(dst, x, block+i, square, sum, c.spare)
			})
		}
		c.ADDQ(U32(block*c.size()), n)
		c.ADDQ(U32(block*c.size()), dst)
		if last {
			c.ADDQ(U32(block*c.size()), z)
		}
		if square {
			c.ADDQ(U32(block/2*c.size()), x)
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
		c.VPXORQ(c.carryReg, c.carryReg, c.carryReg)
		if square {
			c.Load(c.Param("e"), RAX)
			c.VMOVDQU64(c.vec(RAX, 0), c.shiftReg)
			c.Load(c.Param("bit"), RAX)
			c.VMOVQ(RAX, c.spare.AsX())
			c.VPSRLQ(c.spare.AsX(), c.shiftReg, c.shiftReg)
			c.VPSLLQ(U8(63), c.shiftReg, c.shiftReg)
			c.VPSRLQ(U8(63), c.shiftReg, c.shiftReg)
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
	c.storeSums(dst)
	c.ADDQ(U32(block*c.size()), t)
	c.DECQ(blocks)
	c.JE(LabelRef("last"))

	c.Label("middle")
	digits(false)
	streams("middle", false)
	c.storeSums(dst)
	c.ADDQ(U32(block*c.size()), t)
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
	for i, sum := range c.laneSums {
		carried(i, sum)
	}
}

// selectLanes reads a table under a mask.
func (c *laneKernel) selectLanes() {
	name := c.name("select")
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.SignatureExpr("func(z, table, index *uint64, limbs, count int)")
	c.Doc(name+" sets each lane of z to that of the entry of table that index",
		"names for it, reading all of the count entries. An entry has limbs vectors,",
		"a multiple of ten.")
	z, table, p, left, k, stride := RDI, RBX, RSI, RDX, RCX, R8
	index, counter, one := c.vectors[20], c.vectors[21], c.vectors[22]
	c.Load(c.Param("index"), RAX)
	c.VMOVDQU64(c.vec(RAX, 0), index)
	c.MOVL(U32(1), EAX)
	c.VPBROADCASTQ(RAX, one)
	c.Load(c.Param("z"), z)
	c.Load(c.Param("table"), table)
	c.Load(c.Param("limbs"), left)
	c.MOVQ(left, stride)
	c.SHLQ(U8(bits.TrailingZeros(uint(c.size()))), stride)
	c.Label("limbs")
	c.MOVQ(table, p)
	c.clearSums()
	c.VPXORQ(counter, counter, counter)
	c.Load(c.Param("count"), k)
	c.Label("entry")
	c.VPCMPEQQ(index, counter, K1)
	c.VPADDQ(one, counter, counter)
	for i, s := range c.laneSums {
		c.VMOVDQU64(c.vec(p, i), K1, s)
	}
	c.ADDQ(stride, p)
	c.DECQ(k)
	c.JNE(LabelRef("entry"))
	c.storeSums(z)
	c.ADDQ(U32(block*c.size()), z)
	c.ADDQ(U32(block*c.size()), table)
	c.SUBQ(U8(block), left)
	c.JNE(LabelRef("limbs"))
	c.VZEROUPPER()
	c.RET()
}

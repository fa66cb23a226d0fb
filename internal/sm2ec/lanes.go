// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import "unsafe"

// laneCount is how many numbers a vector has a limb of.
const laneCount = 8

// A block is eight residues modulo p, in limbs of 52 bits from the lowest, and in
// Montgomery form x·2²⁶⁰. They aren't always below p: a product is below xy/2²⁶⁰ + p,
// and what is kept for long is folded, to below 2²⁵⁶ + 2²³¹. Products of anything that has
// limbs of 52 bits are right, and come out below 2p if xy < 16p². What products alone
// take may be left loose, with more in the upper bits of limbs, which they don't read.
type block [5][laneCount]uint64

// A lanePoint is eight affine points.
type lanePoint struct{ X, Y block }

// A laneJacobian is eight points, of which those with Z = 0 are infinity.
type laneJacobian struct{ X, Y, Z block }

// A laneQuotient is a divisor, and the product of those before it in its chain.
type laneQuotient struct{ divisor, product block }

// A packedPoint is an affine point in Montgomery form x·2²⁶⁰: x and y as integers
// below 2²⁵⁶ in words from the lowest. They can be p or more.
type packedPoint [8]uint64

// A pointRef is the address of a packed point, plus one if the point is meant to be
// negated. It doesn't keep the point alive: whoever makes it does. Points don't move, since
// they aren't on stacks: [aligned] has its memory from the heap.
type pointRef uintptr

func refTo(p *packedPoint, negated uint32) pointRef {
	return pointRef(unsafe.Pointer(p)) | pointRef(negated)
}

// point returns the point, and whether it is to be negated.
func (r pointRef) point() (p *packedPoint, negated bool) {
	negated = r&1 == 1
	r &^= 1
	return *(**packedPoint)(unsafe.Pointer(&r)), negated
}

// laneScratch is what kernels of points want for intermediate values.
type laneScratch [4 * 5]block

// chains is the number of chains of products, which take blocks by turns.
const chains = 4

const laneMask = 1<<52 - 1

// aligned returns n zero values in cache lines of their own. The size of T is a
// multiple of that of a line.
func aligned[T block | lanePoint | laneJacobian | laneQuotient | packedPoint | laneScratch](n int) []T {
	const line = 64
	if n == 0 {
		return nil
	}
	var t T
	buf := make([]uint64, (n*int(unsafe.Sizeof(t))+line)/8)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(buf))) % line / 8
	return unsafe.Slice((*T)(unsafe.Pointer(&buf[skip])), n)
}

// growAligned is grow for vectors.
func growAligned[T block | lanePoint | laneJacobian | laneQuotient | packedPoint | laneScratch](s []T, n int) []T {
	if cap(s) < n {
		return aligned[T](n + n/4)[:n]
	}
	return s[:n]
}

// A column is blocks at a distance of each other, of which zero means the same one always.
type column struct {
	b    []block
	step int
}

// mulLanes sets z[i] = x[i]·y[i], or x[i]·y[0] if there is one.
func mulLanes(z, x, y []block) {
	step := 1
	if len(y) == 1 {
		step = 0
	}
	mulColumns(len(z), column{z, 1}, column{x, 1}, column{y, step})
}

// blocksFor returns the number of blocks for n points, an even one, since kernels take two.
func blocksFor(n int) int { return (n + 2*laneCount - 1) / (2 * laneCount) * 2 }

// broadcast returns a block with the same limbs in all lanes.
func broadcast(l lane) (b block) {
	for j := range laneCount {
		b.setLane(j, &l)
	}
	return b
}

// Constants in lanes: one, and factors between the two Montgomery forms, as residues
// that a product by them makes x·2²⁶⁰ of x·2²⁵⁶, and the other way.
var (
	toLanes    = broadcast(limbs52((*[4]uint64)(powerOfTwo(264))))
	outOfLanes = broadcast(limbs52((*[4]uint64)(powerOfTwo(256))))
	oneBlock   = broadcast(limbs52((*[4]uint64)(powerOfTwo(260))))
)

// powerOfTwo returns 2^n mod p, n >= 256.
func powerOfTwo(n int) *Element {
	x := feOne // 2²⁵⁶
	for range n - 256 {
		x.Double(&x)
	}
	return &x
}

// limbs52 returns an integer in limbs of 52 bits.
func limbs52(x *[4]uint64) lane {
	return lane{
		x[0] & laneMask,
		(x[0]>>52 | x[1]<<12) & laneMask,
		(x[1]>>40 | x[2]<<24) & laneMask,
		(x[2]>>28 | x[3]<<36) & laneMask,
		x[3] >> 16,
	}
}

// words returns an integer below 2²⁵⁶ in words.
func (l *lane) words() [4]uint64 {
	return [4]uint64{
		l[0] | l[1]<<52,
		l[1]>>12 | l[2]<<40,
		l[2]>>24 | l[3]<<28,
		l[3]>>36 | l[4]<<16,
	}
}

// fromLane sets z to lane j of a block that was multiplied by outOfLanes, and so is below 2²⁵⁶.
func (z *Element) fromLane(b *block, j int) {
	l := b.lane(j)
	w := l.words()
	z.canonical(&w)
}

// canonical sets z to the integer mod p, where x is below 2²⁵⁶.
func (z *Element) canonical(x *[4]uint64) { z.reduceOnce(x[0], x[1], x[2], x[3], 0) }

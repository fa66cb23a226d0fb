// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import "unsafe"

// Lanes is how many powers the lane kernels compute at once, at most.
const Lanes = 8

const (
	laneBits   = 52 // the radix of the lane kernels
	laneMask   = 1<<laneBits - 1
	blockLimbs = 10 // their block
	blockBits  = blockLimbs * laneBits

	// laneSlack is the number of bits by which R must exceed n. With R > 64n and
	// operands below 4n a product x·y/R is below n/4, its reduction below 5n/4,
	// and twice that below 4n again.
	laneSlack = 6

	// maxBlocks keeps sums below 2^64. A column of a product holds the low halves
	// of one term for each limb and as many high halves, all below 2^52. The
	// reduction adds as many, and carries that come to less than another. A
	// doubling at the end makes that 8·160·2^52 < 2^63.
	maxBlocks = 16
)

// laneBlocks returns the number of blocks for a modulus of that many bits, and 0
// if it is too long.
func laneBlocks(bits int) int {
	b := (bits + laneSlack + blockBits - 1) / blockBits
	if b > maxBlocks {
		return 0
	}
	return b
}

// HaveLanes reports whether powers modulo numbers of that many bits are computed
// several at once.
func HaveLanes(bits int) bool { return useLanes() && laneBlocks(bits) > 0 }

// laneModuli are eight moduli or four, and the space to compute with them. A number
// is a column of vectors, each of which has one limb of all: limb i of lane j is at
// lanes·i + j.
type laneModuli struct {
	lanes         int
	blocks, limbs int
	n             []uint64
	k0            []uint64 // -1/n mod 2^52, one vector
	zero          []uint64 // one vector
	t             []uint64 // scratch for a product
	all, free     []uint64
}

// newLaneModuli leaves room for extra vectors, to be taken by number and take.
func newLaneModuli(lanes, blocks, extra int) *laneModuli {
	m := &laneModuli{lanes: lanes, blocks: blocks, limbs: blocks * blockLimbs}
	m.all = alignedWords(lanes * (3*m.limbs + 2 + extra))
	m.free = m.all
	m.n = m.number()
	m.t = m.take(2 * m.limbs)
	m.k0, m.zero = m.take(1), m.take(1)
	return m
}

func (m *laneModuli) take(vectors int) []uint64 {
	v := m.free[: m.lanes*vectors : m.lanes*vectors]
	m.free = m.free[m.lanes*vectors:]
	return v
}

func (m *laneModuli) number() []uint64 { return m.take(m.limbs) }

func (m *laneModuli) wipe() { clear(m.all) }

// alignedWords returns n zero words, from the beginning of a cache line on, so that no
// vector straddles two.
func alignedWords(n int) []uint64 {
	const line = 64
	buf := make([]uint64, n+line/8)
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(buf))) % line / 8
	return buf[skip:][:n]
}

// setModulus makes an odd number the modulus of lane j.
func (m *laneModuli) setModulus(j int, n []uint64) {
	m.toLane(m.n, j, n)
	m.k0[j] = negInverse(n[0]) & laneMask
}

// mul sets z = x·y/R, below 5n/4. x and y are below 4n.
func (m *laneModuli) mul(z, x, y []uint64) {
	end := m.lanes*m.limbs - 1
	_, _, _ = z[end], x[end], y[end]
	mulLanes(m, z, x, y)
}

// sqr sets z = 2^b·x²/R, below 4n as x is, where b is a bit of e in each lane.
func (m *laneModuli) sqr(z, x, e []uint64, bit int) {
	end := m.lanes*m.limbs - 1
	_, _, _ = z[end], x[end], e[m.lanes-1]
	sqrLanes(m, z, x, e, uint(bit))
}

// pick sets each lane of z to that of an entry of table, whose number is in index.
func (m *laneModuli) pick(z, table, index []uint64) {
	_, _ = z[m.lanes*m.limbs-1], index[m.lanes-1]
	selectLanes(m, z, table, index)
}

// toLane sets lane j of z to x, a number that fits. Its time depends on widths.
func (m *laneModuli) toLane(z []uint64, j int, x []uint64) {
	for i := range len(z) / m.lanes {
		z[m.lanes*i+j] = limb52(x, i)
	}
}

// limb52 returns limb i of x in radix 2^52. i is public.
func limb52(x Nat, i int) uint64 {
	k, shift := laneBits*i/64, laneBits*i%64
	v := x.limb(k) >> shift
	if shift > 64-laneBits {
		v |= x.limb(k+1) << (64 - shift)
	}
	return v & laneMask
}

// split52 sets z to the limbs of 52 bits of x.
func split52(z, x []uint64) {
	for i := range z {
		z[i] = limb52(x, i)
	}
}

// fromLane sets z to lane j of x, as far as it has room.
func (m *laneModuli) fromLane(z []uint64, x []uint64, j int) {
	clear(z)
	for i := range len(x) / m.lanes {
		v := x[m.lanes*i+j]
		k, shift := laneBits*i/64, laneBits*i%64
		if k < len(z) {
			z[k] |= v << shift
		}
		if shift > 64-laneBits && k+1 < len(z) {
			z[k+1] |= v >> (64 - shift)
		}
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/big"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The kernels of eight lanes work on blocks: eight numbers, as five vectors of one limb
// of 52 bits of each. Products are Montgomery's with R = 2²⁶⁰. They are below
// ab/2²⁶⁰ + p, so there is room: sums and differences go into products as they
// are, carried but not reduced, as long as their limbs fit. A value that is kept for
// more than products is folded: brought below 2²⁵⁶ + 2²³¹.
//
// A product is 70 multiplications of vectors and a square 50, of which this processor
// begins one a cycle. What else there is to do takes the other pipes.
const (
	vector = 64
	block  = 5 * vector
	lpoint = 2 * block // an affine point
	ljac   = 3 * block
)

var (
	left   = []VecPhysical{Z0, Z1, Z2, Z3, Z4} // the first operand
	stream = Z5                                // limbs of the second
	tmp1   = Z16
	tmp2   = Z17

	// p = -1 + 2⁵²(u·2¹⁵⁶ - d), u = 2⁴⁸ - 2¹⁶, d = 2⁴⁴ - 2¹².
	mask48 = Z28
	regD   = Z29
	regU   = Z30
	mask52 = Z31
)

// Columns of products. While those of one block are reduced, which has to wait for itself
// all the time, the other's are made: see pipeline.
var columnSets = [2][]VecPhysical{
	{Z6, Z7, Z8, Z9, Z10, Z11, Z12, Z13, Z14, Z15},
	{Z18, Z19, Z20, Z21, Z22, Z23, Z24, Z25, Z26, Z27},
}

// laneField writes arithmetic on blocks.
type laneField struct {
	*Context
	cols      []VecPhysical
	raw       []VecPhysical  // where a reduction leaves its result, not carried
	free      []VecPhysical  // is then free
	multiples map[int]Mem    // limbs of kp
	biases    map[[2]int]Mem // see bias
	one       Mem            // limbs of R mod p
	scalars   Mem            // constants above
}

func prime() *big.Int {
	p := new(big.Int).Lsh(big.NewInt(1), 256)
	for _, b := range []struct {
		shift uint
		sign  int64
	}{{224, -1}, {96, -1}, {64, 1}, {0, -1}} {
		p.Add(p, new(big.Int).Lsh(big.NewInt(b.sign), b.shift))
	}
	return p
}

func newLaneField(c *Context) laneField {
	f := laneField{Context: c, multiples: map[int]Mem{}, biases: map[[2]int]Mem{}}.with(0)
	p := prime()
	times := func(k int) *big.Int { return new(big.Int).Mul(p, big.NewInt(int64(k))) }
	for _, k := range []int{2, 3, 4} {
		f.multiples[k] = f.datum(fmt.Sprintf("p%d", k), limbs52(times(k)))
	}
	for _, b := range [][2]int{{0, 0}, {2, 0}, {3, 0}, {0, 1}, {4, 1}, {6, 1}, {0, 2}} {
		f.biases[b] = f.datum(fmt.Sprintf("bias%d_%d", b[0], b[1]), bias(limbs52(times(b[0])), b[1]))
	}
	r := new(big.Int).Lsh(big.NewInt(1), 260)
	f.one = f.datum("one", limbs52(r.Mod(r, p)))
	f.scalars = c.StaticGlobal("scalars")
	c.DataAttributes(attr.NOPTR | attr.RODATA)
	c.AddDatum(0, U64(1<<48-1))
	c.AddDatum(8, U64(laneD))
	c.AddDatum(16, U64(1<<48-1<<16))
	c.AddDatum(24, U64(1<<52-1))
	c.AddDatum(32, U64(1<<52-3)) // the low limb of 3p
	return f
}

// datum writes constants.
func (f laneField) datum(name string, limbs []int64) Mem {
	m := f.StaticGlobal(name)
	f.DataAttributes(attr.NOPTR | attr.RODATA)
	for i, v := range limbs {
		f.AddDatum(8*i, U64(v))
	}
	return m
}

// limbs52 returns an integer in limbs of 52 bits.
func limbs52(x *big.Int) []int64 {
	x = new(big.Int).Set(x)
	mask := big.NewInt(1<<52 - 1)
	var limbs []int64
	for range 5 {
		limbs = append(limbs, new(big.Int).And(x, mask).Int64())
		x.Rsh(x, 52)
	}
	return limbs
}

const laneD = 1<<44 - 1<<12

// bias returns what columns 5 to 9 begin with for a multiple of p to be added: its limbs, and -d in
// column 6, which a reduction wants. Columns but the last are doubled so many times
// while a square is made, so that they begin with less.
func bias(limbs []int64, doublings int) []int64 {
	limbs[1] -= laneD
	for i := 3; i >= 0; i-- {
		rest := limbs[i] & (1<<doublings - 1)
		if rest != 0 && i == 0 {
			panic("a multiple that can't be doubled")
		}
		limbs[i] -= rest
		if rest != 0 {
			limbs[i-1] += rest << 52
		}
		limbs[i] >>= doublings
	}
	return limbs
}

// with returns f with other columns.
func (f laneField) with(set int) laneField {
	f.cols = columnSets[set]
	f.free, f.raw = f.cols[:5], f.cols[5:]
	return f
}

func (f laneField) function(name, signature string, doc ...string) {
	f.Function(name)
	f.Attributes(attr.NOSPLIT)
	f.Pragma("noescape")
	f.SignatureExpr(signature)
	f.Doc(doc...)
}

// constants loads what every product needs.
func (f laneField) constants() {
	for i, z := range []VecPhysical{mask48, regD, regU, mask52} {
		f.VPBROADCASTQ(f.scalars.Offset(8*i), z)
	}
}

// row returns limb i of a block in memory.
func row(m Mem, i int) Mem { return m.Offset(vector * i) }

func (f laneField) load(x Mem, z []VecPhysical) {
	for i, r := range z {
		f.VMOVDQU64(row(x, i), r)
	}
}

func (f laneField) store(z []VecPhysical, m Mem) {
	for i, r := range z {
		f.VMOVDQU64(r, row(m, i))
	}
}

// columns begins the sums of a product to which kp is to be added, with what a reduction
// wants. They are to be doubled so many times.
func (f laneField) columns(k, doublings int) {
	zero := func(t VecPhysical) { f.VPXORQ(t, t, t) }
	zero(f.cols[0])
	f.VMOVDQA64(regD, f.cols[1])
	if doublings > 0 {
		f.VPSRLQ(U8(doublings), regD, f.cols[1])
	}
	for _, t := range f.cols[2:5] {
		zero(t)
	}
	for i, t := range f.raw {
		if k == 0 && i != 1 {
			zero(t)
		} else {
			f.VPBROADCASTQ(f.biases[[2]int{k, doublings}].Offset(8*i), t)
		}
	}
}

// accumulate adds left·y to the columns.
func (f laneField) accumulate(y Mem) {
	for j := range 5 {
		f.VMOVDQU64(row(y, j), stream)
		for i := range 5 {
			f.VPMADD52LUQ(stream, left[i], f.cols[i+j])
		}
		for i := range 5 {
			f.VPMADD52HUQ(stream, left[i], f.cols[i+j+1])
		}
	}
}

// squares sets the columns to left² + kp, which is to be doubled more times.
func (f laneField) squares(k, more int) {
	f.columns(k, 1+more)
	for j := range 5 {
		for i := j + 1; i < 5; i++ {
			f.VPMADD52LUQ(left[j], left[i], f.cols[i+j])
			f.VPMADD52HUQ(left[j], left[i], f.cols[i+j+1])
		}
	}
	for _, t := range f.cols[1:9] {
		f.VPADDQ(t, t, t)
	}
	for i := range 5 {
		f.VPMADD52LUQ(left[i], left[i], f.cols[2*i])
		f.VPMADD52HUQ(left[i], left[i], f.cols[2*i+1])
	}
}

// reduce leaves the columns divided by R in raw, without carries. A step
// adds m·p, m the low bits of the lowest column. That is m·u four columns above, and
// -m·d = m'd - (2⁵²-1)d one above, m' the complement of m. The constants of the steps cancel but
// for d in column 1 and -d in column 6, which have begun with them. Only the latter may be negative.
func (f laneField) reduce() {
	for i := range 5 {
		m, sh := tmp1, tmp2
		f.VPXORQ(mask52, f.cols[i], m)
		f.VPSRLQ(U8(52), f.cols[i], sh)
		f.VPADDQ(sh, f.cols[i+1], f.cols[i+1])
		f.VPMADD52LUQ(regD, m, f.cols[i+1])
		f.VPMADD52HUQ(regD, m, f.cols[i+2])
		f.VPMADD52LUQ(regU, f.cols[i], f.cols[i+4])
		f.VPMADD52HUQ(regU, f.cols[i], f.cols[i+5])
	}
}

// carry makes limbs of 52 bits of sums that may be negative, of a value that isn't.
func (f laneField) carry(z []VecPhysical) { f.carryBy(z, tmp1) }

// carryLoose is carry for values that only products take, which read the low 52 bits of
// limbs: what was carried stays in the bits above.
func (f laneField) carryLoose(z []VecPhysical) { f.carryLooseBy(z, tmp1) }

func (f laneField) carryLooseBy(z []VecPhysical, tmp VecPhysical) {
	for i := range 4 {
		f.VPSRAQ(U8(52), z[i], tmp)
		f.VPADDQ(tmp, z[i+1], z[i+1])
	}
}

func (f laneField) carryBy(z []VecPhysical, tmp VecPhysical) {
	for i := range 4 {
		f.VPSRAQ(U8(52), z[i], tmp)
		f.VPADDQ(tmp, z[i+1], z[i+1])
		f.VPANDQ(mask52, z[i], z[i])
	}
}

// fold takes multiples of 2²⁵⁶ off sums that weren't carried, of a value that is
// positive, and adds the same multiples of 2²²⁴ + 2⁹⁶ - 2⁶⁴ + 1.
func (f laneField) fold(z []VecPhysical) {
	q, s := tmp1, tmp2
	f.VPSRAQ(U8(48), z[4], q)
	f.VPANDQ(mask48, z[4], z[4])
	f.VPADDQ(q, z[0], z[0])
	f.VPMADD52LUQ(regD, q, z[1]) // 2⁹⁶ - 2⁶⁴ is d·2⁵²
	f.VPSLLQ(U8(16), q, s)
	f.VPADDQ(s, z[4], z[4])
}

func (f laneField) addMem(x Mem, z []VecPhysical) {
	for i, r := range z {
		f.VPADDQ(row(x, i), r, r)
	}
}

func (f laneField) subMem(x Mem, z []VecPhysical) {
	for i, r := range z {
		f.VPSUBQ(row(x, i), r, r)
	}
}

// subTimes subtracts 2^shift·x.
func (f laneField) subTimes(shift int, x Mem, z []VecPhysical) {
	for i, r := range z {
		f.VMOVDQU64(row(x, i), tmp1)
		f.VPSLLQ(U8(shift), tmp1, tmp1)
		f.VPSUBQ(tmp1, r, r)
	}
}

func (f laneField) addPrime(k int, z []VecPhysical) {
	for i, r := range z {
		f.VPADDQ_BCST(f.multiples[k].Offset(8*i), r, r)
	}
}

// diff sets z = x - y + 2p, not carried.
func (f laneField) diff(x, y Mem, z []VecPhysical) {
	f.load(x, z)
	f.subMem(y, z)
	f.addPrime(2, z)
}

// times sets the columns to left·y + kp.
func (f laneField) times(y Mem, k int) {
	f.columns(k, 0)
	f.accumulate(y)
}

// A stage is a product of a block: its columns, and what is done with them. The first
// uses left and stream, and no other registers but the columns; the second uses those,
// tmp1 and tmp2.
type stage struct {
	columns, rest func(f laneField, i int)
}

// multiply sets z = xy in memory, below xy/2²⁶⁰ + p, for products alone.
func multiply(z, x, y func(i int) Mem) stage {
	return stage{
		func(f laneField, i int) {
			f.load(x(i), left)
			f.times(y(i), 0)
		},
		func(f laneField, i int) {
			f.reduce()
			f.carryLoose(f.raw)
			f.store(f.raw, z(i))
		},
	}
}

// multiplyFull is multiply for a result that sums take as well.
func multiplyFull(z, x, y func(i int) Mem) stage {
	s := multiply(z, x, y)
	s.rest = func(f laneField, i int) {
		f.reduce()
		f.carry(f.raw)
		f.store(f.raw, z(i))
	}
	return s
}

// pipeline writes stages for n blocks, by turns: while the columns of one are reduced,
// those of the next are made. Two blocks nearly hide how long a product waits for itself,
// and four do.
func (f laneField) pipeline(n int, stages ...stage) {
	var rest func()
	for k, s := range stages {
		for i := range n {
			g := f.with((k*n + i) % 2)
			if rest == nil {
				s.columns(g, i)
			} else {
				f.merge(rest, func() { s.columns(g, i) })
			}
			rest = func() { s.rest(g, i) }
		}
	}
	rest()
}

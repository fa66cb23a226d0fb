// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
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
	raw       []VecPhysical // where a reduction leaves its result, not carried
	free      []VecPhysical // is then free
	multiples map[int]Mem   // limbs of kp
	one       Mem           // limbs of R mod p
	scalars   Mem           // constants above
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
	f := laneField{Context: c, multiples: map[int]Mem{}}.with(0)
	limbs := func(name string, x *big.Int) Mem {
		m := c.StaticGlobal(name)
		c.DataAttributes(attr.NOPTR | attr.RODATA)
		x = new(big.Int).Set(x)
		mask := big.NewInt(1<<52 - 1)
		for i := range 5 {
			v := new(big.Int).And(x, mask)
			if i == 4 {
				v.Set(x)
			}
			c.AddDatum(8*i, U64(v.Uint64()))
			x.Rsh(x, 52)
		}
		return m
	}
	p := prime()
	for k, name := range []string{1: "p1", 2: "p2", 3: "p3", 4: "p4", 5: "p5"} {
		if k > 0 {
			f.multiples[k] = limbs(name, new(big.Int).Mul(p, big.NewInt(int64(k))))
		}
	}
	r := new(big.Int).Lsh(big.NewInt(1), 260)
	f.one = limbs("one", r.Mod(r, p))
	f.scalars = c.StaticGlobal("scalars")
	c.DataAttributes(attr.NOPTR | attr.RODATA)
	c.AddDatum(0, U64(1<<48-1))
	c.AddDatum(8, U64(1<<44-1<<12))
	c.AddDatum(16, U64(1<<48-1<<16))
	c.AddDatum(24, U64(1<<52-1))
	c.AddDatum(32, U64(1<<52-3)) // the low limb of 3p
	return f
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

// columns begins the sums of a product with zero.
func (f laneField) columns() {
	for _, t := range f.cols {
		f.VPXORQ(t, t, t)
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

// squares sets the columns to left².
func (f laneField) squares() {
	f.columns()
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
// for d in column 1 and -d in column 6. Only that one may be negative.
func (f laneField) reduce() {
	f.VPADDQ(regD, f.cols[1], f.cols[1])
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
	f.VPSUBQ(regD, f.cols[6], f.cols[6])
}

// carry makes limbs of 52 bits of sums that may be negative, of a value that isn't.
func (f laneField) carry(z []VecPhysical) { f.carryBy(z, tmp1) }

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

// times sets the columns to left·y.
func (f laneField) times(y Mem) {
	f.columns()
	f.accumulate(y)
}

// A stage is a product of a block: its columns, and what is done with them. The first
// uses left and stream, and no other registers but the columns; the second uses those,
// tmp1 and tmp2.
type stage struct {
	columns, rest func(f laneField, i int)
}

// multiply sets z = xy in memory, below xy/2²⁶⁰ + p.
func multiply(z, x, y func(i int) Mem) stage {
	return stage{
		func(f laneField, i int) {
			f.load(x(i), left)
			f.times(y(i))
		},
		func(f laneField, i int) {
			f.reduce()
			f.carry(f.raw)
			f.store(f.raw, z(i))
		},
	}
}

// pipeline writes stages for two blocks, by turns: while the columns of one are reduced,
// those of the other are made.
func (f laneField) pipeline(stages ...stage) {
	var rest func()
	for _, s := range stages {
		for i := range 2 {
			g := f.with(i)
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

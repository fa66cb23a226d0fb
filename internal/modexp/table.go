// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"math/big"

	"github.com/undersign/undersign/internal/opcount"
)

// maxTableEntries bounds a Table: 256 KiB at 4096 bits.
const maxTableEntries = 512

// Table holds precomputed powers of one base: the comb of Lim and Lee 1994
// ("More Flexible Exponentiation with Precomputation"), with several sub-tables.
//
// The exponent is cut into teeth rows of cols bits, and the columns into subs
// blocks of width columns. Sub-table s holds, for every set of rows, the product
// of base^(2^(cols·row + width·s)). A power then takes width-1 squarings and
// cols products.
type Table struct {
	m     *Modulus
	base  []uint64
	shape combShape
	sub   [][]uint64 // 2^teeth entries each, the first of which is 1
}

type combShape struct {
	bits                     int // a multiple of 64
	teeth, cols, subs, width int
}

// NewTable prepares powers of base with exponents below 2^bits. It chooses the
// shape by the number of powers expected: 2 shares one run of squarings between
// a pair, a large number is for a base that lives long.
func (m *Modulus) NewTable(base *Element, bits, uses int) *Table {
	t := &Table{m: m, base: append([]uint64(nil), base.l...), shape: chooseComb(bits, uses, len(m.n))}
	t.fill()
	return t
}

// costSqr and costScan are the costs of a squaring, and of reading one limb of a
// table times the limbs of the modulus, in products. Measured on amd64.
const (
	costSqr  = 0.78
	costScan = 0.1
)

// chooseComb minimises the cost of building the table and using it, for a
// modulus of l limbs.
func chooseComb(bits, uses, l int) combShape {
	bits = max(64, (bits+63)/64*64)
	var best combShape
	least := -1.0
	for teeth := 1; teeth <= 9; teeth++ {
		cols := (bits + teeth - 1) / teeth
		for subs := 1; subs<<teeth <= maxTableEntries; subs++ {
			width := (cols + subs - 1) / subs
			if (subs-1)*width >= cols && subs > 1 {
				continue // the last sub-table would be empty
			}
			build := costSqr*float64((teeth-1)*cols+(subs-1)*width) + float64(subs*(1<<teeth-teeth-1))
			use := costSqr*float64(width-1) + float64(cols)*(1+costScan/float64(l)*float64(int(1)<<teeth))
			cost := build + float64(uses)*use
			if least < 0 || cost < least {
				least, best = cost, combShape{bits, teeth, cols, subs, width}
			}
		}
	}
	return best
}

// fill computes the sub-tables. Every base^(2^(cols·row + width·s)) lies on one
// run of squarings.
func (t *Table) fill() {
	m, sh := t.m, t.shape
	l := len(m.n)
	scratch := make([]uint64, 2*l)
	t.sub = make([][]uint64, sh.subs)
	for s := range t.sub {
		t.sub[s] = make([]uint64, l<<sh.teeth)
		copy(t.sub[s], m.one)
	}
	p := append([]uint64(nil), t.base...)
	for row := range sh.teeth {
		for col := range sh.cols {
			if col%sh.width == 0 {
				copy(t.sub[col/sh.width][l<<row:], p)
			}
			if row == sh.teeth-1 && col == (sh.subs-1)*sh.width {
				break
			}
			m.sqr(p, p, scratch)
		}
	}
	for _, sub := range t.sub {
		for i := 3; i < 1<<sh.teeth; i++ {
			if i&(i-1) == 0 {
				continue
			}
			rest := i & (i - 1)
			low := i ^ rest
			m.mul(sub[i*l:(i+1)*l], sub[rest*l:(rest+1)*l], sub[low*l:(low+1)*l], scratch)
		}
	}
	clear(scratch)
	clear(p)
}

// Exp sets z = base^e. Its time depends on the width of e alone. An e wider than
// the table was made for is served by [Modulus.Exp].
func (t *Table) Exp(z *Element, e Nat) {
	m, sh := t.m, t.shape
	if 64*len(e) > sh.bits {
		m.Exp(z, &Element{t.base}, e)
		return
	}
	opcount.Add(opcount.ExpZn, 1)
	l := len(m.n)
	buf := make([]uint64, 4*l)
	scratch, acc, f := buf[:2*l], buf[2*l:3*l], buf[3*l:]
	copy(acc, m.one)
	for i := sh.width - 1; i >= 0; i-- {
		if i != sh.width-1 {
			m.sqr(acc, acc, scratch)
		}
		for s, sub := range t.sub {
			col := s*sh.width + i
			if col >= sh.cols {
				continue
			}
			var v uint64
			for row := range sh.teeth {
				v |= e.bit(row*sh.cols+col) << row
			}
			selectLimbs(f, sub, v)
			m.mul(acc, acc, f, scratch)
		}
	}
	copy(z.l, acc)
	clear(buf)
}

// ExpBits sets z = base^(e mod 2^bits) for public bits.
func (t *Table) ExpBits(z *Element, e Nat, bits int) {
	if bits >= 64*len(e) {
		t.Exp(z, e)
		return
	}
	low := NewNat(max(bits, 0))
	copy(low, e)
	if bits%64 != 0 && bits > 0 {
		low[len(low)-1] &= 1<<(bits%64) - 1
	}
	t.Exp(z, low)
	low.Wipe()
}

// ExpVarTime sets z = base^e for a public e >= 0; it panics if e is negative.
func (t *Table) ExpVarTime(z *Element, e *big.Int) {
	m, sh := t.m, t.shape
	if e.Sign() < 0 || e.BitLen() > sh.bits {
		m.ExpVarTime(z, &Element{t.base}, e)
		return
	}
	opcount.Add(opcount.ExpZn, 1)
	l := len(m.n)
	scratch := make([]uint64, 2*l)
	acc := append([]uint64(nil), m.one...)
	for i := sh.width - 1; i >= 0; i-- {
		if i != sh.width-1 {
			m.sqr(acc, acc, scratch)
		}
		for s, sub := range t.sub {
			col := s*sh.width + i
			if col >= sh.cols {
				continue
			}
			v := 0
			for row := range sh.teeth {
				v |= int(e.Bit(row*sh.cols+col)) << row
			}
			if v != 0 {
				m.mul(acc, acc, sub[v*l:(v+1)*l], scratch)
			}
		}
	}
	copy(z.l, acc)
}

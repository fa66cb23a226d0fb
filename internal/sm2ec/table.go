// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// A Table holds the odd multiples of a point that sums of odd signed digits
// want: for each window i of w bits, 2^(wi) times 1, 3, ..., 2^w - 1. The last
// window ends with the highest multiple that it can meet. A table doesn't change.
type Table struct {
	w, m    int
	entries []Affine      // window i begins at i·2^(w-1)
	packed  []packedPoint // the same in place of entries, where there are lanes
}

// at returns the entry at a place.
func (t *Table) at(i int) Affine {
	if t.packed != nil {
		return t.packed[i].affine()
	}
	return t.entries[i]
}

// TableSize is the size in bytes of a table with windows of w bits, 2 <= w <= 16,
// in the whole pages of 8 KiB that the runtime takes for it.
func TableSize(w int) int64 {
	const page = 8 << 10
	return (64*int64(tableLen(w))+page-1)/page*page + 64
}

// tableLen is the number of entries.
func tableLen(w int) int {
	m := windows(w)
	return (m-1)<<(w-1) + lastLen(w)
}

// lastLen is the number of entries of the last window, whose digit has what is
// left of 256 bits.
func lastLen(w int) int {
	return 1 << (256 - w*(windows(w)-1) - 1)
}

// NewTable returns the table of p with windows of w bits, 2 <= w <= 16.
func NewTable(p *Affine, w int) *Table {
	return NewTables([]Affine{*p}, w)[0]
}

// Width returns the width of the windows.
func (t *Table) Width() int { return t.w }

// Windows returns the number of windows, which is that of the entries in a sum.
func (t *Table) Windows() int { return t.m }

// Size returns the size in bytes.
func (t *Table) Size() int64 { return TableSize(t.w) }

// Point returns the point whose multiples these are.
func (t *Table) Point() Affine { return t.at(0) }

// entry sets e to the multiple for an odd digit d in window i, or to its
// negative.
func (t *Table) entry(e *Affine, i int, d int32, negative bool) {
	if d < 0 {
		d, negative = -d, !negative
	}
	*e = t.at(i<<(t.w-1) + int(d>>1))
	if negative {
		e.Y.Neg(&e.Y)
	}
}

// NewTables returns the tables of several points, whose inversions are shared.
// Points must be on the curve.
//
// No addition in it meets equal or opposite points: it adds 2^k·B to cB for an
// odd c < 2^k and B = 2^(wi)·P, and c ± 2^k is not 0, with all multiples of P below
// 2²⁵⁶ < 2n. Were such a multiple, or a difference, n itself, it would be even
// for i > 0, and for i = 0 it is below 2^w; n is odd.
func NewTables(ps []Affine, w int) []*Table {
	if w < 2 || w > maxWidth {
		panic(fmt.Sprintf("sm2ec: window of %d bits", w))
	}
	ts := make([]*Table, len(ps))
	for lo := 0; lo < len(ps); lo += tableChunk {
		hi := min(lo+tableChunk, len(ps))
		current.newTables(ts[lo:hi], ps[lo:hi], w)
	}
	return ts
}

// tableChunk is the number of tables that are built together. More would save no
// more than a percent.
const tableChunk = 16

func newTables(ts []*Table, ps []Affine, w int) {
	m := windows(w)
	powers := powersOfTwo(ps)
	for j := range ps {
		ts[j] = &Table{w: w, m: m, entries: make([]Affine, tableLen(w))}
	}

	// Row k of a window are the entries for 2^k + c, with c in the rows before.
	var s adder
	half := 1 << (w - 1)
	for k := range w {
		n := 1 << max(k-1, 0)
		var rows [][2][]Affine
		for j, t := range ts {
			for i := range m {
				if w*i+k >= 256 {
					continue // beyond the last window's digits
				}
				e := t.entries[i*half:]
				if k == 0 {
					e[0] = powers[256*j+w*i]
					continue
				}
				for c := range n {
					e[n+c] = powers[256*j+w*i+k]
				}
				rows = append(rows, [2][]Affine{e[n : 2*n], e[:n]})
			}
		}
		s.addRows(rows...)
	}
}

// powersOfTwo returns 2^i times the point j at 256·j+i.
func powersOfTwo(ps []Affine) []Affine {
	powers := make([]Affine, 256*len(ps))
	jac := make([]Jacobian, len(powers))
	for j := range ps {
		jac[256*j] = ps[j].Jacobian()
		for i := 256*j + 1; i < 256*j+256; i++ {
			jac[i].Double(&jac[i-1])
		}
	}
	Normalize(powers, jac)
	return powers
}

// Two tables of the generator: a small one for single verifications, and
// another for many, which takes 5 MB and some milliseconds.
const (
	smallWidth = 8
	largeWidth = 13
)

var (
	smallGenerator = ofGenerator(newTables, smallWidth)
	largeGenerator = ofGenerator(newTables, largeWidth)

	// The same for lanes.
	smallPacked = ofGenerator(newTablesLanes, smallWidth)
	largePacked = ofGenerator(newTablesLanes, largeWidth)

	generatorUses atomic.Int64
)

func ofGenerator(build func(ts []*Table, ps []Affine, w int), w int) func() *Table {
	return sync.OnceValue(func() *Table {
		var ts [1]*Table
		build(ts[:], []Affine{generator}, w)
		return ts[0]
	})
}

// GeneratorTable returns a table of the generator for n more sums. It is the
// small one until the large one has become worth its while.
func GeneratorTable(n int) *Table {
	// The large table saves 12 additions of an item, so as many of them as it
	// is made of after some 6,500.
	large := generatorUses.Add(int64(n)) >= 6500
	switch {
	case laneTables && large:
		return largePacked()
	case laneTables:
		return smallPacked()
	case large:
		return largeGenerator()
	}
	return smallGenerator()
}

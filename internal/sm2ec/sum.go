// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"math/bits"
	"sync"
)

// A Term is the sum sG + tP, where P is the point of the table.
type Term struct {
	S, T  Scalar
	Table *Table
}

// SumTables sets dst[i] = sG + tP for terms[i], where g is a table of G. It sets
// flagged[i] instead where that can't be had by affine formulas: two
// intermediate sums of the item have the same x, as they have whenever the result
// is infinity, or s or t is zero. Such items are to be verified singly. Only
// crafted ones are flagged, and they don't slow down their neighbours. The three
// slices have the same length.
//
// An item is 39 to 80 entries of tables, added by a binary tree in affine
// coordinates, at one inversion a level for a whole chunk of items, so at
// 5M + 1S for an addition.
func SumTables(dst []Jacobian, flagged []bool, g *Table, terms []Term) {
	current.sumTables(dst[:len(terms)], flagged[:len(terms)], g, terms)
}

// sumChunk is the number of items that share inversions: enough to make an
// inversion cheap, few enough for the second-level cache.
const sumChunk = 128

func sumTables(dst []Jacobian, flagged []bool, g *Table, terms []Term) {
	s := summers.Get().(*summer)
	defer summers.Put(s)
	// All items of a chunk have the same number of entries.
	var byWidth [maxWidth + 1][]int
	for i := range terms {
		t := &terms[i]
		flagged[i] = t.Table == nil || t.S.IsZero() || t.T.IsZero()
		if flagged[i] {
			dst[i] = Jacobian{}
			continue
		}
		w := t.Table.w
		byWidth[w] = append(byWidth[w], i)
		if len(byWidth[w]) == sumChunk {
			s.sum(dst, flagged, g, terms, byWidth[w])
			byWidth[w] = byWidth[w][:0]
		}
	}
	for _, items := range byWidth {
		if len(items) > 0 {
			s.sum(dst, flagged, g, terms, items)
		}
	}
}

var summers = sync.Pool{New: func() any { return new(summer) }}

// A summer is the memory for sums of tables.
type summer struct {
	adder
	points []Affine
	codes  []uint32 // of digits: twice the place in a window of a table, and the sign
	packed packedRows
}

// minShared is the number of additions from which on a shared inversion is
// cheaper than mixed Jacobian additions: 2.1 us against 0.07 for each.
const minShared = 32

// sum does the items with the given indices, whose tables have the same width.
func (s *summer) sum(dst []Jacobian, flagged []bool, g *Table, terms []Term, items []int) {
	n := len(items)
	m := s.gather(g, terms, items)
	rows := s.points
	for m > 1 && m/2*n >= minShared {
		half := m / 2
		if s.addRows([2][]Affine{rows[:half*n], rows[(m-half)*n : m*n]}) > 0 {
			for i, z := range s.zero {
				if z {
					flagged[items[i%n]] = true
				}
			}
		}
		m -= half
	}
	for j, i := range items {
		p := rows[j].Jacobian()
		for k := 1; k < m; k++ {
			p.AddAffine(&p, &rows[k*n+j])
		}
		dst[i] = p
	}
	for _, i := range items {
		flagged[i] = flagged[i] || dst[i].IsInfinity()
	}
}

// gather sets row k of s.points to entry k of each item's sum, and returns the
// number of rows.
func (s *summer) gather(g *Table, terms []Term, items []int) int {
	n := len(items)
	m := g.m + terms[items[0]].Table.m
	if g.packed != nil && allPacked(terms, items) {
		s.gatherPacked(g, terms, items, m)
		return m
	}
	s.points, s.codes = grow(s.points, m*n), grow(s.codes, m*n)
	var digits [128]int32
	for j, i := range items {
		t := &terms[i]
		codeDigits(s.codes[j:], n, digits[:g.m], t.S.oddDigits(digits[:g.m], g.w))
		d := digits[:t.Table.m]
		codeDigits(s.codes[g.m*n+j:], n, d, t.T.oddDigits(d, t.Table.w))
	}
	// Window by window, so that what is read next to each other lies close.
	for k := range m {
		row, codes := s.points[k*n:(k+1)*n], s.codes[k*n:(k+1)*n]
		if k < g.m && g.entries != nil {
			window := g.entries[k<<(g.w-1):]
			for j, c := range codes {
				row[j].setSigned(&window[c>>1], uint64(c&1))
			}
			continue
		}
		for j, c := range codes {
			t, i := g, k
			if k >= g.m {
				t, i = terms[items[j]].Table, k-g.m
			}
			if at := i<<(t.w-1) + int(c>>1); t.entries != nil {
				row[j].setSigned(&t.entries[at], uint64(c&1))
			} else {
				e := t.packed[at].affine()
				row[j].setSigned(&e, uint64(c&1))
			}
		}
	}
	return m
}

// codeDigits writes the code of d[k], whose sign is to be turned if negated, to codes[k·step].
func codeDigits(codes []uint32, step int, d []int32, negated bool) {
	turn := uint32(0)
	if negated {
		turn = 1
	}
	for k, x := range d {
		sign := x >> 31
		codes[k*step] = uint32((x^sign)-sign)&^1 | uint32(sign)&1 ^ turn
	}
}

// setSigned sets p = q, or -q if negative is 1. It doesn't branch, for no processor can
// predict the signs of digits.
func (p *Affine) setSigned(q *Affine, negative uint64) {
	p.X = q.X
	t0, b := bits.Sub64(p0, q.Y[0], 0)
	t1, b := bits.Sub64(p1, q.Y[1], b)
	t2, b := bits.Sub64(p2, q.Y[2], b)
	t3, _ := bits.Sub64(p3, q.Y[3], b)
	m := -negative
	p.Y[0] = q.Y[0] ^ (q.Y[0]^t0)&m
	p.Y[1] = q.Y[1] ^ (q.Y[1]^t1)&m
	p.Y[2] = q.Y[2] ^ (q.Y[2]^t2)&m
	p.Y[3] = q.Y[3] ^ (q.Y[3]^t3)&m // y isn't 0, so p - y is below p
}

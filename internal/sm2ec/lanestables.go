// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import "sync"

const (
	// laneChunk is the number of items that are summed together in lanes.
	laneChunk = 1024
	// laneMin is the number of items from which on lanes are faster.
	laneMin = 5
)

// laneRows is the number of blocks that share an inversion: enough to make it cheap, few
// enough for the second-level cache. Twice as many still do if they are all.
var laneRows = 256

// sumTablesLanes is [SumTables] in lanes. The rows of entries, as many as laneRows allows,
// are added up to so many sums of an item, and those by a tree.
func sumTablesLanes(dst []Jacobian, flagged []bool, g *Table, terms []Term) {
	s := laneSummers.Get().(*laneSummer)
	defer laneSummers.Put(s)
	var byWidth [maxWidth + 1][]int
	var few []int
	for i := range terms {
		t := &terms[i]
		if g.packed == nil || t.Table == nil || t.Table.packed == nil || t.S.IsZero() || t.T.IsZero() {
			few = append(few, i)
			continue
		}
		w := t.Table.w
		byWidth[w] = append(byWidth[w], i)
		if len(byWidth[w]) == laneChunk {
			s.sum(dst, flagged, g, terms, byWidth[w])
			byWidth[w] = byWidth[w][:0]
		}
	}
	for _, items := range byWidth {
		if len(items) < laneMin {
			few = append(few, items...)
			continue
		}
		s.sum(dst, flagged, g, terms, items)
	}
	if len(few) == 0 {
		return
	}
	fewTerms, sums, flags := make([]Term, len(few)), make([]Jacobian, len(few)), make([]bool, len(few))
	for k, i := range few {
		fewTerms[k] = terms[i]
	}
	sumTables(sums, flags, g, fewTerms)
	for k, i := range few {
		dst[i], flagged[i] = sums[k], flags[k]
	}
}

var laneSummers = sync.Pool{New: func() any { return new(laneSummer) }}

// A laneSummer is the memory for sums of tables in lanes.
type laneSummer struct {
	laneAdder
	packer lanePacker
	sums   []lanePoint
	more   []lanePoint
	codes  []uint32
	bases  []*packedPoint
	packed []packedPoint
}

// sum does the items with the given indices, whose tables have the same width.
func (s *laneSummer) sum(dst []Jacobian, flagged []bool, g *Table, terms []Term, items []int) {
	n := blocksFor(len(items))
	w := terms[items[0]].Table.w
	m := g.m + windows(w)
	// Rows of codes don't begin at the same place of pages.
	stride := n*laneCount + 16
	s.codes, s.bases = grow(s.codes, m*stride), grow(s.bases, (n+1)*laneCount)
	defer clear(s.bases)
	for j := range n * laneCount {
		t := &terms[items[min(j, len(items)-1)]]
		t.S.oddCodes(s.codes[j:], stride, g.w, g.m)
		t.T.oddCodes(s.codes[j+g.m*stride:], stride, w, windows(w))
		s.bases[j] = &t.Table.packed[0]
	}
	ofG := s.bases[n*laneCount:]
	for j := range ofG {
		ofG[j] = &g.packed[0]
	}
	row := func(dst []lanePoint, k int) {
		codes := s.codes[k*stride:][:n*laneCount]
		if k < g.m {
			gather(dst, ofG, k<<(g.w-1), codes)
		} else {
			gather(dst, s.bases[:n*laneCount], (k-g.m)<<(w-1), codes)
		}
	}
	for _, i := range items {
		flagged[i] = false
	}
	add := func(a, b []lanePoint) {
		if !s.add(a, b) {
			return
		}
		for i, z := range s.zero {
			for j := range laneCount {
				if at := i%n*laneCount + j; z>>j&1 == 1 {
					flagged[items[min(at, len(items)-1)]] = true
				}
			}
		}
	}
	rows := (m + 1) / 2
	if rows*n > 2*laneRows {
		rows = max(laneRows/n, 1)
	}
	s.sums, s.more = growAligned(s.sums, rows*n), growAligned(s.more, rows*n)
	for k := range rows {
		row(s.sums[k*n:(k+1)*n], k)
	}
	for k := rows; k < m; k += rows {
		more := min(rows, m-k)
		for r := range more {
			row(s.more[r*n:(r+1)*n], k+r)
		}
		add(s.sums[:more*n], s.more[:more*n])
	}
	for rows > 1 {
		half := rows / 2
		add(s.sums[:half*n], s.sums[(rows-half)*n:rows*n])
		rows -= half
	}
	sums := s.sums[:n]
	mulLanes(blocksIn(sums), blocksIn(sums), []block{fromLane})
	s.packed = growAligned(s.packed, n*laneCount)
	scatter(s.packed, sums)
	for j, i := range items {
		if flagged[i] {
			dst[i] = Jacobian{}
			continue
		}
		p := &s.packed[j]
		dst[i].X.canonical((*[4]uint64)(p[:4]))
		dst[i].Y.canonical((*[4]uint64)(p[4:]))
		dst[i].Z = feOne
	}
}

// oddCodes writes the digits of oddDigits to codes[0], codes[step] and so on, each as
// twice its place in a window of a table, plus one if the entry is to be negated.
func (k *Scalar) oddCodes(codes []uint32, step, w, m int) {
	x := *k
	turn := uint32(0)
	if x[0]&1 == 0 {
		x.Neg(k)
		turn = 1
	}
	low := uint32(1)<<w - 1
	for i := range m {
		// A digit of v is v - 2^w: positive, with bit w of v, or negative, and odd then like
		// 2^w - v, whose half is that of 2^w - 1 - v.
		v := low + 1
		if i < m-1 {
			v = uint32(x.window(w*i, w+1))
		} else {
			v |= uint32(x.window(w*i, w))
		}
		neg := (v >> w & 1) ^ 1
		codes[i*step] = (v^-neg)&low&^1 | neg ^ turn
	}
}

// newTablesLanes is newTables with the additions in lanes.
func newTablesLanes(ts []*Table, ps []Affine, w int) {
	m := windows(w)
	var packer lanePacker
	packed := make([][]packedPoint, len(ps))
	for j := range ps {
		ts[j] = &Table{w: w, m: m, packed: aligned[packedPoint](tableLen(w))}
		packed[j] = aligned[packedPoint](256)
	}
	powers := powersOfTwo(ps)
	for j := range ps {
		packer.pack(packed[j], powers[256*j:256*(j+1)])
	}
	var s pairAdder
	half := 1 << (w - 1)
	for k := range w {
		n := 1 << max(k-1, 0)
		s.start()
		var rows [][]packedPoint // where the sums go
		for j, t := range ts {
			for i := range m {
				if w*i+k >= 256 {
					continue // beyond the last window's digits
				}
				e := t.packed[i*half:]
				if k == 0 {
					e[0] = packed[j][w*i]
					continue
				}
				for c := range n {
					s.add(&packed[j][w*i+k], 0, &e[c], 0)
				}
				rows = append(rows, e[n:2*n])
			}
		}
		sums := s.sum()
		for _, r := range rows {
			sums = sums[copy(r, sums):]
		}
	}
}

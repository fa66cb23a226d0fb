// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"runtime"
	"sync"
	"unsafe"
)

const (
	// laneChunk is the number of items that are summed together in lanes.
	laneChunk = 512
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
	refs   []pointRef // row after row of entries
	packed []packedPoint
}

// sum does the items with the given indices, whose tables have the same width.
func (s *laneSummer) sum(dst []Jacobian, flagged []bool, g *Table, terms []Term, items []int) {
	n := blocksFor(len(items))
	w := terms[items[0]].Table.w
	m := g.m + windows(w)
	row := n * laneCount
	s.fill(n, m, min(2*rowsAtOnce(n, m), m), func(j int, refs []pointRef) {
		t := &terms[items[min(j, len(items)-1)]]
		g.refs(refs, row, &t.S)
		t.Table.refs(refs[g.m*row:], row, &t.T)
	})
	for _, i := range items {
		flagged[i] = false
	}
	s.tree(n, m, func(j int) { flagged[items[min(j, len(items)-1)]] = true })
	runtime.KeepAlive(terms)
	runtime.KeepAlive(g)
	sums := s.sums[:n]
	mulLanes(blocksIn(sums), blocksIn(sums), []block{outOfLanes})
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

// fill sets the references to m rows of n blocks: set is called for each lane, with the references from its
// first on. Meanwhile it fetches the first rows.
func (s *laneSummer) fill(n, m, first int, set func(j int, refs []pointRef)) {
	s.refs = grow(s.refs, m*n*laneCount)
	for i := range n {
		for j := range laneCount {
			set(i*laneCount+j, s.refs[i*laneCount+j:])
		}
		fetchRows(s.refs[i*laneCount:], n*laneCount, first)
	}
}

// rowsAtOnce returns how many of m rows of n blocks are added to others at a time.
func rowsAtOnce(n, m int) int {
	rows := (m + 1) / 2
	if rows*n > 2*laneRows {
		rows = max(laneRows/n, 1)
	}
	return rows
}

// tree adds up m > 1 rows of n blocks that fill has set, to s.sums[:n]. It calls flag for lanes
// whose sums are no points, since operands may have had the same x.
func (s *laneSummer) tree(n, m int, flag func(j int)) {
	add := func(a, b []lanePoint, next [2][]pointRef) {
		if !s.add(a, b, next) {
			return
		}
		for i, z := range s.zero {
			for j := range laneCount {
				if z>>j&1 == 1 {
					flag(i%n*laneCount + j)
				}
			}
		}
	}
	rows := rowsAtOnce(n, m)
	s.sums, s.more = growAligned(s.sums, rows*n), growAligned(s.more, rows*n)
	gather(s.sums, s.refs)
	for k := rows; k < m; k += rows {
		more := min(rows, m-k) * n
		gather(s.more[:more], s.refs[k*n*laneCount:])
		next := noPoints
		if k+rows < m {
			next[1] = s.refs[min((k+rows)*n, m*n-more)*laneCount:]
		}
		add(s.sums[:more], s.more[:more], next)
	}
	for rows > 1 {
		half := rows / 2
		add(s.sums[:half*n], s.sums[(rows-half)*n:rows*n], noPoints)
		rows -= half
	}
}

// refs sets every step-th of refs to the entries of a packed table whose sum is kP.
func (t *Table) refs(refs []pointRef, step int, k *Scalar) {
	x, turn := k.oddWords()
	base, size := pointRef(unsafe.Pointer(&t.packed[0])), pointRef(1)<<(t.w-1+6)
	at := 0
	for i := range t.m - 1 {
		r := x.place(i, t.w)
		refs[at] = (base + r>>1<<6) | r&1 ^ turn
		base += size
		at += step
	}
	refs[at] = (base + x.last(t.m-1, t.w)>>1<<6) | turn
}

// oddPlaces sets refs to the digits of oddDigits, or fewer if k is odd and short: twice the place of the entry in
// its window, plus one if it is to be subtracted. It returns 1 if the sum is -kP.
func (k *Scalar) oddPlaces(refs []pointRef, w int) (negated pointRef) {
	x, negated := k.oddWords()
	last := len(refs) - 1
	for i := range last {
		refs[i] = x.place(i, w)
	}
	refs[last] = x.last(last, w)
	return negated
}

// oddWords are those of an odd scalar, and a zero.
type oddWords [5]uint64

// oddWords returns k, or -k and 1 where that is odd.
func (k *Scalar) oddWords() (x oddWords, negated pointRef) {
	odd := *k
	if odd[0]&1 == 0 {
		odd.Neg(k)
		negated = 1
	}
	copy(x[:], odd[:])
	return x, negated
}

func (x *oddWords) from(bit uint) uint64 {
	at, shift := bit/64&3, bit%64
	return x[at]>>shift | x[at+1]<<1<<(63-shift)
}

// place returns digit i, which isn't the last: v - 2^w for the number v that begins there. It is positive, with
// bit w of v, or negative, and odd then like 2^w - v, whose half is that of 2^w - 1 - v.
func (x *oddWords) place(i, w int) pointRef {
	v := x.from(uint(w * i))
	neg := ^v >> w & 1
	return pointRef((v^-neg)&(1<<w-1)&^1 | neg)
}

// last returns what is left for the last digit.
func (x *oddWords) last(i, w int) pointRef { return pointRef(x.from(uint(w*i)) &^ 1) }

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
					s.add(refTo(&packed[j][w*i+k], 0), refTo(&e[c], 0))
				}
				rows = append(rows, e[n:2*n])
			}
		}
		sums := s.sum()
		runtime.KeepAlive(packed)
		for _, r := range rows {
			sums = sums[copy(r, sums):]
		}
	}
}

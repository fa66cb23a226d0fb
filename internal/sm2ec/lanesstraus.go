// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"runtime"
)

// Straus' method in lanes (Straus 1964): a lane is for one digit of multipliers, and adds up
// the odd multiples that the digits of all terms want. Only in the end are digits put
// together by doubling. Digits are odd, as those of tables are, so that there
// is something to be added for each.

const (
	strausLanes  = 208                                // four times the digits of long multipliers,
	strausBlocks = strausLanes / laneCount            // an even number
	longDigits   = (256 + laneWidth - 1) / laneWidth  // 52
	shortDigits  = (halfBits + laneWidth) / laneWidth // 26, for the last one is odd too
	strausChunk  = 512                                // terms whose odd multiples are there at once
)

// straus sets sum to the sum of terms, and reports false if the affine formulas don't hold for
// them, as they don't where points are equal, or made to meet.
func strausInLanes(terms []multiple, workers int) (sum Jacobian, ok bool) {
	var long, short []*multiple
	for i := range terms {
		t := &terms[i]
		if t.p == &generator {
			t.odd = oddTable{&smallPacked().packed[0], 1}
		}
		switch {
		case t.k.IsZero():
		case t.k.isShort() && t.k[0]&1 == 1:
			short = append(short, t)
		default:
			long = append(long, t)
		}
	}
	// A row has several terms. What doesn't make a row of short ones goes with the others.
	const perRow = strausLanes / shortDigits
	n := len(short) / perRow * perRow
	long, short = append(long, short[n:]...), short[:n]

	parts := make([]strausPart, min(workers, (len(terms)+strausChunk-1)/strausChunk))
	oks := make([]bool, len(parts))
	parallel(len(parts), func(i int) {
		cut := func(ts []*multiple, perRow int) []*multiple {
			rows := (len(ts) + perRow - 1) / perRow
			return ts[rows*i/len(parts)*perRow : min(len(ts), rows*(i+1)/len(parts)*perRow)]
		}
		s := laneWorkers.Get().(*laneWorker)
		defer laneWorkers.Put(s)
		oks[i] = s.add(&parts[i], cut(long, strausLanes/longDigits), longDigits) &&
			s.add(&parts[i], cut(short, perRow), shortDigits)
	})
	var acc Jacobian
	for j := longDigits - 1; j >= 0; j-- {
		acc.doubleN(laneWidth)
		for i := range parts {
			acc.Add(&acc, &parts[i].digits[j])
		}
	}
	var g Scalar
	for i := range parts {
		g.Sub(&g, &parts[i].standIns)
	}
	if !g.IsZero() {
		acc.addMultiple(smallGenerator(), &g)
	}
	for _, o := range oks {
		if !o {
			return acc, false
		}
	}
	return acc, true
}

// A strausPart is the sums of the multiples for each digit, from the lowest, and how often G is in
// what stood for terms that were missing.
type strausPart struct {
	digits   [longDigits]Jacobian
	standIns Scalar
}

// onesOf is the integer of which so many digits are 1.
func onesOf(digits int) (k Scalar) {
	for range digits {
		for range laneWidth {
			k.Add(&k, &k)
		}
		k.Add(&k, &Scalar{1})
	}
	return k
}

// A laneStraus is the memory for Straus' method.
type laneStraus struct {
	laneSingle
	total   []lanePoint
	without []*multiple // without a table
}

// add adds terms to sums, and reports false if it can't. A row is the digits of
// as many terms as there are lanes for.
func (s *laneStraus) add(part *strausPart, terms []*multiple, digits int) bool {
	if len(terms) == 0 {
		return true
	}
	perRow := strausLanes / digits
	s.total = growAligned(s.total, strausBlocks)
	for i := len(terms) % perRow; i > 0 && i < perRow; i++ { // of the last row
		k := onesOf(digits)
		k.Mul(&k, &Scalar{1 << (i * smallWidth)})
		part.standIns.Add(&part.standIns, &k)
	}
	for first := true; len(terms) > 0; first = false {
		n := min(strausChunk, len(terms))
		if !s.rows(terms[:n], digits) {
			return false
		}
		terms = terms[n:]
		if first {
			copy(s.total, s.sums[:strausBlocks])
			continue
		}
		if s.laneAdder.add(s.total, s.sums[:strausBlocks], noPoints) {
			return false
		}
	}
	// Four lanes or more have the same digit.
	const quarter = strausLanes / 4
	n := blocksFor(quarter)
	s.packed = growAligned(s.packed, strausLanes)
	scatter(s.packed, s.total)
	ok := true
	s.fill(n, 4, 0, func(j int, refs []pointRef) {
		for i := range 4 {
			refs[i*n*laneCount] = refTo(&s.packed[i*quarter+min(j, quarter-1)], 0)
		}
	})
	s.tree(n, 4, func(int) { ok = false })
	runtime.KeepAlive(s)
	sums := s.sums[:n]
	mulLanes(blocksIn(sums), blocksIn(sums), []block{outOfLanes})
	scatter(s.packed, sums)
	for at := range quarter {
		var p Affine
		p.X.canonical((*[4]uint64)(s.packed[at][:4]))
		p.Y.canonical((*[4]uint64)(s.packed[at][4:]))
		sum := &part.digits[at%digits]
		sum.AddAffine(sum, &p)
	}
	return ok
}

// rows sets s.sums to the sums of terms by lanes: perRow times the digits. In the last row
// multiples of G, as different ones as those of groups are, stand for terms that are missing.
func (s *laneStraus) rows(terms []*multiple, digits int) bool {
	perRow := strausLanes / digits
	s.without = s.without[:0]
	for _, t := range terms {
		if t.odd.first == nil {
			s.without = append(s.without, t)
		}
	}
	n := blocksFor(len(s.without))
	s.bad = grow(s.bad, n*laneCount)
	clear(s.bad)
	s.refs = s.refs[:0]
	s.oddMultiples(n, func(j int) *Affine { return s.without[min(j, len(s.without)-1)].p })
	for j, t := range s.without {
		t.odd = s.oddTable(j)
	}

	rows := (len(terms) + perRow - 1) / perRow
	s.refs = grow(s.refs, rows*strausLanes)
	for i := range rows * perRow {
		refs := s.refs[i*digits:][:digits]
		if i >= len(terms) {
			for j := range refs {
				refs[j] = refTo(standIn(i%perRow), 0)
			}
			continue
		}
		t := terms[i]
		turn := t.k.oddPlaces(refs, laneWidth)
		if t.neg {
			turn ^= 1
		}
		for j, r := range refs {
			refs[j] = t.odd.ref(r) | r&1 ^ turn
		}
	}
	ok := true
	s.tree(strausBlocks, rows, func(int) { ok = false })
	for j := range s.without {
		ok = ok && !s.bad[j]
	}
	runtime.KeepAlive(s)
	return ok
}

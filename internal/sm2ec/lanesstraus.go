// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"runtime"
	"sync"
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

	parts := make([]digitSums, min(workers, (len(terms)+strausChunk-1)/strausChunk))
	oks := make([]bool, len(parts))
	parallel(len(parts), func(i int) {
		cut := func(ts []*multiple, perRow int) []*multiple {
			rows := (len(ts) + perRow - 1) / perRow
			return ts[rows*i/len(parts)*perRow : min(len(ts), rows*(i+1)/len(parts)*perRow)]
		}
		s := laneStrauses.Get().(*laneStraus)
		defer laneStrauses.Put(s)
		oks[i] = s.add(&parts[i], cut(long, strausLanes/longDigits), longDigits) &&
			s.add(&parts[i], cut(short, perRow), shortDigits)
	})
	var acc Jacobian
	for j := longDigits - 1; j >= 0; j-- {
		acc.doubleN(laneWidth)
		for i := range parts {
			acc.Add(&acc, &parts[i][j])
		}
	}
	for _, o := range oks {
		if !o {
			return acc, false
		}
	}
	return acc, true
}

// digitSums are sums of the multiples for each digit, from the lowest.
type digitSums [longDigits]Jacobian

var laneStrauses = sync.Pool{New: func() any { return new(laneStraus) }}

// A laneStraus is the memory for Straus' method.
type laneStraus struct {
	laneSingle
	total []lanePoint
}

// add adds terms to sums, and reports false if it can't. A row is the digits of
// as many terms as there are lanes for.
func (s *laneStraus) add(sums *digitSums, terms []*multiple, digits int) bool {
	if len(terms) == 0 {
		return true
	}
	perRow := strausLanes / digits
	s.total = growAligned(s.total, strausBlocks)
	missing := 0 // terms of the last row
	for first := true; len(terms) > 0; first = false {
		n := min(strausChunk, len(terms))
		missing = (perRow - n%perRow) % perRow
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
	mulLanes(blocksIn(s.total), blocksIn(s.total), []block{outOfLanes})
	s.packed = growAligned(s.packed, strausLanes)
	scatter(s.packed, s.total)
	var minusG Affine
	minusG.Neg(&generator)
	for at := range strausLanes {
		var p Affine
		p.X.canonical((*[4]uint64)(s.packed[at][:4]))
		p.Y.canonical((*[4]uint64)(s.packed[at][4:]))
		sum := &sums[at%digits]
		sum.AddAffine(sum, &p)
		if at/digits >= perRow-missing {
			sum.AddAffine(sum, &minusG) // it stood for a term
		}
	}
	return true
}

// rows sets s.sums to the sums of terms by lanes: perRow times the digits. In the last row G
// stands for terms that are missing.
func (s *laneStraus) rows(terms []*multiple, digits int) bool {
	perRow := strausLanes / digits
	n := blocksFor(len(terms))
	s.bad = grow(s.bad, n*laneCount)
	clear(s.bad)
	s.refs = s.refs[:0]
	s.oddMultiples(n, func(j int) *Affine { return terms[min(j, len(terms)-1)].p })

	rows := (len(terms) + perRow - 1) / perRow
	s.refs = grow(s.refs, rows*strausLanes)
	for i := range rows * perRow {
		refs := s.refs[i*digits:][:digits]
		if i >= len(terms) {
			for j := range refs {
				refs[j] = refTo(&smallPacked().packed[0], 0)
			}
			continue
		}
		t := terms[i]
		turn := t.k.oddPlaces(refs, laneWidth)
		if t.neg {
			turn ^= 1
		}
		entries := s.entries[i/(2*laneCount)<<(laneWidth-1)*2*laneCount+i%(2*laneCount):]
		for j, r := range refs {
			refs[j] = refTo(&entries[int(r>>1)*2*laneCount], 0) | r&1 ^ turn
		}
	}
	ok := true
	s.tree(strausBlocks, rows, func(int) { ok = false })
	for j := range terms {
		ok = ok && !s.bad[j]
	}
	runtime.KeepAlive(s)
	return ok
}

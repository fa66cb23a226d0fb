// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import "runtime"

// packedRows is the memory to take entries of packed tables out of lanes, for items that
// are too few to be summed there.
type packedRows struct {
	lanes []lanePoint
	refs  []pointRef
	out   []packedPoint
}

// allPacked reports whether the tables of these items are packed.
func allPacked(terms []Term, items []int) bool {
	for _, i := range items {
		if terms[i].Table.packed == nil {
			return false
		}
	}
	return true
}

// gatherPacked is [summer.gather] for m rows of packed tables.
func (s *summer) gatherPacked(g *Table, terms []Term, items []int, m int) {
	n := len(items)
	p := &s.packed
	blocks := (m*n + laneCount - 1) / laneCount
	p.refs = grow(p.refs, blocks*laneCount)
	p.lanes, p.out = growAligned(p.lanes, blocks), growAligned(p.out, blocks*laneCount)
	var all [256]pointRef
	one := all[:m]
	for j, i := range items {
		t := &terms[i]
		g.refs(one, 1, &t.S)
		t.Table.refs(one[g.m:], 1, &t.T)
		for k, r := range one {
			p.refs[k*n+j] = r
		}
	}
	for i := m * n; i < len(p.refs); i++ {
		p.refs[i] = p.refs[0]
	}
	gather(p.lanes, p.refs)
	runtime.KeepAlive(terms)
	mulLanes(blocksIn(p.lanes), blocksIn(p.lanes), []block{outOfLanes})
	scatter(p.out, p.lanes)
	s.points = grow(s.points, m*n)
	for i := range s.points {
		s.points[i].X.canonical((*[4]uint64)(p.out[i][:4]))
		s.points[i].Y.canonical((*[4]uint64)(p.out[i][4:]))
	}
}

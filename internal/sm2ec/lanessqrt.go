// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import "sync"

// laneRoots is the number of roots that are taken together.
const laneRoots = 256

// sqrtBatchLanes is [SqrtBatch] in lanes.
func sqrtBatchLanes(xs []Element, ok []bool) {
	s := laneRooters.Get().(*laneRooter)
	defer laneRooters.Put(s)
	for len(xs) >= laneCount/2 {
		n := min(laneRoots, len(xs))
		s.sqrt(xs[:n], ok[:n])
		xs, ok = xs[n:], ok[n:]
	}
	sqrtBatch(xs, ok)
}

var laneRooters = sync.Pool{New: func() any { return new(laneRooter) }}

// A laneRooter is the memory for roots in lanes.
type laneRooter struct {
	words []packedPoint // two elements each
	refs  []pointRef
	bufs  [6][]lanePoint
}

// load sets blocks to elements, of which two make one packed point: element i is in the block
// 2(i/16) + i%2, at i/2%8.
func (s *laneRooter) load(dst []lanePoint, xs []Element) {
	s.words = growAligned(s.words, laneRoots/2)
	if s.refs == nil {
		for i := range s.words {
			s.refs = append(s.refs, refTo(&s.words[i], 0))
		}
	}
	for i := range xs {
		*(*Element)(s.words[i/2][4*(i%2):]) = xs[i]
	}
	gather(dst, s.refs)
	mulLanes(blocksIn(dst), blocksIn(dst), []block{toLanes})
}

// store sets elements to blocks as load fills them, and overwrites these.
func (s *laneRooter) store(xs []Element, src []lanePoint) {
	mulLanes(blocksIn(src), blocksIn(src), []block{outOfLanes})
	scatter(s.words, src)
	for i := range xs {
		xs[i].canonical((*[4]uint64)(s.words[i/2][4*(i%2):]))
	}
}

func (s *laneRooter) sqrt(xs []Element, ok []bool) {
	n := (len(xs) + 2*laneCount - 1) / (2 * laneCount)
	var b [6][]block
	for i := range s.bufs {
		s.bufs[i] = growAligned(s.bufs[i], n)
		b[i] = blocksIn(s.bufs[i])
	}
	s.load(s.bufs[5], xs)
	z, x3, x6, x12, x32, x := b[0], b[1], b[2], b[3], b[4], b[5]
	step := func(n int, f []block) {
		sqrLanes(z, n)
		mulLanes(z, z, f)
	}
	// Exponents 2ᵏ-1 for k = 2, 3, 6, 12, 24, 30, 31, 32.
	copy(z, x)
	step(1, x)
	step(1, x)
	copy(x3, z)
	step(3, x3)
	copy(x6, z)
	step(6, x6)
	copy(x12, z)
	step(12, x12)
	step(6, x6)
	step(1, x)
	sqrLanes(z, 1)
	mulLanes(x32, z, x)
	// (p+1)/4: 31 ones, a zero, 128 ones, 31 zeros, a one, 62 zeros.
	for range 4 {
		step(32, x32)
	}
	step(32, x)
	sqrLanes(z, 62)

	var squares, roots [laneRoots]Element
	mulLanes(x3, z, z)
	s.store(squares[:len(xs)], s.bufs[1])
	s.store(roots[:len(xs)], s.bufs[0])
	for i := range xs {
		ok[i] = squares[i] == xs[i]
		if ok[i] {
			xs[i] = roots[i]
		} else {
			xs[i] = Element{}
		}
	}
}

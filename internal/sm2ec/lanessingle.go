// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"runtime"
	"sync"
)

const (
	laneWidth   = 5   // of digits of multipliers of keys
	singleChunk = 256 // items that share inversions
	singleMin   = 6   // from which on lanes are faster
)

// combineLanes is [combine] in lanes. Each lane doubles its own sum, and adds odd multiples of its
// key and, in the end, the multiple of G, by formulas that leave Z = 0 for ever when
// they don't hold. So one look at Z in the end finds all lanes that are to be done anew.
func combineLanes(dst []Jacobian, items []*Item) {
	s := laneWorkers.Get().(*laneWorker)
	defer laneWorkers.Put(s)
	for len(items) >= singleMin {
		n := min(singleChunk, len(items))
		s.combine(dst[:n], items[:n])
		dst, items = dst[n:], items[n:]
	}
	combine(dst, items)
}

// A laneWorker is the memory for whatever a batch without tables wants: one thing after the other, so
// that they share it.
type laneWorker struct{ laneRecoverer }

var laneWorkers = sync.Pool{New: func() any { return new(laneWorker) }}

// A laneSingle is the memory for items one by one, eight at a time.
type laneSingle struct {
	laneSummer // of the parts of G
	norm       laneNormalizer
	keys       []Affine
	entries    []packedPoint // odd multiples, for two blocks after two blocks
	ofKeys     []pointRef    // for two blocks after two blocks, digit after digit
	acc        []laneJacobian
	minus      []pointRef // 1 where the sum is made of -t and -s
	bad        []bool
	rows       []lanePoint
	powers     []laneJacobian
	points     []lanePoint
}

func (s *laneSingle) combine(dst []Jacobian, items []*Item) {
	n := blocksFor(len(items))
	lanes := n * laneCount
	s.bad = grow(s.bad, lanes)
	clear(s.bad)
	item := func(j int) *Item { return items[min(j, len(items)-1)] }

	// Where t is even, -t and -s are taken, so that the highest digit of a key is 1 always.
	g := GeneratorTable(len(items))
	s.minus = grow(s.minus, lanes)
	row := n * laneCount
	s.fill(n, g.m, 0, func(j int, refs []pointRef) {
		t, _ := item(j).T()
		s.minus[j] = pointRef(t[0]&1 ^ 1)
		k := item(j).S
		if k.IsZero() {
			s.bad[j] = true
			k = Scalar{1}
		}
		g.refs(refs, row, &k)
		for i := range g.m {
			refs[i*row] ^= s.minus[j]
		}
	})
	s.oddMultiples(n, func(j int) *Affine { return &item(j).P })
	s.tree(n, g.m, func(j int) { s.bad[j] = true })
	runtime.KeepAlive(g)

	const m = longDigits - 1
	s.ofKeys = grow(s.ofKeys, m*lanes)
	var refs [longDigits]pointRef
	for j := range lanes {
		t, _ := item(j).T()
		t.oddPlaces(refs[:], laneWidth)
		pair, at := j/(2*laneCount), j%(2*laneCount)
		for i, r := range refs[:m] {
			entry := &s.entries[(pair<<(laneWidth-1)+int(r>>1))*2*laneCount+at]
			s.ofKeys[(pair*m+i)*2*laneCount+at] = refTo(entry, 0) | r&1
		}
	}
	// The highest digit, doubled as often as it has to be but once.
	s.acc = growAligned(s.acc, n)
	copy(s.acc, s.powers[(laneWidth-2)*n:])
	s.points, s.scratch = growAligned(s.points, 2), growAligned(s.scratch, 1)
	q := (*[2]lanePoint)(s.points)
	for pair := range n / 2 {
		acc := (*[2]laneJacobian)(s.acc[2*pair:])
		of := s.ofKeys[pair*m*2*laneCount:]
		for i := m - 1; i >= 0; i-- {
			gather(q[:], of[i*2*laneCount:])
			times := laneWidth
			if i == m-1 {
				times = 1
			}
			laneDouble(acc, &s.scratch[0], times)
			laneAddMixed(acc, q, &s.scratch[0])
		}
		laneAddMixed(acc, (*[2]lanePoint)(s.sums[2*pair:]), &s.scratch[0])
	}
	s.finish(dst, items)
}

// finish brings the sums out of lanes, and does those anew that aren't right.
func (s *laneSingle) finish(dst []Jacobian, items []*Item) {
	for i := range s.acc {
		z := &s.acc[i].Z
		for j := range laneCount {
			if isZero(z, j) {
				s.bad[i*laneCount+j] = true
				one := oneBlock.lane(0)
				z.setLane(j, &one)
			}
		}
	}
	s.points = growAligned(s.points, len(s.acc))
	s.norm.normalize(s.points, s.acc)
	coords := blocksIn(s.points)
	mulLanes(coords, coords, []block{outOfLanes})
	for j, it := range items {
		if s.bad[j] {
			combine(dst[j:j+1], []*Item{it})
			continue
		}
		at := &s.points[j/laneCount]
		dst[j].X.fromLane(&at.X, j%laneCount)
		dst[j].Y.fromLane(&at.Y, j%laneCount)
		if s.minus[j] == 1 {
			dst[j].Y.Neg(&dst[j].Y)
		}
		dst[j].Z = feOne
	}
}

// isZero reports whether lane j is 0 modulo p, of a product or twice a product: 0, p or 2p.
func isZero(b *block, j int) bool {
	l := b.lane(j)
	for i := range 4 {
		l[i] &= laneMask
	}
	switch l[0] {
	case 0:
		return l == lane{}
	case laneP[0]:
		return l == laneP
	case laneP2[0]:
		return l == laneP2
	}
	return false
}

// oddMultiples sets s.entries to the odd multiples of keys up to 2^laneWidth - 1.
func (s *laneSingle) oddMultiples(n int, key func(j int) *Affine) {
	if n == 0 {
		return
	}
	const half = 1 << (laneWidth - 1)
	lanes := n * laneCount
	s.keys, s.entries = grow(s.keys, lanes), growAligned(s.entries, half*lanes)
	for j := range s.keys {
		s.keys[j] = *key(j)
	}
	s.packer.pack(s.entries, s.keys)
	s.rows = growAligned(s.rows, half*n)
	s.ofKeys = grow(s.ofKeys, lanes)
	for j := range lanes {
		s.ofKeys[j] = refTo(&s.entries[j], 0)
	}
	gather(s.rows[:n], s.ofKeys)

	// 2P, 4P, ..., one after the other.
	s.powers, s.scratch = growAligned(s.powers, (laneWidth-1)*n), growAligned(s.scratch, 1)
	for k := range laneWidth - 1 {
		p := s.powers[k*n : (k+1)*n]
		if k == 0 {
			for i := range p {
				p[i] = laneJacobian{s.rows[i].X, s.rows[i].Y, oneBlock}
			}
		} else {
			copy(p, s.powers[(k-1)*n:])
		}
		for i := 0; i < n; i += 2 {
			laneDouble((*[2]laneJacobian)(p[i:]), &s.scratch[0], 1)
		}
	}
	s.points = growAligned(s.points, len(s.powers))
	s.norm.normalize(s.points, s.powers)

	// Multiples from 2ᵏ + 1 to 2ᵏ⁺¹ - 1 are those before plus 2ᵏ. Meanwhile the entries for
	// the parts of G are fetched, which s.refs has.
	later := s.refs
	for k := 1; k < laneWidth; k++ {
		blocks := n << (k - 1)
		a, b := s.rows[blocks:2*blocks], s.rows[:blocks]
		for c := 0; c < blocks; c += n {
			copy(a[c:c+n], s.points[(k-1)*n:k*n])
		}
		next := noPoints
		for x := range next {
			if lines := blocks * laneCount; lines <= len(later) {
				next[x], later = later[:lines], later[lines:]
			}
		}
		if s.add(a, b, next) {
			for i, z := range s.zero {
				for j := range laneCount {
					if z>>j&1 == 1 {
						s.bad[i%n*laneCount+j] = true // by chance
					}
				}
			}
		}
	}
	for i := 0; i < n; i += 2 {
		for c := range half {
			scatter(s.entries[(i*half+2*c)*laneCount:], s.rows[c*n+i:][:2])
		}
	}
}

// oddTable returns the odd multiples of key j.
func (s *laneSingle) oddTable(j int) oddTable {
	const pair = 2 * laneCount
	return oddTable{&s.entries[j/pair<<(laneWidth-1)*pair+j%pair], pair}
}

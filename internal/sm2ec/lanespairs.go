// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

// A pairAdder adds packed points two by two, from wherever they are. The sums are
// right whatever the points are. Infinity, as a sum, is (0, 0).
type pairAdder struct {
	laneAdder
	inf   bool // infinity is among the sums
	from  [2][]pointRef
	sides [2][]lanePoint
	sums  []packedPoint
}

// pairChunk is the number of pairs that share an inversion, and stay in the second-level cache.
const pairChunk = 2048

// start forgets the pairs.
func (s *pairAdder) start() {
	for k := range s.from {
		s.from[k] = s.from[k][:0]
	}
}

// add adds a pair, which has to live until sum is called.
func (s *pairAdder) add(a, b pointRef) {
	s.from[0], s.from[1] = append(s.from[0], a), append(s.from[1], b)
}

// count returns the number of pairs.
func (s *pairAdder) count() int { return len(s.from[0]) }

// sum returns the sums of all pairs, valid until the next call.
func (s *pairAdder) sum() []packedPoint {
	n := s.count()
	s.sums = growAligned(s.sums, blocksFor(n)*laneCount)
	s.sumTo(s.sums)
	return s.sums[:n]
}

// sumTo sets dst to the sums of all pairs, and returns how much of it that took, up to
// two blocks more than there are pairs.
func (s *pairAdder) sumTo(dst []packedPoint) int {
	s.inf = false
	if s.count() == 0 {
		return 0
	}
	for s.count()%(2*laneCount) != 0 {
		s.add(s.from[0][0], s.from[1][0])
	}
	all := s.count()
	for lo := 0; lo < all; lo += pairChunk {
		hi := min(all, lo+pairChunk)
		blocks := (hi - lo) / laneCount
		for k := range s.sides {
			s.sides[k] = growAligned(s.sides[k], blocks)
			gather(s.sides[k], s.from[k][lo:hi])
		}
		next := noPoints
		if all-hi >= hi-lo {
			next = [2][]pointRef{s.from[0][hi:], s.from[1][hi:]}
		}
		zeros := s.laneAdder.add(s.sides[0], s.sides[1], next)
		scatter(dst[lo:hi], s.sides[0])
		if zeros {
			s.exact(dst, lo)
		}
	}
	return all
}

// exact sets the sums of a chunk that affine formulas may not hold for.
func (s *pairAdder) exact(dst []packedPoint, lo int) {
	for i, z := range s.zero {
		for j := range laneCount {
			if z>>j&1 == 0 {
				continue
			}
			at := lo + i*laneCount + j
			var sum Jacobian
			for k := range s.from {
				e, negated := s.from[k][at].point()
				p := e.affine()
				if negated {
					p.Neg(&p)
				}
				sum.AddAffine(&sum, &p)
			}
			a, finite := sum.Affine()
			dst[at] = a.packed()
			s.inf = s.inf || !finite
		}
	}
}

// isInfinity reports whether p is infinity, as a pairAdder writes it.
func (p *packedPoint) isInfinity() bool { return *p == packedPoint{} }

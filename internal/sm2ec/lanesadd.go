// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import "unsafe"

// A laneAdder is the memory for batched affine additions in lanes.
type laneAdder struct {
	quotients []laneQuotient
	zero      []uint8 // lanes in which the points added last may have had the same x
	scratch   []laneScratch
	inverses  []block
}

// add adds b[i] to a[i], an even number of blocks, with one inversion for all. It
// reports whether any of them may have had the same x: those are in s.zero, and their
// sums are no points. Meanwhile it fetches points into the cache, eight for each block of
// either of next, unless that is nil.
func (s *laneAdder) add(a, b []lanePoint, next [2][]pointRef) (zeros bool) {
	n := len(a)
	s.quotients, s.zero = growAligned(s.quotients, n+chains), grow(s.zero, n)
	s.scratch, s.inverses = growAligned(s.scratch, 1), growAligned(s.inverses, 3*chains)
	q := s.quotients
	for i := range chains {
		q[i].product = oneBlock
	}
	zeros = laneDifferences(q, a, b, s.zero, next[0])
	inv, ends := s.inverses[:chains], s.inverses[chains:]
	for i := range chains {
		ends[(n+i)%chains] = q[n+i].product
	}
	invertChains(inv, ends, s.inverses[2*chains:])
	laneAdditions((*[chains]block)(inv), q, a, b, &s.scratch[0], next[1])
	return zeros
}

var noPoints [2][]pointRef

// invertLanes inverts the numbers of a block, none of which is zero.
func invertLanes(z []block) {
	mulLanes(z, z, []block{outOfLanes})
	var xs, products [laneCount]Element
	acc := feOne
	for j := range xs {
		xs[j].fromLane(&z[0], j)
		products[j] = acc
		acc.Mul(&acc, &xs[j])
	}
	acc.Inv(&acc)
	for j := laneCount - 1; j >= 0; j-- {
		var inv Element
		inv.Mul(&acc, &products[j])
		acc.Mul(&acc, &xs[j])
		l := limbs52((*[4]uint64)(&inv))
		z[0].setLane(j, &l)
	}
	mulLanes(z, z, []block{toLanes})
}

// blocksIn returns the coordinates of points.
func blocksIn(ps []lanePoint) []block {
	return unsafe.Slice((*block)(unsafe.Pointer(unsafe.SliceData(ps))), 2*len(ps))
}

// A lanePacker brings points from and to lanes, a few at a time.
type lanePacker struct {
	points []lanePoint
	packed []packedPoint
	refs   []pointRef
}

const packChunk = 256

// pack sets dst to ps.
func (k *lanePacker) pack(dst []packedPoint, ps []Affine) {
	k.points, k.packed = growAligned(k.points, packChunk/laneCount), growAligned(k.packed, packChunk)
	if k.refs == nil {
		for i := range k.packed {
			k.refs = append(k.refs, refTo(&k.packed[i], 0))
		}
	}
	for len(ps) > 0 {
		n := min(packChunk, len(ps))
		for i := range ps[:n] {
			k.packed[i] = packedPoint(unsafe.Slice(&ps[i].X[0], 8))
		}
		blocks := (n + laneCount - 1) / laneCount
		pts := k.points[:blocks]
		gather(pts, k.refs)
		mulLanes(blocksIn(pts), blocksIn(pts), []block{toLanes})
		scatter(k.packed, pts)
		copy(dst, k.packed[:n])
		dst, ps = dst[n:], ps[n:]
	}
}

// affine returns a packed point.
func (p *packedPoint) affine() (a Affine) {
	a.X.canonical((*[4]uint64)(p[:4]))
	a.Y.canonical((*[4]uint64)(p[4:]))
	a.X.Mul(&a.X, &unpackFactor)
	a.Y.Mul(&a.Y, &unpackFactor)
	return a
}

// packed returns p in packed form, and (0, 0) for (0, 0).
func (p Affine) packed() (q packedPoint) {
	p.X.Mul(&p.X, &packFactor)
	p.Y.Mul(&p.Y, &packFactor)
	*(*Affine)(unsafe.Pointer(&q)) = p
	return q
}

// packFactor is 2²⁶⁰ and unpackFactor 2²⁵², since x·2²⁶⁰·2²⁵²/2²⁵⁶ = x·2²⁵⁶.
var packFactor, unpackFactor = func() (up, down Element) {
	up, down = *powerOfTwo(260), feOne
	for range 4 {
		down.halve(&down)
	}
	return up, down
}()

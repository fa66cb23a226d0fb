// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import "unsafe"

// A laneNormalizer is the memory for inversions in lanes.
type laneNormalizer struct{ zs, products, acc, squares []block }

// normalize sets dst to the coordinates of points in lanes, none of which is infinity, with
// one inversion.
func (s *laneNormalizer) normalize(dst []lanePoint, ps []laneJacobian) {
	n := (len(ps) + chains - 1) / chains * chains
	s.zs, s.products, s.acc = growAligned(s.zs, n), growAligned(s.products, n+chains), growAligned(s.acc, 2*chains)
	for i := range s.zs {
		if i < len(ps) {
			s.zs[i] = ps[i].Z
		} else {
			s.zs[i] = oneBlock
		}
	}
	s.invert(s.zs)
	s.squares = growAligned(s.squares, len(ps))
	m := len(ps)
	z, z2 := column{s.zs, 1}, column{s.squares, 1}
	to, from := blocksIn(dst), unsafe.Slice((*block)(unsafe.Pointer(unsafe.SliceData(ps))), 3*m)
	mulColumns(m, z2, z, z)
	mulColumns(m, z, z, z2)
	mulColumns(m, column{to, 2}, column{from, 3}, z2)
	mulColumns(m, column{to[1:], 2}, column{from[1:], 3}, z)
}

// invert inverts blocks, in all of which no number is zero. Their number is a multiple of
// chains.
func (s *laneNormalizer) invert(zs []block) {
	n := len(zs)
	pre := s.products
	for i := range chains {
		pre[i] = oneBlock
	}
	for i := 0; i < n; i += chains {
		mulLanes(pre[i+chains:][:chains], pre[i:][:chains], zs[i:][:chains])
	}
	acc := s.acc[:chains]
	invertChains(acc, pre[n:][:chains], s.acc[chains:])
	for i := n - chains; i >= 0; i -= chains {
		mulLanes(pre[i:][:chains], pre[i:][:chains], acc)
		mulLanes(acc, acc, zs[i:][:chains])
		copy(zs[i:], pre[i:][:chains])
	}
}

// invertChains sets inv to the inverses of the products of the four chains, with one
// inversion. It wants four more blocks.
func invertChains(inv, c, tmp []block) {
	mulLanes(tmp[:2], []block{c[0], c[2]}, []block{c[1], c[3]})
	mulLanes(tmp[2:3], tmp[:1], tmp[1:2])
	invertLanes(tmp[2:3])
	mulLanes(tmp[3:4], tmp[2:3], tmp[:1])  // 1/(c2·c3)
	mulLanes(tmp[2:3], tmp[2:3], tmp[1:2]) // 1/(c0·c1)
	mulLanes(inv[:2], []block{c[1], c[0]}, tmp[2:3])
	mulLanes(inv[2:4], []block{c[3], c[2]}, tmp[3:4])
}

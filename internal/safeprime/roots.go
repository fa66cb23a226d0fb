// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"math/big"
	"math/bits"
)

const (
	rootsLen = 48 // primes at a time

	// rootsBound limits the primes: r < 3p/2 keeps 2^24 r + digit below 2^51.
	rootsBound = 1 << 26
	digitBits  = 24
)

// A rootGroup finds what some primes strike out of a window.
type rootGroup struct {
	p    [rootsLen]uint64     // in: primes from 5 up to rootsBound
	root [2 * rootsLen]uint64 // out: the least k and l of each, as strike explains
}

// findGeneric sets root for a window that starts at the number with the given
// digits. It returns a mask of the primes of which k or l is below width.
func (g *rootGroup) findGeneric(digits []uint64, width int) (mask uint64) {
	for i, p := range g.p {
		var r uint64
		for _, d := range digits {
			r = (r<<digitBits + d) % p
		}
		k, l := firstMultiples(uint32(p), uint32(r))
		g.root[i], g.root[rootsLen+i] = uint64(k), uint64(l)
		if min(k, l) < uint32(width) {
			mask |= 1 << i
		}
	}
	return mask
}

// digits24 returns x >= 0 in digits of 24 bits, the most significant first.
func digits24(x *big.Int) []uint64 {
	z := make([]uint64, max(1, (x.BitLen()+digitBits-1)/digitBits))
	buf := x.FillBytes(make([]byte, digitBits/8*len(z)))
	for i := range z {
		z[i] = uint64(buf[3*i])<<16 | uint64(buf[3*i+1])<<8 | uint64(buf[3*i+2])
	}
	return z
}

// strikeGroups strikes for the primes of the table whose gaps come after p, in
// groups of rootsLen and up to rootsBound. It returns the last of these primes and
// the gaps that remain.
func (w *window) strikeGroups(p uint32, gaps []byte, digits []uint64) (uint32, []byte) {
	var g rootGroup
	for len(gaps) >= rootsLen {
		q := p
		for i, d := range gaps[:rootsLen] {
			q += 2 * uint32(d)
			g.p[i] = uint64(q)
		}
		if q > rootsBound {
			break
		}
		p, gaps = q, gaps[rootsLen:]
		for mask := g.find(digits, w.width); mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros64(mask)
			w.mark(uint32(g.p[i]), uint32(g.root[i]), uint32(g.root[rootsLen+i]))
		}
	}
	return p, gaps
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"context"
	"math/big"
	"math/bits"
	"slices"
)

const (
	rootsLen = 48 // primes at a time

	// rootsBound limits the primes.
	rootsBound = 1 << 26
)

// digitBits returns the size of digits by which to reduce numbers modulo primes up
// to p: r < 3p/2 keeps 2^bits r + digit below 2^51.
func digitBits(p uint32) int { return 50 - bits.Len32(p-1) }

// A number is cut into digits, the most significant first.
type number struct {
	digits []uint64
	bits   int // of a digit
}

// cut cuts x >= 0.
func cut(x *big.Int, bits int) number {
	x = new(big.Int).Set(x)
	low, d := new(big.Int), new(big.Int).Lsh(one, uint(bits))
	var z []uint64
	for len(z) == 0 || x.Sign() != 0 {
		x.QuoRem(x, d, low)
		z = append(z, low.Uint64())
	}
	slices.Reverse(z)
	return number{z, bits}
}

// A rootGroup finds what some primes strike out of a window.
type rootGroup struct {
	p    [rootsLen]uint64     // in: primes from 5 up to rootsBound
	root [2 * rootsLen]uint64 // out: the least k and l of each, as strike explains
}

// findGeneric sets root for a window that starts at a number. It returns a mask of
// the primes of which k or l is below width.
func (g *rootGroup) findGeneric(start number, width int) (mask uint64) {
	for i, p := range g.p {
		var r uint64
		for _, d := range start.digits {
			r = (r<<start.bits + d) % p
		}
		k, l := firstMultiples(uint32(p), uint32(r))
		g.root[i], g.root[rootsLen+i] = uint64(k), uint64(l)
		if min(k, l) < uint32(width) {
			mask |= 1 << i
		}
	}
	return mask
}

// Primes come in ranges up to these, each with digits as long as they may be.
var rootRanges = []uint32{1 << 20, 1 << 22, 1 << 24, rootsBound}

// strikeGroups strikes for the primes of the table whose gaps come after p, in
// groups of rootsLen and up to bound. start is that of the window. It returns the
// last of these primes and the gaps that remain.
func (w *window) strikeGroups(p uint32, gaps []byte, start number, bound uint32) (uint32, []byte) {
	var g rootGroup
	for len(gaps) >= rootsLen {
		q := p
		for i, d := range gaps[:rootsLen] {
			q += 2 * uint32(d)
			g.p[i] = uint64(q)
		}
		if q > bound {
			break
		}
		p, gaps = q, gaps[rootsLen:]
		for mask := g.find(start, w.width); mask != 0; mask &= mask - 1 {
			i := bits.TrailingZeros64(mask)
			w.mark(uint32(g.p[i]), uint32(g.root[i]), uint32(g.root[rootsLen+i]))
		}
	}
	return p, gaps
}

// strikeRanges does that for all primes up to rootsBound, but for some at the end.
func (w *window) strikeRanges(ctx context.Context) (p uint32, gaps []byte, err error) {
	p, gaps = 3, w.table.gaps
	for _, bound := range rootRanges {
		start := cut(w.start, digitBits(bound))
		for {
			if err := ctx.Err(); err != nil {
				return 0, nil, err
			}
			head := min(rootsLen<<11, len(gaps)) // between two looks at ctx
			var rest []byte
			p, rest = w.strikeGroups(p, gaps[:head], start, bound)
			done := head - len(rest)
			gaps = gaps[done:]
			if done < rootsLen<<11 {
				break
			}
		}
	}
	return p, gaps, nil
}

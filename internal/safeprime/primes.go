// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"context"
	"encoding/binary"
	"math/bits"
	"sync"
	"weak"
)

// A primeTable holds the primes from 5 up to a bound, one byte each: half the
// distance to the prime before. No two primes below 2^32 are more than 336
// apart.
type primeTable struct {
	gaps []byte // the first is counted from 3
}

// The last table, until it is collected as garbage: a search that soon follows
// another needs the same.
var lastTable struct {
	sync.Mutex
	bound uint32
	table weak.Pointer[primeTable]
}

// sharedTable returns the table for a bound.
func sharedTable(ctx context.Context, bound uint32) (*primeTable, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	lastTable.Lock()
	t := lastTable.table.Value()
	if lastTable.bound != bound {
		t = nil
	}
	lastTable.Unlock()
	if t != nil {
		return t, nil
	}
	t, err := newPrimeTable(ctx, bound)
	if err != nil {
		return nil, err
	}
	lastTable.Lock()
	defer lastTable.Unlock()
	lastTable.bound, lastTable.table = bound, weak.Make(t)
	return t, nil
}

// Segments of the sieve of Eratosthenes: one byte for each odd number, sized
// for the first-level cache.
const (
	segmentLen   = 1 << 15
	wheelProduct = 3 * 5 * 7 * 11 * 13
)

// newPrimeTable sieves segment by segment.
func newPrimeTable(ctx context.Context, bound uint32) (*primeTable, error) {
	t := &primeTable{gaps: make([]byte, 0, primeCountBound(bound))}
	last := uint64(3)
	add := func(p uint64) {
		if p > last && p <= uint64(bound) {
			t.gaps = append(t.gaps, byte((p-last)/2))
			last = p
		}
	}
	for _, p := range []uint64{5, 7, 11, 13} {
		add(p)
	}

	// Multiples of the primes up to 13 come from a pattern, those of the
	// others are struck out one by one.
	wheel := make([]byte, wheelProduct+segmentLen)
	for _, p := range []int{3, 5, 7, 11, 13} {
		for i := p / 2; i < len(wheel); i += p { // index i is the number 2i+1
			wheel[i] = 1
		}
	}
	var base, next []uint32 // primes above 13, and the index of their next multiple
	for _, p := range smallPrimes(sqrtBound(bound)) {
		if p > 13 {
			base = append(base, p)
			next = append(next, p*p/2)
		}
	}

	segment := make([]byte, segmentLen)
	for start := uint64(0); 2*start < uint64(bound); start += segmentLen {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		copy(segment, wheel[start%wheelProduct:])
		end := start + segmentLen
		for j, p := range base {
			i := next[j]
			if uint64(p)*uint64(p)/2 >= end {
				break
			}
			for i -= uint32(start); i < segmentLen; i += p {
				segment[i] = 1
			}
			next[j] = i + uint32(start)
		}
		for i := 0; i < segmentLen; i += 8 {
			w := ^binary.LittleEndian.Uint64(segment[i:]) & 0x0101010101010101
			for ; w != 0; w &= w - 1 {
				add(2*(start+uint64(i+bits.TrailingZeros64(w)/8)) + 1)
			}
		}
	}
	return t, nil
}

// primeCountBound returns at least the number of primes up to bound:
// pi(x) < 1.26 x/ln x (Rosser and Schoenfeld 1962, corollary 1), and ln x is
// more than 0.69 times the bit length less one.
func primeCountBound(bound uint32) int {
	n := bits.Len32(bound) - 1
	if n < 4 {
		return 8
	}
	return int(float64(bound) * 1.26 / (0.693 * float64(n)))
}

// sqrtBound returns the least power of two whose square is at least bound.
func sqrtBound(bound uint32) uint32 {
	return 1 << ((bits.Len32(bound) + 1) / 2)
}

// smallPrimes returns the odd primes below bound by a plain sieve.
func smallPrimes(bound uint32) []uint32 {
	composite := make([]bool, bound)
	var primes []uint32
	for p := uint32(3); p < bound; p += 2 {
		if composite[p] {
			continue
		}
		primes = append(primes, p)
		for i := uint64(p) * uint64(p); i < uint64(bound); i += 2 * uint64(p) {
			composite[i] = true
		}
	}
	return primes
}

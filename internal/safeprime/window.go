// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"math/big"
	"math/bits"
)

// A window is a run of candidates q' = 6(start+k)+5, 0 <= k < width, of which
// those have been struck out where q' or 2q'+1 is divisible by a sieving
// prime.
type window struct {
	params
	table     *primeTable
	start     *big.Int
	struck    []uint64 // bit k
	survivors []uint32 // values of k not yet tested
}

func newWindow(pr params, table *primeTable) *window {
	return &window{params: pr, table: table, struck: make([]uint64, pr.width/64)}
}

// draw moves the window to a uniformly random place within the span and sieves
// it.
func (w *window) draw(ctx context.Context) error {
	places := new(big.Int).Sub(w.span, big.NewInt(int64(w.width)-1))
	x, err := rand.Int(rand.Reader, places)
	if err != nil {
		return err
	}
	return w.sieve(ctx, x.Add(x, w.min))
}

// next sets q to the next candidate, of all those that remain each with the
// same probability.
func (w *window) next(q *big.Int) bool {
	n := len(w.survivors)
	if n == 0 {
		return false
	}
	i := randomIndex(n)
	k := w.survivors[i]
	w.survivors[i] = w.survivors[n-1]
	w.survivors = w.survivors[:n-1]
	w.candidate(q, k)
	return true
}

// candidate sets q = 6(start+k)+5.
func (w *window) candidate(q *big.Int, k uint32) {
	var t big.Int
	t.SetUint64(uint64(k))
	q.Add(w.start, &t)
	q.Mul(q, t.SetUint64(6))
	q.Add(q, t.SetUint64(5))
}

// randomIndex returns a random number below n < 2^32; the deviation from
// uniform is below 2^-32.
func randomIndex(n int) int {
	var b [8]byte
	rand.Read(b[:])
	hi, _ := bits.Mul64(binary.LittleEndian.Uint64(b[:]), uint64(n))
	return int(hi)
}

// sieve moves the window to start.
func (w *window) sieve(ctx context.Context, start *big.Int) error {
	w.start = start
	clear(w.struck)
	if err := w.strikeAll(ctx); err != nil {
		return err
	}
	w.survivors = w.survivors[:0]
	for i, s := range w.struck {
		for s = ^s; s != 0; s &= s - 1 {
			w.survivors = append(w.survivors, uint32(64*i+bits.TrailingZeros64(s)))
		}
	}
	return nil
}

func (w *window) strikeAll(ctx context.Context) error {
	x := limbs(w.start)
	gaps := w.table.gaps
	p := uint32(3)
	if haveRoots {
		var err error
		if p, gaps, err = w.strikeRanges(ctx); err != nil {
			return err
		}
	}
	var group primeGroup
	for i := 0; len(gaps) >= len(group.p); i++ {
		if i%(1<<14) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for j := range group.p {
			p += 2 * uint32(gaps[j])
			group.p[j] = p
		}
		gaps = gaps[len(group.p):]
		group.reduce(x)
		for j := range group.p {
			w.strike(group.p[j], group.r[j])
		}
	}
	for _, g := range gaps {
		p += 2 * uint32(g)
		w.strike(p, residue(x, p))
	}
	return nil
}

// strike marks all k for which p divides q' or 2q'+1, given start mod p. With
// all fractions mod p,
//
//	6(start+k)+5 = 0    where k = 2/12 - 1 - start,
//	12(start+k)+11 = 0  where k = 1/12 - 1 - start.
func (w *window) strike(p, start uint32) {
	k, l := firstMultiples(p, start)
	w.mark(p, k, l)
}

// firstMultiples returns the least k of each kind.
func firstMultiples(p, start uint32) (k, l uint32) {
	// p is coprime to 12, so p^2 = 1 mod 12, and 12 divides 1 + (12 - p mod 12)p.
	twelfth := uint32((uint64(12-p%12)*uint64(p) + 1) / 12)
	l = reduceOnce(twelfth+(p-1-start), p)
	return reduceOnce(l+twelfth, p), l
}

// mark strikes out every p-th candidate from k on, and from l on.
func (w *window) mark(p, k, l uint32) {
	width := uint32(w.width)
	if min(k, l) >= width { // nearly always when p is large
		return
	}
	struck := w.struck
	for ; k < width; k += p {
		struck[k/64] |= 1 << (k % 64)
	}
	for ; l < width; l += p {
		struck[l/64] |= 1 << (l % 64)
	}
}

// reduceOnce returns k mod p for k < 2p < 2^31, without a branch: it would be
// mispredicted half the time.
func reduceOnce(k, p uint32) uint32 {
	d := int32(k - p)
	return uint32(d) + p&uint32(d>>31)
}

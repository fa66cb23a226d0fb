// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"math/big"
	"math/bits"
)

// limbs returns x as 64-bit words, the most significant first, at least one.
func limbs(x *big.Int) []uint64 {
	buf := x.FillBytes(make([]byte, max(1, (x.BitLen()+63)/64)*8))
	z := make([]uint64, len(buf)/8)
	for i := range z {
		for _, b := range buf[8*i : 8*i+8] {
			z[i] = z[i]<<8 | uint64(b)
		}
	}
	return z
}

// residue returns x mod p.
func residue(x []uint64, p uint32) uint32 {
	var r uint64
	for _, u := range x {
		r = bits.Rem64(r, u, uint64(p))
	}
	return uint32(r)
}

// A primeGroup reduces a long number modulo several primes at a time. This is
// most of the cost of a window, so the primes are multiplied in pairs, and
// several independent chains of operations hide each other's latency.
type primeGroup struct {
	p [4]uint32 // in: primes below 2^30
	r [4]uint32 // out: residues
}

// reduce sets r[i] = x mod p[i].
func (g *primeGroup) reduce(x []uint64) {
	// x mod a multiple d of two primes that has its top bit set, word by
	// word, dividing by multiplication with a reciprocal v =
	// floor((2^128-1)/d) - 2^64 (Möller and Granlund 2011, algorithm 4).
	d0 := uint64(g.p[0]) * uint64(g.p[1])
	d1 := uint64(g.p[2]) * uint64(g.p[3])
	d0 <<= bits.LeadingZeros64(d0)
	d1 <<= bits.LeadingZeros64(d1)
	v0, _ := bits.Div64(^d0, ^uint64(0), d0)
	v1, _ := bits.Div64(^d1, ^uint64(0), d1)
	var t0, t1 uint64
	for _, u := range x {
		h0, l0 := bits.Mul64(v0, t0)
		h1, l1 := bits.Mul64(v1, t1)
		l0, c0 := bits.Add64(l0, u, 0)
		l1, c1 := bits.Add64(l1, u, 0)
		h0, _ = bits.Add64(h0, t0, c0)
		h1, _ = bits.Add64(h1, t1, c1)
		t0 = u - (h0+1)*d0
		t1 = u - (h1+1)*d1
		if t0 > l0 {
			t0 += d0
		}
		if t1 > l1 {
			t1 += d1
		}
		if t0 >= d0 { // hardly ever
			t0 -= d0
		}
		if t1 >= d1 {
			t1 -= d1
		}
	}
	// d has at least four trailing zeros: d/2 is a multiple of the primes, too.
	if d0 /= 2; t0 >= d0 {
		t0 -= d0
	}
	if d1 /= 2; t1 >= d1 {
		t1 -= d1
	}
	g.r[0] = mod(t0, g.p[0])
	g.r[1] = mod(t0, g.p[1])
	g.r[2] = mod(t1, g.p[2])
	g.r[3] = mod(t1, g.p[3])
}

// mod returns t mod p for t < 2^63. The quotient by floating point is off by
// one at most when p >= 2^12, and may be off by more below: the relative error
// is a few times 2^-53.
func mod(t uint64, p uint32) uint32 {
	if p < 1<<12 {
		return uint32(t % uint64(p))
	}
	q := int64(float64(int64(t)) / float64(p))
	r := int64(t) - q*int64(p)
	if r < 0 {
		r += int64(p)
	}
	if r >= int64(p) {
		r -= int64(p)
	}
	return uint32(r)
}

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
	p [8]uint32 // in: primes below 2^30
	r [8]uint32 // out: residues
}

// reduce sets r[i] = x mod p[i].
func (g *primeGroup) reduce(x []uint64) {
	d0, v0 := divisor(g.p[0], g.p[1])
	d1, v1 := divisor(g.p[2], g.p[3])
	d2, v2 := divisor(g.p[4], g.p[5])
	d3, v3 := divisor(g.p[6], g.p[7])
	var t0, t1, t2, t3 uint64
	for _, u := range x {
		t0 = horner(t0, u, d0, v0)
		t1 = horner(t1, u, d1, v1)
		t2 = horner(t2, u, d2, v2)
		t3 = horner(t3, u, d3, v3)
	}
	g.r[0], g.r[1] = split(t0, d0, g.p[0], g.p[1])
	g.r[2], g.r[3] = split(t1, d1, g.p[2], g.p[3])
	g.r[4], g.r[5] = split(t2, d2, g.p[4], g.p[5])
	g.r[6], g.r[7] = split(t3, d3, g.p[6], g.p[7])
}

// divisor returns a multiple d = 2^s p q that has its top bit set, s > 0, and
// its reciprocal v = floor((2^128-1)/d) - 2^64.
func divisor(p, q uint32) (d, v uint64) {
	d = uint64(p) * uint64(q)
	d <<= bits.LeadingZeros64(d)
	v, _ = bits.Div64(^d, ^uint64(0), d)
	return d, v
}

// horner returns 2^64 t + u mod d, where t < d, by two multiplications
// (Möller and Granlund 2011, algorithm 4).
func horner(t, u, d, v uint64) uint64 {
	h, l := bits.Mul64(v, t)
	l, c := bits.Add64(l, u, 0)
	h, _ = bits.Add64(h, t, c)
	t = u - (h+1)*d
	if t > l {
		t += d
	}
	for t >= d { // hardly ever; a loop is sure to be compiled to a branch
		t -= d
	}
	return t
}

// split returns t mod p and t mod q, given t < d of divisor.
func split(t, d uint64, p, q uint32) (uint32, uint32) {
	if d /= 2; t >= d {
		t -= d
	}
	return mod(t, p), mod(t, q)
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

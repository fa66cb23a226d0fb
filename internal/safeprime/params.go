// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"math"
	"math/big"

	"github.com/undersign/undersign/internal/modexp"
)

// params fixes the search for one size. Candidates are q' = 6x+5 and
// p = 2q'+1 = 12x+11: every safe prime above 7 has this form.
type params struct {
	bits  int      // of p
	bound uint32   // sieve by the primes from 5 up to this
	width int      // candidates in a window, a multiple of 64
	min   *big.Int // least x
	span  *big.Int // number of x
}

// Sizes with their sieving bound and window. A survivor costs one modular
// power, which grows with the cube of the size, while the cost of a sieving
// prime is linear in it; survivors become fewer as 1/(ln bound)^2. A window
// holds some safe primes on average, so that few windows have none, and
// fits the first-level cache or little more.
type tuning struct {
	bits  int // up to this size
	bound uint32
	width int
}

var singly = []tuning{
	{320, 1 << 17, 1 << 14},
	{640, 1 << 20, 1 << 16},
	{896, 1 << 22, 1 << 17},
	{1280, 1 << 23, 1 << 18},
	{1792, 1 << 25, 1 << 18},
	{2560, 1 << 26, 1 << 19},
	{MaxBits, 1 << 27, 1 << 20},
}

// Where eight candidates are tested at once, and the primes of the sieve in
// groups, both are about four times as fast; but the groups end at 2^26.
var inLanes = []tuning{
	{320, 1 << 17, 1 << 14},
	{640, 1 << 20, 1 << 16},
	{896, 1 << 21, 1 << 17},
	{1280, 1 << 23, 1 << 17},
	{1792, 1 << 24, 1 << 18},
	{2560, 1 << 25, 1 << 19},
	{MaxBits, rootsBound, 1 << 19},
}

// paramsFor returns the parameters of an even size from MinBits to MaxBits.
func paramsFor(bits int) params {
	pr := params{bits: bits}
	tunings := singly
	if haveRoots && modexp.HaveLanes(bits) {
		tunings = inLanes
	}
	for _, t := range tunings {
		if bits <= t.bits {
			pr.bound, pr.width = t.bound, t.width
			break
		}
	}
	// A candidate must not be one of the sieving primes.
	if bits <= 40 {
		pr.bound = min(pr.bound, 1<<(bits/2-1))
	}

	// q' runs from 3*2^(bits-3) to 2^(bits-1)-1.
	one, six := big.NewInt(1), big.NewInt(6)
	lo := new(big.Int).Lsh(big.NewInt(3), uint(bits-3))
	pr.min = lo.Div(lo, six) // 6*min+5 > lo, as lo = 0 mod 6
	hi := new(big.Int).Lsh(one, uint(bits-1))
	hi.Sub(hi, six).Div(hi, six) // 6*hi+5 <= 2^(bits-1)-1
	pr.span = new(big.Int).Sub(hi, pr.min)
	pr.span.Add(pr.span, one)

	// At toy sizes many windows must fit.
	if n := new(big.Int).Rsh(pr.span, 4); n.IsInt64() && n.Int64() < int64(pr.width) {
		pr.width = max(64, int(n.Int64())&^63)
	}
	return pr
}

// meanCandidates returns the expected number of survivors to be tested for
// one safe prime. By the conjecture of Bateman and Horn a candidate is one
// with probability (1/(ln q' ln p)) prod_r (1-w(r)/r)/(1-1/r)^2 over all
// primes r, w(r) being the number of roots of q'p mod r; being a survivor
// accounts for 1-w(r)/r where r <= bound, and by Mertens' third theorem
// prod_{r<=bound} (1-1/r) = e^-gamma / ln bound. The primes above
// bound change nothing that could be measured.
func (pr params) meanCandidates() float64 {
	const gamma = 0.57721566490153286
	lnp := float64(pr.bits)*math.Ln2 - 0.13 // p is about 7/8 * 2^bits
	lnB := math.Log(float64(pr.bound))
	return math.Max(1, math.Exp(-2*gamma)*lnp*(lnp-math.Ln2)/(lnB*lnB))
}

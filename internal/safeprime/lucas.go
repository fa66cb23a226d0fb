// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"math/big"

	"github.com/undersign/undersign/internal/modexp"
)

// lucas is the extra strong Lucas test (Grantham 2001, "Frobenius pseudoprimes",
// section 2) of an odd q > 3 with Baillie's choice of the parameter: the least P >= 3
// for which (P²-4 | q) = -1. With V_0 = 2, V_1 = P and V_(k+1) = P·V_k - V_(k-1), and
// q+1 = 2^r·s with an odd s, a prime q has
//
//	V_s = 2 or -2 and U_s = 0, or V_(2^i·s) = 0 for some i < r-1.
//
// (P²-4)·U_s = 2·V_(s+1) - P·V_s.
func lucas(q *big.Int) bool {
	p, ok := lucasParameter(q)
	if !ok {
		return false
	}
	m, err := modexp.NewModulus(q)
	if err != nil {
		return false
	}
	pm, err := m.SetBig(big.NewInt(p))
	if err != nil {
		return false
	}
	zero, two, neg := m.NewElement(), m.NewElement(), m.NewElement()
	m.Add(two, m.One(), m.One())
	m.Sub(neg, zero, two)

	s := new(big.Int).Add(q, one)
	r := int(s.TrailingZeroBits())
	s.Rsh(s, uint(r))
	// V_k and V_(k+1): V_2k = V_k² - 2, V_(2k+1) = V_k·V_(k+1) - P.
	v, w := m.NewElement(), m.NewElement()
	v.Set(two)
	w.Set(pm)
	for i := s.BitLen() - 1; i >= 0; i-- {
		if s.Bit(i) == 1 {
			v, w = w, v
		}
		m.Mul(w, w, v)
		m.Sub(w, w, pm)
		m.Sqr(v, v)
		m.Sub(v, v, two)
		if s.Bit(i) == 1 {
			v, w = w, v
		}
	}
	if m.Equal(v, two) || m.Equal(v, neg) {
		x, y := m.NewElement(), m.NewElement()
		m.Add(x, w, w)
		m.Mul(y, pm, v)
		if m.Equal(x, y) {
			return true
		}
	}
	for range r - 1 {
		if m.Equal(v, zero) {
			return true
		}
		m.Sqr(v, v)
		m.Sub(v, v, two)
	}
	return false
}

// lucasParameter returns P, or false if q is found to be composite.
func lucasParameter(q *big.Int) (int64, bool) {
	for p := int64(3); ; p++ {
		d := big.NewInt(p*p - 4)
		switch big.Jacobi(d, q) {
		case -1:
			return p, true
		case 0:
			// A divisor of (P-2)(P+2) in common, which is q itself at most once.
			if new(big.Int).Mod(d, q).Sign() != 0 {
				return 0, false
			}
		}
		// The symbol is never -1 if q is a square; else it has been by now, as a rule.
		if p == 30 {
			if r := new(big.Int).Sqrt(q); r.Mul(r, r).Cmp(q) == 0 {
				return 0, false
			}
		}
	}
}

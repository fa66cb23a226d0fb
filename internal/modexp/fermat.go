// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import "math/big"

var one, two = big.NewInt(1), big.NewInt(2)

// FermatBase2 reports whether 2^(n-1) = 1 mod n: whether n is a probable prime
// to base 2. n must be odd, greater than 3 and of at most [MaxBits] bits; other n
// give false. Its time shows n.
func FermatBase2(n *big.Int) bool {
	if n.BitLen() < 3 {
		return false
	}
	v := PowTwoMod(new(big.Int).Sub(n, one), n)
	return v != nil && v.Cmp(one) == 0
}

// PowTwoMod returns 2^e mod n for e >= 0 and an odd n > 1 of at most [MaxBits]
// bits, and nil for others. Its time shows e and n.
func PowTwoMod(e, n *big.Int) *big.Int {
	m, err := newModulus(n)
	if err != nil || e.Sign() < 0 {
		return nil
	}
	if !fast() {
		return new(big.Int).Exp(two, e, n)
	}
	// A squaring a bit, and a doubling where the bit is set.
	z := make([]uint64, len(m.n))
	t := make([]uint64, 2*len(z))
	copy(z, m.one)
	for i := e.BitLen() - 1; i >= 0; i-- {
		m.sqr(z, z, t)
		if e.Bit(i) == 1 {
			doubleLimbs(z, m.n)
		}
	}
	return m.BigVarTime(&Element{z})
}

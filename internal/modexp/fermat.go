// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import "math/big"

// FermatBase2 reports whether 2^(n-1) = 1 mod n: whether n is a probable prime
// to base 2. n must be odd and greater than 3; other n give false. Its time
// shows n.
func FermatBase2(n *big.Int) bool {
	if n.Cmp(big.NewInt(3)) <= 0 {
		return false
	}
	m, err := newModulus(n)
	if err != nil {
		return false
	}
	z := make([]uint64, len(m.n))
	m.powTwoVarTime(z, new(big.Int).Sub(n, big.NewInt(1)))
	return Nat(z).Equal(m.one) == 1
}

// PowTwoMod returns 2^e mod n for e >= 0 and an odd n > 1, and nil for others.
// Its time shows e.
func PowTwoMod(e, n *big.Int) *big.Int {
	m, err := newModulus(n)
	if err != nil || e.Sign() < 0 {
		return nil
	}
	z := make([]uint64, len(m.n))
	m.powTwoVarTime(z, e)
	return m.BigVarTime(&Element{z})
}

// powTwoVarTime sets z to the Montgomery form of 2^e: a squaring a bit, and a
// doubling where the bit is set.
func (m *Modulus) powTwoVarTime(z []uint64, e *big.Int) {
	t := make([]uint64, 2*len(z))
	copy(z, m.one)
	for i := e.BitLen() - 1; i >= 0; i-- {
		m.sqr(z, z, t)
		if e.Bit(i) == 1 {
			doubleLimbs(z, m.n)
		}
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import "math/big"

// factorial returns Delta = l!.
func factorial(l int) *big.Int { return new(big.Int).MulRange(1, int64(l)) }

// lagrange returns the integers lambda_j = Delta prod_{j' != j} j'/(j'-j) for the
// points of set, Delta = l!. Points are distinct and in 1..l, so every division
// is exact: sum lambda_j f(j) = Delta f(0) for a polynomial of degree < len(set).
func lagrange(set []int, l int) []*big.Int {
	delta := factorial(l)
	out := make([]*big.Int, len(set))
	for i, j := range set {
		num, den := new(big.Int).Set(delta), big.NewInt(1)
		for _, o := range set {
			if o != j {
				num.Mul(num, big.NewInt(int64(o)))
				den.Mul(den, big.NewInt(int64(o-j)))
			}
		}
		rem := new(big.Int)
		out[i], rem = new(big.Int).QuoRem(num, den, rem)
		if rem.Sign() != 0 {
			panic("thresholdrsa: Lagrange coefficient isn't an integer")
		}
	}
	return out
}

// powerSum returns sum_{j=from}^{to} i^j.
func powerSum(i, from, to int) *big.Int {
	x := big.NewInt(int64(i))
	p := new(big.Int).Exp(x, big.NewInt(int64(from)), nil)
	sum := new(big.Int)
	for j := from; j <= to; j++ {
		sum.Add(sum, p)
		p = new(big.Int).Mul(p, x)
	}
	return sum
}

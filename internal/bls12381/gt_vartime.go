// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import "github.com/undersign/undersign/internal/opcount"

// ExpVarTime sets z = x^k for public x and k: a product of four powers with
// exponents of 64 bits, with a table of non-adjacent digits for each.
func (z *GT) ExpVarTime(x *GT, k *Scalar) *GT {
	opcount.Add(opcount.ExpGT, 1)
	const width = 5
	var odd [4][1 << (width - 2)]fe12
	var digits [4][66]int8
	longest := 0
	odd[0][0] = x.fixed()
	var sq fe12
	fe12SqrCyclotomic(&sq, &odd[0][0])
	for j := 1; j < len(odd[0]); j++ {
		fe12Mul(&odd[0][j], &odd[0][j-1], &sq)
	}
	for i, d := range splitSeed(k) {
		longest = max(longest, nafDigits(digits[i][:], [4]uint64{d}, width))
		if i > 0 {
			for j := range odd[i] {
				gtMulSeed(&odd[i][j], &odd[i-1][j])
			}
		}
	}
	acc := fe12One()
	var inv fe12
	for i := longest - 1; i >= 0; i-- {
		if i != longest-1 {
			fe12SqrCyclotomic(&acc, &acc)
		}
		for j := range odd {
			switch d := digits[j][i]; {
			case d > 0:
				fe12Mul(&acc, &acc, &odd[j][d/2])
			case d < 0:
				fe12Conj(&inv, &odd[j][-d/2])
				fe12Mul(&acc, &acc, &inv)
			}
		}
	}
	z.v = acc
	return z
}

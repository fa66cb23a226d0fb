// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"

	"github.com/undersign/undersign/internal/opcount"
)

// G1SumsVarTime returns several sums, as G1.MultiMultVarTime does for one. They share
// the multiples of points that occur more than once, at one address, and the
// inversions. Results are normalised. Each sum should have few terms.
func G1SumsVarTime(sums ...[]G1Term) []G1 {
	// Odd multiples of all points without a table become affine together.
	const size = 1 << (nafPoint - 2)
	at := map[*G1]int{}
	var jac []bls.G1Jac
	for _, terms := range sums {
		opcount.Add(opcount.MulG1, len(terms))
		for _, t := range terms {
			if t.Table != nil {
				continue
			}
			if _, ok := at[t.P]; !ok {
				n := len(jac)
				at[t.P] = n
				jac = append(jac, make([]bls.G1Jac, size)...)
				g1OddMultiples(jac[n:], t.P)
			}
		}
	}
	odd := g1BatchAffine(jac)
	odd2 := make([]bls.G1Affine, len(odd))
	g1MulLambda(odd2, odd)

	results := make([]bls.G1Jac, len(sums))
	var rows []g1Row
	for i, terms := range sums {
		rows = append(rows[:0], make([]g1Row, 2*len(terms))...)
		longest := 0
		for j, t := range terms {
			k1, k2 := splitGLV(t.K)
			a, b := &rows[2*j], &rows[2*j+1]
			width := nafPoint
			if t.Table != nil {
				width = nafTable
				a.odd, b.odd = t.Table.odd[0][:], t.Table.odd[1][:]
			} else {
				n := at[t.P]
				a.odd, b.odd = odd[n:n+size], odd2[n:n+size]
			}
			longest = max(longest,
				nafDigits(a.digits[:], [4]uint64{k1[0], k1[1]}, width),
				nafDigits(b.digits[:], [4]uint64{k2[0], k2[1]}, width))
		}
		results[i] = g1Rows(rows, longest)
	}
	out := make([]G1, len(sums))
	for i, p := range g1BatchAffine(results) {
		out[i] = g1FromAffine(&p)
	}
	return out
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import "testing"

// TestShortScalars sums multiples by weights, about the number of points where the method
// changes, with and without a scalar that isn't short.
func TestShortScalars(t *testing.T) {
	const most = g1StrausMax + 2
	terms := make([]G1Term, most)
	sums := make([]G1, most+1)
	for i := range terms {
		var k, w Scalar
		k.Random()
		p := new(G1).ScalarBaseMult(&k)
		b := k.Bytes()
		w.SetWeight(b[:16])
		if i == 0 {
			w = k
		}
		terms[i] = MulG1(&w, p)
		sums[i+1].Add(&sums[i], new(G1).ScalarMult(&w, p))
	}
	for n := g1StrausMax - 3; n <= most; n++ {
		if !new(G1).MultiMultVarTime(terms[:n]...).Equal(&sums[n]) {
			t.Errorf("the sum of %d is wrong", n)
		}
		want := new(G1).Sub(&sums[n], &sums[1])
		if !new(G1).MultiMultVarTime(terms[1:n]...).Equal(want) {
			t.Errorf("the sum of %d with short scalars alone is wrong", n-1)
		}
	}
}

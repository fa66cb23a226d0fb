// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"fmt"
	"testing"
)

func TestCombProduct(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		x := new(GT).PairVarTime(G1Generator(), G2Generator())
		y := new(GT).ExpVarTime(x, new(Scalar).Random())
		combs := []*GTComb{NewGTComb(x), NewGTComb(y), NewGTComb(new(GT)), NewGTComb(new(GT).Inverse(y))}
		bases := []*GT{x, y, new(GT), new(GT).Inverse(y)}
		top := new(Scalar).Neg(new(Scalar).SetOne())
		exponents := []*Scalar{new(Scalar), new(Scalar).SetOne(), top, new(Scalar).Random()}
		for i := range combs {
			for _, k := range exponents {
				if !new(GT).CombExp(k, combs[i]).Equal(new(GT).ExpVarTime(bases[i], k)) {
					t.Errorf("element %d to the power %x", i, k.Bytes())
				}
			}
			var powers []GTPower
			want := new(GT)
			for j := range i + 1 {
				k := exponents[(i+j)%4]
				powers = append(powers, GTPower{k, combs[j]})
				want.Mul(want, new(GT).ExpVarTime(bases[j], k))
			}
			z := new(GT).CombProduct(powers...)
			if !z.Equal(want) || !z.v.IsInSubGroup() {
				t.Errorf("a product of %d", i+1)
			}
		}
		// What cancels, and nothing at all.
		k := new(Scalar).Random()
		if !new(GT).CombProduct(GTPower{k, combs[1]}, GTPower{k, combs[3]}).IsIdentity() {
			t.Error("an element and its inverse")
		}
		if !new(GT).CombProduct().IsIdentity() {
			t.Error("an empty product")
		}
	})
}

func BenchmarkCombProduct(b *testing.B) {
	x := new(GT).PairVarTime(G1Generator(), G2Generator())
	comb, k := NewGTComb(x), new(Scalar).Random()
	for _, n := range []int{1, 2, 4} {
		powers := make([]GTPower, n)
		for i := range powers {
			powers[i] = GTPower{k, comb}
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				x.CombProduct(powers...)
			}
		})
	}
}

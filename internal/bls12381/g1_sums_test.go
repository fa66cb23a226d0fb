// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import "testing"

func TestG1Sums(t *testing.T) {
	point := func(s string) *G1 { return new(G1).HashVarTime([]byte(s), []byte("test")) }
	p, q, table := point("p"), point("q"), NewG1TableVarTime(point("t"))
	zero, one, r := new(Scalar), new(Scalar).SetOne(), func() *Scalar { return new(Scalar).Random() }
	k := r()
	projective := new(G1).Add(p, q)
	sums := [][]G1Term{
		nil,
		{MulG1(r(), p)},
		{MulG1(r(), p), MulG1(r(), q), MulG1Table(r(), table)},
		{MulG1(zero, p), MulG1Table(zero, table)},
		{MulG1(k, p), MulG1(new(Scalar).Neg(k), p)}, // the identity
		{MulG1(one, p), MulG1(one, p)},
		{MulG1(r(), NewG1()), MulG1(r(), projective)},
		{MulG1(new(Scalar).RandomWeight(), q), MulG1Table(new(Scalar).Neg(one), table)},
	}
	got := G1SumsVarTime(sums...)
	if len(got) != len(sums) {
		t.Fatalf("%d sums", len(got))
	}
	for i, terms := range sums {
		want := NewG1()
		for _, term := range terms {
			x := term.P
			if term.Table != nil {
				x = term.Table.Point()
			}
			want.Add(want, new(G1).ScalarMult(term.K, x))
		}
		if !got[i].Equal(want) {
			t.Errorf("sum %d differs", i)
		}
		if got[i].IsIdentity() != want.IsIdentity() {
			t.Errorf("sum %d is the identity or isn't", i)
		}
	}
	if len(G1SumsVarTime()) != 0 {
		t.Error("no sums")
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/hash_to_curve"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
)

// mapInputs are random elements and those where the map has exceptions: 0, ±1, ±i, real
// and imaginary ones, and the roots of Zu² = -1, where the denominator is zero.
func mapInputs(t *testing.T) (us []fe2) {
	var one, i fe2
	one.SetOne()
	i.A1.SetOne()
	us = append(us, fe2{}, one, i)
	var r fe2
	r.Inverse(&swuZ)
	r.Neg(&r)
	if r.Legendre() == 1 {
		r.Sqrt(&r)
		us = append(us, r)
	} else {
		t.Log("-1/Z isn't a square: there is no exception")
	}
	for k := range 200 {
		var u fe2
		if _, err := u.SetRandom(); err != nil {
			t.Fatal(err)
		}
		switch k % 10 {
		case 0:
			u.A0.SetZero()
		case 1:
			u.A1.SetZero()
		}
		us = append(us, u)
	}
	for _, u := range us {
		var minus fe2
		us = append(us, *minus.Neg(&u))
	}
	return us
}

func TestMapToG2(t *testing.T) {
	for _, u := range mapInputs(t) {
		want := bls.MapToCurve2(&u)
		hash_to_curve.G2Isogeny(&want.X, &want.Y)
		if got := mapToG2VarTime(&u); !got.Equal(&want) {
			t.Errorf("%v: got %v, want %v", u, got, want)
		}
	}
}

func TestSqrtOrZ(t *testing.T) {
	squares := 0
	for _, g := range mapInputs(t) {
		var y, want fe2
		is := sqrtOrZVarTime(&y, &g)
		if is != (g.Legendre() >= 0) {
			t.Errorf("%v: square %v", g, is)
		}
		if want = g; !is {
			want.Mul(&want, &swuZ)
		} else {
			squares++
		}
		if y.Square(&y); !y.Equal(&want) {
			t.Errorf("%v: not a root", g)
		}
	}
	if squares < 50 || squares > 350 {
		t.Errorf("%d squares", squares)
	}
}

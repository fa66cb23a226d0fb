// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// randElements returns elements whose limbs strain carries as often as not.
func randElements(r *rand.Rand, n int) []Element {
	xs := edges(r)
	out := make([]Element, n)
	for i := range out {
		out[i] = Element(limbs(xs[r.IntN(len(xs))]))
		for j := range out[i] {
			if r.IntN(3) == 0 {
				out[i][j] = r.Uint64()
			}
		}
		if !out[i].belowP() {
			out[i][3] = 0xfffffffe00000000
		}
	}
	return out
}

func randAffine(r *rand.Rand, n int) []Affine {
	xs := randElements(r, 2*n)
	out := make([]Affine, n)
	for i := range out {
		out[i] = Affine{xs[2*i], xs[2*i+1]}
	}
	return out
}

// The formulas hold for any coordinates, on the curve or not.
func TestAddRows(t *testing.T) { onTiers(t, testAddRows) }

func testAddRows(t *testing.T) {
	r := newRand(t)
	var s adder
	if s.addRows() != 0 || s.addRows([2][]Affine{}) != 0 {
		t.Fatal("zeros among nothing")
	}
	for range 300 {
		var rows, old [][2][]Affine
		var zero []bool
		zeros := 0
		for range 1 + r.IntN(5) {
			n := r.IntN(9)
			row := [2][]Affine{randAffine(r, n), randAffine(r, n)}
			for i := range n {
				if r.IntN(5) == 0 {
					row[0][i].X = row[1][i].X
				}
				same := row[0][i].X == row[1][i].X
				zero = append(zero, same)
				if same {
					zeros++
				}
			}
			rows = append(rows, row)
			old = append(old, [2][]Affine{slices.Clone(row[0]), slices.Clone(row[1])})
		}
		if got := s.addRows(rows...); got != zeros || !slices.Equal(s.zero, zero) {
			t.Fatalf("%d zeros: %v, want %d: %v", got, s.zero, zeros, zero)
		}
		at := 0
		for k, row := range rows {
			if !slices.Equal(row[1], old[k][1]) {
				t.Fatal("the second operand was written to")
			}
			for i := range row[0] {
				at++
				if zero[at-1] {
					continue
				}
				a, b := old[k][0][i], old[k][1][i]
				var d, l, x, y Element
				d.Sub(&b.X, &a.X)
				d.Inv(&d)
				l.Sub(&b.Y, &a.Y)
				l.Mul(&l, &d)
				x.Sqr(&l)
				x.Sub(&x, &a.X)
				x.Sub(&x, &b.X)
				y.Sub(&a.X, &x)
				y.Mul(&y, &l)
				y.Sub(&y, &a.Y)
				if got := row[0][i]; got != (Affine{x, y}) {
					t.Fatalf("%x + %x:\n got %x\nwant %x", a, b, got, Affine{x, y})
				}
			}
		}
	}
}

// Every tier does the same with the same coordinates, on the curve or not.
func TestPointTiers(t *testing.T) {
	r := newRand(t)
	for range 500 {
		xs := randElements(r, 8)
		if r.IntN(4) == 0 {
			xs[3] = xs[0]
			if r.IntN(2) == 0 {
				xs[2], xs[5] = feOne, feOne // so that both have the same x
			}
		}
		p, q, a := Jacobian{xs[0], xs[1], xs[2]}, Jacobian{xs[3], xs[4], xs[5]}, Affine{xs[3], xs[4]}
		n := 1 + r.IntN(4)
		doubled := p
		doubleNGeneric(&doubled, n)
		sum, mixed := p, p
		distinct := addDistinctGeneric(&sum, &p, &q)
		distinctMixed := addDistinctAffineGeneric(&mixed, &p, &a)
		for _, name := range Tiers() {
			restore := ForceTier(name)
			z := p
			z.doubleN(n)
			if z != doubled {
				t.Fatalf("%s: %x doubled %d times:\n got %x\nwant %x", name, p, n, z, doubled)
			}
			z = p
			if got := z.addDistinct(&z, &q); got != distinct || z != sum {
				t.Fatalf("%s: %x + %x:\n got %x %v\nwant %x %v", name, p, q, z, got, sum, distinct)
			}
			if z = q; z.addDistinct(&p, &z) != distinct || distinct && z != sum || !distinct && z != q {
				t.Fatalf("%s: %x + %x in place: got %x", name, p, q, z)
			}
			z = p
			if got := z.addDistinctAffine(&z, &a); got != distinctMixed || z != mixed {
				t.Fatalf("%s: %x + %x:\n got %x %v\nwant %x %v", name, p, a, z, got, mixed, distinctMixed)
			}
			restore()
		}
	}
}

func TestHalve(t *testing.T) {
	r := newRand(t)
	for _, x := range randElements(r, 100) {
		var z Element
		z.halve(&x)
		if !z.belowP() {
			t.Fatalf("half of %x isn't reduced: %x", x, z)
		}
		if z.Double(&z); z != x {
			t.Fatalf("twice the half of %x is %x", x, z)
		}
	}
}

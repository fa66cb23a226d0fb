// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"math/big"
	"testing"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

func random12() (f fe12) {
	for _, w := range fe12Words(&f) {
		feRandom(w)
	}
	return f
}

// sparse12 has random coefficients of 1, w, w², ... where mask has a one.
func sparse12(mask int) (f fe12) {
	for i, c := range []*fe2{&f.C0.B0, &f.C1.B0, &f.C0.B1, &f.C1.B1, &f.C0.B2, &f.C1.B2} {
		if mask>>i&1 == 1 {
			feRandom(&c.A0)
			feRandom(&c.A1)
		}
	}
	return f
}

// cyclotomic returns f to the power of (p⁶-1)(p²+1).
func cyclotomic(f *fe12) (g fe12) {
	var t fe12
	t.Inverse(f)
	g.Conjugate(f)
	g.Mul(&g, &t)
	t.FrobeniusSquare(&g)
	g.Mul(&g, &t)
	return g
}

func TestFinalExponentiation(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		var list []fe12
		for mask := 1; mask < 64; mask++ { // elements of all subfields among them
			list = append(list, sparse12(mask))
		}
		for range 10 {
			list = append(list, random12())
		}
		one := fe12One()
		minusOne := one
		fe12Conj(&minusOne, &minusOne)
		minusOne.C0.B0.A0.Neg(&feOne)
		list = append(list, one, minusOne)
		ones := 0
		for i, f := range list {
			want := bls.FinalExponentiation(&f)
			var z fe12
			if finalExponentiation(&z, &f); z != want {
				t.Fatalf("%d: another value", i)
			}
			is := want == one
			if finalIsOne(&f) != is {
				t.Fatalf("%d: wrong verdict", i)
			}
			if is {
				ones++
			}
			if i%5 != 0 {
				continue
			}
			// An r-th power changes nothing.
			var g, p fe12
			g.Exp(f, fr.Modulus())
			if !finalIsOne(&g) {
				t.Fatalf("%d: an r-th power isn't 1", i)
			}
			if p.Mul(&f, &g); finalIsOne(&p) != is {
				t.Fatalf("%d: an r-th power changes the verdict", i)
			}
			if p.Mul(&want, &g); finalIsOne(&p) != is {
				t.Fatalf("%d: the verdict of a value in GT is wrong", i)
			}
		}
		if ones == 0 || ones == len(list) {
			t.Errorf("%d of %d are 1", ones, len(list))
		}
		if finalIsOne(&fe12{}) {
			t.Error("0 passes for 1")
		}
		var z fe12
		if finalExponentiation(&z, &fe12{}); !z.IsZero() {
			t.Error("0 doesn't stay")
		}
	})
}

// TestFinalOrders takes elements of the cyclotomic subgroup apart, whose order is r·h.
func TestFinalOrders(t *testing.T) {
	// p⁴ - p² + 1 = r·h
	p2 := new(big.Int).Mul(fp.Modulus(), fp.Modulus())
	order := new(big.Int).Mul(p2, p2)
	order.Sub(order, p2)
	order.Add(order, big.NewInt(1))
	h, rest := new(big.Int).QuoRem(order, fr.Modulus(), new(big.Int))
	if rest.Sign() != 0 {
		t.Fatal("r doesn't divide the order")
	}
	eachKernel(t, func(t *testing.T) {
		base := new(GT).PairVarTime(G1Generator(), G2Generator())
		f := random12()
		g := cyclotomic(&f)
		g.Exp(g, fr.Modulus())
		if !finalIsOne(&g) {
			t.Error("an element of order h isn't 1")
		}
		if g.Mul(&g, &base.v); finalIsOne(&g) {
			t.Error("an element of order h hides one of order r")
		}
		g = cyclotomic(&f)
		g.Exp(g, h)
		if finalIsOne(&g) {
			t.Error("an element of order r is 1")
		}
	})
}

// TestPowSeed includes 1, which can't be decompressed.
func TestPowSeed(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		seed := new(big.Int).SetUint64(0xd201000000010000)
		for i := range 40 {
			f := random12()
			g := cyclotomic(&f)
			if i == 0 {
				g = fe12One()
			}
			var y, want fe12
			fe12PowSeed(&y, &g)
			want.Exp(g, seed)
			want.Conjugate(&want)
			if y != want {
				t.Fatalf("%d: another power", i)
			}
			var powers [len(seedOnes)]fe12
			if compressedPowers(&powers, &g) != (i > 0) {
				t.Fatalf("%d: decompressed, or not", i)
			}
		}
	})
}

// TestOctet multiplies the largest limbs.
func TestOctet(t *testing.T) {
	if !hasVector {
		t.Skip("no instructions for it")
	}
	xs := edgeElements()
	for range 100 {
		var x fe
		feRandom(&x)
		xs = append(xs, x)
	}
	for i := range xs {
		var x, y, in [lanes]fe
		var v, w octet
		for j := range lanes {
			x[j], y[j] = xs[(i+j)%len(xs)], xs[(i*7+j*j)%len(xs)]
			v.set(j, &x[j])
			w.set(j, &y[j])
			v.get(&in[j], j)
		}
		if in != x {
			t.Fatal("another element comes back")
		}
		vectorMul(&v, &v, &vectorIn)
		vectorMul(&w, &w, &vectorIn)
		vectorMul(&v, &v, &w)
		vectorMul(&v, &v, &vectorOut)
		for j := range lanes {
			var got, want fe
			v.get(&got, j)
			if want.Mul(&x[j], &y[j]); got != want {
				t.Fatalf("%v times %v in lane %d", x[j], y[j], j)
			}
		}
	}
}

// TestOctetCompressed squares anything, as the formulas hold for all coefficients.
func TestOctetCompressed(t *testing.T) {
	if !hasVector {
		t.Skip("no instructions for it")
	}
	xs := edgeElements()
	for i := range 200 {
		var c compressed
		for j, w := range c.words() {
			if feRandom(w); i < 100 {
				*w = xs[(i*(j+1)+j*j)%len(xs)]
			}
		}
		var got, want [len(seedOnes)]compressed
		squares(&got, &c)
		hasVector = false
		squares(&want, &c)
		hasVector = true
		if got != want {
			t.Fatalf("%v", c)
		}
	}
}

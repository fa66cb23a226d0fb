// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"sync"
	"testing"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
)

// randomG1 and randomG2 return affine points with their logarithms.
func randomG1() (*G1, *Scalar) {
	k := new(Scalar).Random()
	p := new(G1).ScalarBaseMult(k)
	NormalizeG1(p)
	return p, k
}

func randomG2() (*G2, *Scalar) {
	k := new(Scalar).Random()
	p := new(G2).ScalarBaseMult(k)
	NormalizeG2(p)
	return p, k
}

func TestPairingBilinear(t *testing.T) {
	p, k := randomG1()
	q, l := randomG2()
	base := new(GT).PairVarTime(G1Generator(), G2Generator())
	want := new(GT).Exp(base, new(Scalar).Mul(k, l))
	if z := new(GT).PairVarTime(p, q); !z.Equal(want) || z.IsIdentity() {
		t.Error("not bilinear")
	}
	if z := new(GT).PairingProductVarTime(PairWith(p, NewLinesVarTime(q))); !z.Equal(want) {
		t.Error("precomputed lines give another value")
	}
	a := p.toAffine()
	b := q.toAffine()
	v, err := bls.Pair([]bls.G1Affine{a}, []bls.G2Affine{b})
	if err != nil || !v.Equal(&want.v) {
		t.Error("the backend gives another value")
	}
}

// TestPairingProducts mixes points and lines, projective points, and identities in
// every place.
func TestPairingProducts(t *testing.T) {
	base := new(GT).PairVarTime(G1Generator(), G2Generator())
	for mask := range 64 {
		var pairs []Pair
		var sum Scalar
		for i := range 3 {
			p, k := randomG1()
			q, l := randomG2()
			switch {
			case mask == 1<<i: // projective
				p.ScalarBaseMult(k)
				q.ScalarBaseMult(l)
			case mask == 8<<i:
				p, k = NewG1(), new(Scalar)
			case mask == 9<<i:
				q, l = NewG2(), new(Scalar)
			case mask == 7:
				p, q, k = new(G1), new(G2), new(Scalar) // zero values
			}
			sum.MulAdd(k, l, &sum)
			if mask>>i&1 == 1 {
				pairs = append(pairs, PairWith(p, NewLinesVarTime(q)))
			} else {
				pairs = append(pairs, PairOf(p, q))
			}
		}
		want := new(GT).Exp(base, &sum)
		if !new(GT).PairingProductVarTime(pairs...).Equal(want) {
			t.Fatalf("case %06b", mask)
		}
		if PairingCheckVarTime(pairs...) != sum.IsZero() {
			t.Fatalf("case %06b: wrong verdict", mask)
		}
		// One more pair makes it 1.
		last := new(G1).ScalarBaseMult(new(Scalar).Neg(&sum))
		if !PairingCheckVarTime(append(pairs, PairOf(last, G2Generator()))...) {
			t.Fatalf("case %06b: the product with its inverse isn't 1", mask)
		}
	}
	if !new(GT).PairingProductVarTime().IsIdentity() || !PairingCheckVarTime() {
		t.Error("the product of none isn't 1")
	}
}

// TestLinesUnharmed is what goes wrong when the backend is given a cached table: it
// evaluates the lines in place, and after one call with identities every product
// is 1. Valid, identity and forged arguments are tried on the same lines.
func TestLinesUnharmed(t *testing.T) {
	x := new(Scalar).Random()
	key := new(G2).ScalarBaseMult(x)
	keyLines, genLines := NewLinesVarTime(key), NewLinesVarTime(G2Generator())
	verify := func(h, s *G1) bool { // e(h, key) = e(s, P2)
		return PairingCheckVarTime(PairWith(h, keyLines), PairWith(new(G1).Neg(s), genLines))
	}
	before := [2]lineTable{keyLines.table, genLines.table}
	h, _ := randomG1()
	s := new(G1).ScalarMult(x, h)
	forged := new(G1).Add(s, G1Generator())
	for i := range 3 {
		if !verify(h, s) {
			t.Errorf("round %d: valid refused", i)
		}
		if !verify(NewG1(), NewG1()) {
			t.Errorf("round %d: the equation doesn't hold for identities", i)
		}
		if verify(h, forged) || verify(NewG1(), s) || verify(h, NewG1()) {
			t.Errorf("round %d: forged accepted", i)
		}
	}
	if before != [2]lineTable{keyLines.table, genLines.table} {
		t.Error("lines were changed")
	}

	// The control: the backend by itself.
	lines := []lineTable{keyLines.table, genLines.table}
	negS := new(G1).Neg(s)
	a := []bls.G1Affine{h.toAffine(), negS.toAffine()}
	ok, err := bls.PairingCheckFixedQ(a, lines)
	if !ok || err != nil {
		t.Fatal("the backend refuses what is valid", err)
	}
	if again, _ := bls.PairingCheckFixedQ(a, lines); again {
		t.Log("the backend no longer changes its tables")
	}
}

// TestLinesConcurrent uses the same lines from many goroutines, with good and bad
// arguments.
func TestLinesConcurrent(t *testing.T) {
	q, l := randomG2()
	lines, gen := NewLinesVarTime(q), NewLinesVarTime(G2Generator())
	table := NewG1TableVarTime(G1Generator())
	comb := NewG1Comb(G1Generator())
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 4 {
				k := new(Scalar).Random()
				p := new(G1).CombMult(k, comb)
				minus := new(Scalar).Neg(new(Scalar).Mul(k, l))
				r := new(G1).MultiMultVarTime(MulG1Table(minus, table))
				good := (i+j)%2 == 0
				if !good {
					r.Double(r)
				}
				if PairingCheckVarTime(PairWith(p, lines), PairWith(r, gen)) != good {
					t.Errorf("goroutine %d, round %d", i, j)
				}
				if !PairingCheckVarTime(PairWith(NewG1(), lines), PairWith(NewG1(), gen)) {
					t.Error("identities")
				}
			}
		})
	}
	wg.Wait()
}

func TestLinesPoint(t *testing.T) {
	q, _ := randomG2()
	if !NewLinesVarTime(q).Point().Equal(q) || !NewLinesVarTime(NewG2()).Point().IsIdentity() {
		t.Error("not the point")
	}
}

// TestOrder checks that the value of the pairing has order r.
func TestOrder(t *testing.T) {
	z := new(GT).PairVarTime(G1Generator(), G2Generator())
	top := new(Scalar).Neg(new(Scalar).SetOne())
	w := new(GT).Exp(z, top)
	if z.IsIdentity() || !w.Mul(w, z).IsIdentity() || !new(GT).Inverse(z).Equal(new(GT).Exp(z, top)) {
		t.Error("the order isn't r")
	}
}

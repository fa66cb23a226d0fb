// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"fmt"
	"testing"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
)

// multipleG1 returns v·P1, projective if v is odd.
func multipleG1(v int) *G1 {
	k := new(Scalar).SetUint64(uint64(max(v, -v)))
	if v < 0 {
		k.Neg(k)
	}
	p := new(G1).ScalarBaseMult(k)
	if v%2 == 0 {
		NormalizeG1(p)
	}
	return p
}

func TestG1Group(t *testing.T) {
	points := map[int]*G1{}
	for v := -10; v <= 10; v++ {
		points[v] = multipleG1(v)
	}
	for a := -5; a <= 5; a++ {
		for b := -5; b <= 5; b++ {
			p, q := points[a], points[b]
			if !new(G1).Add(p, q).Equal(points[a+b]) || !new(G1).Sub(p, q).Equal(points[a-b]) {
				t.Errorf("%d and %d", a, b)
			}
			if p.Equal(q) != (a == b) || string(p.Bytes()) == string(q.Bytes()) != (a == b) {
				t.Errorf("%d equals %d", a, b)
			}
			// The mixed formula holds for all but an affine identity.
			if n := *q; b != 0 {
				NormalizeG1(&n)
				if g1AddMixed(&n, p, &g1Entry{n.x, n.y}); !n.Equal(points[a+b]) {
					t.Errorf("%d and %d, mixed", a, b)
				}
			}
			for c := range 2 {
				want := q
				if c == 1 {
					want = p
				}
				if !new(G1).Select(p, q, c).Equal(want) {
					t.Error("select")
				}
			}
		}
		p := *points[a]
		if !new(G1).Double(&p).Equal(points[2*a]) || !new(G1).Neg(&p).Equal(points[-a]) || p.IsIdentity() != (a == 0) {
			t.Errorf("%d", a)
		}
		if p.Add(&p, &p); !p.Equal(points[2*a]) {
			t.Errorf("%d doubled in place", a)
		}
		if p.Sub(&p, &p); !p.IsIdentity() || !p.Equal(NewG1()) {
			t.Errorf("%d minus itself", a)
		}
	}
}

// TestG1Zero uses the zero value wherever a point goes in.
func TestG1Zero(t *testing.T) {
	var zero G1
	g, k := G1Generator(), new(Scalar).SetUint64(3)
	if !zero.IsIdentity() || !zero.Equal(NewG1()) || !NewG1().Equal(&zero) || zero.Equal(g) || g.Equal(&zero) {
		t.Error("comparison")
	}
	for name, p := range map[string]*G1{
		"add":    new(G1).Add(&zero, g),
		"added":  new(G1).Add(g, &zero),
		"sub":    new(G1).Sub(g, &zero),
		"select": new(G1).Select(g, &zero, 1),
	} {
		if !p.Equal(g) {
			t.Error(name)
		}
	}
	var norm G1
	NormalizeG1(&norm)
	for name, p := range map[string]*G1{
		"double":    new(G1).Double(&zero),
		"neg":       new(G1).Neg(&zero),
		"select":    new(G1).Select(&zero, &zero, 0),
		"mult":      new(G1).ScalarMult(k, &zero),
		"comb":      new(G1).CombMult(k, NewG1Comb(&zero)),
		"vartime":   new(G1).ScalarMultVarTime(k, &zero),
		"table":     new(G1).MultiMultVarTime(MulG1Table(k, NewG1TableVarTime(&zero))),
		"no terms":  new(G1).MultiMultVarTime(),
		"normalize": &norm,
		"sum":       new(G1).SumVarTime(make([]G1Affine, 5)),
		"no sum":    new(G1).SumVarTime(nil),
		"by zero":   new(G1).ScalarMult(new(Scalar), g),
		"comb zero": new(G1).ScalarBaseMult(new(Scalar)),
	} {
		if !p.IsIdentity() || !p.Equal(NewG1()) || string(p.Bytes()) != string(NewG1().Bytes()) {
			t.Error(name)
		}
	}
	if !new(G1).Add(new(G1).Double(&zero), g).Equal(g) {
		t.Error("what came of the zero value swallows others")
	}
}

func TestNormalizeG1(t *testing.T) {
	NormalizeG1()
	var points [7]*G1
	for i := range points {
		points[i] = multipleG1(i - 3)
	}
	NormalizeG1(points[:]...)
	for i, p := range points {
		if !p.affine || !p.Equal(multipleG1(i-3)) || feIsZero(&p.z) == 0 && p.z != feOne {
			t.Errorf("point %d", i)
		}
	}
}

// TestG1Multi holds sums of many lengths against single products, with identities,
// zeros, ones, equal and opposite points and tables among the terms.
func TestG1Multi(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 5, 31, 32, 33, 64, 65, 100, 300} {
		if testing.Short() && n > 40 {
			continue
		}
		for _, kind := range []string{"full", "short", "negative"} {
			t.Run(fmt.Sprintf("n=%d/%s", n, kind), func(t *testing.T) {
				var terms []G1Term
				sum := NewG1()
				add := func(term G1Term, p *G1) {
					terms = append(terms, term)
					sum.Add(sum, new(G1).ScalarMult(term.K, p))
				}
				for i := range n {
					k := new(Scalar).Random()
					if kind != "full" {
						k.RandomWeight()
					}
					switch i % 16 { // the borders of what is short
					case 8:
						k.SetUint128(1<<64-1, 1<<64-1)
					case 9:
						k.SetUint128(1<<64-1, 1<<64-1)
						k.Add(k, new(Scalar).SetOne())
					case 10:
						k.SetUint128(1<<63, 0)
					}
					if kind == "negative" {
						k.Neg(k)
					}
					p := multipleG1(i - 3)
					switch i % 8 {
					case 5:
						k.SetZero()
					case 6:
						k.SetOne()
					}
					if i%8 == 7 && i < 40 {
						add(MulG1Table(k, NewG1TableVarTime(p)), p)
					} else {
						add(MulG1(k, p), p)
					}
				}
				if n > 2 {
					add(terms[n-1], multipleG1(n-4)) // the same once more
					minus := MulG1(new(Scalar).Neg(terms[2].K), multipleG1(-1))
					add(minus, multipleG1(-1))
				}
				if p := new(G1).MultiMultVarTime(terms...); !p.Equal(sum) {
					t.Error("wrong sum")
				}
				for i := range terms {
					if terms[i].Table != nil {
						terms[i] = MulG1(terms[i].K, terms[i].Table.Point())
					}
				}
				buckets, straus := g1Buckets(terms), g1Straus(terms)
				if p := g1FromJacobian(&buckets); !p.Equal(sum) {
					t.Error("wrong sum by buckets")
				}
				if p := g1FromJacobian(&straus); !p.Equal(sum) {
					t.Error("wrong sum by digits")
				}
			})
		}
	}
}

// TestG1Sum has the lists that the affine formulas don't hold for.
func TestG1Sum(t *testing.T) {
	check := func(name string, logs []int) {
		t.Helper()
		list := make([]G1Affine, len(logs))
		total := 0
		for i, v := range logs {
			list[i].Set(multipleG1(v))
			if !list[i].Point().Equal(multipleG1(v)) {
				t.Fatal("affine point")
			}
			total += v
		}
		before := append([]G1Affine(nil), list...)
		if !new(G1).SumVarTime(list).Equal(multipleG1(total)) {
			t.Errorf("%s: wrong sum", name)
		}
		// With identities behind them, they are added pairwise.
		if !new(G1).SumVarTime(append(list[:len(list):len(list)], make([]G1Affine, sumSingly)...)).Equal(multipleG1(total)) {
			t.Errorf("%s: wrong sum of a long list", name)
		}
		for i := range list {
			if list[i] != before[i] {
				t.Fatalf("%s: the list was changed", name)
			}
		}
	}
	check("equal pair", []int{1, 1})
	check("opposite pair", []int{1, -1})
	check("identities", []int{0, 0, 0})
	check("identity first", []int{0, 5})
	check("identity last", []int{5, 0, 0})
	check("equal sums", []int{1, 4, 2, 3})
	check("opposite sums", []int{1, 4, -2, -3})
	check("cancels and goes on", []int{1, -1, 2, 2, 3, -3, 7})
	var same, alternating, ones []int
	for i := range 100 {
		same = append(same, 3)
		alternating = append(alternating, 1-2*(i%2))
		ones = append(ones, i%3)
	}
	check("all equal", same)
	check("alternating", alternating)
	check("small", ones)

	// More than one chunk, with the chunks' sums equal.
	list := make([]G1Affine, 2*sumChunk+1)
	for i := range list {
		list[i].Set(G1Generator())
	}
	if !new(G1).SumVarTime(list).Equal(multipleG1(len(list))) {
		t.Error("chunks")
	}
}

func TestG1Lambda(t *testing.T) {
	var k Scalar
	k.setWords(&[4]uint64{lambda[0], lambda[1]})
	p := G1Generator()
	want := new(G1).ScalarMultVarTime(&k, p)
	feMul(&p.x, &p.x, &beta)
	var a bls.G1Affine
	g := g1Generator.toAffine()
	if a.ScalarMultiplication(&g, lambdaBig); !p.Equal(want) || p.toAffine() != a {
		t.Error("beta isn't lambda's")
	}
}

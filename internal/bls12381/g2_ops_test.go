// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"fmt"
	"testing"
)

// multipleG2 returns v·P2, projective if v is odd.
func multipleG2(v int) *G2 {
	k := new(Scalar).SetUint64(uint64(max(v, -v)))
	if v < 0 {
		k.Neg(k)
	}
	p := new(G2).ScalarBaseMult(k)
	if v%2 == 0 {
		NormalizeG2(p)
	}
	return p
}

func TestG2Group(t *testing.T) {
	points := map[int]*G2{}
	for v := -10; v <= 10; v++ {
		points[v] = multipleG2(v)
	}
	for a := -5; a <= 5; a++ {
		for b := -5; b <= 5; b++ {
			p, q := points[a], points[b]
			if !new(G2).Add(p, q).Equal(points[a+b]) || !new(G2).Sub(p, q).Equal(points[a-b]) {
				t.Errorf("%d and %d", a, b)
			}
			if p.Equal(q) != (a == b) || string(p.Bytes()) == string(q.Bytes()) != (a == b) {
				t.Errorf("%d equals %d", a, b)
			}
			// The mixed formula holds for all but an affine identity.
			if n := *q; b != 0 {
				NormalizeG2(&n)
				if g2AddMixed(&n, p, &n.x, &n.y); !n.Equal(points[a+b]) {
					t.Errorf("%d and %d, mixed", a, b)
				}
			}
			for c := range 2 {
				want := q
				if c == 1 {
					want = p
				}
				if !new(G2).Select(p, q, c).Equal(want) {
					t.Error("select")
				}
			}
		}
		p := *points[a]
		if !new(G2).Double(&p).Equal(points[2*a]) || !new(G2).Neg(&p).Equal(points[-a]) || p.IsIdentity() != (a == 0) {
			t.Errorf("%d", a)
		}
		if p.Add(&p, &p); !p.Equal(points[2*a]) {
			t.Errorf("%d doubled in place", a)
		}
		if p.Sub(&p, &p); !p.IsIdentity() || !p.Equal(NewG2()) {
			t.Errorf("%d minus itself", a)
		}
	}
}

// TestG2Zero uses the zero value wherever a point goes in.
func TestG2Zero(t *testing.T) {
	var zero G2
	g, k := G2Generator(), new(Scalar).SetUint64(3)
	if !zero.IsIdentity() || !zero.Equal(NewG2()) || !NewG2().Equal(&zero) || zero.Equal(g) || g.Equal(&zero) {
		t.Error("comparison")
	}
	for name, p := range map[string]*G2{
		"add":    new(G2).Add(&zero, g),
		"added":  new(G2).Add(g, &zero),
		"sub":    new(G2).Sub(g, &zero),
		"select": new(G2).Select(g, &zero, 1),
	} {
		if !p.Equal(g) {
			t.Error(name)
		}
	}
	var norm G2
	NormalizeG2(&norm)
	for name, p := range map[string]*G2{
		"double":    new(G2).Double(&zero),
		"neg":       new(G2).Neg(&zero),
		"select":    new(G2).Select(&zero, &zero, 0),
		"mult":      new(G2).ScalarMult(k, &zero),
		"comb":      new(G2).CombMult(k, NewG2Comb(&zero)),
		"vartime":   new(G2).ScalarMultVarTime(k, &zero),
		"no terms":  new(G2).MultiMultVarTime(),
		"normalize": &norm,
		"sum":       new(G2).SumVarTime(make([]G2Affine, 5)),
		"no sum":    new(G2).SumVarTime(nil),
		"by zero":   new(G2).ScalarMult(new(Scalar), g),
		"comb zero": new(G2).ScalarBaseMult(new(Scalar)),
	} {
		if !p.IsIdentity() || !p.Equal(NewG2()) || string(p.Bytes()) != string(NewG2().Bytes()) {
			t.Error(name)
		}
	}
	if !new(G2).Add(new(G2).Double(&zero), g).Equal(g) {
		t.Error("what came of the zero value swallows others")
	}
}

func TestNormalizeG2(t *testing.T) {
	NormalizeG2()
	var points [7]*G2
	for i := range points {
		points[i] = multipleG2(i - 3)
	}
	NormalizeG2(points[:]...)
	for i, p := range points {
		if !p.affine || !p.Equal(multipleG2(i-3)) || fe2IsZero(&p.z) == 0 && p.z != fe2One {
			t.Errorf("point %d", i)
		}
	}
}

// TestG2Multi holds sums of many lengths against single products, with identities,
// zeros, ones, equal and opposite points among the terms.
func TestG2Multi(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 5, 31, 32, 33, 100, 300} {
		if testing.Short() && n > 40 {
			continue
		}
		for _, small := range []bool{false, true} {
			t.Run(fmt.Sprintf("n=%d/small=%t", n, small), func(t *testing.T) {
				var terms []G2Term
				sum := NewG2()
				add := func(term G2Term, p *G2) {
					terms = append(terms, term)
					sum.Add(sum, new(G2).ScalarMult(term.K, p))
				}
				for i := range n {
					k := new(Scalar).Random()
					if small {
						k.RandomWeight()
					}
					p := multipleG2(i - 3)
					switch i % 8 {
					case 5:
						k.SetZero()
					case 6:
						k.SetOne()
					}
					add(MulG2(k, p), p)
				}
				if n > 2 {
					add(terms[n-1], multipleG2(n-4)) // the same once more
					minus := MulG2(new(Scalar).Neg(terms[2].K), multipleG2(-1))
					add(minus, multipleG2(-1))
				}
				if p := new(G2).MultiMultVarTime(terms...); !p.Equal(sum) {
					t.Error("wrong sum")
				}
				straus := g2Straus(terms)
				if p := g2FromJacobian(&straus); !p.Equal(sum) {
					t.Error("wrong sum by digits")
				}
			})
		}
	}
}

// TestG2Sum has the lists that the affine formulas don't hold for.
func TestG2Sum(t *testing.T) {
	check := func(name string, logs []int) {
		t.Helper()
		list := make([]G2Affine, len(logs))
		total := 0
		for i, v := range logs {
			list[i].Set(multipleG2(v))
			if !list[i].Point().Equal(multipleG2(v)) {
				t.Fatal("affine point")
			}
			total += v
		}
		before := append([]G2Affine(nil), list...)
		if !new(G2).SumVarTime(list).Equal(multipleG2(total)) {
			t.Errorf("%s: wrong sum", name)
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
	list := make([]G2Affine, 2*sumChunk+1)
	for i := range list {
		list[i].Set(G2Generator())
	}
	if !new(G2).SumVarTime(list).Equal(multipleG2(len(list))) {
		t.Error("chunks")
	}
}

// TestG2Pairs adds pairs for which the affine formulas hold and others, of more than one
// chunk.
func TestG2Pairs(t *testing.T) {
	values := []int{0, 1, -1, 2, 5, -5}
	var pairs [][2]G2Affine
	var want []int
	for len(pairs) < sumChunk {
		x, y := values[len(pairs)%6], values[len(pairs)/6%6]
		pairs = append(pairs, [2]G2Affine{*new(G2Affine).Set(multipleG2(x)), *new(G2Affine).Set(multipleG2(y))})
		want = append(want, x+y)
	}
	before := append([][2]G2Affine(nil), pairs...)
	for _, n := range []int{0, 1, 2, 36, len(pairs)/2 + 1, len(pairs)} {
		sums := AddPairsVarTime(pairs[:n])
		if len(sums) != n {
			t.Fatalf("%d sums of %d pairs", len(sums), n)
		}
		for i := range sums {
			if pairs[i] != before[i] {
				t.Fatal("a pair was changed")
			}
			if !sums[i].Point().Equal(multipleG2(want[i])) {
				t.Fatalf("pair %d of %d: wrong sum", i, n)
			}
		}
	}
}

func TestG2Seed(t *testing.T) {
	want := new(G2).ScalarMult(new(Scalar).SetUint64(seed), G2Generator())
	p := G2Generator()
	if g2MulSeed(p, p); !p.Equal(want) {
		t.Error("the endomorphism doesn't multiply by seed")
	}
}

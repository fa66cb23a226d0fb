// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"slices"
	"testing"
)

func TestTableRefs(t *testing.T) {
	r := newRand(t)
	var ks []Scalar
	for _, x := range edges(r) {
		if k := scalarOf(x); !k.IsZero() {
			ks = append(ks, k)
		}
	}
	for w := 2; w <= maxWidth; w++ {
		m := windows(w)
		tb := &Table{w: w, m: m, packed: aligned[packedPoint](tableLen(w))}
		d, codes, refs := make([]int32, m), make([]uint32, m), make([]pointRef, m)
		for i := range ks {
			codeDigits(codes, 1, d, ks[i].oddDigits(d, w))
			tb.refs(refs, 1, &ks[i])
			for j, c := range codes {
				want := &tb.packed[j<<(w-1)+int(c>>1)]
				if p, negated := refs[j].point(); p != want || negated != (c&1 == 1) {
					t.Fatalf("width %d: digit %d of %x: %x, want code %d", w, j, ks[i], refs[j], c)
				}
			}
		}
	}
}

// Sums in lanes against those of the scalar code, with items for which affine formulas
// don't hold among them, at any number of rows at a time.
func TestSumTablesLanes(t *testing.T) {
	onLanes(t)
	r := newRand(t)
	defer func(old int) { laneRows = old }(laneRows)
	g := NewTable(&generator, smallWidth)
	var tables []*Table
	for _, w := range []int{3, 5, 5, 8} {
		p := randPoint(r)
		tables = append(tables, NewTable(&p, w))
	}
	scalarTables := map[*Table]*Table{}
	for _, tb := range append(tables, g) {
		p := tb.Point()
		var out [1]*Table
		newTables(out[:], []Affine{p}, tb.w)
		scalarTables[tb] = out[0]
	}
	// 2ᵏG and -2ᵏG meet entries of the generator's table.
	var terms []Term
	for i := range 300 {
		terms = append(terms, Term{randScalar(r), randScalar(r), tables[i%len(tables)]})
	}
	for i := range 5 {
		p := generator
		if i > 0 {
			j := p.Jacobian()
			j.doubleN(8 * i)
			p, _ = j.Affine()
		}
		tb := NewTable(&p, smallWidth)
		var out [1]*Table
		newTables(out[:], []Affine{p}, smallWidth)
		scalarTables[tb] = out[0]
		for range 3 {
			k := randScalar(r)
			terms = slices.Insert(terms, r.IntN(len(terms)), Term{k, k, tb})
			minus := k
			minus.Neg(&k)
			terms = slices.Insert(terms, r.IntN(len(terms)), Term{k, minus, tb}, Term{randScalar(r), k, tb})
		}
	}
	terms = append(terms, Term{Scalar{}, randScalar(r), tables[0]}, Term{randScalar(r), Scalar{}, tables[0]}, Term{randScalar(r), randScalar(r), nil})
	want, wantFlags := make([]Jacobian, len(terms)), make([]bool, len(terms))
	other := slices.Clone(terms)
	for i := range other {
		other[i].Table = scalarTables[other[i].Table]
	}
	sumTables(want, wantFlags, scalarTables[g], other)
	for _, laneRows = range []int{2, 30, 100, 256, 1000} {
		for _, n := range []int{len(terms), 100, 21, 1} {
			got, flags := make([]Jacobian, n), make([]bool, n)
			sumTablesLanes(got, flags, g, terms[:n])
			flagged := 0
			for i := range got {
				if flags[i] {
					flagged++
					continue
				}
				if wantFlags[i] && want[i].IsInfinity() || !wantFlags[i] && !got[i].Equal(&want[i]) {
					t.Errorf("%d rows, %d items: item %d is wrong", laneRows, n, i)
				}
			}
			if flagged > 60*n/len(terms)+3 || n == len(terms) && flagged < 6 {
				t.Errorf("%d rows: %d of %d items flagged", laneRows, flagged, n)
			}
		}
	}
}

// A pair of points in any relation, in the midst of others.
func TestPairAdder(t *testing.T) {
	onLanes(t)
	r := newRand(t)
	points := aligned[packedPoint](20)
	var affine []Affine
	for i := range points {
		a := randPoint(r)
		affine = append(affine, a)
		points[i] = a.packed()
		if got := points[i].affine(); got != a {
			t.Fatalf("packed and not: %v, want %v", got, a)
		}
	}
	var packer lanePacker
	again := aligned[packedPoint](len(affine))
	packer.pack(again, affine)
	for i := range again {
		if again[i].affine() != affine[i] {
			t.Fatalf("point %d is packed wrongly", i)
		}
	}
	var s pairAdder
	for _, n := range []int{0, 1, 15, 16, 17, 300, pairChunk + 5} {
		s.start()
		var want []Jacobian
		inf := false
		for range n {
			i, k := r.IntN(len(points)), r.IntN(len(points))
			ni, nk := uint32(r.IntN(2)), uint32(r.IntN(2))
			s.add(refTo(&points[i], ni), refTo(&points[k], nk))
			a, b := affine[i], affine[k]
			if ni == 1 {
				a.Neg(&a)
			}
			if nk == 1 {
				b.Neg(&b)
			}
			j := a.Jacobian()
			j.AddAffine(&j, &b)
			want = append(want, j)
			inf = inf || j.IsInfinity()
		}
		got := s.sum()
		if len(got) != n || s.inf != inf {
			t.Fatalf("%d sums of %d, infinity %v, want %v", len(got), n, s.inf, inf)
		}
		for i := range got {
			a, ok := want[i].Affine()
			if got[i].isInfinity() == ok || ok && got[i].affine() != a {
				t.Fatalf("sum %d of %d is wrong", i, n)
			}
		}
	}
}

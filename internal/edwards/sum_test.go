// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package edwards

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"filippo.io/edwards25519"
)

// small returns points of order 1, 2, 4 and 8: multiples of one of order 8, that clearing
// the part of prime order leaves of some point.
func small(t testing.TB) []*edwards25519.Point {
	// l - 1, so that l·P = (l-1)·P + P.
	minusOne := new(edwards25519.Scalar).Negate(number(1))
	identity := edwards25519.NewIdentityPoint()
	for b := byte(2); ; b++ {
		p, err := new(edwards25519.Point).SetBytes(append([]byte{b}, make([]byte, 31)...))
		if err != nil {
			continue
		}
		q := new(edwards25519.Point).ScalarMult(minusOne, p)
		q.Add(q, p)
		four := new(edwards25519.Point).Add(q, q)
		four.Add(four, four)
		if four.Equal(identity) == 1 {
			continue
		}
		points := []*edwards25519.Point{identity}
		for range 7 {
			points = append(points, new(edwards25519.Point).Add(points[len(points)-1], q))
		}
		if new(edwards25519.Point).Add(points[7], q).Equal(identity) != 1 {
			t.Fatal("not of order 8")
		}
		return points
	}
}

func number(v byte) *edwards25519.Scalar {
	s, err := new(edwards25519.Scalar).SetCanonicalBytes(append([]byte{v}, make([]byte, 31)...))
	if err != nil {
		panic(err)
	}
	return s
}

func randomScalar(r *rand.Rand) *edwards25519.Scalar {
	var b [64]byte
	for j := range b {
		b[j] = byte(r.Uint32())
	}
	s, _ := new(edwards25519.Scalar).SetUniformBytes(b[:])
	return s
}

// edgeScalars are 0, 1, 2, l-1 and 2^128-1.
func edgeScalars() []*edwards25519.Scalar {
	short, _ := new(edwards25519.Scalar).SetCanonicalBytes(append(slices.Repeat([]byte{0xff}, 16), make([]byte, 16)...))
	return []*edwards25519.Scalar{number(0), number(1), number(2), new(edwards25519.Scalar).Negate(number(1)), short}
}

// randomTerms returns terms with edge cases of scalars and points among them, and their sum
// by the library.
func randomTerms(t testing.TB, r *rand.Rand, n int) ([]Term, *edwards25519.Point) {
	edge, torsion := edgeScalars(), small(t)
	terms := make([]Term, n)
	want := edwards25519.NewIdentityPoint()
	for i := range terms {
		s := randomScalar(r)
		if i%7 == 0 {
			s = edge[i%len(edge)]
		}
		p := new(edwards25519.Point).ScalarBaseMult(number(byte(i) + 1))
		if i%5 == 0 {
			p = torsion[i%len(torsion)]
		}
		terms[i] = Term{*s, new(Affine).SetLibrary(p)}
		want.Add(want, new(edwards25519.Point).ScalarMult(s, p))
	}
	return terms, want
}

var sums = []func(*Point, []Term){(*Point).SumVarTime, (*Point).straus, (*Point).pippenger}

// Sums are those of the library, at all widths and with edge cases of scalars.
func TestSum(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 15, 16, 60, 180, 500, 1500} {
		terms, want := randomTerms(t, r, n)
		for i, sum := range sums {
			var s Point
			sum(&s, terms)
			if s.Library().Equal(want) != 1 {
				t.Errorf("%d terms, way %d: another sum", n, i)
			}
		}
	}
}

// Multiples from tables are those of the library, of points with a part of small order too.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	torsion := small(t)
	for i := range 8 {
		p := new(edwards25519.Point).ScalarBaseMult(randomScalar(r))
		p.Add(p, torsion[i])
		if i == 7 {
			p = torsion[3]
		}
		table := NewTableVarTime(p)
		scalars := append(edgeScalars(), randomScalar(r), randomScalar(r))
		for _, s := range scalars {
			var got Point
			got.SetLibrary(p)
			got.AddMultVarTime(s, table)
			want := new(edwards25519.Point).ScalarMult(s, p)
			if got.Library().Equal(want.Add(want, p)) != 1 {
				t.Errorf("point %d, scalar %x: another multiple", i, s.Bytes())
			}
		}
	}
}

func TestLibraryPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a point that isn't on the curve was converted")
		}
	}()
	(&Point{*one, *two, *one, *two}).Library()
}

func BenchmarkSum(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{5, 17, 65, 129, 201, 301, 401, 601, 1001, 2001} {
		terms, _ := randomTerms(b, r, n)
		for i := range terms {
			if i%2 == 0 { // a weight
				short := terms[i].Scalar.Bytes()
				clear(short[16:])
				terms[i].Scalar.SetCanonicalBytes(short)
			}
		}
		for i, sum := range sums[1:] {
			b.Run(fmt.Sprintf("n=%d/%d", n, i), func(b *testing.B) {
				for b.Loop() {
					sum(new(Point), terms)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000/float64(n), "us/term")
			})
		}
	}
}

func BenchmarkTable(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	p, k := edwards25519.NewGeneratorPoint(), randomScalar(r)
	table := NewTableVarTime(p)
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			NewTableVarTime(p)
		}
	})
	b.Run("mult", func(b *testing.B) {
		var sum Point
		sum.SetIdentity()
		for b.Loop() {
			sum.AddMultVarTime(k, table)
		}
	})
}

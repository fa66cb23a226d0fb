// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// A sumCase is a sum of multiples of points of known logarithms.
type sumCase struct {
	points  []Affine
	scalars []Scalar
	want    *big.Int
}

func (c *sumCase) add(log *big.Int, k *big.Int) {
	c.points = append(c.points, bigMultiple(log))
	c.scalars = append(c.scalars, scalarOf(k))
	if c.want == nil {
		c.want = new(big.Int)
	}
	c.want.Add(c.want, new(big.Int).Mul(log, k))
	c.want.Mod(c.want, bigN)
}

func (c *sumCase) check(t *testing.T) {
	t.Helper()
	for name, f := range map[string]func() Jacobian{
		"default": func() Jacobian { return MultiScalarMult(c.points, c.scalars) },
		"straus":  func() Jacobian { return straus(c.terms()) },
		"buckets": func() Jacobian { return pippenger(c.terms(), 1) },
		"threads": func() Jacobian { return pippenger(c.terms(), 3) },
		"lanes": func() Jacobian {
			defer func(old int) { laneTerms = old }(laneTerms)
			laneTerms = 0
			return sumMultiplesLanes(c.terms(), 1+len(c.points)%3)
		},
		"buckets in lanes": func() Jacobian { return bucketsInLanes(c.terms(), 1+len(c.points)%3) },
		"straus in lanes": func() Jacobian {
			sum, ok := strausInLanes(c.terms(), 1+len(c.points)%3)
			if !ok {
				return straus(c.terms())
			}
			return sum
		},
	} {
		if strings.Contains(name, "lanes") && !laneTables && len(c.points) > 70 {
			continue // the twin is slow
		}
		got := f()
		want := new(Jacobian)
		if c.want != nil && c.want.Sign() != 0 {
			p := bigMultiple(c.want)
			*want = p.Jacobian()
		}
		if !got.Equal(want) {
			t.Errorf("%s: wrong sum of %d terms", name, len(c.points))
		}
	}
}

func (c *sumCase) terms() []multiple {
	ms := make([]multiple, len(c.points))
	for i := range ms {
		ms[i] = newMultiple(&c.points[i], &c.scalars[i])
	}
	return ms
}

func randBig(r *rand.Rand) *big.Int { s := randScalar(r); return toBig(s) }

func TestMultiScalarMult(t *testing.T) { onTiers(t, testMultiScalarMult) }

func testMultiScalarMult(t *testing.T) {
	r := newRand(t)
	for _, n := range []int{0, 1, 2, 3, strausMax, strausMax + 1, 150, 400} {
		var c sumCase
		for i := range n {
			k := randBig(r)
			if i%3 != 0 {
				k.Rsh(k, 128)
			}
			c.add(randBig(r), k)
		}
		t.Run(fmt.Sprintf("n=%d", n), c.check)
	}
}

// Multipliers at the limits of digits, and of what counts as short.
func TestMultiScalarMultEdges(t *testing.T) {
	r := newRand(t)
	var all sumCase
	for _, k := range edges(r)[:40] {
		var one sumCase
		one.add(big.NewInt(7), k)
		one.check(t)
		all.add(randBig(r), k)
	}
	one := big.NewInt(1)
	for _, b := range []uint{4, 8, 12, 64, 126, 127, 128, 252, 254, 255} {
		for d := int64(-1); d <= 1; d++ {
			k := new(big.Int).Lsh(one, b)
			k.Add(k, big.NewInt(d))
			var c sumCase
			c.add(big.NewInt(1), k)
			c.add(big.NewInt(5), new(big.Int).Sub(bigN, k))
			c.check(t)
			all.add(randBig(r), k)
			all.add(randBig(r), new(big.Int).Neg(k))
		}
	}
	half := new(big.Int).Rsh(bigN, 1)
	for d := int64(-2); d <= 2; d++ {
		all.add(randBig(r), new(big.Int).Add(half, big.NewInt(d)))
	}
	all.check(t)
}

// Points that affine formulas can't add: equal and opposite ones, by pairs and
// by crowds, with multipliers that bring them into the same bucket.
func TestMultiScalarMultEqualPoints(t *testing.T) {
	r := newRand(t)
	p, k := randBig(r), randBig(r)
	minus := new(big.Int).Sub(bigN, p)
	for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 64, 65, 200} {
		var equal, opposite, mixed, zero sumCase
		for i := range n {
			equal.add(p, k)
			if i%2 == 0 {
				opposite.add(p, k)
			} else {
				opposite.add(minus, k)
			}
			switch r.IntN(5) {
			case 0:
				mixed.add(p, k)
			case 1:
				mixed.add(minus, k)
			case 2:
				mixed.add(p, new(big.Int).Neg(k))
			case 3:
				mixed.add(new(big.Int).Lsh(p, 1), k)
			case 4:
				mixed.add(randBig(r), k)
			}
			zero.add(p, new(big.Int))
		}
		for _, c := range []*sumCase{&equal, &opposite, &mixed, &zero} {
			c.check(t)
		}
	}
	// A sum that is infinity though none of its parts is.
	var c sumCase
	total := new(big.Int)
	for range 60 {
		k := randBig(r)
		total.Add(total, k)
		c.add(p, k)
	}
	c.add(minus, total)
	if c.want.Sign() != 0 {
		t.Fatal("fixture")
	}
	c.check(t)
}

type lists interface {
	start(n int)
	add(p *Affine, neg bool)
	end(n int)
	sum() []Affine
}

// laneListSums adds up lists in lanes.
type laneListSums struct {
	laneLists
	packed [][]packedPoint
}

func (l *laneListSums) start(int) {
	l.packed = l.packed[:0]
	l.laneLists.start()
}

func (l *laneListSums) add(p *Affine, neg bool) {
	one := aligned[packedPoint](1) // the list has references to it
	one[0] = p.packed()
	l.packed = append(l.packed, one)
	n := uint32(0)
	if neg {
		n = 1
	}
	l.laneLists.add(refTo(&one[0], n))
}

func (l *laneListSums) sum() []Affine {
	var out []Affine
	for _, p := range l.laneLists.sum() {
		if p.isInfinity() {
			out = append(out, Affine{})
		} else {
			out = append(out, p.affine())
		}
	}
	return out
}

// Lists of all lengths, with members that cancel or are equal, one after the other.
func TestListSummer(t *testing.T) {
	for name, l := range map[string]lists{"scalar": new(listSummer), "lanes": new(laneListSums)} {
		t.Run(name, func(t *testing.T) { testListSummer(t, l) })
	}
}

func testListSummer(t *testing.T, l lists) {
	r := newRand(t)
	logs := []*big.Int{big.NewInt(1), big.NewInt(-1), big.NewInt(2), big.NewInt(-2), big.NewInt(3), randBig(r)}
	points := make([]Affine, len(logs))
	for i, k := range logs {
		points[i] = bigMultiple(k)
	}
	for range 300 {
		var want []*big.Int
		l.start(0)
		for range 1 + r.IntN(8) {
			sum, n := new(big.Int), r.IntN(20)
			for range n {
				i, neg := r.IntN(len(points)), r.IntN(2) == 1
				l.add(&points[i], neg)
				if neg {
					sum.Sub(sum, logs[i])
				} else {
					sum.Add(sum, logs[i])
				}
			}
			l.end(n)
			want = append(want, sum.Mod(sum, bigN))
		}
		got := l.sum()
		if len(got) != len(want) {
			t.Fatalf("%d sums of %d lists", len(got), len(want))
		}
		for i, k := range want {
			var p Affine
			if k.Sign() != 0 {
				p = bigMultiple(k)
			}
			if got[i] != p {
				t.Fatalf("list %d: wrong sum", i)
			}
		}
	}
}

func TestSqrtBatch(t *testing.T) { onTiers(t, testSqrtBatch) }

func testSqrtBatch(t *testing.T) {
	r := newRand(t)
	for _, n := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 18, 25, 31, 33, laneRoots - 1, laneRoots + 5} {
		xs, want, ok := make([]Element, n), make([]Element, n), make([]bool, n)
		wantOK := make([]bool, n)
		for i := range xs {
			xs[i] = elementOf(randBig(r))
			if r.IntN(8) == 0 {
				xs[i] = Element{}
			}
			wantOK[i] = want[i].Sqrt(&xs[i])
			big := bigOf(&xs[i])
			if has := big.ModSqrt(big, bigP) != nil; has != wantOK[i] {
				t.Fatalf("Sqrt says %v", wantOK[i])
			}
		}
		SqrtBatch(xs, ok)
		for i := range xs {
			if ok[i] != wantOK[i] || xs[i] != want[i] {
				t.Errorf("n = %d: root %d is wrong", n, i)
			}
		}
	}
}

func BenchmarkMultiScalarMult(b *testing.B) {
	r := newRand(b)
	for _, n := range []int{16, 32, 64, 128, 256, 512, 2048, 8192, 32768} {
		points, scalars := make([]Affine, n), make([]Scalar, n)
		for i := range points {
			points[i] = randPoint(r)
			scalars[i] = randScalar(r)
			if i%2 == 0 {
				scalars[i][2], scalars[i][3] = 0, 0
				scalars[i][0] |= 1
			}
		}
		terms := make([]multiple, n)
		for i := range terms {
			terms[i] = newMultiple(&points[i], &scalars[i])
		}
		b.Run(fmt.Sprintf("buckets/n=%d", n), func(b *testing.B) {
			best(b, n, func() { pippenger(terms, 1) })
		})
		b.Run(fmt.Sprintf("lanes/buckets/n=%d", n), func(b *testing.B) {
			best(b, n, func() { bucketsInLanes(terms, 1) })
		})
		b.Run(fmt.Sprintf("lanes/straus/n=%d", n), func(b *testing.B) {
			best(b, n, func() { strausInLanes(terms, 1) })
		})
		if n <= 128 {
			b.Run(fmt.Sprintf("straus/n=%d", n), func(b *testing.B) {
				for b.Loop() {
					straus(terms)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/term")
			})
		}
	}
}

func BenchmarkSqrtBatch(b *testing.B) {
	r := newRand(b)
	xs, ok := make([]Element, 64), make([]bool, 64)
	for b.Loop() {
		for i := range xs {
			xs[i] = elementOf(big.NewInt(r.Int64()))
		}
		SqrtBatch(xs, ok)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(xs)), "ns/root")
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// The backend's own functions stand beside ours, for comparison.

func BenchmarkField(b *testing.B) {
	var x, y fe
	feRandom(&x)
	feRandom(&y)
	b.Run("mul", func(b *testing.B) {
		for b.Loop() {
			feMul(&x, &x, &y)
		}
	})
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			feAdd(&x, &x, &y)
		}
	})
	b.Run("invert", func(b *testing.B) {
		for b.Loop() {
			feInvert(&x, &x)
		}
	})
	s, t := fe2{A0: x, A1: y}, fe2{A0: y, A1: x}
	b.Run("mul2", func(b *testing.B) {
		for b.Loop() {
			fe2Mul(&s, &s, &t)
		}
	})
	var k Scalar
	k.Random()
	b.Run("scalarinverse", func(b *testing.B) {
		for b.Loop() {
			k.Inverse(&k)
		}
	})
}

func BenchmarkG1(b *testing.B) {
	var p, q G1
	var k Scalar
	k.Random()
	q.HashVarTime([]byte("q"), []byte("test"))
	comb := NewG1Comb(&q)
	e := bigOf(&k)
	b.Run("double", func(b *testing.B) {
		for b.Loop() {
			g1Double(&q, &q)
		}
	})
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			g1Add(&q, &q, &q)
		}
	})
	q.HashVarTime([]byte("q"), []byte("test"))
	a := q.toAffine()
	b.Run("addmixed", func(b *testing.B) {
		p = q
		for b.Loop() {
			g1AddMixed(&p, &p, &g1Entry{q.x, q.y})
		}
	})
	b.Run("mult", func(b *testing.B) {
		for b.Loop() {
			p.ScalarMult(&k, &q)
		}
	})
	b.Run("comb", func(b *testing.B) {
		for b.Loop() {
			p.CombMult(&k, comb)
		}
	})
	b.Run("newcomb", func(b *testing.B) {
		for b.Loop() {
			NewG1Comb(&q)
		}
	})
	b.Run("vartime", func(b *testing.B) {
		for b.Loop() {
			p.ScalarMultVarTime(&k, &q)
		}
	})
	b.Run("vartime/backend", func(b *testing.B) {
		var r bls.G1Affine
		for b.Loop() {
			r.ScalarMultiplication(&a, e)
		}
	})
	b.Run("hash", func(b *testing.B) {
		for b.Loop() {
			q.HashVarTime([]byte("q"), []byte("test"))
		}
	})
	enc := q.Bytes()
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if err := p.SetBytes(enc); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("normalize/n=4", func(b *testing.B) {
		for b.Loop() {
			ps := [4]G1{q, q, q, q}
			NormalizeG1(&ps[0], &ps[1], &ps[2], &ps[3])
		}
	})
}

func BenchmarkG1Multi(b *testing.B) {
	for _, bits := range []int{128, 255} {
		for _, n := range []int{1, 2, 3, 4, 6, 8, 16, 32, 64, 128, 1024} {
			terms := make([]G1Term, n)
			points := make([]bls.G1Affine, n)
			scalars := make([]fr.Element, n)
			for i := range terms {
				k := new(Scalar).Random()
				if bits == 128 {
					k.RandomWeight()
				}
				p := new(G1).ScalarBaseMult(new(Scalar).Random())
				NormalizeG1(p)
				terms[i] = MulG1(k, p)
				points[i] = p.toAffine()
				scalars[i] = k.m
			}
			var p G1
			b.Run(fmt.Sprintf("bits=%d/n=%d", bits, n), func(b *testing.B) {
				for b.Loop() {
					p.MultiMultVarTime(terms...)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/point")
			})
			b.Run(fmt.Sprintf("bits=%d/n=%d/backend", bits, n), func(b *testing.B) {
				var r bls.G1Affine
				for b.Loop() {
					if _, err := r.MultiExp(points, scalars, ecc.MultiExpConfig{NbTasks: 1}); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/point")
			})
		}
	}
}

func BenchmarkG2(b *testing.B) {
	var p, q G2
	var k Scalar
	k.Random()
	q.HashVarTime([]byte("q"), []byte("test"))
	comb := NewG2Comb(&q)
	a, e := q.toAffine(), bigOf(&k)
	b.Run("mult", func(b *testing.B) {
		for b.Loop() {
			p.ScalarMult(&k, &q)
		}
	})
	b.Run("comb", func(b *testing.B) {
		for b.Loop() {
			p.CombMult(&k, comb)
		}
	})
	b.Run("vartime", func(b *testing.B) {
		for b.Loop() {
			p.ScalarMultVarTime(&k, &q)
		}
	})
	b.Run("vartime/backend", func(b *testing.B) {
		var r bls.G2Affine
		for b.Loop() {
			r.ScalarMultiplication(&a, e)
		}
	})
	b.Run("hash", func(b *testing.B) {
		for b.Loop() {
			q.HashVarTime([]byte("q"), []byte("test"))
		}
	})
	enc := q.Bytes()
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if err := p.SetBytes(enc); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkGT(b *testing.B) {
	var x, z GT
	var k Scalar
	k.Random()
	x.PairVarTime(G1Generator(), G2Generator())
	comb, e := NewGTComb(&x), bigOf(&k)
	b.Run("mul", func(b *testing.B) {
		for b.Loop() {
			z.Mul(&x, &x)
		}
	})
	b.Run("exp", func(b *testing.B) {
		for b.Loop() {
			z.Exp(&x, &k)
		}
	})
	b.Run("comb", func(b *testing.B) {
		for b.Loop() {
			z.CombExp(&k, comb)
		}
	})
	b.Run("vartime", func(b *testing.B) {
		for b.Loop() {
			z.ExpVarTime(&x, &k)
		}
	})
	b.Run("vartime/backend", func(b *testing.B) {
		for b.Loop() {
			z.v.Exp(x.v, e)
		}
	})
	enc := x.Bytes()
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			if err := z.SetBytes(enc); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkPairing(b *testing.B) {
	for n := 1; n <= 3; n++ {
		var fixed, loose []Pair
		var ps []bls.G1Affine
		var qs []bls.G2Affine
		for range n {
			p := new(G1).ScalarBaseMult(new(Scalar).Random())
			q := new(G2).ScalarBaseMult(new(Scalar).Random())
			NormalizeG1(p)
			NormalizeG2(q)
			loose = append(loose, PairOf(p, q))
			fixed = append(fixed, PairWith(p, NewLinesVarTime(q)))
			ps, qs = append(ps, p.toAffine()), append(qs, q.toAffine())
		}
		b.Run(fmt.Sprintf("fixed/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				PairingCheckVarTime(fixed...)
			}
		})
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				PairingCheckVarTime(loose...)
			}
		})
		b.Run(fmt.Sprintf("n=%d/backend", n), func(b *testing.B) {
			for b.Loop() {
				bls.PairingCheck(ps, qs)
			}
		})
	}
}

func BenchmarkSum(b *testing.B) {
	const n = 65536
	points := make([]G1Affine, n)
	g := g1Generator.jacobian()
	acc := g
	for i := range points {
		points[i].a.FromJacobian(&acc)
		acc.AddAssign(&g)
	}
	var p G1
	b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
		for b.Loop() {
			p.SumVarTime(points)
		}
	})
	b.Run(fmt.Sprintf("n=%d/backend", n), func(b *testing.B) {
		for b.Loop() {
			var acc bls.G1Jac
			for i := range points {
				acc.AddMixed(&points[i].a)
			}
		}
	})
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"runtime"
	"testing"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
)

// Formulas hold as identities of polynomials, on the curve or not, so that the
// assembly is tested with the largest coordinates in all places.

func TestSquareTimes(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		xs := edgeElements()
		for range 200 {
			var x fe
			feRandom(&x)
			xs = append(xs, x)
		}
		for _, x := range xs {
			want := x
			for n := 1; n < 70; n++ {
				want.Square(&want)
				var z fe
				if feSquareTimes(&z, &x, n); z != want {
					t.Fatalf("%x squared %d times", x, n)
				}
			}
			z := x
			if feSquareTimes(&z, &z, 69); z != want {
				t.Fatal("in place")
			}
			for _, y := range xs[:10] {
				var p fe
				p.Mul(&want, &y)
				if feSquareTimesMul(&z, &x, 69, &y); z != p {
					t.Fatalf("%x squared 69 times by %x", x, y)
				}
				if z = y; z != x {
					if feSquareTimesMul(&z, &x, 69, &z); z != p {
						t.Fatal("in place of the factor")
					}
				}
			}
		}
	})
}

func TestSqrt(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		xs := edgeElements()
		for range 200 {
			var x, y fe
			feRandom(&x)
			y.Square(&x)
			xs = append(xs, x, y)
		}
		squares := 0
		for _, x := range xs {
			var z, back, want fe
			got := feSqrtVarTime(&z, &x)
			if got != (want.Sqrt(&x) != nil) {
				t.Fatalf("%x: %v", x, got)
			}
			if !got {
				continue
			}
			squares++
			if back.Square(&z); back != x || z != want {
				t.Fatalf("%x has another root", x)
			}
		}
		if squares < 200 || squares > len(xs)-50 {
			t.Errorf("%d squares of %d", squares, len(xs))
		}
	})
}

// jacobians returns triples that needn't be on the curve.
func jacobians() (list []bls.G1Jac) {
	edges := edgeElements()
	for _, x := range edges {
		for _, y := range edges {
			for _, z := range edges {
				list = append(list, bls.G1Jac{X: x, Y: y, Z: z})
			}
		}
	}
	for range 50 {
		var p bls.G1Jac
		feRandom(&p.X)
		feRandom(&p.Y)
		feRandom(&p.Z)
		list = append(list, p)
	}
	return list
}

// sameJacobian reports whether a and b are the same fractions.
func sameJacobian(a, b *bls.G1Jac) bool {
	if a.Z.IsZero() || b.Z.IsZero() {
		return a.Z.IsZero() && b.Z.IsZero()
	}
	return a.Equal(b)
}

func TestJacobian(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		list := jacobians()
		for i := range list {
			p := list[i]
			for _, n := range []int{0, 1, 2, 3, 32} {
				got, want := p, p
				g1DoubleTimes(&got, n)
				for range n {
					want.DoubleAssign()
				}
				if !sameJacobian(&got, &want) {
					t.Fatalf("%x doubled %d times", p, n)
				}
			}
			for j := range 25 {
				q := list[(i+j*j)%len(list)]
				got, want := p, p
				g1AddJacobian(&got, &q)
				want.AddAssign(&q)
				if !sameJacobian(&got, &want) {
					t.Fatalf("%x + %x", p, q)
				}
				a := bls.G1Affine{X: q.X, Y: q.Y}
				got, want = p, p
				g1AddAffine(&got, &a)
				want.AddMixed(&a)
				if !sameJacobian(&got, &want) {
					t.Fatalf("%x + affine %x", p, a)
				}
			}
		}
	})
}

// Equal, opposite and neutral points, of all orders, in and out of the subgroup.
func TestJacobianCases(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for _, c := range curvePoints(t, 2) {
			var multiples [7]bls.G1Jac // of c.p, from the 0th
			for i := range multiples {
				multiples[i] = slowMult(int64(i), &c.p)
			}
			for i := range multiples {
				for j := range multiples {
					if i+j >= len(multiples) {
						continue
					}
					got := multiples[i]
					if g1AddJacobian(&got, &multiples[j]); !sameJacobian(&got, &multiples[i+j]) {
						t.Fatalf("%s: %d + %d", c.name, i, j)
					}
					neg := multiples[j]
					neg.Neg(&neg)
					got = multiples[i+j]
					if g1AddJacobian(&got, &neg); !sameJacobian(&got, &multiples[i]) {
						t.Fatalf("%s: %d - %d", c.name, i+j, j)
					}
					var a bls.G1Affine
					a.FromJacobian(&neg)
					got = multiples[i+j]
					if g1AddAffine(&got, &a); !sameJacobian(&got, &multiples[i]) {
						t.Fatalf("%s: %d - affine %d", c.name, i+j, j)
					}
				}
			}
		}
	})
}

// The assembly's complete formulas against the portable ones, for the same results.
func TestCompleteFormulas(t *testing.T) {
	if !haveAssembly() {
		t.Skip("no assembly here")
	}
	defer useAssembly(true)
	list := jacobians()
	for i, a := range list {
		for j := range 20 {
			b := list[(i+j*j)%len(list)]
			s, u, e := G1{x: a.X, y: a.Y, z: a.Z}, G1{x: b.X, y: b.Y, z: b.Z}, g1Entry{b.X, b.Y}
			for name, f := range map[string]func(p, q *G1){
				"mixed":    func(p, q *G1) { g1AddMixed(p, q, &e) },
				"sum":      func(p, q *G1) { g1Add(p, q, &u) },
				"reversed": func(p, q *G1) { g1Add(p, &u, q) },
				"double":   func(p, q *G1) { g1Double(p, q) },
			} {
				var p, q G1
				useAssembly(false)
				f(&p, &s)
				useAssembly(true)
				if f(&q, &s); p != q {
					t.Fatalf("%s: %x and %x", name, s, u)
				}
				r := s
				if f(&r, &r); p != r {
					t.Fatalf("%s: %x and %x in place", name, s, u)
				}
			}
		}
	}
}

// The assembly's frames are large, and goroutines start with small stacks.
func TestKernelStacks(t *testing.T) {
	want := multipleG1(5)
	two, three := multipleG1(2), multipleG1(3)
	var deep func(n int) bool
	deep = func(n int) bool {
		var pad [9]uint64
		pad[n%9] = uint64(n)
		if n == 0 {
			return new(G1).Add(two, three).Equal(want)
		}
		return deep(n-1) && pad[n%9] == uint64(n)
	}
	results := make(chan bool)
	const n = 200
	for i := range n {
		go func() { results <- deep(i) }()
	}
	runtime.GC()
	for range n {
		if !<-results {
			t.Error("wrong sum")
		}
	}
}

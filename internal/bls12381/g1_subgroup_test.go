// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"fmt"
	"math/big"
	"testing"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// The seed plus 1 is 3·11·10177·859267·52437899. The curve is a product of cyclic
// groups of orders (seed+1)/3 and (seed+1)·r.
var cofactorPrimes = []int64{3, 11, 10177, 859267, 52437899}

func slowMultBig(k *big.Int, p *bls.G1Jac) (acc bls.G1Jac) {
	acc.FromAffine(&bls.G1Affine{})
	for i := k.BitLen() - 1; i >= 0; i-- {
		acc.DoubleAssign()
		if k.Bit(i) == 1 {
			acc.AddAssign(p)
		}
	}
	return acc
}

func slowMult(k int64, p *bls.G1Jac) bls.G1Jac { return slowMultBig(big.NewInt(k), p) }

// slowInSubgroup multiplies by r.
func slowInSubgroup(p *bls.G1Jac) bool {
	q := slowMultBig(fr.Modulus(), p)
	return q.Z.IsZero()
}

// randomCurvePoint is anywhere on the curve.
func randomCurvePoint() (p bls.G1Jac) {
	for {
		var a bls.G1Affine
		var y2, four fe
		feRandom(&a.X)
		four.SetUint64(4)
		y2.Square(&a.X)
		y2.Mul(&y2, &a.X)
		y2.Add(&y2, &four)
		if a.Y.Sqrt(&y2) != nil {
			p.FromAffine(&a)
			return p
		}
	}
}

// pointOfOrder returns a random point whose order is the product of primes.
func pointOfOrder(primes ...int64) bls.G1Jac {
	e := new(big.Int).SetUint64(seed)
	e.Add(e, big.NewInt(1)).Mul(e, fr.Modulus())
	for _, l := range primes {
		e.Div(e, big.NewInt(l))
	}
	for {
		r := randomCurvePoint()
		p := slowMultBig(e, &r)
		full := true
		for i := range primes {
			rest := int64(1)
			for j, l := range primes {
				if j != i {
					rest *= l
				}
			}
			q := slowMult(rest, &p)
			full = full && !q.Z.IsZero()
		}
		if full {
			return p
		}
	}
}

type curvePoint struct {
	name string
	p    bls.G1Jac
}

// curvePoints returns points of the subgroup, of each small order and of products of
// orders, sums of both, and random ones, n of each.
func curvePoints(t *testing.T, n int) (list []curvePoint) {
	t.Helper()
	product := big.NewInt(1)
	for _, l := range cofactorPrimes {
		product.Mul(product, big.NewInt(l))
	}
	if product.Cmp(new(big.Int).SetUint64(seed+1)) != 0 {
		t.Fatal("not the factors of the cofactor")
	}
	orders := [][]int64{{3, 11}, {11, 10177}, {3, 859267}, {859267, 52437899}}
	for _, l := range cofactorPrimes {
		orders = append(orders, []int64{l})
	}
	for range n {
		in := new(G1).HashVarTime([]byte(fmt.Sprint(len(list))), []byte("test")).jacobian()
		list = append(list, curvePoint{"subgroup", in}, curvePoint{"random", randomCurvePoint()})
		for _, o := range orders {
			p := pointOfOrder(o...)
			sum := in
			sum.AddAssign(&p)
			list = append(list, curvePoint{fmt.Sprint("order ", o), p}, curvePoint{fmt.Sprint("subgroup and order ", o), sum})
			// Sums with the images under the endomorphism.
			image := p
			image.X.Mul(&image.X, &beta)
			other := image
			other.X.Mul(&other.X, &beta)
			other.AddAssign(&p)
			image.AddAssign(&p)
			list = append(list, curvePoint{fmt.Sprint("with its image, order ", o), image}, curvePoint{fmt.Sprint("with its other image, order ", o), other})
		}
	}
	return list
}

// eigenPoints returns the parts of p, of prime order l, on which the endomorphism is a
// multiplication, if there are any.
func eigenPoints(p *bls.G1Jac, l int64) (list []bls.G1Jac) {
	if l%3 == 2 {
		return nil // there are no cube roots of unity
	}
	for v := int64(1); v < l; v++ {
		if (v*v+v+1)%l != 0 {
			continue
		}
		// (endomorphism - v)·p is in the eigenspace of the other root.
		q := *p
		q.X.Mul(&q.X, &beta)
		s := slowMult(v, p)
		s.Neg(&s)
		q.AddAssign(&s)
		if !q.Z.IsZero() {
			list = append(list, q)
		}
	}
	return list
}

// The test for the subgroup against multiplication by r.
func TestG1SubgroupExact(t *testing.T) {
	points := curvePoints(t, 3)
	for _, l := range cofactorPrimes {
		p := pointOfOrder(l)
		for _, q := range eigenPoints(&p, l) {
			points = append(points, curvePoint{fmt.Sprint("eigenspace, order ", l), q})
		}
	}
	three := bls.G1Affine{}
	three.Y.SetUint64(2)
	for range 2 {
		var p, q bls.G1Jac
		p.FromAffine(&three)
		q = g1Generator.jacobian()
		q.AddAssign(&p)
		points = append(points, curvePoint{"(0, ±2)", p}, curvePoint{"generator + (0, ±2)", q})
		three.Y.Neg(&three.Y)
	}
	points = append(points, curvePoint{"generator", g1Generator.jacobian()})
	var want []bool
	in := 0
	for _, c := range points {
		ok := slowInSubgroup(&c.p)
		if want = append(want, ok); ok {
			in++
		}
	}
	if in < 4 || in > len(points)/4 {
		t.Errorf("%d of %d points are in the subgroup", in, len(points))
	}
	eachKernel(t, func(t *testing.T) {
		for i, c := range points {
			if c.p.Z.IsZero() {
				continue
			}
			var a bls.G1Affine
			a.FromJacobian(&c.p)
			if !a.IsOnCurve() {
				t.Fatalf("%s: not on the curve", c.name)
			}
			if g1InSubgroup(&a) != want[i] {
				t.Errorf("%s: the test says %v", c.name, !want[i])
			}
			b := a.Bytes()
			if err := new(G1).SetBytes(b[:]); (err == nil) != want[i] {
				t.Errorf("%s: decoding says %v", c.name, err)
			}
			u := a.RawBytes()
			if err := new(G1).SetUncompressed(u[:]); (err == nil) != want[i] {
				t.Errorf("%s: decoding uncompressed says %v", c.name, err)
			}
		}
	})
}

// Random points of the curve are outside, but for one in 2¹²⁶.
func TestG1SubgroupRandom(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for range 200 {
			p := randomCurvePoint()
			var a bls.G1Affine
			a.FromJacobian(&p)
			if g1InSubgroup(&a) {
				t.Fatal("a random point of the curve is in the subgroup")
			}
			// Times the effective cofactor, it is inside.
			e := new(big.Int).SetUint64(seed)
			p = slowMultBig(e.Add(e, big.NewInt(1)), &p)
			a.FromJacobian(&p)
			if !g1InSubgroup(&a) {
				t.Fatal("a point of the subgroup is refused")
			}
			if b := a.Bytes(); b[0]&flagCompressed == 0 || new(G1).SetBytes(b[:]) != nil {
				t.Fatal("a point of the subgroup isn't decoded")
			}
		}
	})
}

// The windows of the square root's exponent make up (p+1)/4.
func TestSqrtSteps(t *testing.T) {
	e := new(big.Int)
	for _, s := range sqrtSteps {
		e.Lsh(e, uint(s.squares)).Add(e, big.NewInt(int64(s.odd)))
	}
	want := new(big.Int).Add(fp.Modulus(), big.NewInt(1))
	if want.Rsh(want, 2); e.Cmp(want) != 0 {
		t.Errorf("%x", e)
	}
	sum := uint64(1)
	for i, n := range seedRuns {
		if i > 0 {
			sum++
		}
		sum <<= n
	}
	if sum != seed {
		t.Errorf("%x", sum)
	}
}

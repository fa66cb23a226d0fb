// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"math/big"
	"testing"

	"github.com/emmansun/gmsm/sm2"
)

func jacobianOf(k *big.Int, z Element) Jacobian {
	if new(big.Int).Mod(k, bigN).Sign() == 0 {
		return Jacobian{z, z, Element{}}
	}
	a := bigMultiple(k)
	var p Jacobian
	var t Element
	p.Z = z
	t.Sqr(&z)
	p.X.Mul(&a.X, &t)
	t.Mul(&t, &z)
	p.Y.Mul(&a.Y, &t)
	return p
}

func checkPoint(t *testing.T, what string, got *Jacobian, k *big.Int) {
	t.Helper()
	a, ok := got.Affine()
	if new(big.Int).Mod(k, bigN).Sign() == 0 {
		if ok || !got.IsInfinity() {
			t.Fatalf("%s: got %x, want infinity", what, a)
		}
		return
	}
	if !ok || a != bigMultiple(k) {
		t.Fatalf("%s: got %x (finite: %v), want %x times G", what, a, ok, k)
	}
}

func TestPoints(t *testing.T) { onTiers(t, testPoints) }

func testPoints(t *testing.T) {
	r := newRand(t)
	var ks []*big.Int
	for _, d := range []int64{0, 1, 2, 3, -1, -2, 77} {
		ks = append(ks, big.NewInt(d))
	}
	for range 3 {
		k := toBig(randScalar(r))
		ks = append(ks, k, new(big.Int).Neg(k))
	}
	z := func() Element { return Element{r.Uint64(), r.Uint64(), r.Uint64(), 7} }
	for _, k := range ks {
		p := jacobianOf(k, z())
		var s Jacobian
		s.Double(&p)
		checkPoint(t, "double", &s, new(big.Int).Lsh(k, 1))
		s = p
		s.Double(&s)
		checkPoint(t, "double in place", &s, new(big.Int).Lsh(k, 1))
		s.Neg(&p)
		checkPoint(t, "neg", &s, new(big.Int).Neg(k))
		for _, l := range ks {
			sum := new(big.Int).Add(k, l)
			q := jacobianOf(l, z())
			s.Add(&p, &q)
			checkPoint(t, "add", &s, sum)
			s = p
			s.Add(&s, &q)
			checkPoint(t, "add in place", &s, sum)
			s = q
			s.Add(&p, &s)
			checkPoint(t, "add in place", &s, sum)
			if eq := k.Cmp(l) == 0; p.Equal(&q) != eq {
				t.Fatalf("%x and %x equal: %v", k, l, !eq)
			}
			if a, ok := q.Affine(); ok {
				s.AddAffine(&p, &a)
				checkPoint(t, "add affine", &s, sum)
				s = p
				s.AddAffine(&s, &a)
				checkPoint(t, "add affine in place", &s, sum)
			}
		}
	}
}

func TestScalarMult(t *testing.T) { onTiers(t, testScalarMult) }

func testScalarMult(t *testing.T) {
	r := newRand(t)
	for _, bk := range edges(r) {
		k := scalarOf(bk)
		var p Jacobian
		p.BaseMult(&k)
		checkPoint(t, "base", &p, bk)
		e := randScalar(r)
		q := bigMultiple(toBig(e))
		p.ScalarMult(&q, &k)
		checkPoint(t, "mult", &p, new(big.Int).Mul(bk, toBig(e)))
	}
}

func TestAffineBytes(t *testing.T) {
	r := newRand(t)
	good := randPoint(r)
	x, y := good.X.Bytes(), good.Y.Bytes()
	try := func(what string, x, y *[32]byte, want bool) {
		t.Helper()
		p := generator
		if ok := p.SetBytes(x, y); ok != want {
			t.Fatalf("%s: %v", what, ok)
		} else if ok && (p.X.Bytes() != *x || p.Y.Bytes() != *y) {
			t.Fatalf("%s: other coordinates", what)
		} else if !ok && p != generator {
			t.Fatalf("%s: SetBytes wrote to its result in failing", what)
		}
	}
	try("good", &x, &y, true)
	var zero, big32 [32]byte
	try("zero", &zero, &zero, false)
	bad := y
	bad[31] ^= 1
	try("off the curve", &x, &bad, false)
	bigP.FillBytes(big32[:])
	try("x = p", &big32, &y, false)
	try("y = p", &x, &big32, false)
	// A point with a small x has another encoding of it, x + p.
	for i := int64(1); ; i++ {
		var p Affine
		p.X = elementOf(big.NewInt(i))
		curveRHS(&p.Y, &p.X)
		if !p.Y.Sqrt(&p.Y) {
			continue
		}
		px, py := p.X.Bytes(), p.Y.Bytes()
		try("small x", &px, &py, true)
		new(big.Int).Add(bigP, big.NewInt(i)).FillBytes(big32[:])
		try("x + p", &big32, &py, false)
		break
	}
	if g := Generator(); bigOf(&g.X).Cmp(sm2.P256().Params().Gx) != 0 || bigOf(&g.Y).Cmp(sm2.P256().Params().Gy) != 0 {
		t.Fatal("another generator")
	}
}

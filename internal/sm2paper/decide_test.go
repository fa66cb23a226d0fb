// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2paper

import (
	"math/big"
	"testing"

	"github.com/undersign/undersign/internal/sm2ec"
)

func (p polynomial) at(x *element) (y element) {
	for i := len(p) - 1; i >= 0; i-- {
		free.mul(&y, &y, x)
		y = add(y, p[i])
	}
	return y
}

// signedSums returns ps[0] ± ps[1] ± … for all signs.
func signedSums(t *testing.T, ps []sm2ec.Affine) (xs []element) {
	for signs := range 1 << (len(ps) - 1) {
		j := ps[0].Jacobian()
		for i, p := range ps[1:] {
			if signs>>i&1 == 1 {
				p.Y = neg(p.Y)
			}
			free.addAffine(&sm2Curve, &j, &j, &p)
		}
		a, ok := j.Affine()
		if !ok {
			t.Fatal("infinity")
		}
		xs = append(xs, a.X)
	}
	return xs
}

func randomPoints(t *testing.T, n int) []sm2ec.Affine {
	ps := make([]sm2ec.Affine, n)
	for i := range ps {
		ps[i] = randomPoint(t)
	}
	return ps
}

// TestPolynomials demands that the roots are exactly the x-coordinates of all signed sums.
func TestPolynomials(t *testing.T) {
	ps := randomPoints(t, 5)
	p := free.quadratic(&ps[0].X, &ps[1].X)
	for n := 2; ; n++ {
		if len(p)-1 != 1<<(n-1) {
			t.Fatalf("%d points: degree %d", n, len(p)-1)
		}
		seen := map[element]bool{}
		for _, x := range signedSums(t, ps[:n]) {
			if y := p.at(&x); !y.IsZero() {
				t.Errorf("%d points: a sum isn't a root", n)
			}
			seen[x] = true
		}
		if len(seen) != len(p)-1 {
			t.Errorf("%d points: %d different sums", n, len(seen))
		}
		x := randomPoint(t).X
		if y := p.at(&x); y.IsZero() {
			t.Errorf("%d points: something else is a root", n)
		}
		if n == len(ps) {
			break
		}
		p = free.extend(p, &ps[n].X)
	}
}

// proportional reports whether p is q times a constant.
func proportional(p, q polynomial) bool {
	if len(p) != len(q) {
		return false
	}
	for i := range p {
		var l, r element
		free.mul(&l, &p[i], &q[len(q)-1])
		free.mul(&r, &q[i], &p[len(p)-1])
		if l != r {
			return false
		}
	}
	return true
}

func TestQuadraticJacobian(t *testing.T) {
	ps := randomPoints(t, 2)
	l := ps[0].Jacobian()
	free.double(&sm2Curve, &l, &l)
	free.addAffine(&sm2Curve, &l, &l, &ps[0])
	a, _ := l.Affine()
	if a.X == l.X {
		t.Fatal("Z = 1")
	}
	p, q := free.quadraticJacobian(&l, &ps[1].X), free.quadratic(&a.X, &ps[1].X)
	if !proportional(p, q) {
		t.Error("they differ")
	}
	if proportional(p, free.quadratic(&ps[0].X, &ps[1].X)) {
		t.Error("they don't differ from another one")
	}
	if free.quadraticJacobian(&l, &a.X) != nil {
		t.Error("equal x aren't noticed")
	}
}

// TestExtendQuadratic compares the two ways to a quartic.
func TestExtendQuadratic(t *testing.T) {
	ps := randomPoints(t, 3)
	p := free.quadratic(&ps[0].X, &ps[1].X)
	s := free.summation(&ps[2].X)
	if !proportional(free.extendQuadratic(p, s), free.extendByValues(p, s)) {
		t.Error("they differ")
	}
}

// TestExtendUndefined has an h among the interpolation points, and a root at infinity.
func TestExtendUndefined(t *testing.T) {
	ps := randomPoints(t, 4)
	p := free.extend(free.quadratic(&ps[0].X, &ps[1].X), &ps[2].X)
	for k := range uint64(9) {
		h := newElement(k)
		if free.extend(p, &h) != nil {
			t.Errorf("h = %d isn't noticed", k)
		}
	}
	h := newElement(9)
	if free.extend(p, &h) == nil {
		t.Error("h = 9 isn't good enough")
	}
	for _, x := range signedSums(t, ps[:3]) {
		if free.extend(p, &x) != nil {
			t.Error("a root at infinity isn't noticed")
		}
	}
	for _, x := range signedSums(t, ps[:2]) {
		if free.extend(free.quadratic(&ps[0].X, &ps[1].X), &x) != nil {
			t.Error("a root of a quartic at infinity isn't noticed")
		}
	}
	if free.quadratic(&ps[0].X, &ps[0].X) != nil {
		t.Error("equal x aren't noticed")
	}
}

// ofRoots returns the polynomial with the given roots, times k.
func ofRoots(k int64, roots ...uint64) polynomial {
	p := polynomial{newElement(uint64(k))}
	for _, r := range roots {
		re := newElement(r)
		q := make(polynomial, len(p)+1)
		for i := range p {
			q[i+1] = add(q[i+1], p[i])
			var t element
			free.mul(&t, &p[i], &re)
			q[i] = sub(q[i], t)
		}
		p = q
	}
	return p
}

func TestCoprime(t *testing.T) {
	for _, test := range []struct {
		p, q polynomial
		want bool
	}{
		{ofRoots(1, 1), ofRoots(1, 2), true},
		{ofRoots(5, 1), ofRoots(1, 1), false},
		{ofRoots(3, 1, 2, 3, 4), ofRoots(7, 5, 6), true},
		{ofRoots(3, 1, 2, 3, 4), ofRoots(7, 5, 3), false},
		{ofRoots(7, 5, 3), ofRoots(3, 1, 2, 3, 4), false},
		{ofRoots(3, 1, 1, 1), ofRoots(2, 1, 1), false},
		{ofRoots(3, 1, 2, 3), ofRoots(2, 1, 2, 3), false},
		{ofRoots(3, 1, 2, 3), ofRoots(9, 4, 5, 6), true},
		{ofRoots(3), ofRoots(9, 4, 5, 6), true},
		{ofRoots(3, 0, 0), ofRoots(9, 0), false},
		{ofRoots(3, 0, 0), ofRoots(9, 1), true},
		// X⁴ + 1 and X⁴ + 2: three degrees less at once.
		{polynomial{one, {}, {}, {}, one}, polynomial{newElement(2), {}, {}, {}, one}, true},
		{polynomial{one, {}, {}, {}, one}, polynomial{one, {}, {}, {}, one}, false},
	} {
		p, q := append(polynomial(nil), test.p...), append(polynomial(nil), test.q...)
		if got := free.coprime(p, q); got != test.want {
			t.Errorf("%d and %d coefficients: %v", len(test.p), len(test.q), got)
		}
	}
}

// TestDecide decides for points whose signs are known, without curve arithmetic in between.
func TestDecide(t *testing.T) {
	for n := MinItems; n <= MaxItems; n++ {
		for range 4 {
			ps := randomPoints(t, n)
			hs := make([]element, n)
			var l sm2ec.Jacobian
			for i, p := range ps {
				hs[i] = p.X
				if randomInt(t).Bit(0) == 1 {
					p.Y = neg(p.Y)
				}
				free.addAffine(&sm2Curve, &l, &l, &p)
			}
			if v := free.decide(hs, &l); v != accepted {
				t.Errorf("%d points: %v", n, v)
			}
			l.Y = neg(l.Y)
			if v := free.decide(hs, &l); v != accepted {
				t.Errorf("%d points, -L: %v", n, v)
			}
			i := int(new(big.Int).Mod(randomInt(t), big.NewInt(int64(n))).Int64())
			good := hs[i]
			hs[i] = randomPoint(t).X
			if v := free.decide(hs, &l); v != rejected {
				t.Errorf("%d points, one wrong: %v", n, v)
			}
			hs[i] = good
			free.addAffine(&sm2Curve, &l, &l, &ps[0])
			if v := free.decide(hs, &l); v != rejected {
				t.Errorf("%d points, wrong sum: %v", n, v)
			}
		}
	}
}

// TestSeminumeric compares it with multiplication of the point.
func TestSeminumeric(t *testing.T) {
	p := randomPoint(t)
	c := free.rhs(&p.X)
	ks := []*big.Int{big.NewInt(1), big.NewInt(2), big.NewInt(3), new(big.Int).Sub(orderInt, big.NewInt(1))}
	for _, bits := range []int{8, 32, 128, 255} {
		ks = append(ks, new(big.Int).Rsh(randomInt(t), uint(256-bits)))
	}
	for _, k := range ks {
		if k.Sign() == 0 {
			continue
		}
		ke := scalarOf(k)
		num, den, ok := free.seminumeric(&p.X, &c, &ke)
		if !ok {
			t.Fatalf("%v: infinity", k)
		}
		want, _ := mulAdd(new(big.Int), k, &p)
		free.mul(&den, &den, &want.X)
		if num != den {
			t.Errorf("%v: wrong", k)
		}
	}
	// It goes through for an x that isn't on the curve, and doesn't tell.
	x := p.X
	for free.isSquare(&c) {
		x = add(x, one)
		c = free.rhs(&x)
	}
	k := scalarOf(big.NewInt(12345))
	if _, _, ok := free.seminumeric(&x, &c, &k); !ok {
		t.Error("infinity")
	}
	// Infinity shows: nR.
	c = free.rhs(&p.X)
	var n sm2ec.Scalar
	for i := range n {
		n[i] = new(big.Int).Rsh(orderInt, uint(64*i)).Uint64()
	}
	if _, _, ok := free.seminumeric(&p.X, &c, &n); ok {
		t.Error("nR isn't infinity")
	}
}

func TestIsSquare(t *testing.T) {
	squares := 0
	for x := uint64(1); x < 200; x++ {
		e := newElement(x)
		got := free.isSquare(&e)
		if want := big.Jacobi(new(big.Int).SetUint64(x), intOfP()) == 1; got != want {
			t.Errorf("%d: %v", x, got)
		}
		if got {
			squares++
		}
	}
	if squares == 0 || squares == 199 {
		t.Error("all are alike")
	}
}

func intOfP() *big.Int {
	p := intOf(neg(one))
	return p.Add(p, big.NewInt(1))
}

func TestConstants(t *testing.T) {
	if order.Bytes() != bytesOf(orderInt) {
		t.Error("n is wrong")
	}
	if d := new(big.Int).Sub(intOfP(), orderInt); gap != bytesOf(d) {
		t.Error("p-n is wrong")
	}
	twice := new(big.Int).Add(intOfP(), big.NewInt(1))
	twice.Lsh(twice, 1).Sub(twice, orderInt)
	if twistOrder.Cmp(twice) != 0 || new(big.Int).Mod(twice, big.NewInt(7)).Sign() != 0 {
		t.Error("the order of the twist is wrong")
	}
}

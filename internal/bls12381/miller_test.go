// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"math/big"
	"sync"
	"testing"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

func TestMillerLoop(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		for n := range 6 {
			var ps []bls.G1Affine
			var qs []bls.G2Affine
			var list []miller
			for i := range n {
				p, _ := randomG1()
				q, _ := randomG2()
				m := miller{p: p.toAffine(), q: q.toAffine()}
				if i == 4 {
					m.p.Neg(&list[1].p)
					m.q = list[1].q
				}
				list = append(list, m)
				ps, qs = append(ps, m.p), append(qs, m.q)
			}
			f := millerLoop(list)
			want := fe12One()
			if n > 0 {
				want = mustMiller(bls.MillerLoop(ps, qs))
			}
			if f != want {
				t.Fatalf("%d pairs: another value", n)
			}
			for i := range list {
				m := &list[i]
				z := slowMultG2(new(big.Int).SetUint64(seed), &m.q)
				var a bls.G2Affine
				a.FromJacobian(&z)
				a.X.Mul(&a.X, &m.t.z)
				a.Y.Mul(&a.Y, &m.t.z)
				if a.X != m.t.x || a.Y != m.t.y {
					t.Fatalf("%d pairs: another multiple of point %d", n, i)
				}
			}
		}
	})
}

func slowMultG2(k *big.Int, a *bls.G2Affine) (acc bls.G2Jac) {
	var p bls.G2Jac
	p.FromAffine(a)
	acc.FromAffine(&bls.G2Affine{})
	for i := k.BitLen() - 1; i >= 0; i-- {
		acc.DoubleAssign()
		if k.Bit(i) == 1 {
			acc.AddAssign(&p)
		}
	}
	return acc
}

// randomTwistPoint is anywhere on the twist.
func randomTwistPoint() (a bls.G2Affine) {
	var y2, b fe2
	b.A0.SetUint64(4)
	b.A1 = b.A0
	for {
		feRandom(&a.X.A0)
		feRandom(&a.X.A1)
		y2.Square(&a.X)
		y2.Mul(&y2, &a.X)
		y2.Add(&y2, &b)
		if a.Y.Sqrt(&y2); a.IsOnCurve() {
			return a
		}
	}
}

// twistCofactor is (z⁸ - 4z⁷ + 5z⁶ - 4z⁴ + 6z³ - 4z² - 4z + 13)/9, with z = -seed. The small
// primes in it are those of twistPrimes.
func twistCofactor() *big.Int {
	z := new(big.Int).SetUint64(seed)
	z.Neg(z)
	h := new(big.Int)
	for _, c := range []int64{1, -4, 5, 0, -4, 6, -4, -4, 13} {
		h.Mul(h, z)
		h.Add(h, big.NewInt(c))
	}
	return h.Quo(h, big.NewInt(9))
}

var twistPrimes = []int64{13, 23, 2713, 11953, 262069}

// hostilePoints returns points of the subgroup, points of each small order, sums of both,
// and points from anywhere.
func hostilePoints(t *testing.T) []bls.G2Affine {
	hostileOnce.Do(func() { hostileList = makeHostilePoints(t) })
	return hostileList
}

var (
	hostileOnce sync.Once
	hostileList []bls.G2Affine
)

func makeHostilePoints(t *testing.T) (list []bls.G2Affine) {
	in := func() bls.G2Affine {
		q, _ := randomG2()
		return q.toAffine()
	}
	for range 5 {
		list = append(list, in(), randomTwistPoint())
	}
	list = append(list, g2Generator.toAffine())
	order := new(big.Int).Mul(twistCofactor(), fr.Modulus())
	for _, l := range twistPrimes {
		e, rest := new(big.Int).QuoRem(order, big.NewInt(l), new(big.Int))
		if rest.Sign() != 0 {
			t.Fatalf("%d doesn't divide the order", l)
		}
		for new(big.Int).Mod(e, big.NewInt(l)).Sign() == 0 { // the square of l kills all
			e.Quo(e, big.NewInt(l))
		}
		for range 2 {
			r := randomTwistPoint()
			j := slowMultG2(e, &r)
			var a bls.G2Affine
			a.FromJacobian(&j)
			if a.IsInfinity() {
				continue
			}
			j = slowMultG2(big.NewInt(l), &a)
			if !j.Z.IsZero() {
				t.Fatalf("a point isn't of order %d", l)
			}
			n := a
			n.Neg(&n)
			b := in()
			list = append(list, a, n, *new(bls.G2Affine).Add(&a, &b))
		}
	}
	return list
}

func TestMillerSubgroup(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		inside, degenerate := 0, 0
		list := hostilePoints(t)
		p, _ := randomG1()
		minus := new(G1).Neg(p)
		for i, a := range list {
			r := slowMultG2(fr.Modulus(), &a)
			want := r.Z.IsZero()
			if want != a.IsInSubGroup() {
				t.Fatalf("%d: the backend is wrong", i)
			}
			m := []miller{{p: p.toAffine(), q: a}}
			millerLoop(m)
			if m[0].inSubgroup() != want {
				t.Fatalf("%d: in the subgroup: %t", i, want)
			}
			if m[0].t.z.IsZero() {
				degenerate++
			}
			q := g2FromAffine(&a)
			if want {
				inside++
			}
			// The product is 1 whatever the point is.
			if got := PairingCheckUncheckedVarTime(p, &q, PairOf(minus, &q)); got != want {
				t.Fatalf("%d: wrong verdict", i)
			}
			if PairingCheckUncheckedVarTime(p, &q, PairOf(p, &q)) {
				t.Fatalf("%d: another product is 1", i)
			}
			if PairingCheckUncheckedVarTime(p, &q) {
				t.Fatalf("%d: one pairing is 1", i)
			}
			// So it is if the loop leaves out the pairing.
			if got := PairingCheckUncheckedVarTime(NewG1(), &q); got != want {
				t.Fatalf("%d: wrong verdict with the identity", i)
			}
			if PairingCheckUncheckedVarTime(NewG1(), &q, PairOf(p, G2Generator())) {
				t.Fatalf("%d: the identity hides what isn't 1", i)
			}
			// An off-subgroup point must not pass by what it is next to.
			fixed := NewLinesVarTime(G2Generator())
			if PairingCheckUncheckedVarTime(p, &q, PairWith(minus, fixed)) != (a == g2Generator.toAffine()) {
				t.Fatalf("%d: wrong verdict with lines", i)
			}
		}
		if inside < 6 || degenerate < 3 {
			t.Errorf("%d inside, %d in cases of their own", inside, degenerate)
		}
		var id G2
		if !PairingCheckUncheckedVarTime(p, &id) {
			t.Error("the identity isn't in the subgroup")
		}
	})
}

// TestMillerCofactor adds points of small order to the right one: the product may be 1
// nevertheless.
func TestMillerCofactor(t *testing.T) {
	k := new(Scalar).Random()
	key := new(G1).ScalarBaseMult(k)
	hash := new(G2).HashVarTime([]byte("message"), []byte("test"))
	sig := new(G2).ScalarMult(k, hash)
	NormalizeG2(sig)
	minus := new(G1).Neg(G1Generator())
	if !PairingCheckUncheckedVarTime(minus, sig, PairOf(key, hash)) {
		t.Fatal("a good signature")
	}
	s := sig.toAffine()
	for i, a := range hostilePoints(t) {
		sum := *new(bls.G2Affine).Add(&s, &a)
		q := g2FromAffine(&sum)
		if PairingCheckUncheckedVarTime(minus, &q, PairOf(key, hash)) {
			t.Errorf("point %d added to the signature", i)
		}
	}
}

func TestSetBytesUnsafe(t *testing.T) {
	for i, a := range hostilePoints(t) {
		p := g2FromAffine(&a)
		var q, r G2
		if err := q.SetBytesUnsafe(p.Bytes()); err != nil || !q.Equal(&p) {
			t.Fatalf("%d: %v", i, err)
		}
		if in := r.SetBytes(p.Bytes()) == nil; in != q.InSubgroupVarTime() || in != a.IsInSubGroup() {
			t.Fatalf("%d: in the subgroup: %t", i, in)
		}
	}
	good := G2Generator().Bytes()
	for name, b := range map[string][]byte{
		"none":             nil,
		"short":            good[:95],
		"long":             append(good[:96:96], 0),
		"not compressed":   append([]byte{good[0] &^ 0x80}, good[1:]...),
		"identity and x":   append([]byte{0xc0}, good[1:]...),
		"not reduced":      append([]byte{0x9f, 0xff}, good[2:]...),
		"identity, signed": append([]byte{0xe0}, make([]byte, 95)...),
	} {
		if err := new(G2).SetBytesUnsafe(b); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	var p G2
	if err := p.SetBytesUnsafe(append([]byte{0xc0}, make([]byte, 95)...)); err != nil || !p.IsIdentity() {
		t.Error("the identity is refused")
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"crypto/ecdsa"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/emmansun/gmsm/sm2"
)

// oracle is gmsm's verdict.
func oracle(it *Item) bool {
	pub, err := publicKey(&it.P)
	e := it.E.Bytes()
	return err == nil && sm2.Verify(pub, e[:], toBig(it.R), toBig(it.S))
}

func publicKey(p *Affine) (*ecdsa.PublicKey, error) {
	x, y := p.X.Bytes(), p.Y.Bytes()
	return sm2.NewPublicKey(slices.Concat([]byte{4}, x[:], y[:]))
}

// signed returns a signature of e with the key d and the nonce k.
func signed(d, k, e *big.Int) Item {
	r := multipleX(k)
	r.Add(r, e).Mod(r, bigN)
	s := new(big.Int).Mul(r, d)
	s.Sub(k, s)
	s.Mul(s, new(big.Int).ModInverse(new(big.Int).Add(d, big.NewInt(1)), bigN))
	return Item{P: bigMultiple(d), E: scalarOf(e), R: scalarOf(r), S: scalarOf(s)}
}

func multipleX(k *big.Int) *big.Int { p := bigMultiple(k); return bigOf(&p.X) }

func randInt(r *rand.Rand) *big.Int { k := randScalar(r); return toBig(k) }

// withPoint returns an item with sG + tP = q and x(q) = r - e, whatever q is.
func withPoint(r *rand.Rand, q *Affine) Item {
	var it Item
	it.S = randScalar(r)
	t := randScalar(r)
	it.R.Sub(&t, &it.S)
	x := elementBigScalar(&q.X)
	it.E.Sub(&it.R, &x)
	var p Jacobian
	var neg Scalar
	neg.Neg(&it.S)
	p.BaseMult(&neg)
	p.AddAffine(&p, q)
	a, _ := p.Affine()
	inv := scalarOf(new(big.Int).ModInverse(toBig(t), bigN))
	p.ScalarMult(&a, &inv)
	it.P, _ = p.Affine()
	return it
}

func elementBigScalar(x *Element) Scalar { return scalarOf(bigOf(x)) }

// pointsFrom returns count points with the lowest x from start on.
func pointsFrom(start *big.Int, count int) (ps []Affine) {
	for x := new(big.Int).Set(start); len(ps) < count; x.Add(x, big.NewInt(1)) {
		p := Affine{X: elementOf(x)}
		curveRHS(&p.Y, &p.X)
		if p.Y.Sqrt(&p.Y) {
			ps = append(ps, p)
		}
	}
	return ps
}

// crafted returns items that are out of the ordinary, good ones and bad ones.
func crafted(r *rand.Rand) (items []Item) {
	one := big.NewInt(1)
	// Keys that are multiples of G by powers of two and small numbers.
	var keys []*big.Int
	for _, i := range []uint{0, 1, 2, 3, 8, 13, 64, 104, 255} {
		k := new(big.Int).Lsh(one, i)
		keys = append(keys, k, new(big.Int).Sub(bigN, k))
	}
	keys = append(keys, big.NewInt(3), new(big.Int).ModInverse(big.NewInt(2), bigN))
	minusOne := new(big.Int).Sub(bigN, one)
	for _, d := range keys {
		d.Mod(d, bigN)
		if d.Cmp(minusOne) != 0 {
			items = append(items, signed(d, randInt(r), randInt(r)), signed(d, one, randInt(r)), signed(d, d, randInt(r)))
		}
		// s = t, s = -t and s = td, so that table entries repeat.
		for _, f := range []*big.Int{one, minusOne, d} {
			t := randInt(r)
			s := new(big.Int).Mul(t, f)
			it := Item{P: bigMultiple(d), S: scalarOf(s), R: scalarOf(new(big.Int).Sub(t, s))}
			sum := new(big.Int).Mul(t, d)
			sum.Add(sum, s)
			if sum.Mod(sum, bigN).Sign() != 0 {
				it.E = scalarOf(new(big.Int).Sub(toBig(it.R), multipleX(sum)))
			}
			items = append(items, it)
		}
		// sG + tP is infinity.
		t := randInt(r)
		s := new(big.Int).Mul(t, d)
		s.Neg(s)
		items = append(items, Item{P: bigMultiple(d), E: randScalar(r), S: scalarOf(s), R: scalarOf(new(big.Int).Sub(t, s))})
	}
	// x beyond n, x just below p - n so that x + n is a candidate too, and x just above.
	edge := new(big.Int).Sub(bigP, bigN)
	for _, from := range []*big.Int{bigN, new(big.Int).Sub(bigP, big.NewInt(50)), new(big.Int), new(big.Int).Sub(edge, big.NewInt(20)), edge} {
		for _, q := range pointsFrom(from, 4) {
			items = append(items, withPoint(r, &q))
		}
	}
	// Scalars of few bits, and at the ends.
	for _, k := range []*big.Int{one, big.NewInt(2), minusOne, new(big.Int).Lsh(one, 255)} {
		for _, l := range []*big.Int{one, big.NewInt(2), minusOne} {
			p := randPoint(r)
			it := Item{P: p, S: scalarOf(k), R: scalarOf(new(big.Int).Sub(l, k))}
			var q Jacobian
			t := scalarOf(l)
			q.ScalarMult(&p, &t)
			q.addMultiple(smallGenerator(), &it.S)
			a, _ := q.Affine()
			x := elementBigScalar(&a.X)
			it.E.Sub(&it.R, &x)
			items = append(items, it)
		}
	}
	good := signed(randInt(r), randInt(r), randInt(r))
	for i := range 8 {
		it := good
		switch i {
		case 0:
			it.R = Scalar{}
		case 1:
			it.S = Scalar{}
		case 2:
			it.S.Neg(&it.R)
		case 3:
			it.R.Neg(&it.R)
		case 4:
			it.S.Neg(&it.S)
		case 5:
			it.E.Neg(&it.E)
		case 6:
			it.P.Neg(&it.P)
		case 7:
			it.E = it.R // x = 0, or n, which no point has, as it happens
		}
		items = append(items, it)
	}
	return items
}

// ordinary returns n items of signers keys, one in eight of which is spoilt.
func ordinary(r *rand.Rand, n, signers int) []Item {
	var ds []*big.Int
	for range signers {
		ds = append(ds, randInt(r))
	}
	items := make([]Item, n)
	one := Scalar{1}
	for i := range items {
		it := signed(ds[i%signers], randInt(r), randInt(r))
		switch r.IntN(32) {
		case 0:
			it.R.Add(&it.R, &one)
		case 1:
			it.S.Add(&it.S, &one)
		case 2:
			it.E.Add(&it.E, &one)
		case 3:
			it.P.Neg(&it.P)
		}
		items[i] = it
	}
	return items
}

func TestVerifySingle(t *testing.T) { onTiers(t, testVerifySingle) }

func testVerifySingle(t *testing.T) {
	r := newRand(t)
	good, bad := 0, 0
	for _, it := range append(crafted(r), ordinary(r, 200, 50)...) {
		want := oracle(&it)
		if got := VerifySingle(&it); got != want {
			t.Fatalf("%v, gmsm says %v: %x", got, want, it)
		}
		if want {
			good++
		} else {
			bad++
		}
	}
	if good < 200 || bad < 40 {
		t.Fatalf("only %d good and %d bad items", good, bad)
	}
	off := signed(randInt(r), randInt(r), randInt(r))
	off.P.Y.Add(&off.P.Y, &feOne)
	if VerifySingle(&off) || VerifySingle(&Item{}) {
		t.Fatal("key off the curve")
	}
}

func TestXCandidates(t *testing.T) {
	edge := new(big.Int).Sub(bigP, bigN)
	for d := int64(-2); d <= 2; d++ {
		x := new(big.Int).Add(edge, big.NewInt(d))
		it := Item{R: scalarOf(x)}
		x0, x1, two := it.XCandidates()
		if want := d < 0; two != want {
			t.Fatalf("p - n + %d: two candidates: %v", d, two)
		}
		if bigOf(&x0).Cmp(x) != 0 {
			t.Fatalf("p - n + %d: first candidate %x", d, bigOf(&x0))
		}
		if two && bigOf(&x1).Cmp(x.Add(x, bigN)) != 0 {
			t.Fatalf("p - n + %d: second candidate %x", d, bigOf(&x1))
		}
	}
}

func BenchmarkVerifySingle(b *testing.B) {
	r := newRand(b)
	items := ordinary(r, 64, 64)
	for _, name := range Tiers() {
		b.Run("tier="+name, func(b *testing.B) {
			defer ForceTier(name)()
			i := 0
			for b.Loop() {
				VerifySingle(&items[i%len(items)])
				i++
			}
		})
	}
	b.Run("gmsm", func(b *testing.B) {
		type call struct {
			pub  *ecdsa.PublicKey
			e    []byte
			r, s *big.Int
		}
		var calls []call
		for i := range items {
			it := &items[i]
			e := it.E.Bytes()
			pub, err := publicKey(&it.P)
			if err != nil {
				b.Fatal(err)
			}
			calls = append(calls, call{pub, e[:], toBig(it.R), toBig(it.S)})
		}
		i := 0
		for b.Loop() {
			c := &calls[i%len(calls)]
			sm2.Verify(c.pub, c.e, c.r, c.s)
			i++
		}
	})
}

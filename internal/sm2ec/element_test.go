// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

func checkElement(t *testing.T, what string, got *Element, want *big.Int, in ...*big.Int) {
	t.Helper()
	w := elementOf(want)
	if *got != w {
		t.Fatalf("%s%x:\n got %x\nwant %x", what, in, got, w)
	}
}

func TestElement(t *testing.T) { onTiers(t, testElement) }

func testElement(t *testing.T) {
	r := newRand(t)
	xs := edges(r)
	for _, x := range xs {
		// The Montgomery form itself is an edge value too.
		if raw := Element(limbs(x)); raw.belowP() {
			xs = append(xs, bigOf(&raw))
		}
	}
	w := new(big.Int)
	for _, bx := range xs {
		x := elementOf(bx)
		var z Element
		z.Sqr(&x)
		checkElement(t, "sqr", &z, w.Mul(bx, bx), bx)
		z.Neg(&x)
		checkElement(t, "neg", &z, w.Neg(bx), bx)
		z.Double(&x)
		checkElement(t, "double", &z, w.Add(bx, bx), bx)
		z.Inv(&x)
		if x.IsZero() {
			w.SetInt64(0)
		} else {
			w.ModInverse(bx, bigP)
		}
		checkElement(t, "inv", &z, w, bx)
		if w.Mod(bx, bigP); x.IsOdd() != (w.Bit(0) == 1) {
			t.Fatalf("parity of %x", bx)
		}
		root := Element{1, 2, 3, 4}
		ok := root.Sqrt(&x)
		if big.Jacobi(w, bigP) < 0 == ok {
			t.Fatalf("sqrt of %x: %v", bx, ok)
		}
		if z.Sqr(&root); ok && z != x {
			t.Fatalf("sqrt of %x: its square is %x", bx, z)
		} else if !ok && root != (Element{1, 2, 3, 4}) {
			t.Fatal("sqrt wrote to its result in failing")
		}
		for _, by := range xs {
			y := elementOf(by)
			z.Mul(&x, &y)
			checkElement(t, "mul", &z, w.Mul(bx, by), bx, by)
			z.Add(&x, &y)
			checkElement(t, "add", &z, w.Add(bx, by), bx, by)
			z.Sub(&x, &y)
			checkElement(t, "sub", &z, w.Sub(bx, by), bx, by)
			z = x
			z.Mul(&z, &y)
			checkElement(t, "mul in place", &z, w.Mul(bx, by), bx, by)
			z = y
			z.Mul(&x, &z)
			checkElement(t, "mul in place", &z, w.Mul(bx, by), bx, by)
		}
		z = x
		z.sqrN(5)
		checkElement(t, "sqr 5 times", &z, new(big.Int).Exp(bx, big.NewInt(32), bigP), bx)
		z = x
		z.Mul(&z, &z)
		checkElement(t, "sqr in place", &z, w.Mul(bx, bx), bx)
	}
}

func TestElementBytes(t *testing.T) {
	for _, x := range edges(newRand(t)) {
		var b [32]byte
		x.FillBytes(b[:])
		z := Element{5}
		if ok := z.SetBytes(&b); ok != (x.Cmp(bigP) < 0) {
			t.Fatalf("%x: %v", x, ok)
		} else if !ok && z != (Element{5}) {
			t.Fatal("SetBytes wrote to its result in failing")
		} else if ok && z.Bytes() != b {
			t.Fatalf("%x became %x", b, z.Bytes())
		}
	}
}

func TestInv(t *testing.T) {
	r := newRand(t)
	check := func(x *Element) {
		t.Helper()
		var z Element
		z.Inv(x)
		if !z.belowP() {
			t.Fatalf("the inverse of %x isn't reduced: %x", x, z)
		}
		if z.Mul(&z, x); z != feOne && !x.IsZero() {
			t.Fatalf("%x times its inverse is %x", x, z)
		}
	}
	for _, x := range randElements(r, 3000) {
		check(&x)
	}
	// Few bits, many bits, and powers of two, as they lie in memory.
	for i := range 256 {
		var x, y Element
		x[i/64] = 1 << (i % 64)
		y.Neg(&x)
		for range 3 {
			for _, e := range []*Element{&x, &y} {
				if e.belowP() {
					check(e)
				}
			}
			x[0]++
			y.Sub(&y, &Element{1})
		}
	}
}

func TestInvBatch(t *testing.T) { onTiers(t, testInvBatch) }

func testInvBatch(t *testing.T) {
	r := newRand(t)
	for _, n := range []int{0, 1, 2, 3, 100} {
		xs := make([]Element, n)
		for i := range xs {
			xs[i] = Element{r.Uint64(), r.Uint64(), 1, uint64(i)}
		}
		ys := append([]Element{}, xs...)
		InvBatch(ys)
		for i := range xs {
			var z Element
			if z.Mul(&xs[i], &ys[i]); z != feOne {
				t.Fatalf("%d of %d: %x", i, n, z)
			}
		}
	}
}

func FuzzElement(f *testing.F) {
	for _, x := range edges(rand.New(rand.NewPCG(1, 2))) {
		f.Add(x.FillBytes(make([]byte, 32)), bigP.Bytes())
	}
	f.Fuzz(func(t *testing.T, xb, yb []byte) {
		if len(xb) > 32 || len(yb) > 32 {
			return
		}
		// The limbs in memory are what strains carries.
		x, y := Element(limbs(new(big.Int).SetBytes(xb))), Element(limbs(new(big.Int).SetBytes(yb)))
		if !x.belowP() || !y.belowP() {
			return
		}
		bx, by := bigOf(&x), bigOf(&y)
		for _, name := range Tiers() {
			restore := ForceTier(name)
			var z Element
			z.Mul(&x, &y)
			checkElement(t, name+" mul", &z, new(big.Int).Mul(bx, by), bx, by)
			z.Sqr(&x)
			checkElement(t, name+" sqr", &z, new(big.Int).Mul(bx, bx), bx)
			z.Add(&x, &y)
			checkElement(t, "add", &z, new(big.Int).Add(bx, by), bx, by)
			z.Sub(&x, &y)
			checkElement(t, "sub", &z, new(big.Int).Sub(bx, by), bx, by)
			if z.Inv(&x); bx.Sign() != 0 {
				checkElement(t, name+" inv", &z, new(big.Int).ModInverse(bx, bigP), bx)
			} else if !z.IsZero() {
				t.Fatal("the inverse of zero isn't zero")
			}
			restore()
		}
	})
}

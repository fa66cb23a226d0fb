// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"math/big"
	"testing"
)

func TestScalar(t *testing.T) {
	check := func(what string, got *Scalar, want *big.Int, in ...*big.Int) {
		t.Helper()
		if w := scalarOf(want); *got != w {
			t.Fatalf("%s%x:\n got %x\nwant %x", what, in, got, w)
		}
	}
	xs := edges(newRand(t))
	w := new(big.Int)
	for _, bx := range xs {
		var b [32]byte
		bx.FillBytes(b[:])
		z := Scalar{5}
		if ok := z.SetBytes(&b); ok != (bx.Cmp(bigN) < 0) {
			t.Fatalf("%x: %v", bx, ok)
		} else if !ok && z != (Scalar{5}) {
			t.Fatal("SetBytes wrote to its result in failing")
		} else if ok && z.Bytes() != b {
			t.Fatalf("%x became %x", b, z.Bytes())
		}
		z.SetDigest(&b)
		check("digest", &z, bx, bx)
		x := scalarOf(bx)
		z.Neg(&x)
		check("neg", &z, w.Neg(bx), bx)
		if x.IsZero() != (w.Mod(bx, bigN).Sign() == 0) {
			t.Fatalf("%x is zero: %v", bx, x.IsZero())
		}
		for _, by := range xs {
			y := scalarOf(by)
			z.Add(&x, &y)
			check("add", &z, w.Add(bx, by), bx, by)
			z.Sub(&x, &y)
			check("sub", &z, w.Sub(bx, by), bx, by)
			z.Mul(&x, &y)
			check("mul", &z, w.Mul(bx, by), bx, by)
			z = x
			z.Mul(&z, &y)
			check("mul in place", &z, w.Mul(bx, by), bx, by)
		}
	}
}

func TestDigits(t *testing.T) {
	r := newRand(t)
	for _, bk := range edges(r) {
		k := scalarOf(bk)
		if k.IsZero() {
			continue
		}
		for w := 2; w <= maxWidth; w++ {
			d := make([]int32, windows(w))
			want := toBig(k)
			if k.oddDigits(d, w) != (k[0]&1 == 0) {
				t.Fatalf("%x w=%d: wrong sign", k, w)
			} else if k[0]&1 == 0 {
				want.Sub(bigN, want)
			}
			sum := new(big.Int)
			for i := len(d) - 1; i >= 0; i-- {
				if d[i]&1 == 0 || d[i] >= 1<<w || d[i] <= -1<<w {
					t.Fatalf("%x w=%d: digit %d is %d", k, w, i, d[i])
				}
				sum.Lsh(sum, uint(w)).Add(sum, big.NewInt(int64(d[i])))
			}
			if sum.Cmp(want) != 0 {
				t.Fatalf("%x w=%d: digits are those of %x", k, w, sum)
			}
			if last := d[len(d)-1]; last < 1 || int(last/2) >= lastLen(w) {
				t.Fatalf("%x w=%d: the last digit is %d", k, w, last)
			}
		}
		for w := 2; w <= 7; w++ {
			var d [257]int8
			n := k.nafDigits(&d, w)
			sum, gap := new(big.Int), w
			for i := n - 1; i >= 0; i-- {
				sum.Lsh(sum, 1).Add(sum, big.NewInt(int64(d[i])))
				gap++
				if d[i] == 0 {
					continue
				}
				if d[i]&1 == 0 || int(d[i]) >= 1<<(w-1) || int(d[i]) <= -1<<(w-1) || gap < w {
					t.Fatalf("%x w=%d: digit %d is %d after %d", k, w, i, d[i], gap)
				}
				gap = 0
			}
			if sum.Cmp(toBig(k)) != 0 {
				t.Fatalf("%x w=%d: digits are those of %x", k, w, sum)
			}
		}
	}
}

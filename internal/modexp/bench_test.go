// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"fmt"
	"math/big"
	"testing"

	"filippo.io/bigmod"
)

func benchModulus(b *testing.B, bits int) (n, x, e *big.Int) {
	r := newRand(b)
	n = randBits(r, bits)
	n.SetBit(n, 0, 1).SetBit(n, bits-1, 1)
	e = randBits(r, bits)
	e.SetBit(e, bits-1, 1)
	return n, randBelow(r, n), e
}

func BenchmarkProduct(b *testing.B) {
	for _, bits := range []int{1024, 2048, 4096} {
		n, x, _ := benchModulus(b, bits)
		m := mustModulus(b, n)
		ex := mustElement(b, m, x)
		z := m.NewElement()
		t := make([]uint64, 2*len(m.n))
		b.Run(fmt.Sprintf("op=mul/bits=%d", bits), func(b *testing.B) {
			for b.Loop() {
				m.mul(z.l, ex.l, ex.l, t)
			}
		})
		b.Run(fmt.Sprintf("op=sqr/bits=%d", bits), func(b *testing.B) {
			for b.Loop() {
				m.sqr(z.l, ex.l, t)
			}
		})
		table := make([]uint64, 64*len(m.n))
		b.Run(fmt.Sprintf("op=select64/bits=%d", bits), func(b *testing.B) {
			for b.Loop() {
				selectLimbs(z.l, table, 63)
			}
		})
		b.Run(fmt.Sprintf("op=redc/bits=%d", bits), func(b *testing.B) {
			for b.Loop() {
				redcLimbs(z.l, t, m.n, m.k0)
			}
		})
		b.Run(fmt.Sprintf("op=double/bits=%d", bits), func(b *testing.B) {
			for b.Loop() {
				doubleLimbs(z.l, m.n)
			}
		})
	}
}

func BenchmarkExp(b *testing.B) {
	for _, bits := range []int{1024, 2048, 3072, 4096} {
		n, x, e := benchModulus(b, bits)
		m := mustModulus(b, n)
		ex, z, en := mustElement(b, m, x), m.NewElement(), natOf(e, bits)
		b.Run(fmt.Sprintf("impl=modexp/bits=%d", bits), func(b *testing.B) {
			for b.Loop() {
				m.Exp(z, ex, en)
			}
		})
		b.Run(fmt.Sprintf("impl=vartime/bits=%d", bits), func(b *testing.B) {
			for b.Loop() {
				m.ExpVarTime(z, ex, e)
			}
		})
		b.Run(fmt.Sprintf("impl=big/bits=%d", bits), func(b *testing.B) {
			for b.Loop() {
				new(big.Int).Exp(x, e, n)
			}
		})
		b.Run(fmt.Sprintf("impl=bigmod/bits=%d", bits), func(b *testing.B) {
			bm, err := bigmod.NewModulus(n.Bytes())
			if err != nil {
				b.Fatal(err)
			}
			bx, err := bigmod.NewNat().SetBytes(x.FillBytes(make([]byte, bm.Size())), bm)
			if err != nil {
				b.Fatal(err)
			}
			be := e.Bytes()
			for b.Loop() {
				bigmod.NewNat().Exp(bx, be, bm)
			}
		})
	}
}

// Two secret exponents over one fresh base, as signing a share with its proof
// needs them; and one over a base that lives long.
func BenchmarkTable(b *testing.B) {
	for _, bits := range []int{2048, 4096} {
		n, x, _ := benchModulus(b, bits)
		m := mustModulus(b, n)
		ex, z := mustElement(b, m, x), m.NewElement()
		e := natOf(randBits(newRand(b), bits+512), bits+512)
		b.Run(fmt.Sprintf("use=pair/bits=%d", bits), func(b *testing.B) {
			for b.Loop() {
				t := m.NewTable(ex, bits+512, 2)
				t.Exp(z, e)
				t.Exp(z, e)
			}
		})
		t := m.NewTable(ex, bits+512, 1000)
		b.Logf("%+v", t.shape)
		b.Run(fmt.Sprintf("use=long/bits=%d", bits), func(b *testing.B) {
			for b.Loop() {
				t.Exp(z, e)
			}
		})
		b.Run(fmt.Sprintf("use=longvartime/bits=%d", bits), func(b *testing.B) {
			eb := toBig(e)
			for b.Loop() {
				t.ExpVarTime(z, eb)
			}
		})
	}
}

func BenchmarkMultiExp(b *testing.B) {
	for _, c := range []struct {
		count, bits int
		exps        []int
	}{
		{2, 4096, []int{4608, 256}},
		{10, 2048, []int{2000}},
		{255, 2048, []int{2000}},
	} {
		r := newRand(b)
		n, _, _ := benchModulus(b, c.bits)
		m := mustModulus(b, n)
		var xs []*Element
		var es []*big.Int
		for i := range c.count {
			xs = append(xs, mustElement(b, m, randBelow(r, n)))
			es = append(es, randBits(r, c.exps[i%len(c.exps)]))
		}
		z := m.NewElement()
		b.Run(fmt.Sprintf("bases=%d/bits=%d", c.count, c.bits), func(b *testing.B) {
			for b.Loop() {
				if err := m.MultiExpVarTime(z, xs, es); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFermatBase2(b *testing.B) {
	for _, bits := range []int{512, 1023, 1024, 2047, 2048, 4096} {
		n, _, _ := benchModulus(b, bits)
		b.Run(fmt.Sprintf("impl=modexp/bits=%d", bits), func(b *testing.B) {
			for b.Loop() {
				FermatBase2(n)
			}
		})
		b.Run(fmt.Sprintf("impl=big/bits=%d", bits), func(b *testing.B) {
			e := new(big.Int).Sub(n, big.NewInt(1))
			for b.Loop() {
				new(big.Int).Exp(big.NewInt(2), e, n)
			}
		})
	}
}

func BenchmarkNewModulus(b *testing.B) {
	for _, bits := range []int{1023, 1024, 2049, 4096} {
		n, _, _ := benchModulus(b, bits)
		b.Run(fmt.Sprintf("bits=%d", bits), func(b *testing.B) {
			for b.Loop() {
				if _, err := NewModulus(n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

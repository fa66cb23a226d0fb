// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"bytes"
	"testing"
)

func TestGTCompressed(t *testing.T) {
	x := new(GT).PairVarTime(G1Generator(), G2Generator())
	var k Scalar
	for i := range 16 {
		var z GT
		x = new(GT).ExpVarTime(x, k.Random())
		b := x.AppendCompressed([]byte{7})
		if len(b) != 1+GTSizeCompressed || b[0] != 7 {
			t.Fatalf("%d bytes", len(b))
		}
		if err := z.SetCompressed(b[1:]); err != nil || !z.Equal(x) {
			t.Fatalf("%d: another element: %v", i, err)
		}
		b[1+i*17%GTSizeCompressed] ^= 1
		if err := z.SetCompressed(b[1:]); err == nil {
			t.Fatalf("%d: a changed one is in GT", i)
		}
	}
	// -w and its kin have norm 1 and another order; 0 is -1, and 1 has no coordinate.
	z := *x
	one := new(GT).AppendCompressed(nil)
	small := bytes.Clone(one)
	small[GTSizeCompressed-1] = 1
	modulus := append(make([]byte, 240), modulusBytes()...)
	over := bytes.Clone(modulus)
	over[GTSizeCompressed-1]++
	for name, b := range map[string][]byte{
		"nothing": nil, "one": one, "small": small, "short": x.AppendCompressed(nil)[1:],
		"long": append(x.AppendCompressed(nil), 0), "modulus": modulus, "over": over,
		"all ones": bytes.Repeat([]byte{255}, GTSizeCompressed),
	} {
		if z.SetCompressed(b) == nil {
			t.Errorf("%s: decoded", name)
		}
		if !z.Equal(x) {
			t.Fatalf("%s: the receiver has changed", name)
		}
	}
	var c, v fe6
	v = x.v.C1
	fe6Invert(&c, &v)
	fe6Mul(&c, &c, &v)
	fe6Sub(&c, &c, &fe6{B0: fe2One})
	if !c.IsZero() {
		t.Error("inverse in Fp6")
	}
}

// modulusBytes returns p.
func modulusBytes() []byte {
	var z fe
	feSub(&z, &z, &feOne)
	b := feAppend(nil, &z) // p - 1 is even
	b[len(b)-1]++
	return b
}

func FuzzGTCompressed(f *testing.F) {
	f.Add(new(GT).PairVarTime(G1Generator(), G2Generator()).AppendCompressed(nil))
	f.Add(make([]byte, GTSizeCompressed))
	f.Fuzz(func(t *testing.T, b []byte) {
		var z, y GT
		if z.SetCompressed(b) != nil {
			return
		}
		if !bytes.Equal(z.AppendCompressed(nil), b) || y.SetBytes(z.Bytes()) != nil {
			t.Fatalf("%x", b)
		}
	})
}

func BenchmarkGTCompressed(b *testing.B) {
	x := new(GT).PairVarTime(G1Generator(), G2Generator())
	enc := x.AppendCompressed(nil)
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			x.AppendCompressed(enc[:0])
		}
	})
	b.Run("set", func(b *testing.B) {
		for b.Loop() {
			if err := x.SetCompressed(enc); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("set/whole", func(b *testing.B) {
		enc := x.Bytes()
		for b.Loop() {
			if err := x.SetBytes(enc); err != nil {
				b.Fatal(err)
			}
		}
	})
}

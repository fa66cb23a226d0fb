// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"bytes"
	"math/big"
	"os"
	"testing"
)

func long() bool { return os.Getenv("UNDERSIGN_LONG") != "" }

func TestNewModulusErrors(t *testing.T) {
	tooLong := pow2(MaxBits)
	tooLong.SetBit(tooLong, 0, 1)
	for _, n := range []*big.Int{
		nil, new(big.Int), big.NewInt(1), big.NewInt(2), big.NewInt(4), big.NewInt(-3), pow2(1024), tooLong,
	} {
		if _, err := NewModulus(n); err == nil {
			t.Errorf("NewModulus(%v): no error", n)
		}
	}
	if _, err := NewModulus(new(big.Int).Sub(pow2(MaxBits), big.NewInt(1))); err != nil {
		t.Error(err)
	}
}

func TestModulusSize(t *testing.T) {
	for bits, size := range map[int]int{2: 1, 8: 1, 9: 2, 21: 3, 1024: 128, 1025: 129, 2047: 256} {
		n := pow2(bits - 1)
		m := mustModulus(t, n.SetBit(n, 0, 1))
		if m.BitLen() != bits || m.Size() != size || len(m.Bytes(m.One())) != size {
			t.Errorf("bits=%d: BitLen=%d Size=%d", bits, m.BitLen(), m.Size())
		}
		if got, want := len(m.Nat(m.One())), (bits+63)/64; got != want {
			t.Errorf("bits=%d: Nat has %d limbs", bits, got)
		}
	}
}

// The modulus is copied in and out.
func TestModulusCopies(t *testing.T) {
	n := big.NewInt(1000003)
	m := mustModulus(t, n)
	n.SetInt64(7)
	m.Big().SetInt64(9)
	check(t, "modulus", m.Big(), big.NewInt(1000003))
	z := m.One()
	z.Wipe()
	check(t, "one", m.BigVarTime(m.One()), big.NewInt(1))
}

func TestSetBytesStrict(t *testing.T) {
	r := newRand(t)
	for _, bits := range []int{21, 1024, 2049} {
		for _, n := range testModuli(r, bits) {
			m := mustModulus(t, n)
			size := m.Size()
			enc := func(x *big.Int) []byte { return x.FillBytes(make([]byte, size)) }
			last := new(big.Int).Sub(n, big.NewInt(1))
			for _, x := range []*big.Int{new(big.Int), big.NewInt(1), last} {
				z, err := m.SetBytes(enc(x))
				if err != nil {
					t.Fatalf("SetBytes(%x): %v", x, err)
				}
				if !bytes.Equal(m.Bytes(z), enc(x)) {
					t.Fatalf("SetBytes(%x) does not come back", x)
				}
			}
			for name, b := range map[string][]byte{
				"n":        enc(n),
				"all ones": bytes.Repeat([]byte{0xff}, size),
				"short":    enc(last)[1:],
				"empty":    nil,
				"long":     append([]byte{0}, enc(last)...),
			} {
				if name == "all ones" && new(big.Int).SetBytes(b).Cmp(n) < 0 {
					t.Fatal("the test is wrong")
				}
				if _, err := m.SetBytes(b); err == nil {
					t.Errorf("%d bits, %s: no error", bits, name)
				}
			}
			for name, x := range map[string]*big.Int{
				"nil": nil, "negative": big.NewInt(-1), "n": n, "n+1": new(big.Int).Add(n, big.NewInt(1)),
				"wide": pow2(bits + 100),
			} {
				if _, err := m.SetBig(x); err == nil {
					t.Errorf("%d bits, SetBig of %s: no error", bits, name)
				}
			}
		}
	}
}

func TestSetNat(t *testing.T) { onKernels(t, testSetNat) }

func testSetNat(t *testing.T) {
	r := newRand(t)
	for _, bits := range []int{2, 21, 512, 1000, 2048} {
		for _, n := range testModuli(r, bits) {
			m := mustModulus(t, n)
			if m.Nat(m.SetNat(nil)).Equal(nil) != 1 {
				t.Fatal("SetNat of no limbs is not 0")
			}
			for _, limbs := range []int{1, 2, 7, 8, 9, 15, 16, 17, 40, 100} {
				for _, x := range limbPatterns(r, limbs) {
					want := toBig(x)
					check(t, "SetNat", m.BigVarTime(m.SetNat(x)), want.Mod(want, n))
				}
			}
		}
	}
}

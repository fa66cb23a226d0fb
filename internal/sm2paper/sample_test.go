// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2paper

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"math/big"
	"testing"

	"github.com/emmansun/gmsm/sm2"
)

func TestNewItem(t *testing.T) {
	priv, err := sm2.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	pub := &priv.PublicKey
	for _, n := range []int{0, 1, 31, 32, 33, 64} {
		digest := make([]byte, n)
		rand.Read(digest)
		sig, err := sm2.SignASN1(rand.Reader, priv, digest, nil)
		if err != nil {
			t.Fatal(err)
		}
		it, err := NewItem(pub, digest, sig)
		if err != nil {
			t.Fatal(err)
		}
		if ok, _ := VerifySingle(it); !ok {
			t.Errorf("digest of %d bytes: rejected", n)
		}
		for name, bad := range map[string][]byte{
			"empty":    {},
			"trailing": append(bytes.Clone(sig), 0),
			"cut":      sig[:len(sig)-1],
			"negative": {0x30, 6, 2, 1, 0x80, 2, 1, 1},
			"padded":   {0x30, 7, 2, 2, 0, 1, 2, 1, 1},
			"one":      {0x30, 3, 2, 1, 1},
			"three":    {0x30, 9, 2, 1, 1, 2, 1, 1, 2, 1, 1},
			"long":     append([]byte{0x30, 38, 2, 33, 1}, append(make([]byte, 32), 2, 1, 1)...),
		} {
			if _, err := NewItem(pub, digest, bad); err == nil || sm2.VerifyASN1(pub, digest, bad) {
				t.Errorf("%s: taken", name)
			}
		}
	}
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sig := []byte{0x30, 6, 2, 1, 1, 2, 1, 1}
	for name, key := range map[string]*ecdsa.PublicKey{
		"other curve": &p256.PublicKey,
		"off curve":   {Curve: sm2.P256(), X: big.NewInt(1), Y: big.NewInt(1)},
		"infinity":    {Curve: sm2.P256(), X: new(big.Int), Y: new(big.Int)},
		"nothing":     {Curve: sm2.P256()},
		"no key":      nil,
		"negative":    {Curve: sm2.P256(), X: new(big.Int).Neg(priv.X), Y: priv.Y},
		"large":       {Curve: sm2.P256(), X: new(big.Int).Lsh(priv.X, 256), Y: priv.Y},
		"no curve":    {X: big.NewInt(1), Y: big.NewInt(1)},
	} {
		if _, err := NewItem(key, make([]byte, 32), sig); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func FuzzNewItem(f *testing.F) {
	priv, err := sm2.GenerateKey(rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	digest := make([]byte, 32)
	sig, err := sm2.SignASN1(rand.Reader, priv, digest, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(digest, sig)
	f.Add([]byte{}, []byte{0x30, 6, 2, 1, 1, 2, 1, 1})
	f.Add(digest, []byte{0x30, 6, 2, 1, 0x80, 2, 1, 1})
	f.Fuzz(func(t *testing.T, digest, sig []byte) {
		it, err := NewItem(&priv.PublicKey, digest, sig)
		ok := false
		if err == nil {
			ok, _ = VerifySingle(it)
		}
		if want := sm2.VerifyASN1(&priv.PublicKey, digest, sig); ok != want {
			t.Errorf("%v, and gmsm says %v", ok, want)
		}
	})
}

func ExampleVerify() {
	items, err := Sample(rand.Reader, 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	ok, counts, err := Verify(items, &Options{RandomizerBits: 32})
	fmt.Println(ok, err, counts.Inversion.Inv, counts.Decision.Mul)
	// Output: true <nil> 1 605
}

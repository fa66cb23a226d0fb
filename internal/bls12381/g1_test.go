// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"math/big"
	"testing"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

func bigOf(k *Scalar) *big.Int { return new(big.Int).SetBytes(k.Bytes()) }

// testScalars are edge cases and some random ones.
func testScalars(n int) []Scalar {
	var list []Scalar
	add := func(x *big.Int) {
		var k Scalar
		var b [32]byte
		x.Mod(x, fr.Modulus()).FillBytes(b[:])
		if err := k.SetBytes(b[:]); err != nil {
			panic(err)
		}
		list = append(list, k)
	}
	s := new(big.Int).SetUint64(seed)
	for _, x := range []*big.Int{s, lambdaBig, new(big.Int).Mul(s, s), new(big.Int).Mul(lambdaBig, lambdaBig),
		new(big.Int).Lsh(big.NewInt(1), 64), new(big.Int).Lsh(big.NewInt(1), 128), new(big.Int).Lsh(big.NewInt(1), 254), big.NewInt(0)} {
		for d := int64(-2); d <= 2; d++ {
			add(new(big.Int).Add(x, big.NewInt(d)))
		}
	}
	for range n {
		var k Scalar
		list = append(list, *k.Random())
	}
	return list
}

func TestG1Mult(t *testing.T) {
	var base, p, want G1
	base.HashVarTime([]byte("base"), []byte("test"))
	comb, table := NewG1Comb(&base), NewG1TableVarTime(&base)
	for _, k := range testScalars(20) {
		var a bls.G1Affine
		b := base.toAffine()
		a.ScalarMultiplication(&b, bigOf(&k))
		want = g1FromAffine(&a)
		if !p.ScalarMult(&k, &base).Equal(&want) {
			t.Fatalf("ScalarMult by %x", k.Bytes())
		}
		if !p.CombMult(&k, comb).Equal(&want) {
			t.Fatalf("CombMult by %x", k.Bytes())
		}
		if !p.ScalarMultVarTime(&k, &base).Equal(&want) {
			t.Fatalf("ScalarMultVarTime by %x", k.Bytes())
		}
		if !p.MultiMultVarTime(MulG1Table(&k, table)).Equal(&want) {
			t.Fatalf("table by %x", k.Bytes())
		}
	}
}

func TestG2Mult(t *testing.T) {
	var base, p, want G2
	base.HashVarTime([]byte("base"), []byte("test"))
	comb := NewG2Comb(&base)
	for _, k := range testScalars(10) {
		var a bls.G2Affine
		b := base.toAffine()
		a.ScalarMultiplication(&b, bigOf(&k))
		want = g2FromAffine(&a)
		if !p.ScalarMult(&k, &base).Equal(&want) {
			t.Fatalf("ScalarMult by %x", k.Bytes())
		}
		if !p.CombMult(&k, comb).Equal(&want) {
			t.Fatalf("CombMult by %x", k.Bytes())
		}
		if !p.ScalarMultVarTime(&k, &base).Equal(&want) {
			t.Fatalf("ScalarMultVarTime by %x", k.Bytes())
		}
	}
}

func TestGTExp(t *testing.T) {
	var x, z, want GT
	x.PairVarTime(G1Generator(), G2Generator())
	comb := NewGTComb(&x)
	for _, k := range testScalars(10) {
		want.v.Exp(x.v, bigOf(&k))
		if !z.Exp(&x, &k).Equal(&want) {
			t.Fatalf("Exp by %x", k.Bytes())
		}
		if !z.CombExp(&k, comb).Equal(&want) {
			t.Fatalf("CombExp by %x", k.Bytes())
		}
		if !z.ExpVarTime(&x, &k).Equal(&want) {
			t.Fatalf("ExpVarTime by %x", k.Bytes())
		}
	}
}

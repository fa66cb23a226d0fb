// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"
)

// eachKernel runs f with the portable products and with the backend's assembly.
func eachKernel(t *testing.T, f func(*testing.T)) {
	assembly := haveAssembly()
	for _, on := range []bool{false, true} {
		if on && !assembly {
			continue
		}
		t.Run(fmt.Sprintf("assembly=%t", on), func(t *testing.T) {
			useAssembly(on)
			defer useAssembly(assembly)
			f(t)
		})
	}
}

func edgeElements() []fe {
	list := []fe{{}, feOne, {p0 - 1, p1, p2, p3, p4, p5}, {1}, {0, 0, 0, 0, 0, 1}, {p0, p1, p2, p3, p4, p5 - 1}, halfP}
	for range 6 {
		var x fe
		feRandom(&x)
		list = append(list, x)
	}
	return list
}

// TestField holds our field operations against math/big.
func TestField(t *testing.T) {
	p := fp.Modulus()
	eachKernel(t, func(t *testing.T) {
		for _, x := range edgeElements() {
			for _, y := range edgeElements() {
				a, b := x.BigInt(new(big.Int)), y.BigInt(new(big.Int))
				check := func(op string, z *fe, want *big.Int) {
					t.Helper()
					if z.BigInt(new(big.Int)).Cmp(want.Mod(want, p)) != 0 {
						t.Fatalf("%s of %v and %v", op, a, b)
					}
				}
				var z fe
				feAdd(&z, &x, &y)
				check("sum", &z, new(big.Int).Add(a, b))
				feSub(&z, &x, &y)
				check("difference", &z, new(big.Int).Sub(a, b))
				feMul(&z, &x, &y)
				check("product", &z, new(big.Int).Mul(a, b))
				feMulGeneric(&z, &x, &y)
				check("portable product", &z, new(big.Int).Mul(a, b))
				z = x
				feMul(&z, &z, &z)
				check("square", &z, new(big.Int).Mul(a, a))
				feNeg(&z, &x)
				check("negative", &z, new(big.Int).Neg(a))
				feMul12(&z, &x)
				check("12x", &z, new(big.Int).Mul(a, big.NewInt(12)))
				feSelect(&z, &x, &y, 1)
				check("select 1", &z, new(big.Int).Set(a))
				feSelect(&z, &x, &y, 0)
				check("select 0", &z, new(big.Int).Set(b))
			}
			a := x.BigInt(new(big.Int))
			if got := new(big.Int).SetBytes(feAppend(nil, &x)); got.Cmp(a) != 0 {
				t.Fatalf("encoding of %v: %v", a, got)
			}
			twice := new(big.Int).Lsh(a, 1)
			if (feLarger(&x) == 1) != (twice.Cmp(p) > 0) || (feLarger(&x) == 1) != x.LexicographicallyLargest() {
				t.Fatalf("order of %v", a)
			}
			if (feIsZero(&x) == 1) != (a.Sign() == 0) {
				t.Fatalf("zero: %v", a)
			}
			var z, one fe
			feInvert(&z, &x)
			if feMul(&one, &z, &x); a.Sign() != 0 && one != feOne || a.Sign() == 0 && feIsZero(&z) != 1 {
				t.Fatalf("inverse of %v", a)
			}
		}
	})
}

// TestExtensions holds Fp2 and Fp12 against the backend.
func TestExtensions(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		list := edgeElements()
		for i := range list {
			for j := range list {
				x, y := fe2{A0: list[i], A1: list[j]}, fe2{A0: list[j], A1: list[(i+1)%len(list)]}
				var z, want fe2
				check := func(op string) {
					t.Helper()
					if !z.Equal(&want) {
						t.Fatalf("%s of %v and %v", op, &x, &y)
					}
				}
				fe2Mul(&z, &x, &y)
				want.Mul(&x, &y)
				check("product")
				fe2Sqr(&z, &x)
				want.Square(&x)
				check("square")
				fe2MulXi(&z, &x)
				want.MulByNonResidue(&x)
				check("product with xi")
				fe2Neg(&z, &x)
				want.Neg(&x)
				check("negative")
				fe2Invert(&z, &x)
				want.Inverse(&x)
				check("inverse")
				if (fe2Larger(&x) == 1) != x.LexicographicallyLargest() {
					t.Fatalf("order of %v", &x)
				}
			}
		}
		var x, y, z, want fe12
		x.SetRandom()
		y.SetRandom()
		if fe12Mul(&z, &x, &y); !z.Equal(want.Mul(&x, &y)) {
			t.Error("product in Fp12")
		}
		if fe12Frobenius(&z, &x); !z.Equal(want.Frobenius(&x)) {
			t.Error("frobenius")
		}
		g := bls.FinalExponentiation(&x)
		if fe12SqrCyclotomic(&z, &g); !z.Equal(want.CyclotomicSquare(&g)) || !z.Equal(want.Mul(&g, &g)) {
			t.Error("cyclotomic square")
		}
		if fe12Conj(&z, &g); !z.Equal(want.Inverse(&g)) {
			t.Error("conjugate")
		}
	})
}

// TestKernels runs what secrets go through on both kernels.
func TestKernels(t *testing.T) {
	k := new(Scalar).Random()
	p := new(G1).HashVarTime([]byte("p"), []byte("test"))
	q := new(G2).HashVarTime([]byte("q"), []byte("test"))
	x := new(GT).PairVarTime(p, q)
	want1, want2 := new(G1).ScalarMultVarTime(k, p), new(G2).ScalarMultVarTime(k, q)
	wantT := new(GT).ExpVarTime(x, k)
	eachKernel(t, func(t *testing.T) {
		if !new(G1).ScalarMult(k, p).Equal(want1) || !new(G1).CombMult(k, NewG1Comb(p)).Equal(want1) {
			t.Error("G1")
		}
		if !new(G2).ScalarMult(k, q).Equal(want2) || !new(G2).CombMult(k, NewG2Comb(q)).Equal(want2) {
			t.Error("G2")
		}
		if !new(GT).Exp(x, k).Equal(wantT) || !new(GT).CombExp(k, NewGTComb(x)).Equal(wantT) {
			t.Error("GT")
		}
		if one := new(Scalar).Inverse(k); !one.Mul(one, k).Equal(new(Scalar).SetOne()) {
			t.Error("inverse")
		}
	})
}

// TestSplit checks that the parts of a scalar, blinded or not, sum to it and stay
// within their bounds.
func TestSplit(t *testing.T) {
	r := fr.Modulus()
	s := new(big.Int).SetUint64(seed)
	toBig := func(w []uint64) *big.Int {
		z := new(big.Int)
		for i := len(w) - 1; i >= 0; i-- {
			z.Lsh(z, 64).Add(z, new(big.Int).SetUint64(w[i]))
		}
		return z
	}
	for _, k := range testScalars(50) {
		want := bigOf(&k)
		a, b := splitGLV(&k)
		if z := new(big.Int).Mul(toBig(b[:]), lambdaBig); z.Add(z, toBig(a[:])).Cmp(want) != 0 || toBig(a[:]).Cmp(lambdaBig) >= 0 {
			t.Fatalf("halves of %x", k.Bytes())
		}
		d := splitSeed(&k)
		z := new(big.Int)
		for i := 3; i >= 0; i-- {
			z.Mul(z, s).Add(z, new(big.Int).SetUint64(d[i]))
			if d[i] >= seed {
				t.Fatalf("digit %d of %x", i, k.Bytes())
			}
		}
		if z.Cmp(want) != 0 {
			t.Fatalf("digits of %x", k.Bytes())
		}
		for range 10 {
			a, b := splitBlindedGLV(&k)
			x, y := toBig(a[:]), toBig(b[:])
			if x.BitLen() > glvBits-2 || y.BitLen() > glvBits-2 {
				t.Fatalf("blinded halves of %d and %d bits", x.BitLen(), y.BitLen())
			}
			if y.Mul(y, lambdaBig).Add(y, x).Mod(y, r).Cmp(want) != 0 {
				t.Fatalf("blinded halves of %x", k.Bytes())
			}
			e := splitBlindedSeed(&k)
			z.SetInt64(0)
			for i := 3; i >= 0; i-- {
				v := toBig(e[i][:])
				if v.BitLen() > seedBits-1 {
					t.Fatalf("blinded digit of %d bits", v.BitLen())
				}
				z.Mul(z, s).Add(z, v)
			}
			if z.Mod(z, r).Cmp(want) != 0 {
				t.Fatalf("blinded digits of %x", k.Bytes())
			}
			w := combScalar(&k)
			v := toBig(w[:])
			if v.BitLen() > combBits {
				t.Fatalf("comb scalar of %d bits", v.BitLen())
			}
			one := big.NewInt(1)
			v.Lsh(v, 1).Sub(v, new(big.Int).Sub(new(big.Int).Lsh(one, combBits), one))
			if v.Mod(v, r).Cmp(want) != 0 {
				t.Fatalf("comb scalar of %x", k.Bytes())
			}
		}
	}
}

// TestBlinding checks that what is computed with differs from call to call.
func TestBlinding(t *testing.T) {
	k := new(Scalar).Random()
	a, _ := splitBlindedGLV(k)
	b, _ := splitBlindedGLV(k)
	c, d := splitBlindedSeed(k), splitBlindedSeed(k)
	e, f := combScalar(k), combScalar(k)
	if a == b || c == d || e == f {
		t.Error("twice the same")
	}
}

// TestCombRows checks that no entry of a comb is the identity: the multiples of the
// base that they are aren't 0 modulo r.
func TestCombRows(t *testing.T) {
	r := fr.Modulus()
	for block := range combBlocks {
		for v := range 1 << combTeeth {
			sum := new(big.Int)
			for j := range combTeeth {
				x := new(big.Int).Lsh(big.NewInt(1), uint(j*combCols+block*combWidth))
				if v>>j&1 == 0 {
					x.Neg(x)
				}
				sum.Add(sum, x)
			}
			if sum.Mod(sum, r).Sign() == 0 {
				t.Fatalf("block %d: entry %b is the identity", block, v)
			}
		}
	}
}

func TestSignedDigits(t *testing.T) {
	for w := 3; w <= 6; w++ {
		for range 50 {
			var k [3]uint64
			randomWords(k[:2])
			n := (130 + w - 1) / w
			mag, neg := make([]uint8, n), make([]uint8, n)
			signedDigits(mag, neg, k[:], w)
			sum := new(big.Int)
			for i := n - 1; i >= 0; i-- {
				if mag[i] > 1<<(w-1) {
					t.Fatalf("digit %d", mag[i])
				}
				d := int64(mag[i])
				if neg[i] == 1 {
					d = -d
				}
				sum.Lsh(sum, uint(w)).Add(sum, big.NewInt(d))
			}
			want := new(big.Int).Lsh(new(big.Int).SetUint64(k[1]), 64)
			if want.Add(want, new(big.Int).SetUint64(k[0])); sum.Cmp(want) != 0 {
				t.Fatalf("width %d: digits of %v sum to %v", w, want, sum)
			}
		}
	}
}

func TestSetWide(t *testing.T) {
	r := fr.Modulus()
	for n := range 65 {
		for _, fill := range []byte{0, 1, 0xff} {
			b := make([]byte, n)
			for i := range b {
				b[i] = fill ^ byte(i)&^(fill|1)
			}
			want := new(big.Int).SetBytes(b)
			var k Scalar
			if bigOf(k.SetWide(b)).Cmp(want.Mod(want, r)) != 0 {
				t.Fatalf("%x", b)
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("65 bytes accepted")
		}
	}()
	new(Scalar).SetWide(make([]byte, 65))
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"errors"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"

	"github.com/undersign/undersign/internal/opcount"
)

// A GT is an element of the target group, the subgroup of order r of Fp12. The
// zero value is the identity, 1.
type GT struct {
	v fe12
}

// fixed returns the element with 1 in its proper form.
func (z *GT) fixed() fe12 {
	v := z.v
	feSelect(&v.C0.B0.A0, &feOne, &v.C0.B0.A0, fe12IsZero(&v))
	return v
}

// SetIdentity sets z = 1.
func (z *GT) SetIdentity() *GT {
	z.v = fe12One()
	return z
}

// Set sets z = x.
func (z *GT) Set(x *GT) *GT {
	*z = *x
	return z
}

// Mul sets z = xy.
func (z *GT) Mul(x, y *GT) *GT {
	a, b := x.fixed(), y.fixed()
	fe12Mul(&z.v, &a, &b)
	return z
}

// Inverse sets z = 1/x.
func (z *GT) Inverse(x *GT) *GT {
	a := x.fixed()
	fe12Conj(&z.v, &a)
	return z
}

// Div sets z = x/y.
func (z *GT) Div(x, y *GT) *GT {
	a, b := x.fixed(), y.fixed()
	fe12Conj(&b, &b)
	fe12Mul(&z.v, &a, &b)
	return z
}

// Equal reports whether z = x.
func (z *GT) Equal(x *GT) bool {
	a, b := z.fixed(), x.fixed()
	fe6Sub(&a.C0, &a.C0, &b.C0)
	fe6Sub(&a.C1, &a.C1, &b.C1)
	return fe12IsZero(&a) == 1
}

// IsIdentity reports whether z = 1.
func (z *GT) IsIdentity() bool { return z.Equal(&GT{}) }

// Bytes returns z in 576 bytes: twelve coefficients, the highest first.
func (z *GT) Bytes() []byte { return z.Append(nil) }

// Append appends the encoding of z to b.
func (z *GT) Append(b []byte) []byte {
	v := z.fixed()
	words := fe12Words(&v)
	for i := range words {
		b = feAppend(b, words[11-i])
	}
	return b
}

// SetBytes sets z to an element other than 1. It demands exactly 576 bytes,
// canonical coefficients and an element of order r.
func (z *GT) SetBytes(b []byte) error {
	var t GT
	if err := t.SetBytesOrIdentity(b); err != nil {
		return err
	}
	if t.IsIdentity() {
		return errors.New("bls12381: element of GT is the identity")
	}
	*z = t
	return nil
}

// SetBytesOrIdentity is SetBytes, and accepts 1.
func (z *GT) SetBytesOrIdentity(b []byte) error {
	opcount.Decode(opcount.DecodeGT, b)
	if len(b) != GTSize {
		return errors.New("bls12381: an element of GT has 576 bytes")
	}
	var v bls.GT
	if v.SetBytes(b) != nil {
		return errNotCanonical
	}
	// The backend's test takes 0 for a member.
	if v.IsZero() || !v.IsInSubGroup() {
		return errors.New("bls12381: element isn't in GT")
	}
	z.v = v
	return nil
}

// Wipe sets z = 1.
func (z *GT) Wipe() { z.SetIdentity() }

// String shows no coefficients: an element may be secret.
func (z GT) String() string { return "bls12381.GT" }

// GoString shows no coefficients.
func (z GT) GoString() string { return "bls12381.GT" }

// gtMulSeed sets z = x^seed: x^p = x^(-seed) in GT.
func gtMulSeed(z, x *fe12) {
	fe12Frobenius(z, x)
	fe12Conj(z, z)
}

// Exp sets z = x^k for a secret k. It works like [G2.ScalarMult].
func (z *GT) Exp(x *GT, k *Scalar) *GT {
	opcount.Add(opcount.ExpGT, 1)
	const digits = seedBits / g2Window
	split := splitBlindedSeed(k)
	var mag, neg [4][digits]uint8
	table := new([4][1 << (g2Window - 1)]fe12)
	for i := range split {
		signedDigits(mag[i][:], neg[i][:], split[i][:], g2Window)
	}
	table[0][0] = x.fixed()
	for i := 1; i < len(table[0]); i++ {
		if i%2 == 1 {
			fe12SqrCyclotomic(&table[0][i], &table[0][i/2])
		} else {
			fe12Mul(&table[0][i], &table[0][i-1], &table[0][0])
		}
	}
	for j := 1; j < 4; j++ {
		for i := range table[j] {
			gtMulSeed(&table[j][i], &table[j-1][i])
		}
	}
	var t fe12
	acc := fe12One()
	for i := digits - 1; i >= 0; i-- {
		if i != digits-1 {
			for range g2Window {
				fe12SqrCyclotomic(&acc, &acc)
			}
		}
		for j := range table {
			fe12Lookup(&t, table[j][:], uint64(mag[j][i])-1)
			feSelect(&t.C0.B0.A0, &feOne, &t.C0.B0.A0, isZeroWord(uint64(mag[j][i])))
			fe12CondConj(&t, uint64(neg[j][i]))
			fe12Mul(&acc, &acc, &t)
		}
	}
	z.v = acc
	*table = [4][1 << (g2Window - 1)]fe12{}
	clear(mag[:])
	clear(neg[:])
	clear(split[:])
	return z
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package qrn

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/undersign/undersign/internal/modexp"
)

// Params are the sizes, in bits, that a scheme is made for.
type Params struct {
	Modulus     int // of n
	Challenge   int // k, a multiple of 8
	Statistical int // s
	Secret      int // what a member alone knows of its key
}

// Standard are the parameters for use.
var Standard = Params{Modulus: 3072, Challenge: 128, Statistical: 80, Secret: 256}

// Check refuses parameters that no proof can be made with.
func (p Params) Check() error {
	if p.Modulus%64 != 0 || p.Modulus < 256 || p.Modulus > 8192 {
		return errors.New("qrn: wrong size of the modulus")
	}
	if p.Challenge%8 != 0 || p.Challenge < 8 || p.Challenge > 256 || p.Statistical < 1 || p.Secret < 1 {
		return errors.New("qrn: wrong parameters")
	}
	return nil
}

// A Range is the interval [Low, Low+2^Bits).
type Range struct {
	Low  *big.Int // at least 0
	Bits int
}

// Below is the interval [0, 2^bits).
func Below(bits int) Range { return Range{new(big.Int), bits} }

// Pow2 returns 2^n.
func Pow2(n int) *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(n)) }

// Response returns the length in bits of a response.
func (r Range) Response(p Params) int { return r.Bits + p.Challenge + p.Statistical }

// Outer returns the interval (low, high) that a proof shows a secret to lie in.
func (r Range) Outer(p Params) (low, high *big.Int) {
	slack := Pow2(r.Response(p))
	return new(big.Int).Sub(r.Low, slack), new(big.Int).Add(r.Low, slack)
}

// High returns Low+2^Bits.
func (r Range) High() *big.Int { return new(big.Int).Add(r.Low, Pow2(r.Bits)) }

// FullBits returns the length of the largest number in r.
func (r Range) FullBits() int { return new(big.Int).Sub(r.High(), big.NewInt(1)).BitLen() }

// Full returns Low+v in constant time.
func (r Range) Full(v modexp.Nat) modexp.Nat {
	n := r.FullBits()
	z := modexp.NewNat(n)
	z.Add(NatOf(r.Low, n), v)
	return z
}

// NatOf returns the public x, 0 <= x < 2^bits, as a number of fixed width.
func NatOf(x *big.Int, bits int) modexp.Nat {
	z := modexp.NewNat(bits)
	mustSet(z, x.FillBytes(make([]byte, (bits+7)/8)))
	return z
}

// mustSet is SetBytes where the widths are known to fit.
func mustSet(z modexp.Nat, b []byte) {
	if err := z.SetBytes(b); err != nil {
		panic("qrn: " + err.Error())
	}
}

// Fill returns x in as many bytes as bits need, which x is known to fit.
func Fill(x modexp.Nat, bits int) []byte {
	b := make([]byte, (bits+7)/8)
	if err := x.FillBytes(b); err != nil {
		panic("qrn: " + err.Error())
	}
	return b
}

// Sum returns x + y, known to be below 2^bits, in constant time.
func Sum(x, y modexp.Nat, bits int) modexp.Nat {
	z := modexp.NewNat(bits)
	n := len(z)
	z.Add(widen(x, n), widen(y, n))
	return z
}

// Product returns x·y, known to be below 2^bits, in constant time.
func Product(x, y modexp.Nat, bits int) modexp.Nat {
	z := modexp.NewNat(bits)
	z.Mul(x, y)
	return z
}

// widen returns x with n limbs: those that it cuts off are known to be zero.
func widen(x modexp.Nat, n int) modexp.Nat {
	if len(x) >= n {
		return x[:n]
	}
	z := make(modexp.Nat, n)
	copy(z, x)
	return z
}

// DecodeNat returns the number below 2^bits that b holds, which must be as long as
// that needs. Its verdict shows, and nothing else.
func DecodeNat(b []byte, bits int) (modexp.Nat, error) {
	if len(b) != (bits+7)/8 {
		return nil, fmt.Errorf("qrn: number of %d bytes, want %d", len(b), (bits+7)/8)
	}
	if extra := 8*len(b) - bits; extra > 0 && b[0]>>(8-extra) != 0 {
		return nil, errors.New("qrn: number out of range")
	}
	z := modexp.NewNat(bits)
	mustSet(z, b)
	return z, nil
}

// Random returns a number below 2^bits from what read gives.
func Random(read func([]byte), bits int) modexp.Nat {
	b := make([]byte, (bits+7)/8)
	read(b)
	if extra := 8*len(b) - bits; extra > 0 {
		b[0] &= 0xff >> extra
	}
	z := modexp.NewNat(bits)
	mustSet(z, b)
	clear(b)
	return z
}

// Wipe wipes all numbers.
func Wipe(xs ...modexp.Nat) {
	for _, x := range xs {
		x.Wipe()
	}
}

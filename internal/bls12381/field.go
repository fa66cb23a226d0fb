// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"encoding/binary"
	"math/big"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
)

// fe is an element of the base field in the backend's Montgomery form, always
// fully reduced. The backend's product is branch-free where it is assembly; its
// sums, differences and portable product branch on values, so those are our own.
type fe = fp.Element

// The modulus p, its words from the lowest, and -1/p mod 2⁶⁴.
const (
	p0   = 0xb9feffffffffaaab
	p1   = 0x1eabfffeb153ffff
	p2   = 0x6730d2a0f6b0f624
	p3   = 0x64774b84f38512bf
	p4   = 0x4b1ba7b6434bacd7
	p5   = 0x1a0111ea397fe69a
	pInv = 0x89f3fffcfffcfffd
)

var pWords = [6]uint64{p0, p1, p2, p3, p4, p5}

// mask is all ones for bit = 1, and 0 for 0.
func mask(bit uint64) uint64 { return -bit }

// isZeroWord returns 1 if x is 0.
func isZeroWord(x uint64) uint64 { return 1 ^ (x|-x)>>63 }

func feAdd(z, x, y *fe) {
	t0, c := bits.Add64(x[0], y[0], 0)
	t1, c := bits.Add64(x[1], y[1], c)
	t2, c := bits.Add64(x[2], y[2], c)
	t3, c := bits.Add64(x[3], y[3], c)
	t4, c := bits.Add64(x[4], y[4], c)
	t5, _ := bits.Add64(x[5], y[5], c)
	s0, b := bits.Sub64(t0, p0, 0)
	s1, b := bits.Sub64(t1, p1, b)
	s2, b := bits.Sub64(t2, p2, b)
	s3, b := bits.Sub64(t3, p3, b)
	s4, b := bits.Sub64(t4, p4, b)
	s5, b := bits.Sub64(t5, p5, b)
	m := -b
	z[0] = s0 ^ m&(s0^t0)
	z[1] = s1 ^ m&(s1^t1)
	z[2] = s2 ^ m&(s2^t2)
	z[3] = s3 ^ m&(s3^t3)
	z[4] = s4 ^ m&(s4^t4)
	z[5] = s5 ^ m&(s5^t5)
}

func feSub(z, x, y *fe) {
	t0, b := bits.Sub64(x[0], y[0], 0)
	t1, b := bits.Sub64(x[1], y[1], b)
	t2, b := bits.Sub64(x[2], y[2], b)
	t3, b := bits.Sub64(x[3], y[3], b)
	t4, b := bits.Sub64(x[4], y[4], b)
	t5, b := bits.Sub64(x[5], y[5], b)
	m := -b
	var c uint64
	z[0], c = bits.Add64(t0, m&p0, 0)
	z[1], c = bits.Add64(t1, m&p1, c)
	z[2], c = bits.Add64(t2, m&p2, c)
	z[3], c = bits.Add64(t3, m&p3, c)
	z[4], c = bits.Add64(t4, m&p4, c)
	z[5], _ = bits.Add64(t5, m&p5, c)
}

func feNeg(z, x *fe) { feSub(z, &fe{}, x) }

func feMul(z, x, y *fe) {
	if hasMul {
		z.Mul(x, y)
	} else {
		feMulGeneric(z, x, y)
	}
}

// mulAdd2 returns ab + c + d.
func mulAdd2(a, b, c, d uint64) (hi, lo uint64) {
	hi, lo = bits.Mul64(a, b)
	var carry uint64
	lo, carry = bits.Add64(lo, c, 0)
	hi += carry
	lo, carry = bits.Add64(lo, d, 0)
	return hi + carry, lo
}

// feMulGeneric is Montgomery's product, word by word. As 4p < 2³⁸⁴, t stays
// below 2p between the words of x.
func feMulGeneric(z, x, y *fe) {
	var t [6]uint64
	for _, a := range x {
		var hi, c uint64
		for j := range t {
			hi, t[j] = mulAdd2(a, y[j], t[j], hi)
		}
		m := t[0] * pInv
		c, _ = mulAdd2(m, p0, t[0], 0)
		for j := 1; j < 6; j++ {
			c, t[j-1] = mulAdd2(m, pWords[j], t[j], c)
		}
		t[5] = hi + c
	}
	feReduce(z, &t)
}

// feReduce sets z = t mod p for t < 2p.
func feReduce(z *fe, t *[6]uint64) {
	var s [6]uint64
	var b uint64
	for i := range s {
		s[i], b = bits.Sub64(t[i], pWords[i], b)
	}
	m := mask(b)
	for i := range s {
		z[i] = s[i] ^ m&(s[i]^t[i])
	}
}

// feSelect sets z = x if c is 1 and z = y if c is 0.
func feSelect(z, x, y *fe, c uint64) {
	m := mask(c)
	for i := range z {
		z[i] = y[i] ^ m&(x[i]^y[i])
	}
}

// feCondNeg sets z = -z if c is 1.
func feCondNeg(z *fe, c uint64) {
	var n fe
	feNeg(&n, z)
	feSelect(z, &n, z, c)
}

// feIsZero returns 1 if x is 0.
func feIsZero(x *fe) uint64 {
	return isZeroWord(x[0] | x[1] | x[2] | x[3] | x[4] | x[5])
}

// feAppend appends x to b, in 48 bytes, big-endian.
func feAppend(b []byte, x *fe) []byte {
	var t fe
	feMul(&t, x, &fe{1}) // out of Montgomery form
	for i := range t {
		b = binary.BigEndian.AppendUint64(b, t[5-i])
	}
	return b
}

// feLarger returns 1 if x > -x, both taken from [0, p).
func feLarger(x *fe) uint64 {
	var t fe
	feMul(&t, x, &fe{1})
	// x > (p-1)/2
	var b uint64
	for i := range t {
		_, b = bits.Sub64(halfP[i], t[i], b)
	}
	return b
}

// halfP is (p-1)/2.
var halfP = [6]uint64{p0>>1 | p1&1<<63, p1>>1 | p2&1<<63, p2>>1 | p3&1<<63, p3>>1 | p4&1<<63, p4>>1 | p5&1<<63, p5 >> 1}

// feMul12 sets z = 12x, which is 3b for the curve of G1.
func feMul12(z, x *fe) {
	var t fe
	feAdd(&t, x, x)
	feAdd(&t, &t, x)
	feAdd(&t, &t, &t)
	feAdd(z, &t, &t)
}

var feOne = fp.One()

// declassify, where it is set, is told of a value that is about to be published
// or to steer control flow although it was computed from a secret: the tests for
// constant time mark it as public.
var declassify func([]uint64)

// Declassify sets what is told of values that are computed from secrets and say nothing of
// them, such as a random multiple that is to be inverted. It is for tests for constant
// time, and is called before anything else runs.
func Declassify(f func([]uint64)) { declassify = f }

// feInvert sets z = 1/x, and 0 for 0. It inverts a random multiple of x, which
// says nothing about x but whether it is 0, by an algorithm of variable time.
func feInvert(z, x *fe) {
	var b, t fe
	feRandom(&b)
	feMul(&t, x, &b)
	if declassify != nil {
		declassify(t[:])
	}
	t.Inverse(&t)
	feMul(z, &t, &b)
}

// feFromBig returns x mod p, for constants.
func feFromBig(x *big.Int) (z fe) {
	z.SetBigInt(x)
	return z
}

func feFromHex(s string) fe {
	x, ok := new(big.Int).SetString(s, 16)
	if !ok {
		panic("bls12381: bad constant")
	}
	return feFromBig(x)
}

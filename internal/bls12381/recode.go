// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"math/big"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
)

// The curve's parameter is -seed; r = seed⁴ - seed² + 1. Multiplication by
// lambda = seed² - 1 is an endomorphism on G1 (Gallant, Lambert and Vanstone
// 2001), multiplication by the parameter itself is one on G2 and on GT
// (Galbraith, Lin and Scott 2009).
const seed = 0xd201000000010000

var (
	seedWord   = [1]uint64{seed}
	lambda     = [2]uint64{0x00000000ffffffff, 0xac45a4010001a402}
	seedRecip  = reciprocal(319, new(big.Int).SetUint64(seed))
	lambdaBig  = new(big.Int).Sub(new(big.Int).Mul(new(big.Int).SetUint64(seed), new(big.Int).SetUint64(seed)), big.NewInt(1))
	lamdaRecip = reciprocal(383, lambdaBig)
)

// reciprocal returns the integer part of 2^shift/d.
func reciprocal(shift uint, d *big.Int) [4]uint64 {
	x := new(big.Int).Lsh(big.NewInt(1), shift)
	return frRaw(x.Quo(x, d))
}

// divide returns k/d and reduces k modulo d, where recip = 2^shift/d with shift
// = 63 mod 64, and k < 2²⁵⁵. The estimate (Barrett 1986) is at most one too small.
func divide(k *[4]uint64, d []uint64, recip *[4]uint64, shift int) (q [4]uint64) {
	var prod [8]uint64
	mulWords(prod[:], k[:], recip[:])
	at := shift / 64
	for i := 0; at+i < 8; i++ {
		q[i] = prod[at+i] >> 63
		if at+i+1 < 8 {
			q[i] |= prod[at+i+1] << 1
		}
	}
	var qd [8]uint64
	mulWords(qd[:4+len(d)], q[:], d)
	var b uint64
	for i := range k {
		k[i], b = bits.Sub64(k[i], qd[i], b)
	}
	c := subIfNotLess(k[:], d)
	for i := range q {
		q[i], c = bits.Add64(q[i], 0, c)
	}
	return q
}

// splitGLV returns (k1, k2) with k = k1 + k2·lambda, both below 2¹²⁸.
func splitGLV(k *Scalar) (k1, k2 [2]uint64) {
	w := k.words()
	q := divide(&w, lambda[:], &lamdaRecip, 383)
	return [2]uint64{w[0], w[1]}, [2]uint64{q[0], q[1]}
}

// shortNeg returns -k, if that is below 2¹²⁸: weights are, and their negatives come as
// often.
func (k *Scalar) shortNeg() (n [2]uint64, ok bool) {
	var neg Scalar
	neg.Neg(k)
	w := neg.words()
	return [2]uint64{w[0], w[1]}, w[2]|w[3] == 0
}

// splitSeed returns the digits of k to the base seed.
func splitSeed(k *Scalar) (d [4]uint64) {
	w := k.words()
	for i := range d {
		q := divide(&w, seedWord[:], &seedRecip, 319)
		d[i] = w[0]
		w = q
	}
	return d
}

// Blinding. A relation between powers of the eigenvalue is 0 modulo r, so a
// random multiple of it can be added to what k was split into: the sums that are
// computed then differ from call to call.

const (
	glvBits   = 160 // of a blinded half
	seedBits  = 80  // of a blinded digit
	blindGLV  = 30
	blindSeed = 15
)

// splitBlindedGLV returns k1 + k2·lambda = k modulo r with 0 <= k1, k2 < 2¹⁵⁸.
// From lambda² + lambda + 1 = r:
//
//	k1 + a·lambda + b, k2 - a + b(lambda + 1)
func splitBlindedGLV(k *Scalar) (k1, k2 [3]uint64) {
	var rho [1]uint64
	randomWords(rho[:])
	a, b := rho[0]&(1<<blindGLV-1), rho[0]>>32&(1<<blindGLV-1)
	b |= 1 // so that b(lambda+1) > a
	l, h := splitGLV(k)
	k1[0], k1[1] = l[0], l[1]
	k2[0], k2[1] = h[0], h[1]
	addMul(k1[:], lambda[:], a)
	addMul(k1[:], []uint64{1}, b)
	addMul(k2[:], lambda[:], b)
	addMul(k2[:], []uint64{1}, b)
	subWord(k2[:], a)
	clear(l[:])
	clear(h[:])
	return k1, k2
}

// splitBlindedSeed returns d with the sum of d[i]·seedⁱ = k modulo r and all
// digits below 2⁷⁹. With s = seed, s⁴ = s² - 1:
//
//	d0 + a0·s + a3, d1 - a0 + a1·s, d2 - a1 + a2·s - a3, d3 - a2 + a3·s
func splitBlindedSeed(k *Scalar) (d [4][2]uint64) {
	var rho [1]uint64
	randomWords(rho[:])
	var a [4]uint64
	for i := range a {
		a[i] = rho[0] >> (16 * i) & (1<<blindSeed - 1)
		a[i] |= 2 // so that a[i]·s exceeds what is subtracted
	}
	for i, x := range splitSeed(k) {
		d[i][0] = x
		addMul(d[i][:], seedWord[:], a[i])
	}
	addMul(d[0][:], []uint64{1}, a[3])
	subWord(d[1][:], a[0])
	subWord(d[2][:], a[1]+a[3])
	subWord(d[3][:], a[2])
	return d
}

// addMul adds xy to z, for a product that z has room for.
func addMul(z, x []uint64, y uint64) {
	var hi uint64
	for i := range z {
		var v uint64
		if i < len(x) {
			v = x[i]
		}
		hi, z[i] = mulAdd2(v, y, z[i], hi)
	}
}

func subWord(z []uint64, x uint64) {
	for i := range z {
		z[i], x = bits.Sub64(z[i], x, 0)
	}
}

// signedDigits writes the digits of k in radix 2^w, from the lowest, as magnitude
// and sign: k is the sum of ±mag[i]·2^(wi) with mag[i] <= 2^(w-1). The top digit
// of k must leave room for a carry.
func signedDigits(mag, neg []uint8, k []uint64, w int) {
	var carry uint64
	for i := range mag {
		v := window(k, i*w, w) + carry
		carry = (v + 1<<(w-1) - 1) >> w // 1 if v > 2^(w-1)
		m := mask(carry)
		mag[i] = uint8(v ^ m&(v^(1<<w-v)))
		neg[i] = uint8(carry)
	}
}

// window returns n bits of k from bit at; beyond its end they are 0.
func window(k []uint64, at, n int) uint64 {
	i, s := at/64, at%64
	if i >= len(k) {
		return 0
	}
	v := k[i] >> s
	if s+n > 64 && i+1 < len(k) {
		v |= k[i+1] << (64 - s)
	}
	return v & (1<<n - 1)
}

// Combs take the signs of all bits (Hamburg 2012, "Fast and compact elliptic-curve
// cryptography", section 3.3): with k' = (k + 2^combBits - 1)/2 modulo r, k is the
// sum of (2·bit i of k' - 1)·2^i, so that no digit is 0.

// combBits is the length of a comb's blinded scalar: 255 bits and 32 of blinding.
const combBits = 288

var (
	combOffset = func() (z Scalar) { // 2^combBits - 1
		x := new(big.Int).Lsh(big.NewInt(1), combBits)
		x.Sub(x, big.NewInt(1))
		w := [4]uint64(frRaw(x.Mod(x, fr.Modulus())))
		z.setWords(&w)
		return z
	}()
	half = func() (z Scalar) {
		z.SetUint64(2)
		z.Inverse(&z)
		return z
	}()
)

// combScalar returns k' + rho·r for a random rho < 2³².
func combScalar(k *Scalar) (w [5]uint64) {
	var t Scalar
	t.Add(k, &combOffset)
	t.Mul(&t, &half)
	low := t.words()
	copy(w[:], low[:])
	var rho [1]uint64
	randomWords(rho[:])
	addMul(w[:], rWords[:], rho[0]>>32)
	clear(low[:])
	t.Wipe()
	return w
}

// combDigit returns the bits at, at+cols, ... of w, one for each tooth: an index
// into the entries that have the highest tooth positive, and whether to negate.
func combDigit(w *[5]uint64, at, cols, teeth int) (index, neg uint64) {
	var v uint64
	for j := range teeth {
		pos := at + j*cols
		v |= w[pos/64] >> (pos % 64) & 1 << j
	}
	neg = 1 ^ v>>(teeth-1)
	return (v ^ mask(neg)) & (1<<(teeth-1) - 1), neg
}

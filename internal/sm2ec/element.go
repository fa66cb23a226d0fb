// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"encoding/binary"
	"math/bits"
)

// An Element is a residue modulo p, in Montgomery form x·2²⁵⁶ mod p, in limbs from
// the lowest. It is always below p, so that == compares values.
type Element [4]uint64

// p is -1 modulo 2⁶⁴, so a Montgomery reduction needs no product for its multipliers.
const (
	p0 = 0xffffffffffffffff
	p1 = 0xffffffff00000000
	p2 = 0xffffffffffffffff
	p3 = 0xfffffffeffffffff
)

var (
	feOne = Element{0x0000000000000001, 0x00000000ffffffff, 0x0000000000000000, 0x0000000100000000}
	// feRR is 2⁵¹² mod p, the Montgomery form of 2²⁵⁶.
	feRR = Element{0x0000000200000003, 0x00000002ffffffff, 0x0000000100000001, 0x0000000400000002}
	feB  = Element{0x90d230632bc0dd42, 0x71cf379ae9b537ab, 0x527981505ea51c3c, 0x240fe188ba20e2c8}
)

// SetOne sets z = 1.
func (z *Element) SetOne() { *z = feOne }

// SetBytes sets z to a big-endian integer, and reports false, leaving z alone, if that isn't below p.
func (z *Element) SetBytes(b *[32]byte) bool {
	x := limbsOf(b)
	if !(*Element)(&x).belowP() {
		return false
	}
	z.setPlain(&x)
	return true
}

// setPlain sets z to an integer below p.
func (z *Element) setPlain(x *[4]uint64) { z.Mul((*Element)(x), &feRR) }

// Bytes returns z as a big-endian integer.
func (z *Element) Bytes() (b [32]byte) {
	putLimbs(&b, z.plain())
	return b
}

// plain returns z without the Montgomery factor.
func (z *Element) plain() [4]uint64 {
	var x Element
	x.Mul(z, &Element{1})
	return x
}

// belowP reports whether the limbs, read as an integer, are below p.
func (z *Element) belowP() bool {
	_, b := bits.Sub64(z[0], p0, 0)
	_, b = bits.Sub64(z[1], p1, b)
	_, b = bits.Sub64(z[2], p2, b)
	_, b = bits.Sub64(z[3], p3, b)
	return b == 1
}

// IsZero reports whether z = 0.
func (z *Element) IsZero() bool { return z[0]|z[1]|z[2]|z[3] == 0 }

// Equal reports whether z = x.
func (z *Element) Equal(x *Element) bool { return *z == *x }

// IsOdd reports whether the integer z, 0 <= z < p, is odd.
func (z *Element) IsOdd() bool { return z.plain()[0]&1 == 1 }

// Add sets z = x + y.
func (z *Element) Add(x, y *Element) {
	t0, c := bits.Add64(x[0], y[0], 0)
	t1, c := bits.Add64(x[1], y[1], c)
	t2, c := bits.Add64(x[2], y[2], c)
	t3, c := bits.Add64(x[3], y[3], c)
	z.reduceOnce(t0, t1, t2, t3, c)
}

// Double sets z = 2x.
func (z *Element) Double(x *Element) { z.Add(x, x) }

// reduceOnce sets z = t mod p for t = c·2²⁵⁶ + t3·2¹⁹² + … below 2p.
func (z *Element) reduceOnce(t0, t1, t2, t3, c uint64) {
	u0, b := bits.Sub64(t0, p0, 0)
	u1, b := bits.Sub64(t1, p1, b)
	u2, b := bits.Sub64(t2, p2, b)
	u3, b := bits.Sub64(t3, p3, b)
	_, b = bits.Sub64(c, 0, b)
	m := -b // all ones if t < p
	z[0] = u0 ^ (u0^t0)&m
	z[1] = u1 ^ (u1^t1)&m
	z[2] = u2 ^ (u2^t2)&m
	z[3] = u3 ^ (u3^t3)&m
}

// Sub sets z = x - y.
func (z *Element) Sub(x, y *Element) {
	t0, b := bits.Sub64(x[0], y[0], 0)
	t1, b := bits.Sub64(x[1], y[1], b)
	t2, b := bits.Sub64(x[2], y[2], b)
	t3, b := bits.Sub64(x[3], y[3], b)
	m := -b
	var c uint64
	z[0], c = bits.Add64(t0, m, 0)
	z[1], c = bits.Add64(t1, m<<32, c)
	z[2], c = bits.Add64(t2, m, c)
	z[3], _ = bits.Add64(t3, m&p3, c)
}

// halve sets z = x/2.
func (z *Element) halve(x *Element) {
	m := -(x[0] & 1)
	t0, c := bits.Add64(x[0], m, 0)
	t1, c := bits.Add64(x[1], m<<32, c)
	t2, c := bits.Add64(x[2], m, c)
	t3, c := bits.Add64(x[3], m&p3, c)
	z[0] = t0>>1 | t1<<63
	z[1] = t1>>1 | t2<<63
	z[2] = t2>>1 | t3<<63
	z[3] = t3>>1 | c<<63
}

// Neg sets z = -x.
func (z *Element) Neg(x *Element) { z.Sub(&Element{}, x) }

// Sqrt sets z to a square root of x and reports true, or leaves z alone and
// reports false if there is none. It takes 254 squarings and 13 products.
func (z *Element) Sqrt(x *Element) bool {
	step := func(y *Element, n int, f *Element) (z Element) {
		z = *y
		z.sqrN(n)
		z.Mul(&z, f)
		return z
	}
	// The exponents 2ᵏ-1.
	x2 := step(x, 1, x)
	x3 := step(&x2, 1, x)
	x6 := step(&x3, 3, &x3)
	x12 := step(&x6, 6, &x6)
	x24 := step(&x12, 12, &x12)
	x30 := step(&x24, 6, &x6)
	x31 := step(&x30, 1, x)
	// (p+1)/4: 31 ones, a zero, 128 ones, 31 zeros, a one, 62 zeros.
	var t, x32 Element
	t.Sqr(&x31)
	x32.Mul(&t, x)
	for range 4 {
		t = step(&t, 32, &x32)
	}
	t = step(&t, 32, x)
	t.sqrN(62)
	var s Element
	s.Sqr(&t)
	if s != *x {
		return false
	}
	*z = t
	return true
}

// InvBatch inverts all of xs, of which none may be zero, with one inversion and
// three multiplications each (Montgomery 1987, section 10.3.1).
func InvBatch(xs []Element) {
	if len(xs) == 0 {
		return
	}
	prefix := make([]Element, len(xs))
	acc := xs[0]
	for i := 1; i < len(xs); i++ {
		prefix[i] = acc
		acc.Mul(&acc, &xs[i])
	}
	acc.Inv(&acc)
	for i := len(xs) - 1; i > 0; i-- {
		x := xs[i]
		xs[i].Mul(&acc, &prefix[i])
		acc.Mul(&acc, &x)
	}
	xs[0] = acc
}

func limbsOf(b *[32]byte) (x [4]uint64) {
	for i := range x {
		x[i] = binary.BigEndian.Uint64(b[24-8*i:])
	}
	return x
}

func putLimbs(b *[32]byte, x [4]uint64) {
	for i := range x {
		binary.BigEndian.PutUint64(b[24-8*i:], x[i])
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import "math/bits"

// chunk is the number of limbs that operands are padded to a multiple of: the
// block of the assembly kernel.
const chunk = 8

// The generic kernel. All operands of one modulus have the same number of
// limbs, a multiple of chunk.

// addMul sets z += x·y and returns the carry limb. len(x) >= len(z).
func addMul(z, x []uint64, y uint64) (c uint64) {
	x = x[:len(z)]
	for len(z) >= 8 && len(x) >= 8 {
		a, b := (*[8]uint64)(z), (*[8]uint64)(x)
		a[0], c = mulAdd(b[0], y, a[0], c)
		a[1], c = mulAdd(b[1], y, a[1], c)
		a[2], c = mulAdd(b[2], y, a[2], c)
		a[3], c = mulAdd(b[3], y, a[3], c)
		a[4], c = mulAdd(b[4], y, a[4], c)
		a[5], c = mulAdd(b[5], y, a[5], c)
		a[6], c = mulAdd(b[6], y, a[6], c)
		a[7], c = mulAdd(b[7], y, a[7], c)
		z, x = z[8:], x[8:]
	}
	for i := range z {
		z[i], c = mulAdd(x[i], y, z[i], c)
	}
	return c
}

// mulAdd returns x·y + a + b, which always fits two limbs.
func mulAdd(x, y, a, b uint64) (lo, hi uint64) {
	// In this form the carries stay in the flag.
	hi, lo = bits.Mul64(x, y)
	lo, c := bits.Add64(lo, a, 0)
	hi, _ = bits.Add64(hi, 0, c)
	lo, c = bits.Add64(lo, b, 0)
	hi, _ = bits.Add64(hi, 0, c)
	return lo, hi
}

// mulGeneric sets t = x·y, with len(t) = 2·len(x).
func mulGeneric(t, x, y []uint64) {
	n := len(x)
	clear(t[:n])
	for i, v := range y {
		t[i+n] = addMul(t[i:i+n], x, v)
	}
}

// sqrGeneric sets t = x². Each product x_i·x_j, i < j, is computed once; the
// sum of them is doubled while the squares x_i² are added.
func sqrGeneric(t, x []uint64) {
	n := len(x)
	clear(t[:n])
	for i, v := range x {
		t[i+n] = addMul(t[2*i+1:i+n], x[i+1:], v)
	}
	var c, top uint64
	for i, v := range x {
		hi, lo := bits.Mul64(v, v)
		a, b := t[2*i], t[2*i+1]
		t[2*i], c = bits.Add64(a<<1|top, lo, c)
		t[2*i+1], c = bits.Add64(b<<1|a>>63, hi, c)
		top = b >> 63
	}
}

// redcGeneric sets z = t/R mod n, where R = 2^(64·len(n)), for t < R·n. It
// destroys t. k0 = -1/n mod 2^64.
func redcGeneric(z, t, n []uint64, k0 uint64) {
	l := len(n)
	var carry uint64
	for i := range l {
		c := addMul(t[i:i+l], n, t[i]*k0)
		t[i+l], carry = bits.Add64(t[i+l], c, carry)
	}
	subIfGreater(z, t[l:2*l], n, carry)
}

// doubleGeneric sets z = 2z mod n, for z below n.
func doubleGeneric(z, n []uint64) {
	var c uint64
	for i, v := range z {
		z[i] = v<<1 | c
		c = v >> 63
	}
	subIfGreater(z, z, n, c)
}

// subIfGreater sets z = x - n if carry·R + x >= n, and z = x otherwise.
// carry·R + x < 2n. z may be x.
func subIfGreater(z, x, n []uint64, carry uint64) {
	var b uint64
	for i, v := range n {
		_, b = bits.Sub64(x[i], v, b)
	}
	// Subtract unless the trial subtraction borrowed more than carry covers.
	mask := ^(-(b &^ carry))
	b = 0
	for i, v := range n {
		z[i], b = bits.Sub64(x[i], v&mask, b)
	}
}

// selectGeneric sets z to entry i of table, reading every entry.
func selectGeneric(z, table []uint64, i uint64) {
	n := len(z)
	clear(z)
	for k := uint64(0); len(table) >= n; k++ {
		mask := -isZero(k ^ i)
		for j, v := range table[:n] {
			z[j] |= v & mask
		}
		table = table[n:]
	}
}

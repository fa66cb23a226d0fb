// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"errors"
	"math/bits"
)

var errNatRange = errors.New("modexp: value does not fit the given width")

// Nat is a natural number of fixed width, little-endian in 64-bit limbs. The
// time and the memory accesses of its methods depend on widths alone, never on
// values.
type Nat []uint64

// NewNat returns zero, as wide as bits rounded up to whole limbs.
func NewNat(bits int) Nat {
	return make(Nat, (bits+63)/64)
}

// SetBytes sets z to the big-endian value b. A value wider than z is an error,
// and z is then left zero.
func (z Nat) SetBytes(b []byte) error {
	clear(z)
	var over byte
	for i := range b {
		c := b[len(b)-1-i]
		if i/8 < len(z) {
			z[i/8] |= uint64(c) << (8 * (i % 8))
		} else {
			over |= c
		}
	}
	if over != 0 {
		clear(z)
		return errNatRange
	}
	return nil
}

// FillBytes writes x to buf, big-endian with leading zeros. It is an error if
// x needs more than len(buf) bytes; that verdict is all that its time reveals.
func (x Nat) FillBytes(buf []byte) error {
	if x.fill(buf) != 0 {
		clear(buf)
		return errNatRange
	}
	return nil
}

// fill writes x to buf and returns the bits that were left out, ORed together.
func (x Nat) fill(buf []byte) (over byte) {
	for i := range max(len(buf), 8*len(x)) {
		var c byte
		if i/8 < len(x) {
			c = byte(x[i/8] >> (8 * (i % 8)))
		}
		if i < len(buf) {
			buf[len(buf)-1-i] = c
		} else {
			over |= c
		}
	}
	return over
}

// limb returns x[i], and zero beyond the width.
func (x Nat) limb(i int) uint64 {
	if i < len(x) {
		return x[i]
	}
	return 0
}

// Add sets z = x + y and returns the carry out of z. z must be as wide as the
// wider of x and y, and may be either of them.
func (z Nat) Add(x, y Nat) (carry uint64) {
	checkWidth(z, x, y)
	for i := range z {
		z[i], carry = bits.Add64(x.limb(i), y.limb(i), carry)
	}
	return carry
}

// Sub sets z = x - y and returns the borrow out of z. z must be as wide as the
// wider of x and y, and may be either of them.
func (z Nat) Sub(x, y Nat) (borrow uint64) {
	checkWidth(z, x, y)
	for i := range z {
		z[i], borrow = bits.Sub64(x.limb(i), y.limb(i), borrow)
	}
	return borrow
}

// Mul sets z to the low limbs of x·y, as many as z has; with
// len(z) >= len(x)+len(y) that is the whole product. z must not overlap x or y.
func (z Nat) Mul(x, y Nat) {
	clear(z)
	for i := range x {
		if i >= len(z) {
			break
		}
		n := min(len(y), len(z)-i)
		c := addMul(z[i:i+n], y[:n], x[i])
		if i+n < len(z) {
			z[i+n] = c
		}
	}
}

// Less returns 1 if x < y and 0 otherwise.
func (x Nat) Less(y Nat) uint64 {
	var b uint64
	for i := range max(len(x), len(y)) {
		_, b = bits.Sub64(x.limb(i), y.limb(i), b)
	}
	return b
}

// Equal returns 1 if x = y and 0 otherwise.
func (x Nat) Equal(y Nat) uint64 {
	var d uint64
	for i := range max(len(x), len(y)) {
		d |= x.limb(i) ^ y.limb(i)
	}
	return isZero(d)
}

// Wipe sets x to zero.
func (x Nat) Wipe() {
	clear(x)
}

// bit returns bit i of x, and zero beyond the width. i is public.
func (x Nat) bit(i int) uint64 {
	return x.limb(i/64) >> (i % 64) & 1
}

// window returns the w <= 32 bits of x from bit i on. i and w are public.
func (x Nat) window(i, w int) uint64 {
	v := x.limb(i/64) >> (i % 64)
	if i%64+w > 64 {
		v |= x.limb(i/64+1) << (64 - i%64)
	}
	return v & (1<<w - 1)
}

func checkWidth(z, x, y Nat) {
	if len(z) < len(x) || len(z) < len(y) {
		panic("modexp: destination narrower than an operand")
	}
}

// isZero returns 1 if x = 0 and 0 otherwise, without a branch.
func isZero(x uint64) uint64 {
	return 1 ^ (x|-x)>>63
}

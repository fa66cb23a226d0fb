// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"crypto/rand"
	"encoding/binary"
	"math/bits"
)

// Random sets z to a scalar chosen uniformly from [1, r-1].
func (z *Scalar) Random() *Scalar {
	var b [ScalarSize]byte
	defer clear(b[:])
	for {
		rand.Read(b[:])
		b[0] &= 0x7f
		if z.SetBytesNonZero(b[:]) == nil {
			return z
		}
	}
}

// RandomWeight sets z to an integer chosen uniformly from [1, 2¹²⁸).
func (z *Scalar) RandomWeight() *Scalar {
	for {
		var b [16]byte
		rand.Read(b[:])
		if z.SetWeight(b[:]) {
			return z
		}
	}
}

// SetWeight sets z to the integer that the 16 bytes of b hold, and reports
// whether it isn't 0.
func (z *Scalar) SetWeight(b []byte) bool {
	_ = b[15]
	hi, lo := binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])
	z.SetUint128(hi, lo)
	return hi|lo != 0
}

// feRandom sets z to a random element that isn't 0. A third of the values come
// up twice as often as the others, which is enough for a mask.
func feRandom(z *fe) {
	var b [48]byte
	for {
		rand.Read(b[:])
		b[0] &= 0x1f
		var t [6]uint64
		for i := range t {
			t[i] = binary.BigEndian.Uint64(b[40-8*i:])
		}
		feReduce(z, &t)
		if published(feIsZero(z)) == 0 {
			return
		}
	}
}

// randomWords fills w from the system's generator.
func randomWords(w []uint64) {
	b := make([]byte, 8*len(w))
	rand.Read(b)
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	clear(b)
}

// mulWords sets z = xy for slices with len(z) = len(x) + len(y).
func mulWords(z, x, y []uint64) {
	clear(z)
	for i, a := range x {
		var hi uint64
		for j, b := range y {
			hi, z[i+j] = mulAdd2(a, b, z[i+j], hi)
		}
		z[i+len(y)] = hi
	}
}

// subIfNotLess subtracts y from x if x >= y, and returns 1 if it did.
func subIfNotLess(x, y []uint64) uint64 {
	var b uint64
	t := make([]uint64, len(x))
	for i := range x {
		var v uint64
		if i < len(y) {
			v = y[i]
		}
		t[i], b = bits.Sub64(x[i], v, b)
	}
	m := mask(b)
	for i := range x {
		x[i] = t[i] ^ m&(t[i]^x[i])
	}
	return 1 ^ b
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
)

// A weight is a multiplier that a defect gets in the sum of a batch: one of the 2¹²⁸ odd
// integers between -2¹²⁸ and 2¹²⁸, each with the same probability. Odd ones can be
// written with odd digits.
type weight struct {
	k   Scalar // 1 to 2¹²⁸-1
	neg bool
}

// scalar returns the weight modulo n.
func (w *weight) scalar() (z Scalar) {
	z = w.k
	if w.neg {
		z.Neg(&w.k)
	}
	return z
}

// weightDomain begins what the weights are derived from.
const weightDomain = "undersign sm2ec batch weights, version 2"

// drawWeights returns the weights of a batch in which everything is chosen: the
// items with their hints, and the points that they were lifted to. Defects that
// aren't all zero have a sum of zero for at most one of 2¹²⁸ values of a weight,
// whatever the others are (the small exponents test of Bellare, Garay, Rabin 1998),
// provided that nobody knew the weights when the batch was made.
//
// The seed alone would do that, if it is random and used once. All that was
// chosen is hashed with it, so that a seed that is used again, or known to others,
// doesn't give the weights away before the choice.
func drawWeights(seed *[32]byte, items []*Item, points []Affine) []weight {
	h := sha256.New()
	h.Write([]byte(weightDomain))
	h.Write(seed[:])
	buf := binary.LittleEndian.AppendUint64(nil, uint64(len(items)))
	for i, it := range items {
		for _, x := range [...]*[4]uint64{
			(*[4]uint64)(&it.P.X), (*[4]uint64)(&it.E), (*[4]uint64)(&it.R), (*[4]uint64)(&it.S),
		} {
			for _, limb := range x {
				buf = binary.LittleEndian.AppendUint64(buf, limb)
			}
		}
		// The lowest limbs of y and p - y differ, and x of the point is r - e.
		buf = binary.LittleEndian.AppendUint64(buf, it.P.Y[0])
		buf = binary.LittleEndian.AppendUint64(buf, points[i].Y[0])
		buf = append(buf, byte(it.Hint))
		if len(buf) >= 4096 {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	h.Write(buf)
	block, err := aes.NewCipher(h.Sum(nil))
	if err != nil {
		panic(err) // the key has a length that is right
	}
	stream := make([]byte, 16*len(items))
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(stream, stream)
	ws := make([]weight, len(items))
	for i := range ws {
		lo := binary.LittleEndian.Uint64(stream[16*i:])
		hi := binary.LittleEndian.Uint64(stream[16*i+8:])
		w := &ws[i]
		w.neg = hi>>63 == 1
		w.k = Scalar{lo<<1 | 1, hi<<1 | lo>>63}
	}
	return ws
}

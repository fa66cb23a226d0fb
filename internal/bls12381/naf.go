// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import "math/bits"

// nafDigits writes the non-adjacent form of width w of k to d, from the lowest
// digit: zeros and odd numbers between -2^(w-1) and 2^(w-1). It returns the length,
// at most one more than that of k in bits.
func nafDigits(d []int8, k [4]uint64, w int) int {
	n := 0
	for i := 0; k != [4]uint64{}; i++ {
		if k[0]&1 == 1 {
			v := int64(k[0] & (1<<w - 1))
			if v >= 1<<(w-1) {
				v -= 1 << w
			}
			d[i] = int8(v)
			n = i + 1
			var b uint64
			if v > 0 {
				k[0] -= uint64(v)
			} else {
				k[0], b = bits.Add64(k[0], uint64(-v), 0)
				for j := 1; b != 0 && j < 4; j++ {
					k[j], b = bits.Add64(k[j], 0, b)
				}
			}
		}
		k[0] = k[0]>>1 | k[1]<<63
		k[1] = k[1]>>1 | k[2]<<63
		k[2] = k[2]>>1 | k[3]<<63
		k[3] >>= 1
	}
	return n
}

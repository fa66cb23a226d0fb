// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

// maxWidth bounds the width of windows, so that digits fit into an int32 and
// tables into memory.
const maxWidth = 16

// windows is the number of digits of w bits of a scalar.
func windows(w int) int { return (256 + w - 1) / w }

// window returns bits i to i+w of k, w < 64. Those beyond 255 are zero.
func (k *Scalar) window(i, w int) uint64 {
	if i >= 256 {
		return 0
	}
	x := k[i/64] >> (i % 64)
	if i%64+w > 64 && i/64 < 3 {
		x |= k[i/64+1] << (64 - i%64)
	}
	return x & (1<<w - 1)
}

// oddDigits writes k, or n - k where k is even, as Σ d[i]·2^(wi) with odd digits,
// len(d) = windows(w), and reports whether it was n - k. Zero and no other scalar
// can't be written like that.
//
// What is left of k after i digits is ⌊k/2^(wi)⌋ with bit 0 set, for a digit
// d = (k mod 2^(w+1)) - 2^w of an odd k leaves (k-d)/2^w, which is odd. So digits
// below the last are odd and between -2^w and 2^w. The last one is what is left:
// odd, positive, and below 2^(256-w(m-1)).
func (k *Scalar) oddDigits(d []int32, w int) (negated bool) {
	x := *k
	if x[0]&1 == 0 {
		// n - k, never n + k, which may have 257 bits.
		x.Neg(k)
		negated = true
	}
	last := len(d) - 1
	for i := range last {
		d[i] = int32(x.window(w*i, w+1)|1) - 1<<w
	}
	d[last] = int32(x.window(w*last, w) | 1)
	return negated
}

// nafDigits writes k as Σ d[i]·2^i with digits that are zero or odd and between
// -2^(w-1) and 2^(w-1), of which any w in a row have at most one that isn't zero. It
// returns the number of digits.
func (k *Scalar) nafDigits(d *[257]int8, w int) int {
	n, carry := 0, uint64(0)
	for i := 0; i <= 256; {
		if i == 256 {
			if carry == 1 {
				d[256] = 1
				n = 257
			}
			break
		}
		if k.window(i, 1) == carry {
			i++ // the bit with the carry is 0 and carries on
			continue
		}
		x := k.window(i, w) + carry // odd
		carry = x >> (w - 1)
		d[i] = int8(int64(x) - int64(carry<<w))
		n = i + 1
		i += w
	}
	return n
}

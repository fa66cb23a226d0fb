// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm3lanes

import (
	"encoding/binary"
	"math/bits"
)

// laneTwin makes [Sum] use lanes without their kernel. It is set by tests alone: gmsm
// is faster.
var laneTwin = false

// compressGeneric is what the kernel does, GB/T 32905-2016, section 5.3.
func compressGeneric(v *state, blocks *[maxSteps * lanes]*[blockSize]byte, n int) {
	for i, p := range blocks[:lanes*n] {
		var s [8]uint32
		for k := range s {
			s[k] = v[lanes*k+i%lanes]
		}
		compressBlock(&s, p)
		for k := range s {
			v[lanes*k+i%lanes] = s[k]
		}
	}
}

func compressBlock(s *[8]uint32, block *[blockSize]byte) {
	var w [68]uint32
	for j := range 16 {
		w[j] = binary.BigEndian.Uint32(block[4*j:])
	}
	for j := 16; j < len(w); j++ {
		x := w[j-16] ^ w[j-9] ^ bits.RotateLeft32(w[j-3], 15)
		x ^= bits.RotateLeft32(x, 15) ^ bits.RotateLeft32(x, 23)
		w[j] = x ^ bits.RotateLeft32(w[j-13], 7) ^ w[j-6]
	}
	a, b, c, d, e, f, g, h := s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
	for j := range 64 {
		t := uint32(0x79cc4519)
		ff, gg := a^b^c, e^f^g
		if j >= 16 {
			t = 0x7a879d8a
			ff, gg = a&b|a&c|b&c, e&f|^e&g
		}
		a12 := bits.RotateLeft32(a, 12)
		ss1 := bits.RotateLeft32(a12+e+bits.RotateLeft32(t, j), 7)
		tt1 := ff + d + (ss1 ^ a12) + (w[j] ^ w[j+4])
		tt2 := gg + h + ss1 + w[j]
		a, b, c, d = tt1, a, bits.RotateLeft32(b, 9), c
		e, f, g, h = tt2^bits.RotateLeft32(tt2, 9)^bits.RotateLeft32(tt2, 17), e, bits.RotateLeft32(f, 19), g
	}
	for i, x := range [8]uint32{a, b, c, d, e, f, g, h} {
		s[i] ^= x
	}
}

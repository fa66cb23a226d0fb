// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"errors"
	"strings"
)

// Bech32 after BIP 173: a human-readable part, 1, groups of five bits, and a
// checksum of six groups that catches any four wrong characters.

const (
	bech32Chars  = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	bech32MaxLen = 90
	bech32SumLen = 6
)

// bech32Polymod continues the BCH checksum c over the values.
func bech32Polymod(c uint32, values ...byte) uint32 {
	for _, v := range values {
		top := c >> 25
		c = c&0x1ffffff<<5 ^ uint32(v)
		for i, g := range [5]uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
			if top>>i&1 == 1 {
				c ^= g
			}
		}
	}
	return c
}

// bech32Start is the checksum over the expanded human-readable part.
func bech32Start(hrp string) uint32 {
	c := uint32(1)
	for i := range len(hrp) {
		c = bech32Polymod(c, hrp[i]>>5)
	}
	c = bech32Polymod(c, 0)
	for i := range len(hrp) {
		c = bech32Polymod(c, hrp[i]&31)
	}
	return c
}

// bech32Encode takes a lower-case human-readable part and five-bit groups.
func bech32Encode(hrp string, groups []byte) string {
	var s strings.Builder
	s.WriteString(hrp)
	s.WriteByte('1')
	for _, g := range groups {
		s.WriteByte(bech32Chars[g])
	}
	sum := bech32Polymod(bech32Start(hrp), groups...)
	sum = bech32Polymod(sum, make([]byte, bech32SumLen)...) ^ 1
	for i := range bech32SumLen {
		s.WriteByte(bech32Chars[sum>>(5*(bech32SumLen-1-i))&31])
	}
	return s.String()
}

// bech32Decode returns the human-readable part, in lower case, and the groups.
func bech32Decode(s string) (hrp string, groups []byte, err error) {
	if len(s) > bech32MaxLen {
		return "", nil, errors.New("too long")
	}
	for i := range len(s) {
		if s[i] < 33 || s[i] > 126 {
			return "", nil, errors.New("character out of range")
		}
	}
	lower := strings.ToLower(s)
	if s != lower && s != strings.ToUpper(s) {
		return "", nil, errors.New("mixed case")
	}
	sep := strings.LastIndexByte(lower, '1')
	if sep < 1 || len(lower)-sep-1 < bech32SumLen {
		return "", nil, errors.New("not bech32")
	}
	hrp = lower[:sep]
	for _, c := range []byte(lower[sep+1:]) {
		v := strings.IndexByte(bech32Chars, c)
		if v < 0 {
			return "", nil, errors.New("a character that isn't bech32")
		}
		groups = append(groups, byte(v))
	}
	if bech32Polymod(bech32Start(hrp), groups...) != 1 {
		return "", nil, errors.New("wrong checksum")
	}
	return hrp, groups[:len(groups)-bech32SumLen], nil
}

// toGroups splits bytes into groups of five bits, zero bits at the end.
func toGroups(b []byte) []byte {
	var out []byte
	acc, bits := uint32(0), 0
	for _, x := range b {
		acc, bits = acc<<8|uint32(x), bits+8
		for ; bits >= 5; bits -= 5 {
			out = append(out, byte(acc>>(bits-5)&31))
		}
	}
	if bits > 0 {
		out = append(out, byte(acc<<(5-bits)&31))
	}
	return out
}

// fromGroups is the inverse of toGroups. It refuses a group too many and padding
// bits other than zero.
func fromGroups(groups []byte) ([]byte, bool) {
	var out []byte
	acc, bits := uint32(0), 0
	for _, g := range groups {
		acc, bits = acc<<5|uint32(g), bits+5
		if bits >= 8 {
			bits -= 8
			out = append(out, byte(acc>>bits))
		}
	}
	return out, bits < 5 && acc&(1<<bits-1) == 0
}

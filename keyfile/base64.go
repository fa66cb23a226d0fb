// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

// Base64 after RFC 4648, section 4, strict: padding is required and the bits that
// pad must be zero (section 3.5), so that a body has one text only. The arithmetic
// takes the place of encoding/base64's tables, whose cache lines would depend on
// secret characters.

// base64Len returns the length of n bytes in base64, padding included.
func base64Len(n int) int {
	return (n + 2) / 3 * 4
}

// base64Char returns the character for x < 64. The shifts yield all ones when x
// is above the bound.
func base64Char(x uint32) byte {
	v := int32(x)
	c := v + 'A'
	c += (25 - v) >> 8 & ('a' - 26 - 'A')
	c += (51 - v) >> 8 & ('0' - 52 - ('a' - 26))
	c += (61 - v) >> 8 & ('+' - 62 - ('0' - 52))
	c += (62 - v) >> 8 & ('/' - 63 - ('+' - 62))
	return byte(c)
}

// base64Value is the inverse of base64Char, with -1 for other characters.
func base64Value(c byte) int32 {
	x := int32(c)
	between := func(lo, hi int32) int32 { // all ones if lo <= x <= hi
		return (lo - 1 - x) & (x - hi - 1) >> 8
	}
	v := int32(-1)
	v += between('A', 'Z') & (x - 'A' + 1)
	v += between('a', 'z') & (x - 'a' + 26 + 1)
	v += between('0', '9') & (x - '0' + 52 + 1)
	v += between('+', '+') & (62 + 1)
	v += between('/', '/') & (63 + 1)
	return v
}

// appendBase64 appends the base64 text of src to dst.
func appendBase64(dst, src []byte) []byte {
	for ; len(src) >= 3; src = src[3:] {
		w := uint32(src[0])<<16 | uint32(src[1])<<8 | uint32(src[2])
		dst = append(dst, base64Char(w>>18), base64Char(w>>12&63), base64Char(w>>6&63), base64Char(w&63))
	}
	switch len(src) {
	case 1:
		w := uint32(src[0]) << 4
		dst = append(dst, base64Char(w>>6), base64Char(w&63), '=', '=')
	case 2:
		w := uint32(src[0])<<10 | uint32(src[1])<<2
		dst = append(dst, base64Char(w>>12), base64Char(w>>6&63), base64Char(w&63), '=')
	}
	return dst
}

// decodeBase64Line appends the bytes of one line to dst, or says what is wrong.
// Padding may only be the line's end.
func decodeBase64Line(dst, line []byte) ([]byte, string) {
	if len(line)%4 != 0 {
		// Say what is amiss, not only that something is.
		for _, c := range line {
			if base64Value(c) < 0 && c != '=' {
				return dst, "a character that isn't base64"
			}
		}
		return dst, "the length of the base64 isn't a multiple of four"
	}
	text := line
	for range 2 {
		if n := len(text); n > 0 && text[n-1] == '=' {
			text = text[:n-1]
		}
	}
	bad := int32(0) // negative if any character was
	for ; len(text) >= 4; text = text[4:] {
		a, b := base64Value(text[0]), base64Value(text[1])
		c, d := base64Value(text[2]), base64Value(text[3])
		bad |= a | b | c | d
		w := uint32(a)<<18 | uint32(b)<<12 | uint32(c)<<6 | uint32(d)
		dst = append(dst, byte(w>>16), byte(w>>8), byte(w))
	}
	loose := uint32(0) // bits that should be zero
	switch len(text) {
	case 2:
		a, b := base64Value(text[0]), base64Value(text[1])
		bad |= a | b
		w := uint32(a)<<6 | uint32(b)
		loose = w & 15
		dst = append(dst, byte(w>>4))
	case 3:
		a, b, c := base64Value(text[0]), base64Value(text[1]), base64Value(text[2])
		bad |= a | b | c
		w := uint32(a)<<12 | uint32(b)<<6 | uint32(c)
		loose = w & 3
		dst = append(dst, byte(w>>10), byte(w>>2))
	}
	switch {
	case bad < 0:
		return dst, "a character that isn't base64"
	case loose != 0:
		return dst, "base64 isn't canonical: padding bits aren't zero"
	}
	return dst, ""
}

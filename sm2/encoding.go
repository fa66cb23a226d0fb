// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2

import (
	"errors"
	"fmt"
)

// An Encoding is how a signature is written.
type Encoding uint8

const (
	// DER is SEQUENCE { r INTEGER, s INTEGER }, as in certificates. It is the default.
	DER Encoding = 1 + iota
	// Raw64 is r || s, 32 bytes each.
	Raw64
	// SKF128 is ECCSIGNATUREBLOB of GM/T 0016: r and s, 64 bytes each of which the
	// first 32 are zero.
	SKF128
	// Raw128WithKey is r || s || x || y, 32 bytes each, where (x, y) is the key. If an
	// item has a key as well it has to be the same. Otherwise the signature says who
	// signed, and the caller has to see to it that that is somebody to be trusted.
	Raw128WithKey
)

var encodingNames = [...]string{"default", "DER", "r||s", "SKF", "r||s||key"}

// String returns a name for the encoding.
func (enc Encoding) String() string {
	if int(enc) < len(encodingNames) {
		return encodingNames[enc]
	}
	return fmt.Sprintf("encoding %d", uint8(enc))
}

// A signature is r and s as big-endian integers, of any value.
type signature struct{ r, s [32]byte }

// parse reads a signature. What is wrong with it is a Reason, or zero. The key is
// only for Raw128WithKey.
func (enc Encoding) parse(sig []byte) (out signature, key *[64]byte, bad Reason) {
	switch enc {
	case 0, DER:
		bad = out.parseDER(sig)
	case Raw64:
		if len(sig) != 64 {
			return out, nil, ReasonEncoding
		}
		copy(out.r[:], sig)
		copy(out.s[:], sig[32:])
	case SKF128:
		if len(sig) != 128 || !isZero(sig[:32]) || !isZero(sig[64:96]) {
			return out, nil, ReasonEncoding
		}
		copy(out.r[:], sig[32:])
		copy(out.s[:], sig[96:])
	case Raw128WithKey:
		if len(sig) != 128 {
			return out, nil, ReasonEncoding
		}
		copy(out.r[:], sig)
		copy(out.s[:], sig[32:])
		key = (*[64]byte)(sig[64:])
	default:
		bad = ReasonEncoding
	}
	return out, key, bad
}

// parseDER reads SEQUENCE { INTEGER, INTEGER } strictly: shortest lengths, shortest
// integers, nothing else. Well-formed integers that can't be in range, negative or
// too long, have ReasonRange.
func (z *signature) parseDER(b []byte) Reason {
	// No good signature has more than 72 bytes, so lengths take one.
	if len(b) < 2 || b[0] != 0x30 || b[1] >= 0x80 || int(b[1]) != len(b)-2 {
		return ReasonEncoding
	}
	b = b[2:]
	inRange := true
	for _, dst := range []*[32]byte{&z.r, &z.s} {
		if len(b) < 3 || b[0] != 2 || b[1] >= 0x80 || b[1] == 0 || int(b[1]) > len(b)-2 {
			return ReasonEncoding
		}
		v := b[2 : 2+b[1]]
		b = b[2+len(v):]
		if len(v) > 1 && (v[0] == 0 && v[1] < 0x80 || v[0] == 0xff && v[1] >= 0x80) {
			return ReasonEncoding
		}
		if v[0] == 0 {
			v = v[1:]
		} else if v[0] >= 0x80 {
			inRange = false // negative
		}
		if len(v) > 32 {
			inRange = false
			continue
		}
		copy(dst[32-len(v):], v)
	}
	switch {
	case len(b) > 0:
		return ReasonEncoding
	case !inRange:
		return ReasonRange
	}
	return 0
}

// format writes a signature. The key is only for Raw128WithKey.
func (enc Encoding) format(z *signature, key *[64]byte) ([]byte, error) {
	switch enc {
	case 0, DER:
		return z.appendDER(nil), nil
	case Raw64:
		return append(z.r[:], z.s[:]...), nil
	case SKF128:
		out := make([]byte, 128)
		copy(out[32:], z.r[:])
		copy(out[96:], z.s[:])
		return out, nil
	case Raw128WithKey:
		return append(append(z.r[:], z.s[:]...), key[:]...), nil
	}
	return nil, errors.New("sm2: unknown encoding")
}

func (z *signature) appendDER(out []byte) []byte {
	var body [70]byte
	b := appendInteger(appendInteger(body[:0], z.r[:]), z.s[:])
	return append(append(out, 0x30, byte(len(b))), b...)
}

// appendInteger appends an INTEGER of at most 32 bytes.
func appendInteger(out, v []byte) []byte {
	for len(v) > 1 && v[0] == 0 {
		v = v[1:]
	}
	if v[0] < 0x80 {
		out = append(out, 2, byte(len(v)))
	} else {
		out = append(out, 2, byte(len(v)+1), 0)
	}
	return append(out, v...)
}

func isZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// Convert returns a signature in another encoding. It doesn't verify it. To
// Raw128WithKey there is no conversion from the others.
func Convert(sig []byte, from, to Encoding) ([]byte, error) {
	z, key, bad := from.parse(sig)
	if bad != 0 {
		return nil, fmt.Errorf("%w: %v", ErrSignature, bad)
	}
	if to == Raw128WithKey && key == nil {
		return nil, errors.New("sm2: a conversion that needs a key")
	}
	return to.format(&z, key)
}

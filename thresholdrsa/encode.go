// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package thresholdrsa

import (
	"crypto"
	"errors"
	"hash"
)

// prefixes are the DER encodings of DigestInfo up to the digest (RFC 8017,
// section 9.2, note 1).
var prefixes = map[crypto.Hash]string{
	crypto.SHA256: "\x30\x31\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x01\x05\x00\x04\x20",
	crypto.SHA384: "\x30\x41\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x02\x05\x00\x04\x30",
	crypto.SHA512: "\x30\x51\x30\x0d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x02\x03\x05\x00\x04\x40",
}

// encodePKCS1v15 is EMSA-PKCS1-v1_5 (RFC 8017, section 9.2): size bytes.
func encodePKCS1v15(h crypto.Hash, digest []byte, size int) ([]byte, error) {
	t := prefixes[h] + string(digest)
	if size < len(t)+11 {
		return nil, errors.New("thresholdrsa: the modulus is too short for this hash")
	}
	em := make([]byte, size)
	em[1] = 1
	pad := em[2 : size-len(t)-1]
	for i := range pad {
		pad[i] = 0xff
	}
	copy(em[size-len(t):], t)
	return em, nil
}

// encodePSS is EMSA-PSS with MGF1 over the same hash (RFC 8017, section 9.1.1).
// emBits is BitLen(n)-1 of the modulus as it is, never of the size asked for.
func encodePSS(h crypto.Hash, digest, salt []byte, emBits int) ([]byte, error) {
	emLen := (emBits + 7) / 8
	if emLen < h.Size()+len(salt)+2 {
		return nil, errors.New("thresholdrsa: the modulus is too short for this hash and salt")
	}
	em := make([]byte, emLen)
	db, tail := em[:emLen-h.Size()-1], em[emLen-h.Size()-1:]
	d := h.New()
	d.Write(make([]byte, 8))
	d.Write(digest)
	d.Write(salt)
	d.Sum(tail[:0])
	tail[h.Size()] = 0xbc

	db[len(db)-len(salt)-1] = 1
	copy(db[len(db)-len(salt):], salt)
	mgf1XOR(db, d, tail[:h.Size()])
	db[0] &= 0xff >> (8*emLen - emBits)
	return em, nil
}

// maxSalt returns the longest salt for a modulus of emBits+1 bits; negative if
// even an empty one doesn't fit.
func maxSalt(h crypto.Hash, emBits int) int { return (emBits+7)/8 - h.Size() - 2 }

// mgf1XOR xors MGF1(seed) into out (RFC 8017, appendix B.2.1).
func mgf1XOR(out []byte, h hash.Hash, seed []byte) {
	var mask []byte
	for counter := uint32(0); len(out) > 0; counter++ {
		h.Reset()
		h.Write(seed)
		h.Write([]byte{byte(counter >> 24), byte(counter >> 16), byte(counter >> 8), byte(counter)})
		mask = h.Sum(mask[:0])
		for i := 0; i < len(mask) && i < len(out); i++ {
			out[i] ^= mask[i]
		}
		out = out[min(len(mask), len(out)):]
	}
}

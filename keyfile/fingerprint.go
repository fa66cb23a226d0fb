// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"crypto/sha256"
	"errors"
	"fmt"
)

// fingerprintHRP is the human-readable part of a fingerprint.
const fingerprintHRP = "us"

// FingerprintSize is the number of bytes of hash in a fingerprint.
const FingerprintSize = 20

// Fingerprint returns the short name of an object: the first 20 bytes of
// SHA-256(type || body) in bech32 with the prefix us1. It identifies, to the strength
// of 80 bits against an adversary who makes both of two objects and of 160 bits
// against one who is given the other. The result is empty, and never equal to a
// fingerprint, if v has no file format or no valid encoding.
func Fingerprint(v Object) string {
	k, err := kindOf(v)
	if err != nil {
		return ""
	}
	body, err := v.MarshalBinary()
	if err != nil || len(body) == 0 {
		return ""
	}
	defer clear(body)
	// The label's characters are letters and spaces, the body's first octet is a
	// version: where one ends and the other begins is unambiguous.
	h := sha256.New()
	h.Write([]byte(k.label))
	h.Write(body)
	return bech32Encode(fingerprintHRP, toGroups(h.Sum(nil)[:FingerprintSize]))
}

// ParseFingerprint returns the hash in a fingerprint. Upper case throughout is
// allowed, as BIP 173 has it, and a wrong checksum is not.
func ParseFingerprint(s string) (fp [FingerprintSize]byte, err error) {
	hrp, groups, err := bech32Decode(s)
	if err != nil {
		return fp, fmt.Errorf("keyfile: fingerprint: %w", err)
	}
	if hrp != fingerprintHRP {
		return fp, errors.New("keyfile: fingerprint: doesn't begin with us1")
	}
	b, ok := fromGroups(groups)
	if !ok || len(b) != len(fp) {
		return fp, errors.New("keyfile: fingerprint: wrong length")
	}
	return [FingerprintSize]byte(b), nil
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2

import (
	"crypto/ecdsa"
	"fmt"

	"github.com/undersign/undersign/internal/sm2ec"
)

// A Hint tells which of two points a signature was made with: R = sG + tP has the x
// that the signature says, and a y that it doesn't say. With it, signatures of many
// different keys are verified together. A hint is no part of the signature, and needs no
// protection: a wrong one costs time, and changes no verdict. Values other than the
// constants count as NoHint.
type Hint uint8

const (
	// NoHint: nothing is known.
	NoHint Hint = iota
	// HintEven: y(R) is even, as it is in all signatures by SignHinted.
	HintEven
	// HintOdd: y(R) is odd.
	HintOdd
	// HintLow: y(R) < p - y(R).
	HintLow
	// HintHigh: y(R) > p - y(R). Some chains store this as a flag.
	HintHigh
)

// String returns a word for the hint.
func (h Hint) String() string {
	switch h {
	case NoHint:
		return "none"
	case HintEven:
		return "even"
	case HintOdd:
		return "odd"
	case HintLow:
		return "low"
	case HintHigh:
		return "high"
	}
	return fmt.Sprintf("hint %d", uint8(h))
}

func (h Hint) internal() sm2ec.Hint {
	switch h {
	case HintEven:
		return sm2ec.HintEven
	case HintOdd:
		return sm2ec.HintOdd
	case HintLow:
		return sm2ec.HintLow
	case HintHigh:
		return sm2ec.HintHigh
	}
	return sm2ec.NoHint
}

func hintOf(h sm2ec.Hint) Hint {
	switch h {
	case sm2ec.HintEven:
		return HintEven
	case sm2ec.HintOdd:
		return HintOdd
	case sm2ec.HintLow:
		return HintLow
	case sm2ec.HintHigh:
		return HintHigh
	}
	return NoHint
}

// FindHint verifies a signature in DER of a digest, and returns its hint, HintEven or
// HintOdd, to be stored beside it.
func FindHint(pub *ecdsa.PublicKey, digest, sig []byte) (Hint, error) {
	return findHint(pub, digest, sig, nil)
}

// findHint is FindHint, with tables from a cache if there is one.
func findHint(pub *ecdsa.PublicKey, digest, sig []byte, cache *Cache) (Hint, error) {
	b := Batch{opts: Options{Cache: cache, Encoding: DER, Workers: 1}}
	b.AddDigest(pub, digest, sig)
	if bad := b.index[0].bad; bad != 0 {
		return NoHint, fmt.Errorf("%w: %v", ErrSignature, bad)
	}
	if cache != nil {
		if b.Verify() != nil {
			return NoHint, ErrSignature
		}
		if h := b.Hint(0); h != NoHint {
			return h, nil
		}
	}
	h, ok := sm2ec.FindHint(&b.items[0])
	if !ok {
		return NoHint, ErrSignature
	}
	return hintOf(h), nil
}

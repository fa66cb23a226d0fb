// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2

import (
	"errors"
	"fmt"
)

// The errors that callers act on. A [BatchError] unwraps to ErrSignature.
var (
	// ErrSignature: a signature isn't valid.
	ErrSignature = errors.New("sm2: invalid signature")
	// ErrKey: a key isn't a point of the SM2 curve, or isn't encoded as one.
	ErrKey = errors.New("sm2: invalid key")
)

// A Reason says why an item of a batch is bad. Where several hold it is the
// first.
type Reason uint8

const (
	// ReasonEncoding: the signature isn't encoded as it should be, or the ID is too long.
	ReasonEncoding Reason = 1 + iota
	// ReasonKey: the key is missing, on another curve or no point of the curve.
	ReasonKey
	// ReasonRange: r or s isn't in [1, n-1], or r + s = n.
	ReasonRange
	// ReasonNoPoint: r - e isn't the x of any point, so nobody made it by signing that message.
	ReasonNoPoint
	// ReasonEquation: the signature is for another message or by another key.
	ReasonEquation
)

// String returns a word for the reason.
func (r Reason) String() string {
	switch r {
	case ReasonEncoding:
		return "encoding"
	case ReasonKey:
		return "key"
	case ReasonRange:
		return "range"
	case ReasonNoPoint:
		return "no such point"
	case ReasonEquation:
		return "equation"
	}
	return fmt.Sprintf("reason %d", uint8(r))
}

// A BatchError says which items of a batch are bad. All others are good.
type BatchError struct {
	Bad     []int    // indices in the order of adding, ascending, never empty
	Reasons []Reason // Reasons[i] is why Bad[i] is bad
	Len     int      // number of items in the batch
}

func (e *BatchError) Error() string {
	return fmt.Sprintf("sm2: %d of %d signatures are bad, the first of them number %d (%v)",
		len(e.Bad), e.Len, e.Bad[0], e.Reasons[0])
}

// Unwrap returns ErrSignature.
func (e *BatchError) Unwrap() error { return ErrSignature }

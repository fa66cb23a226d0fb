// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"errors"
	"fmt"
)

// The errors that callers act on. What this package returns for other reasons is a
// mistake of the caller: keys and signatures of different schemes, or a wiped key.
var (
	// ErrSignature: a signature isn't valid, or isn't encoded as one.
	ErrSignature = errors.New("bls: invalid signature")
	// ErrKey: a key isn't valid, isn't encoded as one, or isn't proven.
	ErrKey = errors.New("bls: invalid key")
	// ErrMessages: the messages of an aggregate are none, too few or too many, or
	// there are equal ones where all must differ.
	ErrMessages = errors.New("bls: invalid list of messages")
)

// A BatchError says which items of a batch are bad. All others are good.
type BatchError struct {
	Bad []int // indices in the order of adding, ascending, never empty
	Len int   // number of items in the batch
	of  error
}

func (e *BatchError) Error() string {
	what := "signatures"
	if e.of == ErrKey {
		what = "keys"
	}
	return fmt.Sprintf("bls: %d of %d %s are bad, the first of them number %d", len(e.Bad), e.Len, what, e.Bad[0])
}

// Unwrap returns ErrSignature, or ErrKey if proofs of possession were verified.
func (e *BatchError) Unwrap() error { return e.of }

var (
	errScheme  = errors.New("bls: unknown scheme")
	errVariant = errors.New("bls: the key or signature is of another group than the scheme's")
	errNoKey   = errors.New("bls: no key: it is nil, empty or wiped")
	errNoSig   = errors.New("bls: no signature: it is nil or empty")

	errEquation     = fmt.Errorf("%w: it isn't that of these keys and messages", ErrSignature)
	errSigIdentity  = fmt.Errorf("%w: the identity", ErrSignature)
	errOutside      = fmt.Errorf("%w: it isn't in the subgroup", ErrSignature)
	errKeyIdentity  = fmt.Errorf("%w: the keys add up to the identity", ErrKey)
	errNoMessages   = fmt.Errorf("%w: there are none", ErrMessages)
	errEqual        = fmt.Errorf("%w: two are equal", ErrMessages)
	errKeyTwice     = fmt.Errorf("%w: one key twice", ErrKey)
	errNoSignatures = fmt.Errorf("%w: there are none to aggregate", ErrSignature)
)

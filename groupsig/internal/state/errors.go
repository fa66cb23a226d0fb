// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"errors"
	"fmt"
)

// What signatures are refused for, in all schemes that have no error of their own.
var (
	// ErrSignature: it is wrong, or for something else.
	ErrSignature = errors.New("groupsig: invalid signature")
	// ErrRevoked: it is valid, and its signer is revoked.
	ErrRevoked = errors.New("groupsig: the signer is revoked")
)

// A StaleError says why a state can't be used now.
type StaleError struct {
	What   string // what the state says
	Reason string
}

func (e *StaleError) Error() string { return "groupsig: " + e.What + ": " + e.Reason }

// A BatchError says which signatures of a batch are refused, and why.
type BatchError struct {
	Bad  []int   // from 0, in the order of Add, ascending
	Errs []error // why, for each of Bad
}

func (e *BatchError) Error() string {
	if len(e.Bad) == 0 || len(e.Errs) == 0 {
		return "groupsig: signatures of the batch are refused"
	}
	return fmt.Sprintf("groupsig: %d signatures of the batch are refused, the first at %d: %v", len(e.Bad), e.Bad[0], e.Errs[0])
}

// Unwrap returns the reasons.
func (e *BatchError) Unwrap() []error { return e.Errs }

// NewBatchError returns a *[BatchError] of the errors that aren't nil, or nil.
func NewBatchError(errs []error) error {
	e := new(BatchError)
	for i, err := range errs {
		if err != nil {
			e.Bad = append(e.Bad, i)
			e.Errs = append(e.Errs, err)
		}
	}
	if e.Bad == nil {
		return nil
	}
	return e
}

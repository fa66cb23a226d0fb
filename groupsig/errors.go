// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/bbs"
	"github.com/undersign/undersign/groupsig/internal/state"
	"github.com/undersign/undersign/groupsig/internal/tokens"
)

// The errors that callers act on. Of what else goes wrong errors only tell.
var (
	// ErrSignature: a signature is wrong, or for something else.
	ErrSignature = bbs.ErrSignature
	// ErrRevoked: it is valid, and its signer is revoked.
	ErrRevoked = state.ErrRevoked
	// ErrUnknown: it is valid, and fits no member of the opener's register.
	ErrUnknown = tokens.ErrUnknown
)

// A StaleError says why a [State] can't be used now.
type StaleError = state.StaleError

// A BatchError says which signatures of a batch are refused, and why: Errs has what
// Verify says of each.
type BatchError = state.BatchError

// refused turns a scheme's verdict on a signature into one of this package.
func refused(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrRevoked):
		return ErrRevoked
	case errors.As(err, new(*StaleError)):
		return err
	case errors.Is(err, ErrSignature):
		return err
	}
	return fmt.Errorf("%w: %w", ErrSignature, err)
}

var (
	errForeign = errors.New("groupsig: keys of different schemes")
	errScope   = errors.New("groupsig: the group has no scopes")
	errContext = errors.New("groupsig: the scheme has no contexts: put it into the message")
	errEpoch   = errors.New("groupsig: the group has no epochs")
)

// batchRefused is refused for the verdict on a batch.
func batchRefused(err error) error {
	var be *BatchError
	if !errors.As(err, &be) {
		return err
	}
	out := &BatchError{Bad: be.Bad}
	for _, e := range be.Errs {
		out.Errs = append(out.Errs, refused(e))
	}
	return out
}

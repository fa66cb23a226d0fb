// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import (
	"errors"
	"fmt"
)

// The errors that callers act on.
var (
	// ErrSignature: a signature is wrong, or for another message or group.
	ErrSignature = errors.New("libgroupsig: invalid signature")
	// ErrProof: a proof of an opening or a link is wrong, or about something else.
	ErrProof = errors.New("libgroupsig: invalid proof")
	// ErrUnsupported: the scheme is one whose signatures say too little.
	ErrUnsupported = errors.New("libgroupsig: unsupported scheme")
)

// refuse says why a signature is wrong.
func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrSignature, fmt.Errorf(format, args...))
}

// refuseProof says why a proof is.
func refuseProof(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrProof, fmt.Errorf(format, args...))
}

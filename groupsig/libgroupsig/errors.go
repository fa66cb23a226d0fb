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
	// ErrUnsupported: the scheme is one whose signatures say too little.
	ErrUnsupported = errors.New("libgroupsig: unsupported scheme")
)

// refuse says why a signature is wrong.
func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrSignature, fmt.Errorf(format, args...))
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"

	"github.com/undersign/undersign/groupsig/internal/zerotest"
)

func TestZeroValues(t *testing.T) {
	// Replaces and Follows have nothing to compare with; Fresh is tested with group
	// and time.
	zerotest.Test(t, []any{new(State), new(BatchError), new(StaleError)}, "State.Replaces", "State.Follows")
}

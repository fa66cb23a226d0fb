// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package join

import (
	"testing"

	"github.com/undersign/undersign/groupsig/internal/zerotest"
)

func TestZeroValues(t *testing.T) {
	zerotest.Test(t, []any{new(Record), new(Challenge), new(Sessions), new(Register), new(RejoinError)},
		"RejoinError.Error", "Register.MarshalBinary", "Sessions.MarshalBinary")
}

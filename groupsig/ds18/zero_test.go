// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ds18

import (
	"testing"

	"github.com/undersign/undersign/groupsig/internal/zerotest"
)

func TestZeroValues(t *testing.T) {
	zerotest.Test(t, []any{
		new(Proposal), new(GroupKey), new(IssuerKey), new(OpenerKey), new(Join), new(MemberKey), new(Signature),
		new(Request), new(Credential), new(Opening), new(RevocationList), new(Batch),
	}, "Batch.Verify", "List.Replaces", "List.Follows", "List.Check")
	// What is added to a batch of no group is refused.
	for _, b := range []*Batch{new(Batch), new(GroupKey).Batch(nil)} {
		b.Add(nil, new(Signature))
		if b.Verify() == nil {
			t.Error("accepted")
		}
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package hlccn11

import (
	"testing"

	"github.com/undersign/undersign/groupsig/internal/zerotest"
)

func TestZeroValues(t *testing.T) {
	zerotest.Test(t, []any{
		new(Draft), new(GroupKey), new(IssuerKey), new(OpenerKey), new(Pending), new(MemberKey), new(Opening), new(Batch), new(LinkerKey), new(Update),
	}, "Batch.Verify")
	// What is added to a batch of no group is refused.
	for _, b := range []*Batch{new(Batch), new(GroupKey).Batch()} {
		b.Add(nil, nil, nil)
		if b.Verify() == nil {
			t.Error("accepted")
		}
	}
}

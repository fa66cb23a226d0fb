// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/undersign/undersign/internal/audit"
)

// All that a holder does with its share in a ceremony has a record before and one after.
func TestCeremonyAudited(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, nil)
	c.refreshed(c.nodes[0])
	for _, n := range c.nodes {
		records, report := auditOf(t, n)
		var began []string
		for _, r := range records {
			if r.Kind == audit.Intent && r.Operation == "threshold.ceremony" {
				word, _, _ := strings.Cut(r.Detail, " ")
				began = append(began, word)
			}
		}
		if want := []string{"make", "contribute", "receive", "finish:"}; !slices.Equal(began, want) {
			t.Errorf("%s: %q, want %q", n.name, began, want)
		}
		if len(report.Open) != 0 {
			t.Errorf("%s: without an end: %v", n.name, report.Open)
		}
	}
}

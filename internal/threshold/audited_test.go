// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/threshold"
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

// When a share is answered, its log says that it was used, and how that ended.
func TestShareAudited(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, nil)
	alice, bob := c.nodes[0], c.nodes[1]
	name := threshold.KeyName(c.key)
	for i := range 20 {
		if _, err := ask(bob.as(alice.id), t, c, name, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		records, report := auditOf(t, bob)
		ended := 0
		for _, r := range records {
			if r.Kind == audit.End && r.Outcome == audit.OK {
				ended++
			}
		}
		if ended < i+1 || len(report.Open) > 0 {
			t.Fatalf("%d answers, %d ends, and %d without", i+1, ended, len(report.Open))
		}
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import "testing"

// A name that two could mean is nobody's: what a receiver gets can't be called back.
func TestFind(t *testing.T) {
	names := map[string]string{"us1a": "alice", "us1b": "bob", "us1c": "carol", "us1m": "dave"}
	nodes := map[string]*PlanNode{
		"us1a": {Party: "us1a", Name: "alice", Old: 1},
		"us1d": {Party: "us1d", Name: "dave", Old: 2}, // and another node is called so
		"us1e": {Party: "us1e", Name: "erin", Old: 3},
		"us1b": {Party: "us1b", Name: "carol"}, // no holder
	}
	for name, want := range map[string]string{
		"us1a": "us1a", "us1m": "us1m", "alice": "us1a", "bob": "us1b", "carol": "us1c", "erin": "us1e",
		"dave": "", "": "", "us1x": "", "ALICE": "",
	} {
		if got, err := find(name, names, nodes); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	names["us1z"] = "bob" // as the node calls itself
	for range 10 {
		if got, err := find("bob", names, nodes); err == nil {
			t.Fatalf("one of two: %s", got)
		}
	}
}

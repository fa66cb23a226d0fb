// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"os"
	"slices"
	"testing"
)

// The environment leaves out tiers.
func TestEnvironment(t *testing.T) {
	names := Tiers()
	if names[len(names)-1] != "generic" {
		t.Errorf("tiers %v, of which the last isn't generic", names)
	}
	switch os.Getenv("UNDERSIGN_SM2EC") {
	case "generic":
		if len(names) > 1 {
			t.Errorf("tiers %v", names)
		}
	case "adx":
		if slices.Contains(names, "ifma") {
			t.Errorf("tiers %v", names)
		}
	}
	if current.name != names[0] {
		t.Errorf("tier %s in use, of %v", current.name, names)
	}
}

// What one tier has made serves the others.
func TestTablesOfOtherTiers(t *testing.T) {
	r := newRand(t)
	p := randPoint(r)
	terms := make([]Term, 20)
	for _, made := range Tiers() {
		restore := ForceTier(made)
		tb, g := NewTable(&p, 5), GeneratorTable(1)
		restore()
		for i := range terms {
			terms[i] = Term{randScalar(r), randScalar(r), tb}
		}
		var want []Jacobian
		for _, name := range Tiers() {
			restore := ForceTier(name)
			sums, flagged := make([]Jacobian, len(terms)), make([]bool, len(terms))
			SumTables(sums, flagged, g, terms)
			restore()
			for i := range sums {
				if flagged[i] || want != nil && !sums[i].Equal(&want[i]) {
					t.Errorf("tables by %s, sums by %s: item %d differs", made, name, i)
				}
			}
			want = sums
		}
	}
}

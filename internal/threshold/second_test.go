// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/nodedir"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/node"
)

// A holder is lost when the others have acknowledged the outcome of a ceremony that can't be
// committed without it. The key isn't stuck with that: the people at the others' nodes can
// say that the ceremony which reshares it to them counts instead, and no other one.
func TestSecondSuccessor(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 3, nil)
	alice, bob, carol := c.nodes[0], c.nodes[1], c.nodes[2]
	h := c.byHand(t, alice)
	proposal, cards := h.propose()
	slices.SortFunc(h.plan.Nodes, func(a, b threshold.PlanNode) int { return a.Old - b.Old })
	contributions := h.contributions(proposal, cards)
	for _, n := range h.plan.Nodes[:2] {
		if err := h.receive(alice, n, proposal, cards, contributions); err != nil {
			t.Fatal(err)
		}
	}
	if err := carol.stop(); err != nil {
		t.Fatal(err)
	}

	start := func() string {
		t.Helper()
		st := alice.startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code", Receivers: []string{"alice", "bob"}})
		if _, err := bob.as(bob.id).JoinCeremony(t.Context(), &thresholdv1.JoinCeremonyRequest{Id: st.Id}); err != nil {
			t.Fatal(err)
		}
		return st.Id
	}
	stuck := func(id string) {
		t.Helper()
		st := alice.finishCeremony(id)
		if s := states(st); len(st.Successor) != 0 || !strings.Contains(s["alice"], "another successor") || !strings.Contains(s["bob"], "another successor") {
			t.Error(s)
		}
	}
	first, second := start(), start()
	stuck(first)
	stuck(second)
	for _, n := range []**testNode{&alice, &bob} {
		if err := (*n).stop(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join((*n).dir, nodedir.Config)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		config := string(text) + "\n[threshold]\ninsecure-second = "
		for _, bad := range []string{first[:16], first + "00", "yes"} {
			if err := os.WriteFile(path, []byte(config+"'"+bad+"'\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			cfg, err := node.Load((*n).dir)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := node.New(cfg); err == nil {
				t.Fatalf("%q is taken for an ID", bad)
			}
		}
		if err := os.WriteFile(path, []byte(config+"'"+strings.ToUpper(second)+"'\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		*n = c.restart(*n)
	}
	c.nodes[0], c.nodes[1] = alice, bob
	stuck(first)
	for name, state := range states(alice.finishCeremony(second)) {
		if name != "carol" && state != "finished" {
			t.Errorf("%s: %s", name, state)
		}
	}
	for i, n := range c.nodes[:2] {
		if p, index := n.held(); p.Epoch() != c.key.Epoch()+1 || index != i+1 || p.NumHolders() != 2 {
			t.Errorf("%s: share %d of epoch %d", n.name, index, p.Epoch())
		}
	}
	u := c.newUser(bob)
	if err := u.sign(t, "m"); err != nil {
		t.Error(err)
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/thresholdrsa"
)

// A contributor signs two contributions, and gets one of them to a receiver before the leader
// gets the other there. It is named, and nobody else is.
func TestTwoContributions(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 3, nil)
	alice, bob := c.nodes[0], c.nodes[1]
	h := c.byHand(t, alice)
	proposal, cards := h.propose()
	slices.SortFunc(h.plan.Nodes, func(a, b threshold.PlanNode) int { return a.Old - b.Old })
	contributions := h.contributions(proposal, cards)
	pr := new(thresholdrsa.Proposal)
	if err := pr.UnmarshalBinary(proposal); err != nil {
		t.Fatal(err)
	}
	second, err := c.shares[1].Contribute(pr)
	if err != nil {
		t.Fatal(err)
	}
	data, err := second.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	carol := h.plan.Nodes[2]
	if err := h.receive(bob, carol, proposal, cards, [][]byte{contributions[0], data}); err != nil {
		t.Fatal(err)
	}
	if err := h.receive(alice, carol, proposal, cards, contributions); err == nil || !strings.Contains(err.Error(), "holder 2 (bob) signed two") {
		t.Errorf("the other one: %v", err)
	}
	// What isn't signed shows nothing of those in whose name it is.
	for _, i := range []int{0, 1} {
		forged := [][]byte{slices.Clone(contributions[0]), slices.Clone(data)}
		forged[i][len(forged[i])-1] ^= 1
		if err := h.receive(bob, carol, proposal, cards, forged); err == nil || strings.Contains(err.Error(), "signed two") {
			t.Errorf("forged for holder %d: %v", i+1, err)
		}
	}
	if err := h.receive(bob, carol, proposal, cards, [][]byte{contributions[0], data}); err != nil {
		t.Errorf("the first again: %v", err)
	}
}

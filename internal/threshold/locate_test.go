// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold_test

import (
	"context"
	"testing"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/threshold"
)

// A node that says that it holds another one's share doesn't get into the plan in that one's
// place, whoever answers first.
func TestWhoHoldsWhat(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, nil)
	alice, bob := c.nodes[0], c.nodes[1]
	if err := bob.stop(); err != nil {
		t.Fatal(err)
	}
	bobs, mallorys := new(keyRogue), new(keyRogue)
	serveAt(t, bob.id, bob.Addr().String(), bobs)
	_, id := newParty(t)
	alice.admit(id, "mallory", serve(t, id, mallorys))
	for _, late := range []bool{false, true} {
		before := make(chan struct{})
		first := func(context.Context, *thresholdv1.KeyRequest) (*thresholdv1.KeyResponse, error) {
			defer close(before)
			return &thresholdv1.KeyResponse{Index: 2}, nil
		}
		second := func(ctx context.Context, _ *thresholdv1.KeyRequest) (*thresholdv1.KeyResponse, error) {
			<-before
			return &thresholdv1.KeyResponse{Index: 2}, nil
		}
		bobs.key, mallorys.key = first, second
		if late {
			bobs.key, mallorys.key = second, first
		}
		st := alice.startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"})
		p := new(threshold.Plan)
		if err := p.UnmarshalBinary(st.Plan); err != nil {
			t.Fatal(err)
		}
		for _, n := range p.Nodes {
			if n.Old == 2 && n.Party != bob.Fingerprint() {
				t.Errorf("bob's answer comes later: %v; holder 2 is %s", late, n.Party)
			}
		}
	}
}

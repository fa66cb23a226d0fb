// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/thresholdrsa"
)

func rules(list ...string) (s string) {
	for _, r := range list {
		f := strings.Split(r, " ")
		s += fmt.Sprintf("[[rule]]\nparties = [%q]\noperations = [%q]\nkeys = [%q]\napprove = %s\n", f[0], f[1], f[2], f[3])
	}
	return s
}

const otherKey = "rsa-0000000000000000000000000000000000000000"

// A share that was made without a person isn't handed to a party that needs one.
func TestApprovalOfWhatIsThere(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, func(i int) string {
		return rules("alice threshold.share * false", "mallory threshold.share * true")
	})
	bob := c.nodes[1]
	_, mallory := newParty(t)
	bob.admit(mallory, "mallory", "")
	_, data := request(t, c.key, "m")
	req := &thresholdv1.ShareRequest{Request: data, Key: threshold.KeyName(c.key)}
	if resp, err := bob.as(c.nodes[0].id).Share(t.Context(), req); err != nil || len(resp.Share) == 0 {
		t.Fatal(resp, err)
	}
	resp, err := bob.as(mallory).Share(t.Context(), req)
	if err != nil || len(resp.Share) != 0 || resp.PendingUntilMs == 0 {
		t.Errorf("without a person: %d bytes, %v", len(resp.GetShare()), err)
	}
	if _, err := bob.as(bob.id).Approve(t.Context(), &thresholdv1.ApproveRequest{Id: waitPending(t, bob.as(bob.id)).Id}); err != nil {
		t.Fatal(err)
	}
	if resp, err := bob.as(mallory).Share(t.Context(), req); err != nil || len(resp.Share) == 0 {
		t.Errorf("approved: %d bytes, %v", len(resp.GetShare()), err)
	}
}

// The right to decide is that for a key, and nobody decides about what it asks itself.
func TestWhoDecides(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, func(i int) string {
		return rules("alice threshold.share * true", "mallory threshold.share * true",
			"mallory threshold.approve * false", "mallory threshold.reject * false", "mallory threshold.pending * false",
			"trent threshold.* "+otherKey+" false")
	})
	bob := c.nodes[1]
	_, mallory := newParty(t)
	_, trent := newParty(t)
	bob.admit(mallory, "mallory", "")
	bob.admit(trent, "trent", "")
	name := threshold.KeyName(c.key)
	_, data := request(t, c.key, "m")
	if resp, err := bob.as(mallory).Share(t.Context(), &thresholdv1.ShareRequest{Request: data, Key: name}); err != nil || resp.PendingUntilMs == 0 {
		t.Fatal(resp, err)
	}
	item := waitPending(t, bob.as(mallory))
	denied := func(what string, err error) {
		t.Helper()
		if connect.CodeOf(err) != connect.CodePermissionDenied {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := bob.as(mallory).Approve(t.Context(), &thresholdv1.ApproveRequest{Id: item.Id})
	denied("approved by who asked", err)
	_, err = bob.as(mallory).Reject(t.Context(), &thresholdv1.RejectRequest{Id: item.Id})
	denied("rejected by who asked", err)
	_, err = bob.as(trent).Approve(t.Context(), &thresholdv1.ApproveRequest{Id: item.Id})
	denied("approved by the right for another key", err)
	_, err = bob.as(trent).Reject(t.Context(), &thresholdv1.RejectRequest{Id: item.Id})
	denied("rejected by the right for another key", err)
	if resp, err := bob.as(trent).Pending(t.Context(), new(thresholdv1.PendingRequest)); err != nil || len(resp.Items) != 0 {
		t.Errorf("what waits under another key: %d, %v", len(resp.GetItems()), err)
	}
	if resp, err := bob.as(trent).Keys(t.Context(), new(thresholdv1.KeysRequest)); err != nil || len(resp.Keys) != 0 {
		t.Errorf("other keys: %d, %v", len(resp.GetKeys()), err)
	}
	if _, err := bob.as(bob.id).Approve(t.Context(), &thresholdv1.ApproveRequest{Id: item.Id[:7]}); connect.CodeOf(err) != connect.CodeNotFound {
		t.Errorf("too little of an ID: %v", err)
	}

	// Another one may decide.
	_, data = request(t, c.key, "n")
	if resp, err := bob.as(c.nodes[0].id).Share(t.Context(), &thresholdv1.ShareRequest{Request: data, Key: name}); err != nil || resp.PendingUntilMs == 0 {
		t.Fatal(resp, err)
	}
	r := new(thresholdrsa.Request)
	if err := r.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	id := r.ID()
	if _, err := bob.as(mallory).Approve(t.Context(), &thresholdv1.ApproveRequest{Id: hex.EncodeToString(id[:])}); err != nil {
		t.Errorf("approved by another one: %v", err)
	}
}

// The right to take steps in ceremonies is that for a key too, and not by another name.
func TestWhoJoins(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, func(i int) string {
		return rules("alice threshold.* * false", "bob threshold.* * false", "trent threshold.* "+otherKey+" false", "mallory threshold.* code false")
	})
	alice := c.nodes[0]
	_, trent := newParty(t)
	_, mallory := newParty(t)
	alice.admit(trent, "trent", "")
	alice.admit(mallory, "mallory", "")
	st := alice.startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"})
	for name, who := range map[string]*party.Identity{"trent": trent, "mallory": mallory} {
		_, err := alice.as(who).StartCeremony(t.Context(), &thresholdv1.StartCeremonyRequest{Key: "code"})
		if connect.CodeOf(err) != connect.CodePermissionDenied {
			t.Errorf("%s: started: %v", name, err)
		}
		_, err = alice.as(who).JoinCeremony(t.Context(), &thresholdv1.JoinCeremonyRequest{Id: st.Id})
		if connect.CodeOf(err) != connect.CodePermissionDenied {
			t.Errorf("%s: joined: %v", name, err)
		}
		_, err = alice.as(who).FinishCeremony(t.Context(), &thresholdv1.FinishCeremonyRequest{Id: st.Id})
		if connect.CodeOf(err) != connect.CodePermissionDenied {
			t.Errorf("%s: finished: %v", name, err)
		}
		if resp, err := alice.as(who).Ceremonies(t.Context(), new(thresholdv1.CeremoniesRequest)); err != nil || len(resp.Ceremonies) != 0 {
			t.Errorf("%s: sees %d, %v", name, len(resp.GetCeremonies()), err)
		}
	}
}

// Plans cost nothing to make: one node can't keep the others from theirs.
func TestManyPlans(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, func(i int) string {
		return rules("alice threshold.* * false", "mallory threshold.ceremony * true")
	})
	bob := c.nodes[1]
	_, mallory := newParty(t)
	bob.admit(mallory, "mallory", "")
	st := c.nodes[0].startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"})
	p := new(threshold.Plan)
	if err := p.UnmarshalBinary(st.Plan); err != nil {
		t.Fatal(err)
	}
	p.Leader = mallory.Fingerprint()
	step := &thresholdv1.CeremonyRequest_Card{Card: &thresholdv1.CardStep{}}
	client := bob.as(mallory)
	for i := range 100 {
		p.Nonce[0] = byte(i)
		p.Made = p.Made.Add(time.Millisecond)
		plan, err := p.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Ceremony(t.Context(), &thresholdv1.CeremonyRequest{Plan: plan, Key: threshold.KeyName(c.key), Step: step})
		if err != nil || resp.Joined {
			t.Fatal(i, resp, err)
		}
	}
	resp, err := bob.as(bob.id).Ceremonies(t.Context(), new(thresholdv1.CeremoniesRequest))
	if err != nil {
		t.Fatal(err)
	}
	n, mine := 0, false
	for _, x := range resp.Ceremonies {
		if mine = mine || x.Id == st.Id; x.Leader == mallory.Fingerprint() {
			n++
		}
	}
	if n > 64 || n == 0 || !mine {
		t.Errorf("%d plans of mallory, that of alice: %v", n, mine)
	}
	// And nothing of what isn't here is kept.
	_, shares, err := thresholdrsa.Deal(testKey(t), 2, 2, &thresholdrsa.DealOptions{Names: holderNames[:2]})
	if err != nil {
		t.Fatal(err)
	}
	p.Parent = shares[0].PublicKey()
	plan, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if r, err := client.Ceremony(t.Context(), &thresholdv1.CeremonyRequest{Plan: plan, Key: threshold.KeyName(c.key), Step: step}); err != nil || r.Joined {
		t.Fatal(r, err)
	}
	again, err := bob.as(bob.id).Ceremonies(t.Context(), new(thresholdv1.CeremoniesRequest))
	if err != nil || len(again.Ceremonies) != len(resp.Ceremonies) {
		t.Errorf("%d plans, then %d, %v", len(resp.Ceremonies), len(again.Ceremonies), err)
	}
}

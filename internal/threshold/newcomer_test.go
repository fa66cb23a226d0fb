// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold_test

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"connectrpc.com/connect"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// change replaces the plan by a changed one, which the leader hasn't stored.
func (h *hand) change(fn func()) {
	h.t.Helper()
	fn()
	var err error
	if h.data, err = h.plan.MarshalBinary(); err != nil {
		h.t.Fatal(err)
	}
	id := h.plan.ID()
	h.id = hex.EncodeToString(id[:])
}

// show tells all nodes of the plan, and has people join at some, under the key's name code.
func (h *hand) show(join ...*testNode) {
	h.t.Helper()
	for _, n := range h.plan.Nodes {
		req := &thresholdv1.CeremonyRequest{Step: &thresholdv1.CeremonyRequest_Card{Card: &thresholdv1.CardStep{}}}
		if r, err := h.ask(h.lead, n, req); err != nil || r.Joined {
			h.t.Fatalf("%s: %v, %v", n.Name, r, err)
		}
	}
	for _, n := range join {
		if err := h.join(n); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *hand) join(n *testNode) error {
	_, err := n.as(n.id).JoinCeremony(h.t.Context(), &thresholdv1.JoinCeremonyRequest{Id: h.id, Name: "code"})
	return err
}

// contributions has all contribute who do by the plan.
func (h *hand) contributions(proposal []byte, cards []*thresholdv1.SignedCard) (list [][]byte) {
	h.t.Helper()
	for _, n := range h.plan.Nodes {
		if !n.Contributes {
			continue
		}
		data, err := h.contribute(h.lead, n, proposal, cards)
		if err != nil {
			h.t.Fatal(err)
		}
		list = append(list, data)
	}
	return list
}

// A leader makes a plan in which a holder is somebody new, and a person there joins. The
// share of a ceremony that is never committed mustn't take the place of the one that it has.
func TestHolderAsNewcomer(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 3, nil)
	alice, bob, carol := c.nodes[0], c.nodes[1], c.nodes[2]
	h := c.byHand(t, alice)
	h.change(func() {
		for i := range h.plan.Nodes {
			n := &h.plan.Nodes[i]
			n.Contributes = n.Party != bob.Fingerprint()
			if !n.Contributes {
				n.Old = 0
			}
		}
	})
	h.show(alice, carol)
	if err := h.join(bob); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("a holder joins as somebody new: %v", err)
	}
	if p, index := bob.held(); index != 2 || p.ID() != c.key.ID() {
		t.Errorf("bob holds share %d of epoch %d", index, p.Epoch())
	}
}

// Somebody new joins two ceremonies of one record. What it gets by the one that is
// committed isn't lost by the other.
func TestNewcomerOfTwo(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, nil)
	alice, bob := c.nodes[0], c.nodes[1]
	dave := c.start("dave", c.makeDir("dave", allowAll))
	for _, n := range c.nodes {
		n.meet(dave)
	}
	h := c.byHand(t, alice)
	h.nodes[dave.Fingerprint()] = dave
	h.change(func() {
		for i := range h.plan.Nodes {
			h.plan.Nodes[i].Contributes = true
		}
		h.plan.Nodes = append(h.plan.Nodes, threshold.PlanNode{Party: dave.Fingerprint(), Name: "dave", New: 3})
	})
	h.show(alice, bob, dave)
	proposal, cards := h.propose()
	contributions := h.contributions(proposal, cards)

	st := alice.startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code", Receivers: []string{"alice", "bob", "dave"}})
	for _, n := range []*testNode{bob, dave} {
		if _, err := n.as(n.id).JoinCeremony(t.Context(), &thresholdv1.JoinCeremonyRequest{Id: st.Id, Name: "code"}); err != nil {
			t.Fatal(err)
		}
	}
	if st := alice.finishCeremony(st.Id); len(st.Successor) == 0 {
		t.Fatal(states(st))
	}
	last := h.plan.Nodes[2]
	if err := h.receive(alice, last, proposal, cards, contributions); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("received for the other: %v", err)
	}
	if p, index := dave.held(); index != 3 || p.Epoch() != c.key.Epoch()+1 {
		t.Errorf("dave holds share %d of epoch %d", index, p.Epoch())
	}
}

// Under the name by which a node has joined there is another key by now. It has nothing to
// do with the ceremony.
func TestJoinedUnderAnotherName(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, nil)
	alice := c.nodes[0]
	dave := c.start("dave", c.makeDir("dave", allowAll))
	alice.meet(dave)
	st := alice.startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code", Receivers: []string{"alice", "bob", "dave"}})
	if _, err := dave.as(dave.id).JoinCeremony(t.Context(), &thresholdv1.JoinCeremonyRequest{Id: st.Id, Name: "code"}); err != nil {
		t.Fatal(err)
	}
	card := func() error {
		_, err := dave.as(alice.id).Ceremony(t.Context(), &thresholdv1.CeremonyRequest{
			Plan: st.Plan, Key: threshold.KeyName(c.key), Step: &thresholdv1.CeremonyRequest_Card{Card: &thresholdv1.CardStep{}},
		})
		return err
	}
	if err := card(); err != nil {
		t.Fatal(err)
	}
	if err := dave.stop(); err != nil {
		t.Fatal(err)
	}
	priv, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	dealing, _, err := thresholdrsa.Import(priv, 2, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	record, err := keyfile.Encode(dealing.PublicKey())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dave.dir, "keys", "code.pub"), record, 0o600); err != nil {
		t.Fatal(err)
	}
	dave = c.restart(dave)
	if err := card(); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("a card for another key: %v", err)
	}
}

// A plan about a record that somebody made up for a key which a node coordinates is refused,
// and leaves nothing that would be found when the node starts.
func TestMadeUpRecord(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, nil)
	alice := c.nodes[0]
	dir := c.makeDir("dave", allowAll)
	record, err := keyfile.Encode(c.key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := threshold.Hold(dir, threshold.Config{}, "code", record, nil); err != nil {
		t.Fatal(err)
	}
	dave := c.start("dave", dir)
	alice.meet(dave)
	other, _, err := thresholdrsa.Deal(testKey(t), 2, 2, &thresholdrsa.DealOptions{Names: holderNames[:2]})
	if err != nil {
		t.Fatal(err)
	}
	h := c.byHand(t, alice)
	h.change(func() {
		h.plan.Parent = other.PublicKey()
		h.plan.Nodes = append(h.plan.Nodes, threshold.PlanNode{Party: dave.Fingerprint(), Name: "dave", New: 3})
	})
	h.nodes[dave.Fingerprint()] = dave
	last := h.plan.Nodes[2]
	if r, err := h.ask(alice, last, &thresholdv1.CeremonyRequest{Step: &thresholdv1.CeremonyRequest_Card{Card: &thresholdv1.CardStep{}}}); err != nil || r.Joined {
		t.Fatal(r, err)
	}
	for _, name := range []string{"code", "a", ""} {
		_, err := dave.as(dave.id).JoinCeremony(t.Context(), &thresholdv1.JoinCeremonyRequest{Id: h.id, Name: name})
		if connect.CodeOf(err) != connect.CodeInvalidArgument {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := dave.stop(); err != nil {
		t.Fatal(err)
	}
	dave = c.restart(dave)
	if p, _ := dave.held(); p.ID() != c.key.ID() {
		t.Error("dave has the other record")
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold_test

import (
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/thresholdrsa"
)

// A hand leads a ceremony step by step, by the key of a node.
type hand struct {
	t     *testing.T
	c     *cluster
	lead  *testNode
	id    string
	data  []byte
	plan  *threshold.Plan
	nodes map[string]*testNode
}

func (c *cluster) byHand(t *testing.T, lead *testNode) *hand {
	t.Helper()
	st := lead.startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"})
	h := &hand{t: t, c: c, lead: lead, id: st.Id, data: st.Plan, plan: new(threshold.Plan), nodes: make(map[string]*testNode)}
	if err := h.plan.UnmarshalBinary(st.Plan); err != nil {
		t.Fatal(err)
	}
	for _, n := range c.nodes {
		h.nodes[n.Fingerprint()] = n
	}
	return h
}

// ask has a node take a step, for whoever calls.
func (h *hand) ask(by *testNode, n threshold.PlanNode, req *thresholdv1.CeremonyRequest) (*thresholdv1.CeremonyResponse, error) {
	req.Plan, req.Key = h.data, threshold.KeyName(h.plan.Parent)
	return h.nodes[n.Party].as(by.id).Ceremony(h.t.Context(), req)
}

// propose gets all cards, and makes a proposal of them.
func (h *hand) propose() (proposal []byte, cards []*thresholdv1.SignedCard) {
	h.t.Helper()
	cards = make([]*thresholdv1.SignedCard, len(h.plan.Nodes))
	receivers := make([]*thresholdrsa.Receiver, len(cards))
	var contributors []int
	for _, n := range h.plan.Nodes {
		r, err := h.ask(h.lead, n, &thresholdv1.CeremonyRequest{Step: &thresholdv1.CeremonyRequest_Card{Card: &thresholdv1.CardStep{}}})
		if err != nil || r.Card == nil {
			h.t.Fatal(r, err)
		}
		cards[n.New-1], receivers[n.New-1] = r.Card, new(thresholdrsa.Receiver)
		if err := receivers[n.New-1].UnmarshalBinary(r.Card.Card); err != nil {
			h.t.Fatal(err)
		}
		if n.Contributes {
			contributors = append(contributors, n.Old)
		}
	}
	pr, err := thresholdrsa.ProposeReshare(h.plan.Parent, contributors, h.plan.Threshold, receivers)
	if err != nil {
		h.t.Fatal(err)
	}
	if proposal, err = pr.MarshalBinary(); err != nil {
		h.t.Fatal(err)
	}
	return proposal, cards
}

func (h *hand) contribute(by *testNode, n threshold.PlanNode, proposal []byte, cards []*thresholdv1.SignedCard) ([]byte, error) {
	r, err := h.ask(by, n, &thresholdv1.CeremonyRequest{Step: &thresholdv1.CeremonyRequest_Contribute{
		Contribute: &thresholdv1.ContributeStep{Proposal: proposal, Cards: cards},
	}})
	return r.GetContribution(), err
}

func (h *hand) receive(by *testNode, n threshold.PlanNode, proposal []byte, cards []*thresholdv1.SignedCard, contributions [][]byte) error {
	r, err := h.ask(by, n, &thresholdv1.CeremonyRequest{Step: &thresholdv1.CeremonyRequest_Receive{
		Receive: &thresholdv1.ReceiveStep{Proposal: proposal, Cards: cards, Contributions: contributions},
	}})
	if err == nil && r.Ack == nil {
		h.t.Fatal("no acknowledgement")
	}
	return err
}

// A leader has all acknowledge their new shares, and keeps that to itself. Another holder
// brings the ceremony to its end; else there could be no other one of the key ever again.
func TestLeaderThatWithholds(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 3, nil)
	alice, bob, carol := c.nodes[0], c.nodes[1], c.nodes[2]
	h := c.byHand(t, alice)
	proposal, cards := h.propose()
	nodes := slices.Clone(h.plan.Nodes)
	slices.SortFunc(nodes, func(a, b threshold.PlanNode) int { return a.Old - b.Old })

	// Who doesn't lead has no proposal accepted, nor a plan that the leader hasn't shown.
	if _, err := h.contribute(carol, nodes[1], proposal, cards); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("a proposal of another one: %v", err)
	}
	_, stranger := newParty(t)
	bob.admit(stranger, "stranger", "")
	for what, by := range map[string]*testNode{"a stranger": {Node: bob.Node, t: t, id: stranger}} {
		if _, err := h.ask(by, nodes[1], &thresholdv1.CeremonyRequest{Step: &thresholdv1.CeremonyRequest_Card{Card: &thresholdv1.CardStep{}}}); connect.CodeOf(err) != connect.CodePermissionDenied {
			t.Errorf("%s: %v", what, err)
		}
	}
	shown := h.data
	h.plan.Nonce[0] ^= 1
	var err error
	if h.data, err = h.plan.MarshalBinary(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.ask(carol, nodes[1], &thresholdv1.CeremonyRequest{Step: &thresholdv1.CeremonyRequest_Card{Card: &thresholdv1.CardStep{}}}); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("a plan in the leader's name: %v", err)
	}
	h.data = shown
	if _, err := bob.as(bob.id).FinishCeremony(t.Context(), &thresholdv1.FinishCeremonyRequest{Id: h.id}); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("finished by another one before there is anything to finish: %v", err)
	}

	var contributions [][]byte
	for _, n := range nodes {
		if n.Contributes {
			data, err := h.contribute(alice, n, proposal, cards)
			if err != nil {
				t.Fatal(err)
			}
			contributions = append(contributions, data)
		}
	}
	other, _ := h.propose()
	if _, err := h.contribute(alice, nodes[1], other, cards); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("a second proposal: %v", err)
	}
	for _, n := range nodes {
		if err := h.receive(alice, n, proposal, cards, contributions); err != nil {
			t.Fatal(err)
		}
	}
	// Another ceremony can't take place.
	st := carol.startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"})
	if s := states(carol.finishCeremony(st.Id)); !strings.Contains(s["bob"], "another successor") {
		t.Errorf("another ceremony: %v", s)
	}

	st = bob.finishCeremony(h.id)
	for name, state := range states(st) {
		if state != "finished" {
			t.Errorf("%s: %s", name, state)
		}
	}
	for _, n := range c.nodes {
		if p, _ := n.held(); p.Epoch() != c.key.Epoch()+1 {
			t.Errorf("%s is at epoch %d", n.name, p.Epoch())
		}
	}
	u := c.newUser(carol)
	if err := u.sign(t, "m"); err != nil {
		t.Fatal(err)
	}
	// And the next one can.
	st = carol.startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"})
	for name, state := range states(carol.finishCeremony(st.Id)) {
		if state != "finished" {
			t.Errorf("the next: %s: %s", name, state)
		}
	}
}

// A holder that was away when a ceremony ended learns of the certificate from the others.
// That it has another share since is in its audit log.
func TestHolderFollows(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 3, nil)
	alice, carol := c.nodes[0], c.nodes[2]
	h := c.byHand(t, alice)
	proposal, cards := h.propose()
	slices.SortFunc(h.plan.Nodes, func(a, b threshold.PlanNode) int { return a.Old - b.Old })
	encoded := h.contributions(proposal, cards)
	pr := new(thresholdrsa.Proposal)
	if err := pr.UnmarshalBinary(proposal); err != nil {
		t.Fatal(err)
	}
	var contributions []*thresholdrsa.Contribution
	for _, data := range encoded {
		x := new(thresholdrsa.Contribution)
		if err := x.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		contributions = append(contributions, x)
	}
	var acks []*thresholdrsa.Ack
	for _, n := range h.plan.Nodes {
		r, err := h.ask(alice, n, &thresholdv1.CeremonyRequest{Step: &thresholdv1.CeremonyRequest_Receive{
			Receive: &thresholdv1.ReceiveStep{Proposal: proposal, Cards: cards, Contributions: encoded},
		}})
		ack := new(thresholdrsa.Ack)
		if err != nil || ack.UnmarshalBinary(r.Ack) != nil {
			t.Fatal(err)
		}
		acks = append(acks, ack)
	}
	certificate, err := thresholdrsa.Commit(c.key, pr, contributions, acks, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := certificate.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range h.plan.Nodes[:2] {
		_, err := h.ask(alice, n, &thresholdv1.CeremonyRequest{Step: &thresholdv1.CeremonyRequest_Certificate{
			Certificate: &thresholdv1.CertificateStep{Certificate: data, Cards: cards, Contributions: encoded},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, request := request(t, c.key, "m")
	_, err = carol.as(carol.id).Sign(t.Context(), &thresholdv1.SignRequest{Request: request, Key: threshold.KeyName(c.key)})
	if connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("with the old record: %v", err)
	}
	if p, index := carol.held(); p.ID() != certificate.PublicKey().ID() || index != 3 {
		t.Errorf("carol has share %d of epoch %d", index, p.Epoch())
	}
	if err := carol.stop(); err != nil {
		t.Fatal(err)
	}
	records, _ := auditOf(t, carol)
	if !slices.ContainsFunc(records, func(r audit.Record) bool {
		return r.Operation == "threshold.follow" && r.Key == threshold.KeyName(c.key) && strings.Contains(r.Detail, "share of epoch 2")
	}) {
		t.Error("it isn't in the audit log")
	}
}

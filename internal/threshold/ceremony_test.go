// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"connectrpc.com/connect"

	thresholdv1 "github.com/undersign/undersign/gen/undersign/threshold/v1"
	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/threshold"
	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// held returns the record and the index of a node's share.
func (n *testNode) held() (*thresholdrsa.PublicKey, int) {
	n.t.Helper()
	resp, err := n.as(n.id).Keys(n.t.Context(), &thresholdv1.KeysRequest{})
	if err != nil || len(resp.Keys) != 1 {
		n.t.Fatalf("%s: %v, %v", n.name, resp, err)
	}
	p := new(thresholdrsa.PublicKey)
	if err := p.UnmarshalBinary(resp.Keys[0].Record); err != nil {
		n.t.Fatal(err)
	}
	return p, int(resp.Keys[0].Index)
}

func (n *testNode) startCeremony(req *thresholdv1.StartCeremonyRequest) *thresholdv1.CeremonyStatus {
	n.t.Helper()
	resp, err := n.as(n.id).StartCeremony(n.t.Context(), req)
	if err != nil {
		n.t.Fatal(err)
	}
	return resp.Ceremony
}

func (n *testNode) finishCeremony(id string) *thresholdv1.CeremonyStatus {
	n.t.Helper()
	resp, err := n.as(n.id).FinishCeremony(n.t.Context(), &thresholdv1.FinishCeremonyRequest{Id: id})
	if err != nil {
		n.t.Fatal(err)
	}
	return resp.Ceremony
}

func states(st *thresholdv1.CeremonyStatus) map[string]string {
	m := map[string]string{}
	for _, p := range st.Participants {
		m[p.Name] = p.State
		if p.Problem != "" {
			m[p.Name] += ": " + p.Problem
		}
	}
	return m
}

// A refresh while signatures are made: none fails, and the old record still names the key.
func TestRefresh(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 3, nil)
	u := c.newUser(c.nodes[1])
	old := c.key
	var stop atomic.Bool
	var wg sync.WaitGroup
	signed := 0
	wg.Go(func() {
		for i := 0; !stop.Load() || i < 5; i++ {
			if err := u.sign(t, string(rune(i))); err != nil {
				t.Errorf("while the shares are renewed: %v", err)
				return
			}
			signed++
		}
	})
	leader := c.nodes[0]
	for epoch := uint64(2); epoch <= 3; epoch++ { // the second is a refresh of integer form
		st := leader.startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"})
		for name, state := range states(st) {
			if state != "joined" {
				t.Errorf("%s: %s", name, state)
			}
		}
		st = leader.finishCeremony(st.Id)
		for name, state := range states(st) {
			if state != "finished" {
				t.Errorf("%s: %s", name, state)
			}
		}
		for i, n := range c.nodes {
			if p, index := n.held(); p.Epoch() != epoch || index != i+1 || p.RSA().N.Cmp(old.RSA().N) != 0 {
				t.Errorf("%s: epoch %d, share %d", n.name, p.Epoch(), index)
			}
			if cards, _ := filepath.Glob(filepath.Join(n.dir, "shares", "*.card")); len(cards) != 0 {
				t.Errorf("%s: %v are left", n.name, cards)
			}
		}
	}
	stop.Store(true)
	wg.Wait()
	t.Logf("%d signatures meanwhile", signed)
	if e := u.signer.Record().Epoch(); e != 3 {
		if err := u.sign(t, "after"); err != nil || u.signer.Record().Epoch() != 3 {
			t.Errorf("%v, epoch %d", err, u.signer.Record().Epoch())
		}
	}
	// Requests of the old epoch aren't signed any more.
	_, data := request(t, old, "old")
	_, err := c.nodes[2].as(c.nodes[0].id).Share(t.Context(), &thresholdv1.ShareRequest{Request: data, Key: threshold.KeyName(old)})
	if connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("old epoch: %v", err)
	}
	// And all of it is on disk.
	for _, n := range c.nodes {
		if err := n.stop(); err != nil {
			t.Fatal(err)
		}
		if _, report := auditOf(t, n); len(report.Open) != 0 {
			t.Errorf("%s: %v", n.name, report.Open)
		}
	}
	for i, n := range c.nodes {
		c.nodes[i] = c.restart(n)
	}
	if err := u.sign(t, "again"); err != nil {
		t.Fatal(err)
	}
}

// A reshare to other nodes: a person joins at each, and who leaves holds nothing.
func TestReshare(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 3, nil)
	dave := c.start("dave", c.makeDir("dave", allowAll))
	erin := c.start("erin", c.makeDir("erin", allowAll))
	for _, n := range c.nodes {
		n.meet(dave)
		n.meet(erin)
	}
	dave.meet(erin)
	u := c.newUser(c.nodes[0])
	leader := c.nodes[0]
	st := leader.startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code", Threshold: 3, Receivers: []string{"bob", "dave", "carol", "erin"}})
	got := states(st)
	if got["alice"] != "joined" || got["bob"] != "waiting" || got["dave"] != "waiting" {
		t.Errorf("%v", got)
	}
	// Nothing happens until all have joined.
	if st := leader.finishCeremony(st.Id); len(st.Successor) != 0 {
		t.Fatal("finished without a word of the others")
	}
	join := func(n *testNode, name string) error {
		_, err := n.as(n.id).JoinCeremony(t.Context(), &thresholdv1.JoinCeremonyRequest{Id: st.Id[:12], Name: name})
		return err
	}
	for _, name := range []string{"", "../x", ".x", "a/b"} {
		if err := join(dave, name); connect.CodeOf(err) != connect.CodeInvalidArgument {
			t.Errorf("name %q: %v", name, err)
		}
	}
	for _, n := range []*testNode{c.nodes[1], c.nodes[2]} {
		if err := join(n, ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []*testNode{dave, erin} {
		if err := join(n, "code"); err != nil {
			t.Fatal(err)
		}
	}
	if err := u.sign(t, "before"); err != nil {
		t.Fatal(err)
	}
	// Erin is away when the others receive, and dave restarts.
	if err := dave.stop(); err != nil {
		t.Fatal(err)
	}
	dave = c.restart(dave)
	st = leader.finishCeremony(st.Id)
	for name, state := range states(st) {
		if state != "finished" {
			t.Errorf("%s: %s", name, state)
		}
	}
	for n, want := range map[*testNode]int{c.nodes[0]: 0, c.nodes[1]: 1, dave: 2, c.nodes[2]: 3, erin: 4} {
		if p, index := n.held(); index != want || p.Epoch() != 2 || p.Threshold() != 3 || p.NumHolders() != 4 {
			t.Errorf("%s: share %d of epoch %d, %d of %d", n.name, index, p.Epoch(), p.Threshold(), p.NumHolders())
		}
	}
	// Alice holds nothing, and still coordinates, also after a restart.
	if shares, _ := filepath.Glob(filepath.Join(leader.dir, "shares", "*")); len(shares) != 0 {
		t.Errorf("alice keeps %v", shares)
	}
	if err := u.sign(t, "after"); err != nil {
		t.Fatal(err)
	}
	if err := leader.stop(); err != nil {
		t.Fatal(err)
	}
	c.nodes[0] = c.restart(leader)
	if err := u.sign(t, "after a restart"); err != nil {
		t.Fatal(err)
	}
}

// Who doesn't lead a ceremony can't take a step in it, and a plan that was changed is
// another one, which nobody has joined.
func TestCeremonyHostile(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, nil)
	st := c.nodes[0].startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"})
	name := threshold.KeyName(c.key)
	step := func(from *testNode, plan []byte, key string) (*thresholdv1.CeremonyResponse, error) {
		return c.nodes[1].as(from.id).Ceremony(t.Context(), &thresholdv1.CeremonyRequest{
			Plan: plan, Key: key, Step: &thresholdv1.CeremonyRequest_Card{Card: &thresholdv1.CardStep{}},
		})
	}
	if resp, err := step(c.nodes[0], st.Plan, name); err != nil || !resp.Joined || resp.Card == nil {
		t.Errorf("the leader: %v, %v", resp, err)
	}
	if _, err := step(c.nodes[1], st.Plan, name); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("who doesn't lead: %v", err)
	}
	if _, err := step(c.nodes[0], st.Plan, "rsa-0000000000000000000000000000000000000000"); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("another key's name: %v", err)
	}
	for _, id := range []string{"", st.Id[:7], st.Id + "0", "zzzzzzzz"} {
		if _, err := c.nodes[1].as(c.nodes[1].id).JoinCeremony(t.Context(), &thresholdv1.JoinCeremonyRequest{Id: id}); connect.CodeOf(err) != connect.CodeNotFound {
			t.Errorf("joined by %q: %v", id, err)
		}
	}
	_, mallory := newParty(t)
	// Mallory in the place of alice, with alice leading.
	p := new(threshold.Plan)
	if err := p.UnmarshalBinary(st.Plan); err != nil {
		t.Fatal(err)
	}
	for i := range p.Nodes {
		if p.Nodes[i].Party == c.nodes[0].Fingerprint() {
			p.Nodes[i].Party = mallory.Fingerprint()
			p.Nodes[i].Name = "mallory"
			p.Nodes[i].Old = 0
			p.Nodes[i].Contributes = false
		}
		p.Nodes[i].Contributes = p.Nodes[i].Old != 0
	}
	changed, err := p.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := step(c.nodes[0], changed, name); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("too few contribute: %v", err)
	}
	for cut := range len(st.Plan) {
		if err := new(threshold.Plan).UnmarshalBinary(st.Plan[:cut]); err == nil {
			t.Fatalf("a plan that was cut after %d bytes is read", cut)
		}
	}
	if err := new(threshold.Plan).UnmarshalBinary(append(st.Plan[:len(st.Plan):len(st.Plan)], 0)); err == nil {
		t.Error("a plan with more behind it is read")
	}
}

// A node that only coordinates follows the certificates, from whichever side it learns
// that there are any.
func TestCoordinatorFollows(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, nil)
	var fronts []*testNode
	for _, name := range []string{"front", "other"} {
		dir := c.makeDir(name, allowAll)
		record, err := keyfile.Encode(c.key)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := threshold.Hold(dir, threshold.Config{}, "code", record, nil); err != nil {
			t.Fatal(err)
		}
		n := c.start(name, dir)
		for _, m := range c.nodes {
			m.meet(n)
		}
		fronts = append(fronts, n)
	}
	u := c.newUser(fronts[0])
	if err := u.sign(t, "before"); err != nil {
		t.Fatal(err)
	}
	st := c.nodes[0].startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"})
	c.nodes[0].finishCeremony(st.Id)
	// The user's record is old, and so is the node's.
	if err := u.sign(t, "after"); err != nil || u.signer.Record().Epoch() != 2 {
		t.Errorf("%v, epoch %d", err, u.signer.Record().Epoch())
	}
	// The user's is new.
	record := u.signer.Record()
	v := c.newUser(fronts[1])
	v.signer = v.node.Signer(record, nil)
	if err := v.sign(t, "by the other"); err != nil {
		t.Error(err)
	}
	// And it stays there.
	if p, _ := fronts[1].held(); p.Epoch() != 2 {
		t.Errorf("epoch %d", p.Epoch())
	}
}

// A leader can't put a card of its own in the place of a receiver's, nor get a second
// contribution.
func TestCardsOfOthers(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 2, 2, nil)
	alice, bob := c.nodes[0], c.nodes[1]
	name := threshold.KeyName(c.key)
	card := func(at *testNode, plan []byte) *thresholdv1.SignedCard {
		t.Helper()
		resp, err := at.as(alice.id).Ceremony(t.Context(), &thresholdv1.CeremonyRequest{
			Plan: plan, Key: name, Step: &thresholdv1.CeremonyRequest_Card{Card: &thresholdv1.CardStep{}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return resp.Card
	}
	first := alice.startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"})
	st := alice.startCeremony(&thresholdv1.StartCeremonyRequest{Key: "code"})
	alices, bobs := card(alice, st.Plan), card(bob, st.Plan)
	mine, err := thresholdrsa.NewReceiver("bob")
	if err != nil {
		t.Fatal(err)
	}
	receiver, err := mine.Receiver()
	if err != nil {
		t.Fatal(err)
	}
	data, err := receiver.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	_, mallory := newParty(t)
	sign := func(id *party.Identity, as ed25519.PublicKey) *thresholdv1.SignedCard {
		raw, err := hex.DecodeString(st.Id)
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.Sum256(data)
		message := slices.Concat([]byte("undersign/ceremony-card/v1"), raw, h[:])
		return &thresholdv1.SignedCard{Card: data, Party: as, Signature: ed25519.Sign(id.SigningKey(), message)}
	}
	contribute := func(cards, signed []*thresholdv1.SignedCard) error {
		t.Helper()
		var list []*thresholdrsa.Receiver
		for _, sc := range cards {
			r := new(thresholdrsa.Receiver)
			if err := r.UnmarshalBinary(sc.Card); err != nil {
				t.Fatal(err)
			}
			list = append(list, r)
		}
		pr, err := thresholdrsa.ProposeReshare(c.key, []int{1, 2}, 2, list)
		if err != nil {
			t.Fatal(err)
		}
		proposal, err := pr.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		_, err = bob.as(alice.id).Ceremony(t.Context(), &thresholdv1.CeremonyRequest{Plan: st.Plan, Key: name, Step: &thresholdv1.CeremonyRequest_Contribute{
			Contribute: &thresholdv1.ContributeStep{Proposal: proposal, Cards: signed},
		}})
		return err
	}
	forged := sign(mallory, mallory.PublicKey())
	other := card(bob, first.Plan)
	for what, cards := range map[string][2][]*thresholdv1.SignedCard{
		"a card that a stranger signed":           {{alices, forged}, {alices, forged}},
		"a card that the leader signed":           {{alices, forged}, {alices, sign(alice.id, alice.id.PublicKey())}},
		"a card that the leader signed as bob":    {{alices, forged}, {alices, sign(alice.id, bob.id.PublicKey())}},
		"the card of another ceremony":            {{alices, other}, {alices, other}},
		"bob's card, and another in the proposal": {{alices, forged}, {alices, bobs}},
		"the cards in another order":              {{bobs, alices}, {bobs, alices}},
		"a card less":                             {{alices, bobs}, {alices}},
		"no cards":                                {{alices, bobs}, nil},
	} {
		if err := contribute(cards[0], cards[1]); connect.CodeOf(err) != connect.CodeInvalidArgument {
			t.Errorf("%s: %v", what, err)
		}
	}
	good := []*thresholdv1.SignedCard{alices, bobs}
	if err := contribute(good, good); err != nil {
		t.Errorf("as agreed: %v", err)
	}
	if err := contribute(good, good); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("a second proposal: %v", err)
	}
	// Even bob's node can't vouch for another identity than the holder's.
	if err := contribute([]*thresholdv1.SignedCard{alices, forged}, []*thresholdv1.SignedCard{alices, sign(bob.id, bob.id.PublicKey())}); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("another identity: %v", err)
	}
}

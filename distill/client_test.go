// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/undersign/undersign/bls"
)

// sent returns a client that has sent a payload, and the message's last height.
func (w *partyNet) sent(t testing.TB, id uint64, payload string) (*Client, uint64) {
	t.Helper()
	c := w.client(id, new(MemoryJournal), nil)
	nonce, out, err := c.Submit(1000, []byte(payload), 1000)
	if err != nil {
		t.Fatal(err)
	}
	s := one[SendSubmission](t, out)
	if nonce != 1 || s.Submission.NotAfter != 1100 || s.AggID != firstAgg {
		t.Fatalf("sent %+v with nonce %d", s, nonce)
	}
	return c, s.Submission.NotAfter
}

func TestClientRefusesProposals(t *testing.T) {
	w := newPartyNet(t, 1, 1, nil)
	const last = 1100 // of the message
	proposal := func(change func(*Proposal)) *Proposal {
		p := w.propose(firstAgg, 4, 164, 5, someLeaves(0, 1, last, "pay"), 0)
		change(p)
		return p
	}
	signed := func(change func(*Proposal)) *Proposal {
		return proposal(func(p *Proposal) { change(p); w.signProp(p) })
	}
	tests := []struct {
		name string
		p    *Proposal
		from uint64
		want Rule
	}{
		{"good", proposal(func(*Proposal) {}), firstAgg, 0},
		{"last height", w.propose(firstAgg, 4, last, 5, someLeaves(0, 1, last, "pay"), 0), firstAgg, 0},
		{"now or never", w.propose(firstAgg, 4, 100, 5, someLeaves(0, 1, last, "pay"), 0), firstAgg, 0},
		{"later version", w.propose(firstAgg, 4, 164, 50, someLeaves(0, 1, last, "pay"), 0), firstAgg, 0},
		{"other channel", proposal(func(*Proposal) {}), secondAgg, RuleChannel},
		{"other network", signed(func(p *Proposal) { p.Prop.Net[3] ^= 1 }), firstAgg, RuleNetwork},
		{"unknown aggregator", proposal(func(p *Proposal) { p.Prop.AggID = 8 }), 8, RuleAggregator},
		{"version before the keys", w.propose(firstAgg, 4, 164, 4, someLeaves(0, 1, last, "pay"), 0), firstAgg, RuleClientKeys},
		{"signature", proposal(func(p *Proposal) { p.Signature[40] ^= 1 }), firstAgg, RuleAggregatorSignature},
		{"other aggregator's signature", proposal(func(p *Proposal) {
			p.Signature = [64]byte(ed25519.Sign(w.aggregator[secondAgg], p.Prop.Bytes()))
		}), firstAgg, RuleAggregatorSignature},
		{"unsigned number", proposal(func(p *Proposal) { p.Prop.Seq++ }), firstAgg, RuleAggregatorSignature},
		{"unsigned last height", proposal(func(p *Proposal) { p.Prop.ValidUntil++ }), firstAgg, RuleAggregatorSignature},
		{"unsigned version", proposal(func(p *Proposal) { p.Prop.Dirver++ }), firstAgg, RuleAggregatorSignature},
		{"unsigned n", proposal(func(p *Proposal) { p.Prop.N = 6 }), firstAgg, RuleAggregatorSignature},
		{"too many leaves", signed(func(p *Proposal) { p.Prop.N = 1<<20 + 1 }), firstAgg, RuleLeaves},
		{"no leaves", signed(func(p *Proposal) { p.Prop.N = 0 }), firstAgg, RuleProofIndex},
		{"index", proposal(func(p *Proposal) { p.Index = 5 }), firstAgg, RuleProofIndex},
		{"depth", proposal(func(p *Proposal) { p.Siblings = p.Siblings[1:] }), firstAgg, RuleProofDepth},
		{"depth by n", signed(func(p *Proposal) { p.Prop.N = 9 }), firstAgg, RuleProofDepth},
		{"expired", w.propose(firstAgg, 4, 99, 5, someLeaves(0, 1, last, "pay"), 0), firstAgg, RuleProposalExpired},
		{"outlives", w.propose(firstAgg, 4, last+1, 5, someLeaves(0, 1, last, "pay"), 0), firstAgg, RuleProposalLate},
		{"other payload", w.propose(firstAgg, 4, 164, 5, someLeaves(0, 1, last, "pax"), 0), firstAgg, RuleProofRoot},
		{"other expiry", w.propose(firstAgg, 4, 164, 5, someLeaves(0, 1, last+1, "pay"), 0), firstAgg, RuleProofRoot},
		{"other nonce", w.propose(firstAgg, 4, 164, 5, someLeaves(0, 2, last, "pay"), 0), firstAgg, RuleNotInFlight},
		{"claimed nonce", func() *Proposal {
			p := w.propose(firstAgg, 4, 164, 5, someLeaves(0, 2, last, "pay"), 0)
			p.Nonce = 1
			return p
		}(), firstAgg, RuleProofRoot},
		{"other's leaf", w.propose(firstAgg, 4, 164, 5, someLeaves(1, 1, last, "pay"), 1), firstAgg, RuleProofRoot},
		{"sibling", proposal(func(p *Proposal) { p.Siblings[1][0] ^= 1 }), firstAgg, RuleProofRoot},
		{"index of another", proposal(func(p *Proposal) { p.Index ^= 1 }), firstAgg, RuleProofRoot},
		{"root", signed(func(p *Proposal) { p.Prop.Root[0] ^= 1 }), firstAgg, RuleProofRoot},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := w.sent(t, 0, "pay")
			out, err := c.HandleProposal(1001, tt.from, tt.p)
			hasRule(t, err, tt.want)
			if tt.want != 0 {
				if err == nil || len(out) > 0 {
					t.Fatalf("%d actions with error %v", len(out), err)
				}
				return
			}
			r := one[SendReduction](t, out)
			if r.AggID != firstAgg || r.Reduction.Digest != tt.p.Prop.Red().Digest() || r.Reduction.Seq != 4 {
				t.Fatalf("wrong reduction %+v", r)
			}
			sig, err := bls.ParseUncompressedSignature(r.Reduction.Signature[:])
			if err != nil {
				t.Fatal(err)
			}
			if err := bls.ProofOfPossession.Verify(w.keys[0].BLS.PublicKey(), r.Reduction.Digest[:], sig); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestClientWithoutHeadSignsNothing(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	j := new(MemoryJournal)
	c := w.client(0, j, nil)
	if _, _, err := c.Submit(0, []byte("pay"), 1000); err != nil {
		t.Fatal(err)
	}
	c, err := OpenClient(ClientConfig{Network: w.network, Keys: w.keys[0], Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.HandleProposal(1, firstAgg, w.propose(firstAgg, 4, 164, 5, someLeaves(0, 1, 1100, "pay"), 0))
	hasRule(t, err, RuleNoHead)
	_, _, err = c.Submit(1, []byte("pay"), 1000)
	hasRule(t, err, RuleNoHead)
}

func TestClientCountsRootsByAggregator(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	c, last := w.sent(t, 0, "pay")
	handle := func(aggID, seq uint64) error {
		leaves := someLeaves(0, 1, last, "pay")
		leaves[1].Nonce = seq // another root
		_, err := c.HandleProposal(1001, aggID, w.propose(aggID, seq, 164, 5, leaves, 0))
		return err
	}
	for seq := range uint64(maxRoots) {
		if err := handle(firstAgg, seq); err != nil {
			t.Fatal(err)
		}
	}
	hasRule(t, handle(firstAgg, maxRoots), RuleRoots)
	if err := handle(firstAgg, 2); err != nil {
		t.Errorf("a root that was signed before: %v", err)
	}
	if err := handle(secondAgg, 1000); err != nil {
		t.Errorf("a root of another aggregator: %v", err)
	}
}

func TestClientFindsEquivocation(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	first := w.propose(firstAgg, 4, 164, 5, someLeaves(0, 1, 1100, "pay"), 0)
	leaves := someLeaves(0, 1, 1100, "pay")
	leaves[2].Nonce++
	for _, tt := range []struct {
		name   string
		second *Proposal
		want   Rule
	}{
		{"root", w.propose(firstAgg, 4, 164, 5, leaves, 0), RuleEquivocation},
		{"last height", w.propose(firstAgg, 4, 165, 5, someLeaves(0, 1, 1100, "pay"), 0), RuleEquivocation},
		{"version", w.propose(firstAgg, 4, 164, 6, someLeaves(0, 1, 1100, "pay"), 0), RuleEquivocation},
		{"not even with the leaf", w.propose(firstAgg, 4, 164, 5, someLeaves(0, 1, 1100, "pax"), 0), RuleProofRoot},
		{"other number", w.propose(firstAgg, 5, 164, 5, leaves, 0), 0},
		{"other aggregator", w.propose(secondAgg, 4, 164, 5, leaves, 0), 0},
		{"the same again", first, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := w.sent(t, 0, "pay")
			if _, err := c.HandleProposal(1001, firstAgg, first); err != nil {
				t.Fatal(err)
			}
			out, err := c.HandleProposal(1002, tt.second.Prop.AggID, tt.second)
			hasRule(t, err, tt.want)
			if tt.want == 0 {
				if len(actions[ReportEquivocation](out)) > 0 {
					t.Fatal("an honest aggregator was reported")
				}
				return
			}
			r := one[ReportEquivocation](t, out)
			if len(actions[SendReduction](out)) > 0 {
				t.Fatal("signed")
			}
			who, err := NewPropEvidence(r.First, r.Second).Verify(w.genesis, nil)
			if err != nil || who != (Accused{RoleAggregator, firstAgg}) {
				t.Fatalf("evidence against %+v, error %v", who, err)
			}
		})
	}
}

func TestClientRemembersBoundedly(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	c, _ := w.sent(t, 0, "pay")
	for seq := range uint64(3 * maxSeen) {
		c.HandleProposal(1001, firstAgg, w.propose(firstAgg, seq, 164, 5, someLeaves(0, 1, 1100, "no"), 0))
	}
	if len(c.seen) > maxSeen || len(c.flights[0].roots) > 0 {
		t.Fatalf("%d proposals and %d roots remembered", len(c.seen), len(c.flights[0].roots))
	}
}

// receipt returns the receipt of a batch in which id has a result among others.
func (w *partyNet) receipt(res Result, validators ...int) *Receipt {
	w.t.Helper()
	results := []Result{
		{Code: ResultOK, ID: res.ID - 1, Nonce: 3, ExecHeight: 120},
		res,
		{Code: ResultOK, ID: res.ID + 1, Nonce: 3, ExecHeight: 120},
	}
	if res.ID == 0 {
		results = results[1:]
	}
	var leaves [][32]byte
	r := &Receipt{Result: res}
	for i, x := range results {
		leaves = append(leaves, x.Hash())
		if x == res {
			r.Index = uint64(i)
		}
	}
	tree := NewTree(leaves)
	r.Siblings = tree.Proof(int(r.Index))
	r.Rcpt = Rcpt{Net: w.network.ID(), Height: 120, N: uint64(len(leaves)), ResultRoot: tree.Root()}
	r.Certificate = w.certify(r.Rcpt, validators...)
	return r
}

func TestClientRefusesReceipts(t *testing.T) {
	w := newPartyNet(t, 2, 1, nil)
	ok := Result{Code: ResultOK, ID: 1, Nonce: 1, ExecHeight: 120, PayloadHash: PayloadHash([]byte("pay"))}
	with := func(change func(*Result)) Result {
		r := ok
		change(&r)
		return r
	}
	receipt := func(change func(*Receipt)) *Receipt {
		r := w.receipt(ok, 0, 2)
		change(r)
		return r
	}
	foreign := newPartyNet(t, 2, 1, func(p *Params) { p.MaxLeaves-- })
	for _, tt := range []struct {
		name string
		r    *Receipt
		want Rule
	}{
		{"one validator", w.receipt(ok, 3), RuleQuorum},
		{"no validator", receipt(func(r *Receipt) { r.Certificate.Bitmap[0] = 0 }), RuleQuorum},
		{"others than signed", receipt(func(r *Receipt) { r.Certificate.Bitmap[0] = 0b110 }), RuleCertificate},
		{"validators that don't exist", receipt(func(r *Receipt) { r.Certificate.Bitmap[0] = 0b10001 }), RuleBitmap},
		{"signature", receipt(func(r *Receipt) { r.Certificate.Signature[60] ^= 1 }), RuleCertificate},
		{"other height", receipt(func(r *Receipt) { r.Rcpt.Height++ }), RuleCertificate},
		{"other network", foreign.receipt(ok, 0, 2), RuleNetwork},
		{"other client's", w.receipt(with(func(r *Result) { r.ID = 2 }), 0, 2), RuleReceipt},
		{"other nonce", w.receipt(with(func(r *Result) { r.Nonce = 2 }), 0, 2), RuleNotInFlight},
		{"other payload", w.receipt(with(func(r *Result) { r.PayloadHash[0] ^= 1 }), 0, 2), RuleReceipt},
		{"no code", w.receipt(with(func(r *Result) { r.Code = 0 }), 0, 2), RuleReceipt},
		{"unknown code", w.receipt(with(func(r *Result) { r.Code = 99 }), 0, 2), RuleReceipt},
		{"repeated without a first code", w.receipt(with(func(r *Result) { r.Code = ResultDup }), 0, 2), RuleReceipt},
		{"better result", receipt(func(r *Receipt) { r.Result.AppCode = 7 }), RuleProofRoot},
		{"sibling", receipt(func(r *Receipt) { r.Siblings[0][0] ^= 1 }), RuleProofRoot},
		{"depth", receipt(func(r *Receipt) { r.Siblings = r.Siblings[1:] }), RuleProofDepth},
		{"index", receipt(func(r *Receipt) { r.Index = 3 }), RuleProofIndex},
		{"root", receipt(func(r *Receipt) { r.Rcpt.ResultRoot[0] ^= 1 }), RuleProofRoot},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, _ := w.sent(t, 1, "pay")
			out, err := c.HandleReceipt(1001, tt.r)
			hasRule(t, err, tt.want)
			if len(out) > 0 || c.InFlight() != 1 {
				t.Fatal("settled")
			}
		})
	}
}

func TestClientSettlesByCode(t *testing.T) {
	w := newPartyNet(t, 2, 1, nil)
	mine := Result{ID: 1, Nonce: 1, PayloadHash: PayloadHash([]byte("pay"))}
	for _, tt := range []struct {
		code, first ResultCode
		want        Outcome
	}{
		{ResultOK, 0, Outcome{OutcomeExecuted, ResultOK, 5, 119}},
		{ResultAppReject, 0, Outcome{OutcomeExecuted, ResultAppReject, 5, 119}},
		{ResultDup, ResultOK, Outcome{OutcomeExecuted, ResultOK, 5, 119}},
		{ResultDup, ResultAppReject, Outcome{OutcomeExecuted, ResultAppReject, 5, 119}},
		{ResultSkipped, 0, Outcome{OutcomeNotExecuted, ResultSkipped, 0, 0}},
		{ResultTaken, 0, Outcome{OutcomeNotExecuted, ResultTaken, 0, 0}},
		{ResultKey, 0, Outcome{}},
		{ResultAbsent, 0, Outcome{}},
	} {
		t.Run(fmt.Sprint(tt.code, tt.first), func(t *testing.T) {
			c, _ := w.sent(t, 1, "pay")
			j := c.cfg.Journal
			res := mine
			res.Code, res.FirstCode = tt.code, tt.first
			if tt.want.Kind == OutcomeExecuted {
				res.AppCode, res.ExecHeight = 5, 119
			}
			out, err := c.HandleReceipt(1001, w.receipt(res, 0, 1))
			if err != nil {
				t.Fatal(err)
			}
			if tt.want.Kind == 0 {
				s := one[SendSubmission](t, out)
				if s.Submission.Nonce != 1 || c.InFlight() != 1 {
					t.Fatal("not sent again under the same nonce")
				}
				hasRule(t, c.Release(1), RuleUnsettled)
				return
			}
			if s := one[Settled](t, out); s.Outcome != tt.want || s.Nonce != 1 || s.ID != 1 {
				t.Fatalf("settled as %+v, want %+v", s, tt.want)
			}
			if tt.want.Kind.MayReissue() != (tt.want.Kind == OutcomeNotExecuted) {
				t.Fatal("may be submitted anew, or may not")
			}
			// A receipt that comes again says nothing new.
			if out, err := c.HandleReceipt(1002, w.receipt(res, 0, 1)); err != nil || len(out) > 0 {
				t.Fatalf("%d actions, error %v", len(out), err)
			}
			// The outcome survives, and is told again until it is released.
			for range 2 {
				c = w.client(1, j, nil)
				out, err := c.Tick(2000)
				if err != nil {
					t.Fatal(err)
				}
				if s := one[Settled](t, out); s.Outcome != tt.want {
					t.Fatalf("settled as %+v, want %+v", s, tt.want)
				}
			}
			if err := c.Release(1); err != nil {
				t.Fatal(err)
			}
			if out, _ := w.client(1, j, nil).Tick(3000); len(actions[Settled](out)) > 0 {
				t.Fatal("released and told again")
			}
		})
	}
}

func TestClientWindow(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	j := new(MemoryJournal)
	c := w.client(0, j, nil)
	submit := func() error {
		_, _, err := c.Submit(0, []byte("pay"), 0)
		return err
	}
	for range NonceWindow {
		if err := submit(); err != nil {
			t.Fatal(err)
		}
	}
	hasRule(t, submit(), RuleWindow)
	c = w.client(0, j, nil)
	hasRule(t, submit(), RuleWindow)
	settle := func(nonce uint64) {
		t.Helper()
		if _, err := c.HandleReceipt(1, w.receipt(Result{Code: ResultOK, Nonce: nonce, ExecHeight: 120, PayloadHash: PayloadHash([]byte("pay"))}, 0)); err != nil {
			t.Fatal(err)
		}
		if err := c.Release(nonce); err != nil {
			t.Fatal(err)
		}
	}
	// The oldest one counts, not their number.
	settle(2)
	hasRule(t, submit(), RuleWindow)
	settle(1)
	for range 2 {
		if err := submit(); err != nil {
			t.Fatal(err)
		}
	}
	hasRule(t, submit(), RuleWindow)
	hasRule(t, c.Release(1), RuleNotInFlight)
}

func TestClientRefusesToSubmit(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	j := new(MemoryJournal)
	c := w.client(0, j, nil)
	for _, tt := range []struct {
		payload int
		heights uint64
		want    Rule
	}{
		{64<<10 + 1, 0, RulePayloadSize},
		{1, 4097, RuleLifetime},
		{1, 127, RuleLifetime},
		{1, 1<<64 - 50, RuleLifetime},
	} {
		_, out, err := c.Submit(0, make([]byte, tt.payload), tt.heights)
		hasRule(t, err, tt.want)
		if len(out) > 0 || j.Len() > 0 {
			t.Fatal("sent, or in the journal")
		}
	}
	c.next = 0
	_, _, err := c.Submit(0, nil, 0)
	hasRule(t, err, RuleNonces)
}

func TestClientTimeouts(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	c, _ := w.sent(t, 0, "pay")
	var first Submission
	tick := func(at int64, want ...uint64) {
		t.Helper()
		if d, ok := c.Deadline(); ok && d < at {
			t.Fatalf("deadline %d before %d", d, at)
		}
		out, err := c.Tick(at)
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		for _, s := range actions[SendSubmission](out) {
			got = append(got, s.AggID)
			if first.Signature == nil {
				first = s.Submission
			}
			if !bytes.Equal(s.Submission.Signature, first.Signature) || s.Submission.Nonce != 1 {
				t.Fatal("not the same bytes")
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("at %d sent to %v, want %v", at, got, want)
		}
	}
	tick(2999)
	tick(3000, firstAgg) // no acknowledgement for 2 seconds
	tick(4999)
	tick(5000, firstAgg)
	if err := c.HandleAck(5001, firstAgg, 1); err != nil {
		t.Fatal(err)
	}
	tick(20_999)
	tick(21_000, secondAgg) // no receipt for 20 seconds
	if err := c.HandleAck(21_001, firstAgg, 1); err != nil {
		t.Fatal(err)
	}
	tick(23_000, secondAgg) // that was another's acknowledgement
	if err := c.HandleRefusal(23_001, secondAgg, &Refusal{Nonce: 1, Rule: RuleFull, RetryAfter: 7_000}); err != nil {
		t.Fatal(err)
	}
	tick(30_000)
	tick(30_001, secondAgg)
	if err := c.HandleRefusal(30_002, secondAgg, &Refusal{Nonce: 1, Rule: RuleDraining}); err != nil {
		t.Fatal(err)
	}
	tick(32_001)
	tick(32_002, firstAgg)
	if err := c.HandleRefusal(32_003, firstAgg, &Refusal{Nonce: 1, Rule: RuleFull, RetryAfter: 1 << 60}); err != nil {
		t.Fatal(err)
	}
	tick(52_002, secondAgg) // nobody is put off for longer than that
}

func TestClientOnNewKeys(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	c, last := w.sent(t, 0, "pay")
	keys := ClientKeys{Since: 6, BLS: bls.GenerateKey(), Ed: edKey("new", 1)}
	signed := func(out []ClientAction) {
		t.Helper()
		s := one[SendSubmission](t, out).Submission
		if !ed25519.Verify(keys.Ed.Public().(ed25519.PublicKey), s.Sub(w.network.ID()).Bytes(), s.Signature) || s.Nonce != 1 {
			t.Fatal("not the same message signed with the new key")
		}
	}
	out, err := c.SetKeys(1000, keys)
	if err != nil {
		t.Fatal(err)
	}
	signed(out)
	_, err = c.HandleProposal(1001, firstAgg, w.propose(firstAgg, 4, 164, 5, someLeaves(0, 1, last, "pay"), 0))
	hasRule(t, err, RuleClientKeys)
	out, err = c.HandleReceipt(1001, w.receipt(Result{Code: ResultKey, Nonce: 1, PayloadHash: PayloadHash([]byte("pay"))}, 0))
	if err != nil {
		t.Fatal(err)
	}
	signed(out)
	if _, err := c.SetKeys(1002, ClientKeys{}); err == nil {
		t.Fatal("no keys accepted")
	}
}

func TestClientModes(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	for _, mode := range []Mode{ModeEd25519, ModeFolded, ModeLean} {
		c := w.client(0, new(MemoryJournal), func(cfg *ClientConfig) { cfg.Mode = mode; cfg.First = 1 })
		_, out, err := c.Submit(0, []byte("pay"), 0)
		if err != nil {
			t.Fatal(err)
		}
		s := one[SendSubmission](t, out)
		if want := [...]int{64, 96, 0}[mode]; len(s.Submission.Signature) != want || s.AggID != secondAgg {
			t.Fatalf("%v: signature of %d bytes to %d", mode, len(s.Submission.Signature), s.AggID)
		}
		if out, err := c.HandleSignatureRequest(0, firstAgg, 1); err != nil || len(out) > 0 {
			t.Fatal("signed for another aggregator")
		}
		if out, err := c.HandleSignatureRequest(0, secondAgg, 2); err != nil || len(out) > 0 {
			t.Fatal("signed an unknown nonce")
		}
		out, err = c.HandleSignatureRequest(0, secondAgg, 1)
		if err != nil {
			t.Fatal(err)
		}
		sub := one[SendSubmission](t, out).Submission
		if !ed25519.Verify(w.keys[0].Ed.Public().(ed25519.PublicKey), sub.Sub(w.network.ID()).Bytes(), sub.Signature) {
			t.Fatal("not signed")
		}
	}
	if _, err := OpenClient(ClientConfig{Network: w.network, Keys: w.keys[0], Journal: new(MemoryJournal), Mode: modes}); err == nil {
		t.Fatal("unknown mode accepted")
	}
}

// TestClientSaysWhatItHas has a client crash while it is given a message: whether the
// message is in the journal is what the application then needs to know.
func TestClientSaysWhatItHas(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	for _, after := range []bool{false, true} {
		j := &faultyJournal{new(MemoryJournal), 2, after}
		c := w.client(0, j, nil)
		if _, _, err := c.Submit(0, []byte("a"), 0); err != nil {
			t.Fatal(err)
		}
		if _, _, err := c.Submit(0, []byte("b"), 0); !errors.Is(err, errCrash) {
			t.Fatalf("got %v", err)
		}
		c = w.client(0, j, nil)
		var payloads []string
		for i, s := range c.Unsettled() {
			if s.ID != 0 || s.Nonce != uint64(i+1) || s.NotAfter == 0 || s.Signature != nil {
				t.Errorf("%+v", s)
			}
			payloads = append(payloads, string(s.Payload))
		}
		want := []string{"a"}
		if after {
			want = append(want, "b")
		}
		if !slices.Equal(payloads, want) {
			t.Errorf("durable: %v, the client has %q", after, payloads)
		}
		if _, err := c.settle(c.flights[0], Outcome{Kind: OutcomeExpired}, nil); err != nil {
			t.Fatal(err)
		}
		if got := c.Unsettled(); len(got) != len(want)-1 {
			t.Errorf("%d unsettled of %d", len(got), len(want))
		}
	}
}

// TestClientCrashes stops a client at each of its calls of the journal, before and after
// the write, and lets it go on: no nonce ever stands for two payloads.
func TestClientCrashes(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	for _, after := range []bool{false, true} {
		for crash := 1; ; crash++ {
			signed := make(map[uint64][32]byte)
			check := func(out []ClientAction) {
				t.Helper()
				for _, s := range actions[SendSubmission](out) {
					hash := PayloadHash(s.Submission.Payload)
					if other, ok := signed[s.Submission.Nonce]; ok && other != hash {
						t.Fatalf("nonce %d for two payloads", s.Submission.Nonce)
					}
					signed[s.Submission.Nonce] = hash
				}
			}
			j := &faultyJournal{new(MemoryJournal), crash, after}
			c := w.client(0, j, nil)
			crashed := false
			fell := func(err error) bool {
				t.Helper()
				if err == nil {
					return false
				}
				if !errors.Is(err, errCrash) || crashed {
					t.Fatal(err)
				}
				crashed = true
				if _, err := c.Tick(0); !errors.Is(err, errCrash) {
					t.Fatalf("goes on after a failure of the journal: %v", err)
				}
				c = w.client(0, j, nil)
				out, err := c.Tick(0)
				if err != nil {
					t.Fatal(err)
				}
				check(out)
				return true
			}
			for i := range 4 {
				payload := fmt.Appendf(nil, "payload %d", i)
				nonce, out, err := c.Submit(0, payload, 0)
				if fell(err) {
					if len(out) > 0 {
						t.Fatal("sent what may not be durable")
					}
					nonce, out, err = c.Submit(0, fmt.Appendf(nil, "another %d", i), 0)
					payload = fmt.Appendf(nil, "another %d", i)
				}
				if err != nil {
					t.Fatal(err)
				}
				check(out)
				if i%2 == 0 {
					continue
				}
				receipt := w.receipt(Result{Code: ResultOK, Nonce: nonce, ExecHeight: 120, PayloadHash: PayloadHash(payload)}, 0)
				out, err = c.HandleReceipt(0, receipt)
				if fell(err) {
					if len(out) > 0 {
						t.Fatal("told what may not be durable")
					}
					_, err = c.HandleReceipt(0, receipt)
				}
				if err != nil {
					t.Fatal(err)
				}
				if fell(c.Release(nonce)) {
					c.Release(nonce)
				}
			}
			if !crashed {
				break
			}
		}
	}
}

func TestClientJournalIsChecked(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	good := new(MemoryJournal)
	c := w.client(0, good, nil)
	if _, _, err := c.Submit(0, []byte("pay"), 0); err != nil {
		t.Fatal(err)
	}
	var records []Record
	for r := range good.Records(nil) {
		records = append(records, r)
	}
	opens := func(change func(j *MemoryJournal)) error {
		j := good.Clone()
		change(j)
		_, err := OpenClient(ClientConfig{Network: w.network, Keys: w.keys[0], Journal: j})
		return err
	}
	if err := opens(func(*MemoryJournal) {}); err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		for i := range r.Value {
			// What can't be noticed is a change of what any value may be.
			err := opens(func(j *MemoryJournal) {
				v := bytes.Clone(r.Value)
				v[i] ^= 0x80
				j.Commit([]Record{{r.Key, v}})
			})
			plain := len(r.Key) == clientKeyLength && i >= 34 && i < 42 || len(r.Key) > clientKeyLength && i >= 2 && i < 10
			if (err == nil) != plain {
				t.Fatalf("record %x with byte %d of %d changed: %v", r.Key, i, len(r.Value), err)
			}
			if err := opens(func(j *MemoryJournal) { j.Commit([]Record{{r.Key, r.Value[:i]}}) }); err == nil {
				t.Fatalf("record %x cut to %d bytes accepted", r.Key, i)
			}
		}
		if err := opens(func(j *MemoryJournal) { j.Commit([]Record{{r.Key, append(bytes.Clone(r.Value), 0)}}) }); err == nil {
			t.Fatal("trailing byte accepted")
		}
		if err := opens(func(j *MemoryJournal) { j.Commit([]Record{{append(bytes.Clone(r.Key), 1), r.Value}}) }); err == nil {
			t.Fatal("key of another length accepted")
		}
	}
	// A message that the state knows nothing of.
	if err := opens(func(j *MemoryJournal) { j.Commit([]Record{{Key: records[0].Key}}) }); err == nil {
		t.Fatal("message without a state accepted")
	}
	other := newPartyNet(t, 1, 0, func(p *Params) { p.MaxLeaves-- })
	if _, err := OpenClient(ClientConfig{Network: other.network, Keys: other.keys[0], Journal: good}); err == nil {
		t.Fatal("journal of another network accepted")
	}
}

func TestPartiesShowNoSecrets(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	c := w.client(0, new(MemoryJournal), nil)
	a := w.open(firstAgg, new(MemoryJournal), nil)
	for _, v := range []any{c, *c, c.cfg, w.keys[0], a, *a, a.cfg, &a.cfg} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%x", "%d", "%s"} {
			s := fmt.Sprintf(verb, v)
			for _, secret := range [][]byte{w.keys[0].Ed.Seed(), w.aggregator[firstAgg].Seed()} {
				for _, form := range []string{fmt.Sprintf("%x", secret[4:12]), fmt.Sprintf("%d", secret[4:12]), string(secret[8:14])} {
					if strings.Contains(s, strings.Trim(form, "[]")) {
						t.Fatalf("%s of %T shows a secret: %s", verb, v, s)
					}
				}
			}
		}
	}
}

// TestClientOvertaken has a client learn that a nonce was executed which it hasn't given out.
// It goes on over that, and not below it for ever.
func TestClientOvertaken(t *testing.T) {
	w := newPartyNet(t, 3, 0, nil)
	j := new(MemoryJournal)
	c := w.client(1, j, nil)
	for i := range uint64(NonceWindow) {
		if nonce, _, err := c.Submit(1000, []byte("pay"), 1000); err != nil || nonce != i+1 {
			t.Fatal(nonce, err)
		}
	}
	skipped := func(nonce uint64) *Receipt {
		return w.receipt(Result{Code: ResultSkipped, ID: 1, Nonce: nonce, PayloadHash: PayloadHash([]byte("pay"))}, w.quorum()...)
	}
	// One executed nonce doesn't skip the first with another that isn't given out.
	c.next++
	out, err := c.HandleReceipt(1100, skipped(1))
	if err != nil || one[Settled](t, out).Outcome.Kind != OutcomeNotExecuted || c.Recovering() {
		t.Fatalf("%+v, error %v", out, err)
	}
	c.next--
	out, err = c.HandleReceipt(1100, skipped(2))
	if err != nil || one[Settled](t, out).Outcome.Kind != OutcomeNotExecuted || !c.Recovering() {
		t.Fatalf("%+v, error %v", out, err)
	}
	if _, _, err := c.Submit(1200, []byte("pay"), 1000); RuleOf(err) != RuleRecovering {
		t.Fatal(err)
	}
	// It is durable, and what was in flight isn't sent again.
	c = w.client(1, j, nil)
	if out, err = c.Tick(1300); err != nil || len(actions[SendSubmission](out)) > 0 || !c.Recovering() {
		t.Fatalf("%+v, error %v", out, err)
	}
	const last = 1 << 50
	for _, q := range actions[SendLookup](out) {
		if q.Lookup.Nonce != NonceWindow+1 {
			continue
		}
		k := Look{Net: w.network.ID(), Challenge: q.Lookup.Challenge, Height: 100, ID: 1, Nonce: q.Lookup.Nonce, LastNonce: last, Code: LookUnknown}
		if _, err := c.HandleLook(1400, w.look(0, k)); err != nil {
			t.Fatal(err)
		}
	}
	if nonce, _, err := c.Submit(1500, []byte("pay"), 1000); err != nil || nonce < last+recoveryJump {
		t.Fatal(nonce, err)
	}
}

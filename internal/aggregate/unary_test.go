// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/gen/undersign/aggregate/v1/aggregatev1connect"
	"github.com/undersign/undersign/internal/aggregate/frame"
	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/internal/rpc"
	"github.com/undersign/undersign/node"
)

// A caller is a session without a stream.
type caller struct {
	t     *testing.T
	w     *network
	agg   aggregatev1connect.AggregatorServiceClient
	token []byte
	auth  frame.Session
	head  uint64
	queue []*aggregatev1.SessionResponse
}

// call begins a session by calls.
func (w *network) call() *caller {
	w.t.Helper()
	c := &caller{t: w.t, w: w, agg: w.aggregator()}
	c.send(hello(w.genesis.ID()))
	ch := c.receive().GetChallenge()
	if len(ch.GetChallenge()) != 32 {
		w.t.Fatal("no challenge")
	}
	c.auth = frame.Session{Net: w.genesis.ID(), Aggregator: 1, Party: w.gateway.Fingerprint(), Challenge: [32]byte(ch.Challenge)}
	return c
}

func (c *caller) try(f *aggregatev1.SessionRequest) error {
	ctx, cancel := context.WithTimeout(c.t.Context(), 20*time.Second)
	defer cancel()
	resp, err := c.agg.Submit(ctx, &aggregatev1.SubmitRequest{Token: c.token, Frame: f})
	if err == nil {
		c.token = resp.GetToken()
		c.queue = append(c.queue, resp.GetFrames()...)
	}
	return err
}

func (c *caller) send(f *aggregatev1.SessionRequest) {
	c.t.Helper()
	if err := c.try(f); err != nil {
		c.t.Fatal(err)
	}
}

// receive returns the next frame that isn't a height, of which it takes note.
func (c *caller) receive() *aggregatev1.SessionResponse {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	defer cancel()
	for {
		for len(c.queue) > 0 {
			f := c.queue[0]
			c.queue = c.queue[1:]
			if h := f.GetHead(); h != nil {
				c.head = must(frame.Head(h))(c.t).Hgt.Height
				continue
			}
			return f
		}
		c.queue = must(c.agg.Poll(ctx, &aggregatev1.PollRequest{Token: c.token, WaitMs: 5000}))(c.t).GetFrames()
	}
}

// enter shows the key of a client, which the aggregator's directory may not have yet, and
// waits for a height.
func (c *caller) enter(who signer) {
	c.t.Helper()
	f := &aggregatev1.Auth{}
	c.auth.Sign(f, who.id, who.Ed)
	deadline := time.Now().Add(20 * time.Second)
	for {
		c.send(&aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Auth{Auth: f}})
		if len(c.receive().GetWelcome().GetIds()) == 1 && c.head > 0 {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatal("not welcome")
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// receipt follows a message to its receipt: it signs when it is shown the tree.
func (c *caller) receipt(who signer, sub *distill.Submission) *distill.Receipt {
	c.t.Helper()
	hash := distill.PayloadHash(sub.Payload)
	leaf := distill.Leaf{ID: who.id, Nonce: sub.Nonce, NotAfter: sub.NotAfter, PayloadHash: hash}
	for {
		f := c.receive()
		if p := f.GetProposals(); p != nil {
			if err := frame.Proposals(p, func(id uint64, p *distill.Proposal) {
				if err := errors.Join(c.w.net.VerifyProp(&p.SignedProp),
					distill.VerifyProof(p.Prop.Root, p.Prop.N, p.Index, leaf.Hash(), p.Siblings)); err != nil || id != who.id {
					c.t.Fatalf("proposal for client %d: %v", id, err)
				}
				digest := p.Prop.Red().Digest()
				sig := must(bls.ProofOfPossession.Sign(who.BLS, digest[:]))(c.t)
				c.send(&aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Reductions{Reductions: &aggregatev1.Reductions{
					Seq: p.Prop.Seq, Digest: digest[:], Ids: []uint64{who.id}, Signatures: sig.UncompressedBytes(),
				}}})
			}); err != nil {
				c.t.Fatal(err)
			}
		}
		var found *distill.Receipt
		if r := f.GetReceipts(); r != nil {
			if err := frame.Receipts(r, func(r *distill.Receipt) { found = r }); err != nil {
				c.t.Fatal(err)
			}
		}
		if found == nil {
			continue
		}
		if err := errors.Join(c.w.net.VerifyRcpt(&found.SignedRcpt),
			distill.VerifyProof(found.Rcpt.ResultRoot, found.Rcpt.N, found.Index, found.Result.Hash(), found.Siblings)); err != nil ||
			found.Result.ID != who.id || found.Result.Nonce != sub.Nonce || found.Result.PayloadHash != hash {
			c.t.Fatalf("receipt %+v: %v", found.Result, err)
		}
		return found
	}
}

// Clients without a stream get by calls what the others get: acknowledgements of what is on
// disk, proposals, receipts.
func TestCalls(t *testing.T) {
	app := &recorder{}
	w := newNetwork(t, 1)
	w.app = app
	patient := true // the node makes no batches
	w.tune = func(_ int, c *node.Config) {
		if patient {
			c.Aggregate.Aggregator.BatchAgeMS = 600_000
		}
	}
	w.finish()
	w.startAll()
	who := w.register(1)[0]
	c := w.call()
	c.enter(who)
	sub := w.submission(who, 1, c.head+1000, "by calls")
	c.send(submissions(sub))
	if acks := c.receive().GetAcks(); len(acks.GetIds()) != 1 || acks.Ids[0] != who.id || acks.Nonces[0] != 1 {
		t.Fatalf("not acknowledged: %v", acks)
	}
	// It was acknowledged, so that it is there after a restart, and the session isn't.
	if err := w.nodes[0].stop(); err != nil {
		t.Fatal(err)
	}
	patient = false
	w.start(0)
	if err := c.try(submissions(sub)); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("a session from before the restart: %v", err)
	}
	c = w.call()
	c.enter(who)
	// The receipt is there and asked for, or it comes.
	c.send(&aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Queries{Queries: &aggregatev1.Queries{Ids: []uint64{who.id}, Nonces: []uint64{1}}}})
	if r := c.receipt(who, sub); r.Result.Code != distill.ResultOK {
		t.Errorf("%+v", r.Result)
	}
	// From one end to the other, with the client's signature.
	sub = w.submission(who, 2, c.head+1000, "signed")
	c.send(submissions(sub))
	if r := c.receipt(who, sub); r.Result.Code != distill.ResultOK && r.Result.Code != distill.ResultDup {
		t.Errorf("%+v", r.Result)
	}
	for _, payload := range []string{"by calls", "signed"} {
		if n := app.count(payload); n != 1 {
			t.Errorf("%q was executed %d times", payload, n)
		}
	}
}

func (r *recorder) count(payload string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen[payload]
}

// Calls are refused where frames of a stream are.
func TestCallsRefuse(t *testing.T) {
	w := newNetwork(t, 1)
	w.tune = func(_ int, c *node.Config) {
		a := c.Aggregate.Aggregator
		a.BatchAgeMS, a.PoolMessages = 600_000, 2
	}
	w.finish()
	w.startAll()
	signers := w.register(4)
	a, b := signers[0], signers[1]
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	agg := w.aggregator()
	for name, r := range map[string]struct {
		req  *aggregatev1.SubmitRequest
		code connect.Code
	}{
		"no hello":        {&aggregatev1.SubmitRequest{Frame: submissions(w.submission(a, 1, 1000, "x"))}, connect.CodeInvalidArgument},
		"no frame":        {&aggregatev1.SubmitRequest{}, connect.CodeInvalidArgument},
		"another network": {&aggregatev1.SubmitRequest{Frame: hello(distill.NetworkID{1})}, connect.CodeInvalidArgument},
		"unknown token":   {&aggregatev1.SubmitRequest{Token: make([]byte, 16), Frame: hello(w.genesis.ID())}, connect.CodeFailedPrecondition},
		"short token":     {&aggregatev1.SubmitRequest{Token: make([]byte, 15), Frame: hello(w.genesis.ID())}, connect.CodeFailedPrecondition},
	} {
		if _, err := agg.Submit(ctx, r.req); connect.CodeOf(err) != r.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := agg.Poll(ctx, &aggregatev1.PollRequest{Token: make([]byte, 16)}); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("a poll of nothing: %v", err)
	}

	// Another party can't speak in a session, nor listen.
	c := w.call()
	p := rpc.NewPeer(w.ids[0], w.ids[0].Fingerprint(), w.addrs[0])
	defer p.Close()
	thief := aggregatev1connect.NewAggregatorServiceClient(p.HTTP(), p.URL(), p.Options(0)...)
	if _, err := thief.Submit(ctx, &aggregatev1.SubmitRequest{Token: c.token, Frame: hello(w.genesis.ID())}); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("another's session: %v", err)
	}
	if _, err := thief.Poll(ctx, &aggregatev1.PollRequest{Token: c.token}); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("another's frames: %v", err)
	}

	// What ends a stream ends a session by calls.
	gone := func(what string, f *aggregatev1.SessionRequest, code connect.Code) {
		t.Helper()
		c := w.call()
		c.enter(a)
		if err := c.try(f); connect.CodeOf(err) != code {
			t.Errorf("%s: %v", what, err)
		}
		if err := c.try(submissions()); connect.CodeOf(err) != connect.CodeFailedPrecondition {
			t.Errorf("%s: the session goes on: %v", what, err)
		}
	}
	gone("another's message", submissions(w.submission(b, 1, 1000, "x")), connect.CodePermissionDenied)
	columns := submissions(w.submission(a, 1, 1000, "x"))
	columns.GetSubmissions().Nonces = nil
	gone("columns of different lengths", columns, connect.CodeInvalidArgument)
	gone("another's reduction", &aggregatev1.SessionRequest{Frame: &aggregatev1.SessionRequest_Reductions{Reductions: &aggregatev1.Reductions{
		Seq: 1, Digest: make([]byte, 32), Ids: []uint64{b.id}, Signatures: make([]byte, 192),
	}}}, connect.CodePermissionDenied)

	// Messages are refused by the same rules. A pool that is full says when to come again.
	c = w.call()
	for _, s := range signers {
		c.enter(s)
	}
	forged := w.submission(a, 1, c.head+1000, "x")
	forged.Signature = ed25519.Sign(b.Ed, []byte("x"))
	c.send(submissions(forged, w.submission(a, 0, c.head+1000, "x"), w.submission(a, 1, c.head+1, "x")))
	want := map[distill.Rule]bool{distill.RuleSubmissionSignature: true, distill.RuleOldNonce: true, distill.RuleTooLate: true}
	for len(want) > 0 {
		for _, rule := range c.receive().GetRefusals().GetRules() {
			if !want[distill.Rule(rule)] {
				t.Fatalf("refused: %v", distill.Rule(rule))
			}
			delete(want, distill.Rule(rule))
		}
	}
	c.send(submissions(w.submission(a, 1, c.head+1000, "x"), w.submission(b, 1, c.head+1000, "x")))
	for n := 0; n < 2; {
		n += len(c.receive().GetAcks().GetIds())
	}
	c.send(submissions(w.submission(signers[2], 1, c.head+1000, "x")))
	var after, throttle uint64
	for after == 0 || throttle == 0 {
		f := c.receive()
		if r := f.GetRefusals(); len(r.GetRules()) == 1 && distill.Rule(r.Rules[0]) == distill.RuleFull {
			after = r.RetryAfterMs[0]
		}
		throttle = max(throttle, f.GetThrottle().GetRetryAfterMs())
	}

	// One party may have so many sessions, and is told when to come again.
	var err error
	for range 1000 {
		if _, err = agg.Submit(ctx, &aggregatev1.SubmitRequest{Frame: hello(w.genesis.ID())}); err != nil {
			break
		}
	}
	limit, ok := errors.AsType[*policy.LimitError](rpc.DecodeError(w.gateway.Fingerprint(), err))
	if connect.CodeOf(err) != connect.CodeResourceExhausted || !ok || limit.After <= 0 {
		t.Errorf("sessions without end: %v", err)
	}
	if _, err := thief.Submit(ctx, &aggregatev1.SubmitRequest{Frame: hello(w.genesis.ID())}); err != nil {
		t.Errorf("another party isn't let in: %v", err)
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/distill"
)

// An aggregator is one with what surrounds it: it asks validators for receipts, and puts
// their signatures together. A rogue one is the same, with its actions meddled with.
type aggregator struct {
	node
	s       *sim
	index   int
	id      uint64
	journal *journal
	a       *distill.Aggregator
	opened  int
	backup  *distill.MemoryJournal

	restored bool
	careless bool // wrong: doesn't jump after it was restored
	rogue    *rogueAggregator
	view     distill.View

	published []*published
	seqs      map[uint32]uint64 // while it recovers: what validators have seen
}

// A published batch waits for its receipt.
type published struct {
	seq    uint64
	digest [32]byte
	claims []*claim
	done   bool
}

// A claim is what some validators say about a batch.
type claim struct {
	rcpt    distill.Rcpt
	results []distill.Result
	shares  []distill.Share
}

func newAggregator(s *sim, index int, id uint64) *aggregator {
	return &aggregator{node: node{name: fmt.Sprintf("aggregator %d", id)}, s: s, index: index, id: id, journal: newJournal()}
}

func (s *sim) aggregator(id uint64) *aggregator {
	for _, a := range s.aggs {
		if a.id == id {
			return a
		}
	}
	return s.aggs[0] // not reached: ids are from the genesis
}

func (a *aggregator) open(fromBackup bool) {
	a.down = false
	a.opened++
	x, err := distill.OpenAggregator(distill.AggregatorConfig{
		Network: a.s.w.network, ID: a.id, Key: a.s.w.aggs[a.index], Journal: a.journal, Mode: a.s.mode,
		Views: a.s.viewAt, FromBackup: fromBackup, Random: a.s.random,
		Limits: distill.AggregatorLimits{
			BatchAge: 700, Burst: 4, InFlight: 3, FirstWait: 500, MinWait: 300, MaxWait: 900, Retry: 700,
			Quarantine: 1500, MaxQuarantine: 3000, RateBurst: 1000, Rate: 1000,
		},
	})
	if err != nil {
		a.crash(err, fromBackup)
		return
	}
	a.a, a.published, a.seqs = x, nil, nil
	if a.view == nil {
		a.view, err = a.s.viewAt(registered)
		a.s.sound(a.name, err)
	}
	x.SetView(a.view)
	a.head(a.s.relay.newest())
}

func (a *aggregator) crash(err error, fromBackup bool) bool {
	if !errors.Is(err, errCrash) {
		a.s.sound(a.name, err)
		return false
	}
	a.s.faults.Crashes++
	a.s.tracef("%s crashes", a.name)
	a.down = true
	opened := a.opened
	a.s.after(int64(a.s.rng.IntN(1200)), func() {
		if a.opened == opened {
			a.open(fromBackup)
		}
	})
	return true
}

// restore goes back to the backup, as an aggregator is to do that, unless it is careless.
func (a *aggregator) restore() {
	a.s.faults.Restores++
	a.s.tracef("%s is restored from a backup", a.name)
	a.restored = true
	a.journal = &journal{MemoryJournal: a.backup}
	a.backup = nil
	a.open(!a.careless)
}

// do hands something to the aggregator and carries out what it wants.
func (a *aggregator) do(call func() ([]distill.AggregatorAction, error)) {
	if a.down {
		return
	}
	out, err := call()
	if err != nil && a.crash(err, false) {
		if len(out) > 0 {
			a.s.violate(Sound, "%s wants something done after its journal failed", a.name)
		}
		return
	}
	for _, action := range out {
		a.act(action)
	}
	a.wake()
}

func (a *aggregator) wake() {
	at, ok := a.a.Deadline()
	if a.down || !ok {
		return
	}
	x := a.a
	a.s.after(max(at-a.s.now, 1), func() {
		if now, ok := x.Deadline(); x == a.a && ok && now <= a.s.now {
			a.do(func() ([]distill.AggregatorAction, error) { return x.Tick(a.s.now) })
		}
	})
}

// to sends to an honest client, or a rogue one.
func (a *aggregator) to(id uint64, what string, honest func(*client), rogue func(*rogueClient)) {
	s := a.s
	for _, c := range s.clients {
		if c.id == id {
			s.send(&a.node, &c.node, what, func() { honest(c) })
		}
	}
	for _, c := range s.rogues {
		if c.id == id {
			s.send(&a.node, &c.node, what, func() { rogue(c) })
		}
	}
}

func (a *aggregator) act(action distill.AggregatorAction) {
	s := a.s
	ignore := func(*rogueClient) {}
	switch action := action.(type) {
	case distill.SendAck:
		a.to(action.ID, "an acknowledgement", func(c *client) {
			c.do(func() ([]distill.ClientAction, error) { return nil, c.c.HandleAck(s.now, a.id, action.Nonce) })
		}, ignore)
	case distill.SendRefusal:
		s.tracef("%s refuses message %d of client %d: %v", a.name, action.Refusal.Nonce, action.Refusal.ID, action.Refusal.Rule)
		a.to(action.Refusal.ID, "a refusal", func(c *client) {
			c.do(func() ([]distill.ClientAction, error) {
				return nil, c.c.HandleRefusal(s.now, a.id, &action.Refusal)
			})
		}, ignore)
	case distill.RequestSignature:
		a.to(action.ID, "a request to sign", func(c *client) {
			c.do(func() ([]distill.ClientAction, error) {
				return c.c.HandleSignatureRequest(s.now, a.id, action.Nonce)
			})
		}, ignore)
	case distill.SendProposals:
		for i := range action.Len() {
			id, p := action.At(i)
			if a.rogue != nil {
				a.rogue.proposal(a, id, p)
				continue
			}
			a.propose(id, p)
		}
	case distill.Publish:
		a.publish(action)
	case distill.SendReceipts:
		for i := range action.Len() {
			r := action.At(i)
			if a.rogue != nil && a.rogue.receipt(a, r) {
				continue
			}
			a.to(r.Result.ID, "a receipt", func(c *client) { c.receipt(&r) }, ignore)
		}
	case distill.ReportConflict:
		if len(action.First.Signature) > 0 && len(action.Second.Signature) > 0 {
			s.watch.sub(s, a.view.Version(), &action.First)
			s.watch.sub(s, a.view.Version(), &action.Second)
		}
	case distill.ReportReduction:
		for _, c := range s.clients {
			if c.id == action.ID && c.keys.Since <= registered && c.coming == nil {
				s.violate(Sound, "%s says that %s has made a bad reduction", a.name, c.name)
			}
		}
	}
}

func (a *aggregator) propose(id uint64, p distill.Proposal) {
	a.to(id, "a proposal", func(c *client) { c.proposal(a.id, &p) }, func(c *rogueClient) { c.proposal(a, &p) })
}

// publish hands a batch to the log. When that has it the aggregator is told.
func (a *aggregator) publish(p distill.Publish) {
	s := a.s
	known := false
	for _, x := range a.published {
		known = known || x.digest == p.Digest
	}
	if !known {
		a.published = append(a.published, &published{seq: p.Seq, digest: p.Digest})
	}
	if a.rogue != nil && a.rogue.published(a, p) {
		return
	}
	s.send(&a.node, &s.log.node, "a batch", func() {
		s.log.add(s, p.Encoded)
		s.send(&s.log.node, &a.node, "a handoff", func() {
			a.do(func() ([]distill.AggregatorAction, error) { return nil, a.a.HandedOff(s.now, p.Seq) })
		})
	})
}

func (a *aggregator) submission(sub *distill.Submission) {
	if a.down {
		return
	}
	a.s.watch.sub(a.s, a.view.Version(), sub)
	if a.rogue != nil && a.rogue.submission(a, sub) {
		return
	}
	a.do(func() ([]distill.AggregatorAction, error) { return a.a.HandleSubmission(a.s.now, sub) })
}

func (a *aggregator) reduction(r *distill.Reduction) {
	if a.rogue != nil {
		a.rogue.reduction(a, r)
	}
	a.do(func() ([]distill.AggregatorAction, error) { return a.a.HandleReduction(a.s.now, r) })
}

// head takes a certified height, and asks for what is missing.
func (a *aggregator) head(h *distill.SignedHead) {
	if a.down {
		return
	}
	if h.Hgt.Dirver > a.view.Version() {
		if v, err := a.s.viewAt(h.Hgt.Dirver); err == nil {
			a.view = v
			a.a.SetView(v)
		}
	}
	a.do(func() ([]distill.AggregatorAction, error) { return a.a.HandleHead(a.s.now, h) })
	if a.down {
		return
	}
	if a.a.Recovering() {
		a.askSeqs()
	}
	for _, p := range a.published {
		if p.done {
			continue
		}
		for _, v := range a.s.vals {
			a.s.send(&a.node, &v.node, "a request for a receipt", func() { v.sendReceipt(a, p.digest) })
		}
	}
}

// askSeqs asks validators for the last number that they have seen.
func (a *aggregator) askSeqs() {
	x := a.a
	if a.seqs == nil {
		a.seqs = make(map[uint32]uint64)
	}
	for _, v := range a.s.vals {
		a.s.send(&a.node, &v.node, "a question for the last number", func() {
			seq := v.lastSeq(a.id)
			a.s.send(&v.node, &a.node, "the last number", func() {
				if a.down || a.a != x || !x.Recovering() {
					return
				}
				a.seqs[uint32(v.index)] = seq
				a.do(func() ([]distill.AggregatorAction, error) {
					return nil, x.Recover(a.s.now, a.seqs)
				})
			})
		})
	}
}

// rcpt takes what a validator says about a batch; sign is called if it is wanted.
func (a *aggregator) rcpt(v *validator, rcpt distill.Rcpt, results []distill.Result, sign func() *distill.Share) {
	if a.down {
		return
	}
	for _, p := range a.published {
		if p.digest != rcpt.BatchDigest || p.done {
			continue
		}
		share := sign()
		if share == nil {
			return
		}
		a.s.watch.rcpt(a.s, rcpt, share)
		var c *claim
		for _, x := range p.claims {
			if x.rcpt == rcpt {
				c = x
			}
		}
		if c == nil {
			c = &claim{rcpt: rcpt, results: results}
			p.claims = append(p.claims, c)
		}
		c.shares = addShare(c.shares, share)
		cert := a.s.certify(rcpt, c.shares)
		if cert == nil {
			return
		}
		br := &distill.BatchReceipt{Seq: p.seq, SignedRcpt: distill.SignedRcpt{Rcpt: rcpt, Certificate: *cert}, Results: c.results}
		p.done = true
		a.do(func() ([]distill.AggregatorAction, error) {
			out, err := a.a.HandleBatchReceipt(a.s.now, br)
			if distill.RuleOf(err) == distill.RuleResults || distill.RuleOf(err) == distill.RuleCertificate {
				a.s.violate(True, "%s refuses a receipt by f+1 validators: %v", a.name, err)
			}
			return out, err
		})
		return
	}
}

func (a *aggregator) busy() bool {
	if a.down || a.a.Recovering() {
		return true
	}
	st := a.a.Stats()
	return st.Waiting > 0 || st.Rounds > 0
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import (
	"testing"

	"github.com/undersign/undersign/distill"
)

// newOracleSim is a simulation in which nothing goes on, to be told what happened.
func newOracleSim(t *testing.T) *sim {
	w, err := runner.world(0)
	if err != nil {
		t.Fatal(err)
	}
	s := &sim{report: new(Report), w: w, network: newNetwork(1, 1, nil)}
	s.oracle.init()
	s.watch.init()
	s.relay.best = w.head
	s.log.init()
	s.clients = []*client{newClient(s, 0, w.clients[0])}
	s.vals = []*validator{newValidator(s, 0), newValidator(s, 1)}
	for _, v := range s.vals {
		if err := v.open(); err != nil {
			t.Fatal(err)
		}
	}
	s.aggs = []*aggregator{newAggregator(s, 0, aggregatorIDs[0])}
	return s
}

// TestOracleIsNotBlind tells the oracle what must not be.
func TestOracleIsNotBlind(t *testing.T) {
	hash := distill.PayloadHash([]byte("x"))
	m := message{0, 1}
	good := func(s *sim) { s.oracle.choose(0, 1, 20, hash) }
	exec := execution{hash: hash, height: 9, code: distill.ResultOK}
	tests := []struct {
		name string
		want Invariant
		do   func(*sim)
	}{
		{"good", "", func(s *sim) { good(s); s.oracle.execute(s, m, exec, 20) }},
		{"not chosen", Chosen, func(s *sim) { s.oracle.execute(s, m, exec, 20) }},
		{"another last height", Chosen, func(s *sim) { good(s); s.oracle.execute(s, m, exec, 21) }},
		{"too late", Chosen, func(s *sim) {
			good(s)
			late := exec
			late.height = 21
			s.oracle.execute(s, m, late, 20)
		}},
		{"another payload", Chosen, func(s *sim) {
			good(s)
			other := exec
			other.hash[0] ^= 1
			s.oracle.execute(s, m, other, 20)
		}},
		{"nonce twice", Once, func(s *sim) { good(s); s.oracle.execute(s, m, exec, 20); s.oracle.execute(s, m, exec, 20) }},
		{"nonce of a cheat twice", Once, func(s *sim) {
			s.oracle.execute(s, message{5, 1}, exec, 20)
			s.oracle.execute(s, message{5, 1}, exec, 20)
		}},
		{"payload twice", Once, func(s *sim) {
			good(s)
			s.oracle.choose(0, 2, 20, hash)
			s.oracle.execute(s, m, exec, 20)
			s.oracle.execute(s, message{0, 2}, exec, 20)
		}},
		{"false duplicate", True, func(s *sim) {
			s.oracle.result(s, &distill.Result{Code: distill.ResultDup, FirstCode: distill.ResultOK, Nonce: 1, PayloadHash: hash}, 20, 9)
		}},
		{"false taken", True, func(s *sim) {
			s.oracle.result(s, &distill.Result{Code: distill.ResultTaken, Nonce: 1, PayloadHash: hash}, 20, 9)
		}},
		{"another log", Agreed, func(s *sim) {
			s.oracle.height(s, s.vals[0], 2, nil)
			s.oracle.height(s, s.vals[1], 2, make([]distill.LogRecord, 1))
		}},
		{"another head", Agreed, func(s *sim) {
			s.oracle.height(s, s.vals[0], 2, nil)
			s.oracle.head(s, s.vals[0], distill.LogHead{Height: 2})
			s.oracle.head(s, s.vals[1], distill.LogHead{Height: 2, Batches: 1})
		}},
		{"certified fork", True, func(s *sim) {
			s.oracle.height(s, s.vals[0], 2, nil)
			s.oracle.head(s, s.vals[0], distill.LogHead{Height: 2})
			s.oracle.certified(s, &distill.Hgt{Height: 2, LogHash: hash})
		}},
		{"certified future", True, func(s *sim) { s.oracle.certified(s, &distill.Hgt{Height: 7}) }},
		{"false outcome", True, func(s *sim) {
			c := s.clients[0]
			s.oracle.outcome(s, c, 1, c.orders[0], distill.Outcome{Kind: distill.OutcomeExecuted, Code: distill.ResultOK})
		}},
		{"false expiry", True, func(s *sim) {
			c := s.clients[0]
			s.oracle.choose(0, 1, 20, c.orders[0].hash)
			s.oracle.outcome(s, c, 1, c.orders[0], distill.Outcome{Kind: distill.OutcomeExpired})
			s.oracle.execute(s, m, execution{hash: c.orders[0].hash, height: 9, code: distill.ResultOK}, 20)
			s.oracle.check(s, &s.oracle.outcomes[0])
		}},
		{"unknown outcome", Settled, func(s *sim) {
			c := s.clients[0]
			s.oracle.outcome(s, c, 1, c.orders[0], distill.Outcome{Kind: distill.OutcomeUnknown})
		}},
		{"two outcomes", Settled, func(s *sim) {
			c := s.clients[0]
			c.open(false)
			c.handled[1] = true
			c.outcome(1, distill.Outcome{Kind: distill.OutcomeExpired})
			c.outcome(1, distill.Outcome{Kind: distill.OutcomeNotExecuted})
		}},
		{"no outcome", Settled, func(s *sim) { s.vals = nil; s.aggs = nil; s.oracle.finish(s) }},
		{"two batches of an honest aggregator", Innocent, func(s *sim) {
			for i := range byte(2) {
				p := distill.SignedProp{Prop: distill.Prop{Net: s.w.network.ID(), AggID: aggregatorIDs[0], Seq: 1, N: 1, Root: [32]byte{i}}}
				q := distill.Proposal{SignedProp: p}
				new(rogueAggregator).sign(&aggregator{s: s}, &q)
				s.watch.prop(s, q.SignedProp)
			}
		}},
		{"two heads of an honest validator", Innocent, func(s *sim) {
			for i := range uint64(2) {
				h := distill.Hgt{Net: s.w.network.ID(), Height: 3, Batches: i}
				s.watch.hgt(s, h, s.vals[0].sign(h))
			}
		}},
		{"two logs of an honest validator", Innocent, func(s *sim) {
			for i := range uint64(2) {
				r := distill.Rcpt{Net: s.w.network.ID(), Height: 3, N: i}
				s.watch.rcpt(s, r, s.vals[0].sign(r))
			}
		}},
		{"two answers of an honest validator", Innocent, func(s *sim) {
			for i := range uint64(2) {
				k := distill.Look{Net: s.w.network.ID(), Height: 3 + i, LastNonce: 5 - i, Code: distill.LookNotExecuted, Nonce: 9}
				s.watch.look(s, &distill.SignedLook{Look: k, Share: *s.vals[0].sign(k)})
			}
		}},
		{"signed and not durable", Chosen, func(s *sim) {
			c := s.clients[0]
			c.open(false)
			c.act(distill.SendSubmission{AggID: aggregatorIDs[0], Submission: distill.Submission{Nonce: 1, Payload: []byte("x")}})
		}},
	}
	for _, x := range tests {
		t.Run(x.name, func(t *testing.T) {
			s := newOracleSim(t)
			x.do(s)
			var got Invariant
			if v := s.report.Violations; len(v) > 0 {
				got = v[0].Invariant
			}
			if got != x.want {
				t.Errorf("%q, want %q: %v", got, x.want, s.report.Violations)
			}
		})
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"math/big"
	"testing"
)

func refusal(t testing.TB, out []AggregatorAction) Rule {
	t.Helper()
	if len(out) == 0 {
		t.Fatal("neither refused nor acknowledged")
	}
	if r := actions[SendRefusal](out); len(r) > 0 {
		return r[0].Refusal.Rule
	}
	return 0
}

func TestAggregatorRefusesSubmissions(t *testing.T) {
	w := newPartyNet(t, 2, 0, nil)
	good := func(id, nonce, notAfter uint64) *Submission {
		return w.submission(ModeEd25519, id, nonce, notAfter, "pay")
	}
	signed := func(change func(*Submission)) *Submission {
		s := good(0, 1, 1000)
		change(s)
		return s
	}
	for _, tt := range []struct {
		name string
		s    *Submission
		want Rule
	}{
		{"good", good(0, 1, 1000), 0},
		{"first of its heights", good(0, 1, 228), 0},
		{"last of its heights", good(0, 1, 4196), 0},
		{"unknown client", signed(func(s *Submission) { s.ID = 2 }), RuleInactive},
		{"payload", w.submission(ModeEd25519, 0, 1, 1000, string(make([]byte, 64<<10+1))), RulePayloadSize},
		{"no nonce", good(0, 0, 1000), RuleOldNonce},
		{"too late", good(0, 1, 227), RuleTooLate},
		{"too long", good(0, 1, 4197), RuleLifetime},
		{"no signature", signed(func(s *Submission) { s.Signature = nil }), RuleSubmissionSignature},
		{"short signature", signed(func(s *Submission) { s.Signature = s.Signature[:63] }), RuleSubmissionSignature},
		{"other mode", w.submission(ModeFolded, 0, 1, 1000, "pay"), RuleSubmissionSignature},
		{"signature", signed(func(s *Submission) { s.Signature[3] ^= 1 }), RuleSubmissionSignature},
		{"signature of another payload", signed(func(s *Submission) { s.Payload = []byte("pax") }), RuleSubmissionSignature},
		{"signature of another nonce", signed(func(s *Submission) { s.Nonce++ }), RuleSubmissionSignature},
		{"signature of another last height", signed(func(s *Submission) { s.NotAfter++ }), RuleSubmissionSignature},
		{"another's signature", signed(func(s *Submission) { s.ID = 1 }), RuleSubmissionSignature},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := new(MemoryJournal)
			a := w.open(firstAgg, j, nil)
			out := admit(t, a, 0, tt.s)
			if got := refusal(t, out); got != tt.want {
				t.Fatalf("got %v, want %v", got, tt.want)
			}
			if tt.want != 0 && j.Len() > 0 {
				t.Fatal("in the journal")
			}
			if tt.want == 0 && len(actions[SendAck](out)) != 1 {
				t.Fatal("not acknowledged")
			}
		})
	}
}

func TestAggregatorNotReady(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	a, err := OpenAggregator(AggregatorConfig{
		Network: w.network, ID: firstAgg, Key: w.aggregator[firstAgg], Journal: new(MemoryJournal),
		Views: func(uint64) (View, error) { return w.view, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	s := w.submission(ModeEd25519, 0, 1, 1000, "pay")
	if got := refusal(t, admit(t, a, 0, s)); got != RuleNoHead {
		t.Fatal(got)
	}
	a.SetView(w.view)
	if got := refusal(t, admit(t, a, 0, s)); got != RuleNoHead {
		t.Fatal(got)
	}
	if _, err := a.HandleHead(0, w.head(100)); err != nil {
		t.Fatal(err)
	}
	if got := refusal(t, admit(t, a, 0, s)); got != 0 {
		t.Fatal(got)
	}
	a.Drain()
	out := admit(t, a, 10, w.submission(ModeEd25519, 0, 2, 1000, "pay"))
	if got := refusal(t, out); got != RuleDraining {
		t.Fatal(got)
	}
	if len(actions[SendProposals](out)) != 1 {
		t.Fatal("a draining aggregator waits for nothing")
	}
	if out = admit(t, a, 20, s); len(actions[SendAck](out)) != 1 {
		t.Fatal("a draining aggregator denies what it has")
	}
}

// TestAggregatorFindsBadSignatures submits a burst with bad ones in it, in each mode.
func TestAggregatorFindsBadSignatures(t *testing.T) {
	w := newPartyNet(t, 20, 0, nil)
	for _, mode := range []Mode{ModeEd25519, ModeFolded} {
		a := w.open(firstAgg, new(MemoryJournal), func(c *AggregatorConfig) { c.Mode = mode })
		list := w.messages(mode, 20)
		bad := map[uint64]bool{0: true, 7: true, 8: true, 19: true}
		for id := range bad {
			list[id] = w.submission(mode, id, 1, 1000, "pay")
			list[id].Payload = []byte("pax")
		}
		out := admit(t, a, 0, list...)
		for _, ack := range actions[SendAck](out) {
			if bad[ack.ID] {
				t.Errorf("%v: bad signature of %d acknowledged", mode, ack.ID)
			}
		}
		for _, r := range actions[SendRefusal](out) {
			if !bad[r.Refusal.ID] || r.Refusal.Rule != RuleSubmissionSignature {
				t.Errorf("%v: %+v", mode, r)
			}
		}
		if len(actions[SendAck](out)) != 16 || len(actions[SendRefusal](out)) != 4 {
			t.Errorf("%v: %d actions", mode, len(out))
		}
	}
}

func TestAggregatorRepeatsAndConflicts(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	for _, mode := range []Mode{ModeEd25519, ModeFolded, ModeLean} {
		a := w.open(firstAgg, new(MemoryJournal), func(c *AggregatorConfig) { c.Mode = mode })
		s := w.submission(mode, 0, 1, 1000, "pay")
		if out := admit(t, a, 0, s); refusal(t, out) != 0 {
			t.Fatal("refused")
		}
		out, err := a.HandleSubmission(1, s)
		if err != nil || one[SendAck](t, out) != (SendAck{0, 1}) {
			t.Fatalf("%v: the same again: %v", mode, err)
		}
		for _, other := range []*Submission{w.submission(mode, 0, 1, 1000, "pax"), w.submission(mode, 0, 1, 1001, "pay")} {
			out = admit(t, a, 2, other)
			if got := refusal(t, out); got != RuleConflict {
				t.Fatal(got)
			}
			if mode == ModeLean || bytes.Equal(other.Payload, s.Payload) {
				if len(actions[ReportConflict](out)) > 0 {
					t.Fatal("reported without signatures, or for one payload")
				}
				continue
			}
			r := one[ReportConflict](t, out)
			e := NewSubEvidence(w.network.ID(), r.Dirver, &r.First, &r.Second)
			if who, err := e.Verify(w.genesis, w.view); err != nil || who != (Accused{RoleClient, 0}) {
				t.Fatalf("%v: evidence against %+v, error %v", mode, who, err)
			}
		}
		// A conflict that isn't signed is no evidence.
		if mode != ModeLean {
			forged := w.submission(mode, 0, 1, 1000, "pay")
			forged.Payload = []byte("pax")
			out = admit(t, a, 10, forged)
			if got := refusal(t, out); got != RuleSubmissionSignature || len(actions[ReportConflict](out)) > 0 {
				t.Fatal(got)
			}
		}
		// In one burst, the first one counts.
		x, y := w.submission(mode, 0, 2, 1000, "x"), w.submission(mode, 0, 2, 1000, "y")
		out = admit(t, a, 20, x, y, x)
		if len(actions[SendAck](out)) != 2 || refusal(t, out) != RuleConflict || a.pool.waiting != 2 {
			t.Fatalf("%v: %v", mode, out)
		}
	}
}

func TestAggregatorBackPressure(t *testing.T) {
	w := newPartyNet(t, 3, 0, nil)
	open := func(l AggregatorLimits) *Aggregator {
		return w.open(firstAgg, new(MemoryJournal), func(c *AggregatorConfig) { c.Limits = l })
	}
	t.Run("rate", func(t *testing.T) {
		a := open(AggregatorLimits{Rate: 10, RateBurst: 3})
		for i := range uint64(5) {
			out := admit(t, a, 0, w.submission(ModeEd25519, 0, i+1, 1000, "pay"))
			if got := refusal(t, out); (got == RuleRate) != (i >= 3) {
				t.Fatalf("message %d: %v", i, got)
			}
			if i >= 3 {
				if wait := one[SendRefusal](t, out).Refusal.RetryAfter; wait < 90 || wait > 110 {
					t.Fatalf("wait %d", wait)
				}
			}
		}
		if got := refusal(t, admit(t, a, 0, w.submission(ModeEd25519, 1, 1, 1000, "pay"))); got != 0 {
			t.Fatalf("another client: %v", got)
		}
		if got := refusal(t, admit(t, a, 101, w.submission(ModeEd25519, 0, 4, 1000, "pay"))); got != 0 {
			t.Fatalf("later: %v", got)
		}
	})
	t.Run("window", func(t *testing.T) {
		a := open(AggregatorLimits{RateBurst: 1000, BatchAge: 1 << 40})
		for i := range uint64(NonceWindow + 1) {
			got := refusal(t, admit(t, a, 0, w.submission(ModeEd25519, 0, i+1, 1000, "pay")))
			if (got == RuleWindow) != (i == NonceWindow) {
				t.Fatalf("message %d: %v", i, got)
			}
		}
	})
	t.Run("window in one burst", func(t *testing.T) {
		a := open(AggregatorLimits{RateBurst: 1000, BatchAge: 1 << 40})
		var list []*Submission
		for i := range uint64(NonceWindow + 10) {
			list = append(list, w.submission(ModeEd25519, 0, i+1, 1000, "pay"))
		}
		out := admit(t, a, 0, append(list, w.submission(ModeEd25519, 1, 1, 1000, "pay"))...)
		for _, r := range actions[SendRefusal](out) {
			if r.Refusal.Rule != RuleWindow || r.Refusal.Nonce <= NonceWindow {
				t.Fatalf("%+v", r)
			}
		}
		if len(actions[SendRefusal](out)) != 10 || len(actions[SendAck](out)) != NonceWindow+1 {
			t.Fatalf("%d actions", len(out))
		}
	})
	t.Run("messages", func(t *testing.T) {
		a := open(AggregatorLimits{PoolMessages: 2})
		list := []*Submission{w.submission(ModeEd25519, 0, 1, 1000, "pay"), w.submission(ModeEd25519, 1, 1, 1000, "pay"), w.submission(ModeEd25519, 2, 1, 1000, "pay")}
		out := admit(t, a, 0, list...)
		if r := one[SendRefusal](t, out).Refusal; r.Rule != RuleFull || r.ID != 2 || r.RetryAfter <= 0 {
			t.Fatalf("%+v", r)
		}
		if got := refusal(t, admit(t, a, 10, list[0])); got != 0 {
			t.Fatalf("what is known needs no room: %v", got)
		}
	})
	t.Run("bytes", func(t *testing.T) {
		a := open(AggregatorLimits{PoolBytes: 3000})
		out := admit(t, a, 0, w.submission(ModeEd25519, 0, 1, 1000, string(make([]byte, 2800))), w.submission(ModeEd25519, 1, 1, 1000, "pay"))
		if r := one[SendRefusal](t, out).Refusal; r.Rule != RuleFull || r.ID != 1 {
			t.Fatalf("%+v", r)
		}
		if s := a.Stats(); s.Waiting != 1 || s.WaitingSize > 3200 || s.Refused != 1 || s.Throttled != 1 || s.Submitted != 2 || s.Admitted != 1 {
			t.Fatalf("%+v", s)
		}
	})
	t.Run("share", func(t *testing.T) {
		a := open(AggregatorLimits{PoolBytes: 6000, RateBurst: 1000, BatchAge: 1 << 40})
		for nonce := range uint64(20) {
			admit(t, a, 0, w.submission(ModeEd25519, 0, nonce+1, 1000, string(make([]byte, 300))))
		}
		if n := a.Stats().Waiting; n < 5 || n > 10 {
			t.Fatalf("one client has %d messages in half of the pool", n)
		}
		if got := refusal(t, admit(t, a, 0, w.submission(ModeEd25519, 1, 1, 1000, "pay"))); got != 0 {
			t.Fatalf("another client is kept out: %v", got)
		}
	})
	t.Run("in flight", func(t *testing.T) {
		a := open(AggregatorLimits{InFlight: 1})
		admit(t, a, 0, w.submission(ModeEd25519, 0, 1, 1000, "pay"))
		out := admit(t, a, 600, w.submission(ModeEd25519, 1, 1, 1000, "pay"))
		if one[SendProposals](t, out).Len() != 2 {
			t.Fatal("not proposed")
		}
		out = admit(t, a, 700, w.submission(ModeEd25519, 2, 1, 1000, "pay"))
		more, err := a.Tick(1300)
		if err != nil || len(actions[SendProposals](append(out, more...))) > 0 {
			t.Fatal("too many batches in flight")
		}
	})
}

func TestAggregatorNonces(t *testing.T) {
	// Against a set of nonces.
	for seed := range 50 {
		rng := newRand(seed)
		c := &clientState{}
		done := make(map[uint64]bool)
		last := uint64(0)
		for range 300 {
			nonce := uint64(max(1, int(last)+rng.IntN(100)-80))
			if rng.IntN(40) == 0 {
				nonce += uint64(rng.IntN(500))
			}
			if c.behind(nonce) != (int(nonce) <= int(last)-NonceWindow) {
				t.Fatalf("behind(%d) with last %d", nonce, last)
			}
			if !c.behind(nonce) && c.executed(nonce) != done[nonce] {
				t.Fatalf("executed(%d)", nonce)
			}
			c.execute(nonce)
			if int(nonce) > int(last)-NonceWindow {
				done[nonce] = true
			}
			last = max(last, nonce)
		}
	}
}

// TestAggregatorKeyChanges has clients change their keys, or be revoked, after their
// messages were admitted, and then do nothing more. The batch is made without them.
func TestAggregatorKeyChanges(t *testing.T) {
	for _, mode := range []Mode{ModeEd25519, ModeFolded, ModeLean} {
		for _, reopen := range []bool{false, true} {
			w := newPartyNet(t, 6, 0, nil)
			j := new(MemoryJournal)
			known := func(c *AggregatorConfig) { c.Mode = mode }
			a := w.open(firstAgg, j, known)
			admit(t, a, 0, w.messages(mode, 6)...)
			view := w.renewed([]uint64{1, 4}, []uint64{2})
			if reopen {
				a = w.open(firstAgg, j, known)
			}
			a.SetView(view)
			// One of them sends its message again, signed by the new key.
			out := admit(t, a, 100, w.submission(mode, 4, 1, 1004, "payload 4"))
			if len(actions[SendAck](out)) != 1 {
				t.Fatalf("%v: the new signature isn't taken: %+v", mode, out)
			}
			more, err := a.Tick(700)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, more...)
			p := proposals(out)
			want := []uint64{0, 3, 4, 5}
			if mode == ModeLean { // nothing is signed by the old key
				want = []uint64{0, 1, 3, 4, 5}
			}
			if len(p) != len(want) {
				t.Fatalf("%v: %d proposals", mode, len(p))
			}
			for _, r := range actions[SendRefusal](out) {
				if wrong := map[uint64]Rule{1: RuleSubmissionSignature, 2: RuleInactive}[r.Refusal.ID]; r.Refusal.Rule != wrong {
					t.Fatalf("%v: %+v", mode, r)
				}
			}
			for _, id := range want {
				if p[id] == nil {
					t.Fatalf("%v: no proposal for %d", mode, id)
				}
				if id == 0 || id == 5 {
					if _, err := a.HandleReduction(800, w.reduce(id, p[id])); err != nil {
						t.Fatal(err)
					}
				}
			}
			pub, b, _ := finish(t, a, nil, 1800)
			if len(b.Stragglers) != len(want)-2 || a.Stats().Abandoned != 0 {
				t.Fatalf("%v: stragglers %v", mode, b.Stragglers)
			}
			if _, err := newModelLog(w).append(pub.Encoded); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestAggregatorDirectoryChangesBeforeAdmission has a client revoked between the arrival of
// its message and the admission: in its batch nobody's message would be executed.
func TestAggregatorDirectoryChangesBeforeAdmission(t *testing.T) {
	for _, mode := range []Mode{ModeEd25519, ModeFolded, ModeLean} {
		w := newPartyNet(t, 5, 0, nil)
		a := w.open(firstAgg, new(MemoryJournal), func(c *AggregatorConfig) { c.Mode = mode })
		for _, s := range w.messages(mode, 5) {
			if out, err := a.HandleSubmission(0, s); err != nil || len(out) > 0 {
				t.Fatalf("%v: %+v, error %v", mode, out, err)
			}
		}
		a.SetView(w.renewed(nil, []uint64{2}))
		out, err := a.Tick(10)
		if err != nil || len(actions[SendAck](out)) != 4 {
			t.Fatalf("%v: %+v, error %v", mode, out, err)
		}
		if r := one[SendRefusal](t, out).Refusal; r.ID != 2 || r.Rule != RuleInactive {
			t.Fatalf("%v: %+v", mode, r)
		}
		out, err = a.Tick(600)
		if err != nil {
			t.Fatal(err)
		}
		for id, p := range proposals(out) {
			if _, err := a.HandleReduction(700, w.reduce(id, p)); err != nil {
				t.Fatal(err)
			}
		}
		if s := a.Stats(); s.Published != 1 || s.Unsealed != 0 || s.Stragglers != 0 {
			t.Fatalf("%v: %+v", mode, s)
		}
	}
}

// TestAggregatorOldDirectory has an aggregator start with a directory that is older than the
// one by which messages were admitted, as the first heights that it hears of are. It waits,
// and doesn't take clients that it knew for unknown ones.
func TestAggregatorOldDirectory(t *testing.T) {
	for _, mode := range []Mode{ModeEd25519, ModeFolded, ModeLean} {
		w := newPartyNet(t, 3, 0, nil)
		old := w.view
		now := w.renewed(nil, nil)
		w.setKeys(3, blsKey(t, big.NewInt(77_011)), edKey("newcomer", 3))
		j := new(MemoryJournal)
		known := func(c *AggregatorConfig) { c.Mode = mode }
		admit(t, w.open(firstAgg, j, known), 0, w.messages(mode, 4)...)

		w.view = old
		a := w.open(firstAgg, j, known)
		w.view = now
		for at := int64(0); at < 3000; at += 100 {
			if out, err := a.Tick(at); err != nil || len(out) > 0 {
				t.Fatalf("%v: with an old directory: %+v, %v", mode, out, err)
			}
		}
		for id := range uint64(4) {
			out, err := a.HandleSubmission(3000, w.submission(mode, id, 2, 1000, "another"))
			r := actions[SendRefusal](out)
			if err != nil || len(r) != 1 || r[0].Refusal.Rule != RuleNoHead || r[0].Refusal.RetryAfter <= 0 {
				t.Fatalf("%v: client %d: %+v, %v", mode, id, out, err)
			}
		}
		if s := a.Stats(); s.Waiting != 4 || s.Dropped != 0 {
			t.Fatalf("%v: %+v", mode, s)
		}

		a.SetView(now)
		out, err := a.Tick(4000)
		if err != nil || len(proposals(out)) != 4 || len(actions[SendRefusal](out)) > 0 {
			t.Fatalf("%v: %d proposals, %v", mode, len(proposals(out)), err)
		}
	}
}

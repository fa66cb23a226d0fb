// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/bls12381"
)

// admit submits messages of clients and returns the actions when all are dealt with.
func admit(t testing.TB, a *Aggregator, now int64, list ...*Submission) (out []AggregatorAction) {
	t.Helper()
	for _, s := range list {
		more, err := a.HandleSubmission(now, s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, more...)
	}
	more, err := a.Tick(now + 5)
	if err != nil {
		t.Fatal(err)
	}
	return append(out, more...)
}

// messages returns a message of each of some clients.
func (w *partyNet) messages(mode Mode, clients int) (list []*Submission) {
	for i := range clients {
		list = append(list, w.submission(mode, uint64(i), 1, 1000+uint64(i), fmt.Sprintf("payload %d", i)))
	}
	return list
}

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

func TestAggregatorOpens(t *testing.T) {
	w := newPartyNet(t, 1, 0, func(p *Params) { p.Modes = Modes(ModeEd25519) })
	good := AggregatorConfig{
		Network: w.network, ID: firstAgg, Key: w.aggregator[firstAgg], Journal: new(MemoryJournal),
		Views: func(uint64) (View, error) { return w.view, nil },
	}
	for i, change := range []func(*AggregatorConfig){
		func(c *AggregatorConfig) { c.Network = nil },
		func(c *AggregatorConfig) { c.Journal = nil },
		func(c *AggregatorConfig) { c.Views = nil },
		func(c *AggregatorConfig) { c.Key = c.Key[:31] },
		func(c *AggregatorConfig) { c.Key = w.aggregator[secondAgg] },
		func(c *AggregatorConfig) { c.ID = 8 },
		func(c *AggregatorConfig) { c.Mode = ModeLean }, // not of this network
		func(c *AggregatorConfig) { c.Mode = 77 },
	} {
		cfg := good
		change(&cfg)
		if _, err := OpenAggregator(cfg); err == nil {
			t.Errorf("opened with configuration %d", i)
		}
	}
	if _, err := OpenAggregator(good); err != nil {
		t.Fatal(err)
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

// proposals lists what is proposed to whom.
func proposals(out []AggregatorAction) map[uint64]*Proposal {
	m := make(map[uint64]*Proposal)
	for _, s := range actions[SendProposals](out) {
		for i := range s.Len() {
			id, p := s.At(i)
			m[id] = &p
		}
	}
	return m
}

// collecting returns an aggregator that has proposed a batch of all clients' messages.
func (w *partyNet) collecting(t testing.TB, mode Mode, clients int, change func(*AggregatorConfig)) (*Aggregator, map[uint64]*Proposal) {
	t.Helper()
	a := w.open(firstAgg, new(MemoryJournal), func(c *AggregatorConfig) {
		c.Mode = mode
		if change != nil {
			change(c)
		}
	})
	admit(t, a, 0, w.messages(mode, clients)...)
	out, err := a.Tick(505)
	if err != nil {
		t.Fatal(err)
	}
	p := proposals(out)
	if len(p) != clients {
		t.Fatalf("%d proposals for %d clients", len(p), clients)
	}
	for id, p := range p {
		s := w.submission(mode, id, 1, 1000+id, fmt.Sprintf("payload %d", id))
		if err := VerifyProof(p.Prop.Root, p.Prop.N, p.Index, s.Sub(w.network.ID()).Leaf().Hash(), p.Siblings); err != nil {
			t.Fatal(err)
		}
		if err := w.network.VerifyProp(&p.SignedProp); err != nil {
			t.Fatal(err)
		}
	}
	return a, p
}

// finish ends a round, and returns the batch.
func finish(t testing.TB, a *Aggregator, out []AggregatorAction, now int64) (Publish, *Batch, []AggregatorAction) {
	t.Helper()
	if len(actions[Publish](out)) == 0 {
		more, err := a.Tick(now)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, more...)
	}
	p := one[Publish](t, out)
	b, err := DecodeBatch(p.Encoded, a.params)
	if err != nil {
		t.Fatal(err)
	}
	return p, b, out
}

// TestAggregatorModes makes a batch with stragglers in each mode.
func TestAggregatorModes(t *testing.T) {
	w := newPartyNet(t, 12, 0, nil)
	for _, mode := range []Mode{ModeEd25519, ModeFolded, ModeLean} {
		for _, missing := range [][]uint64{nil, {3}, {0, 5, 11}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}} {
			a, p := w.collecting(t, mode, 12, nil)
			var out []AggregatorAction
			for id, p := range p {
				if slices.Contains(missing, id) {
					continue
				}
				more, err := a.HandleReduction(600, w.reduce(id, p))
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, more...)
			}
			if len(missing) == 0 != (len(actions[Publish](out)) == 1) {
				t.Fatal("published too early, or too late")
			}
			pub, b, _ := finish(t, a, out, 1505)
			var stragglers []uint64
			for _, at := range b.Stragglers {
				stragglers = append(stragglers, b.IDs[at])
			}
			if !slices.Equal(stragglers, missing) {
				t.Fatalf("%v: stragglers %v, want %v", mode, stragglers, missing)
			}
			log := newModelLog(w)
			br, err := log.append(pub.Encoded)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.HandedOff(1600, pub.Seq); err != nil {
				t.Fatal(err)
			}
			out, err = a.HandleBatchReceipt(1700, br)
			if err != nil {
				t.Fatal(err)
			}
			s := one[SendReceipts](t, out)
			for i := range s.Len() {
				r := s.At(i)
				want := ResultOK
				if mode == ModeLean && slices.Contains(missing, r.Result.ID) {
					want = ResultAbsent
				}
				if r.Result.Code != want {
					t.Fatalf("%v: %v for %d", mode, r.Result.Code, r.Result.ID)
				}
				c := w.client(r.Result.ID, new(MemoryJournal), func(c *ClientConfig) { c.Mode = mode })
				if _, _, err := c.Submit(0, fmt.Appendf(nil, "payload %d", r.Result.ID), 1000); err != nil {
					t.Fatal(err)
				}
				if _, err := c.HandleReceipt(0, &r); err != nil {
					t.Fatal(err)
				}
			}
			// Whoever was absent is in the next batch.
			if want := 0; mode == ModeLean {
				want = len(missing)
				if a.Stats().Waiting != want {
					t.Fatalf("%d wait, want %d", a.Stats().Waiting, want)
				}
			} else if a.Stats().Waiting != want {
				t.Fatalf("%d wait", a.Stats().Waiting)
			}
		}
	}
}

func TestAggregatorRefusesReductions(t *testing.T) {
	w := newPartyNet(t, 5, 0, nil)
	for _, tt := range []struct {
		name   string
		change func(*Reduction)
		want   Rule
	}{
		{"number", func(r *Reduction) { r.Seq++ }, RuleNoBatch},
		{"client", func(r *Reduction) { r.ID = 9 }, RuleNotMember},
		{"digest", func(r *Reduction) { r.Digest[0] ^= 1 }, RuleReductionDigest},
		{"not on the curve", func(r *Reduction) { r.Signature[100] ^= 1 }, RuleReductionEncoding},
		{"identity", func(r *Reduction) { r.Signature = [ReductionSize]byte{0x40} }, RuleReductionEncoding},
		{"compressed", func(r *Reduction) { r.Signature[0] |= 0x80 }, RuleReductionEncoding},
		{"other client's place", func(r *Reduction) { r.ID = 1 }, RuleReduced},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, p := w.collecting(t, ModeEd25519, 5, nil)
			if _, err := a.HandleReduction(600, w.reduce(1, p[1])); err != nil {
				t.Fatal(err)
			}
			r := w.reduce(2, p[2])
			tt.change(r)
			out, err := a.HandleReduction(601, r)
			hasRule(t, err, tt.want)
			_, err = a.HandleReduction(602, w.reduce(2, p[2]))
			if tt.want == RuleReductionEncoding {
				if one[ReportReduction](t, out) != (ReportReduction{2, 1}) {
					t.Fatal("not reported")
				}
				hasRule(t, err, RuleReduced)
			} else if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestAggregatorSifts puts bad reductions of several kinds into bursts.
func TestAggregatorSifts(t *testing.T) {
	const n = 40
	w := newPartyNet(t, n, 0, nil)
	wrong := func(id uint64, p *Proposal) *Reduction { return w.reduceBy(w.keys[(id+1)%n].BLS, id, p) }
	shift := func(r *Reduction, by *bls12381.G2) *Reduction {
		var p bls12381.G2
		if err := p.SetUncompressedUnsafe(r.Signature[:]); err != nil {
			t.Fatal(err)
		}
		p.Add(&p, by)
		bls12381.NormalizeG2(&p)
		r.Signature = [ReductionSize]byte(p.UncompressedBytes())
		return r
	}
	delta := new(bls12381.G2).HashVarTime([]byte("offset"), []byte("test"))
	minus := new(bls12381.G2).Neg(delta)
	out := pointOutside(t)
	minusOut := new(bls12381.G2).Neg(out)
	var half []uint64
	for i := range uint64(n / 2) {
		half = append(half, 2*i)
	}
	for _, tt := range []struct {
		name  string
		bad   []uint64 // to be found
		fake  func(id uint64, p *Proposal) *Reduction
		burst int
	}{
		{"one", []uint64{17}, wrong, 100},
		{"one in small bursts", []uint64{17}, wrong, 7},
		{"first and last", []uint64{0, n - 1}, wrong, 100},
		{"some", []uint64{3, 4, 21, 22, 38}, wrong, 100},
		{"half of them", half, wrong, 100},
		{"outside the group", []uint64{5, 30}, func(id uint64, p *Proposal) *Reduction {
			return shift(w.reduce(id, p), out)
		}, 100},
		{"outside the group, and cancelling out", []uint64{5, 30, 31}, func(id uint64, p *Proposal) *Reduction {
			switch id {
			case 5:
				return shift(w.reduce(id, p), out)
			case 30:
				return shift(w.reduce(id, p), minusOut)
			}
			return wrong(id, p)
		}, 100},
		{"offset against each other, and a wrong one", []uint64{6, 29, 30}, func(id uint64, p *Proposal) *Reduction {
			switch id {
			case 6:
				return shift(w.reduce(id, p), delta)
			case 29:
				return shift(w.reduce(id, p), minus)
			}
			return wrong(id, p)
		}, 100},
		{"another message", []uint64{8}, func(id uint64, p *Proposal) *Reduction {
			q := *p
			q.Prop.Seq++
			r := w.reduce(id, &q)
			r.Seq, r.Digest = p.Prop.Seq, p.Prop.Red().Digest()
			return r
		}, 100},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, p := w.collecting(t, ModeEd25519, n, func(c *AggregatorConfig) { c.Limits.Burst = tt.burst })
			var acts []AggregatorAction
			for id := range uint64(n) {
				r := w.reduce(id, p[id])
				if slices.Contains(tt.bad, id) {
					r = tt.fake(id, p[id])
				}
				more, err := a.HandleReduction(600, r)
				if err != nil {
					t.Fatal(err)
				}
				acts = append(acts, more...)
			}
			pub, b, acts := finish(t, a, acts, 1600)
			var stragglers, reported []uint64
			for _, at := range b.Stragglers {
				stragglers = append(stragglers, b.IDs[at])
			}
			for _, r := range actions[ReportReduction](acts) {
				reported = append(reported, r.ID)
			}
			slices.Sort(reported)
			if !slices.Equal(stragglers, tt.bad) || !slices.Equal(reported, tt.bad) {
				t.Fatalf("stragglers %v, reported %v, want %v", stragglers, reported, tt.bad)
			}
			if _, err := newModelLog(w).append(pub.Encoded); err != nil {
				t.Fatal(err)
			}
			for _, id := range tt.bad {
				if !a.clients[id].slow(700) {
					t.Errorf("%d isn't in quarantine", id)
				}
			}
			s := a.Stats()
			if s.Bad != uint64(len(tt.bad)) || s.Reductions != n-s.Bad || s.Stragglers != s.Bad {
				t.Errorf("%+v", s)
			}
			t.Logf("%d pairings", s.Pairings)
			// Whoever is outside the group is found without pairings, and a few
			// others by bisection.
			if len(tt.bad) <= 3 && s.Pairings > 25 || s.Pairings > 3*n {
				t.Errorf("%d pairings to find %d of %d", s.Pairings, len(tt.bad), n)
			}
		})
	}
}

// TestAggregatorOffsets has two clients offset errors against each other: their sum is
// valid, and so is the batch, but for what is concluded about them alone.
func TestAggregatorOffsets(t *testing.T) {
	w := newPartyNet(t, 4, 0, nil)
	a, p := w.collecting(t, ModeEd25519, 4, nil)
	delta := new(bls12381.G2).HashVarTime([]byte("offset"), []byte("test"))
	var acts []AggregatorAction
	for id := range uint64(4) {
		r := w.reduce(id, p[id])
		if id < 2 {
			var q bls12381.G2
			if err := q.SetUncompressedUnsafe(r.Signature[:]); err != nil {
				t.Fatal(err)
			}
			if id == 0 {
				q.Add(&q, delta)
			} else {
				q.Sub(&q, delta)
			}
			bls12381.NormalizeG2(&q)
			r.Signature = [ReductionSize]byte(q.UncompressedBytes())
		}
		more, err := a.HandleReduction(600, r)
		if err != nil {
			t.Fatal(err)
		}
		acts = append(acts, more...)
	}
	pub, b, _ := finish(t, a, acts, 1600)
	if len(b.Stragglers) != 0 {
		t.Fatalf("stragglers %v", b.Stragglers)
	}
	if _, err := newModelLog(w).append(pub.Encoded); err != nil {
		t.Fatal(err)
	}
}

// TestAggregatorKeysThatCancel has clients whose keys add up to the identity, which no
// signature verifies by. With nobody else in the batch one of them becomes a straggler.
func TestAggregatorKeysThatCancel(t *testing.T) {
	w := newPartyNet(t, 2, 0, nil)
	sum, err := bls.SumKeys([]*bls.ProvenKey{w.view.bls[0], w.view.bls[1]})
	if err != nil {
		t.Fatal(err)
	}
	w.setKeys(2, negatedSum(t, w.keys[0].BLS, w.keys[1].BLS), edKey("cancel", 2))
	if _, err := bls.SumKeys([]*bls.ProvenKey{sum, w.view.bls[2]}); err == nil {
		t.Fatal("the keys don't cancel out")
	}
	a, p := w.collecting(t, ModeEd25519, 3, nil)
	var acts []AggregatorAction
	for id := range uint64(3) {
		more, err := a.HandleReduction(600, w.reduce(id, p[id]))
		if err != nil {
			t.Fatal(err)
		}
		acts = append(acts, more...)
	}
	pub, b, _ := finish(t, a, acts, 1600)
	if len(b.Stragglers) != 1 {
		t.Fatalf("stragglers %v", b.Stragglers)
	}
	if _, err := newModelLog(w).append(pub.Encoded); err != nil {
		t.Fatal(err)
	}
}

// TestAggregatorAbandons has more clients missing than there may be stragglers. The batch
// is given up, nobody waits for them again, and those who did their part come first.
func TestAggregatorAbandons(t *testing.T) {
	w := newPartyNet(t, 12, 0, func(p *Params) { p.MinStragglers = 2; p.StragglerPercent = 25 })
	a, p := w.collecting(t, ModeEd25519, 12, nil)
	log := newModelLog(w)
	for id, p := range p {
		if id >= 8 {
			if _, err := a.HandleReduction(600, w.reduce(id, p)); err != nil {
				t.Fatal(err)
			}
		}
	}
	out, err := a.Tick(1505)
	if err != nil || len(actions[Publish](out)) > 0 {
		t.Fatal("published")
	}
	if s := a.Stats(); s.Abandoned != 1 || s.Waiting != 12 || s.Rounds != 0 || s.Slow != 8 {
		t.Fatalf("%+v", s)
	}
	executed := 0
	for now := int64(3000); executed < 12; now += 1000 {
		out, err := a.Tick(now)
		if err != nil {
			t.Fatal(err)
		}
		for id, p := range proposals(out) {
			if id < 8 {
				t.Fatalf("waits for %d", id)
			}
			if p.Prop.Seq == 1 {
				t.Fatal("the number came again")
			}
			more, err := a.HandleReduction(now, w.reduce(id, p))
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, more...)
		}
		for _, pub := range actions[Publish](out) {
			b, err := DecodeBatch(pub.Encoded, a.params)
			if err != nil {
				t.Fatal(err)
			}
			if executed == 0 && (len(b.IDs) != 5 || len(b.Stragglers) != 1) {
				t.Fatalf("ids %v with stragglers %v: those in quarantine get half of the places", b.IDs, b.Stragglers)
			}
			br, err := log.append(pub.Encoded)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.HandleBatchReceipt(now, br); err != nil {
				t.Fatal(err)
			}
			executed += len(br.Results)
		}
		if now > 20_000 {
			t.Fatalf("%d executed", executed)
		}
	}
}

func TestAggregatorExpiry(t *testing.T) {
	w := newPartyNet(t, 3, 0, nil)
	a := w.open(firstAgg, new(MemoryJournal), nil)
	admit(t, a, 0, w.submission(ModeEd25519, 0, 1, 228, "soon"), w.submission(ModeEd25519, 1, 1, 1000, "late"))
	// The batch would be valid until 264, which is too late for one of them.
	if _, err := a.HandleHead(10, w.head(200)); err != nil {
		t.Fatal(err)
	}
	out, err := a.Tick(600)
	if err != nil {
		t.Fatal(err)
	}
	if r := one[SendRefusal](t, out).Refusal; r.ID != 0 || r.Rule != RuleTooLate {
		t.Fatalf("%+v", r)
	}
	p := proposals(out)
	if len(p) != 1 || p[1].Prop.ValidUntil != 264 || a.Stats().Dropped != 1 {
		t.Fatal("not proposed without it")
	}
	// When its last height is past, the batch is abandoned.
	if _, err := a.HandleHead(700, w.head(264)); err != nil || a.Stats().Rounds != 1 {
		t.Fatal("abandoned too early")
	}
	if _, err := a.HandleHead(701, w.head(265)); err != nil || a.Stats().Abandoned != 1 || a.Stats().Waiting != 1 {
		t.Fatal("not abandoned")
	}
	_, err = a.HandleReduction(702, w.reduce(1, p[1]))
	hasRule(t, err, RuleNoBatch)
}

func TestAggregatorRefusesBatchReceipts(t *testing.T) {
	w := newPartyNet(t, 3, 0, nil)
	a, p := w.collecting(t, ModeEd25519, 3, nil)
	log := newModelLog(w)
	if _, err := a.HandleBatchReceipt(600, &BatchReceipt{Seq: 1}); RuleOf(err) != RuleNoBatch {
		t.Fatal(err)
	}
	var out []AggregatorAction
	for id, p := range p {
		more, err := a.HandleReduction(600, w.reduce(id, p))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, more...)
	}
	pub, _, _ := finish(t, a, out, 1600)
	good, err := log.append(pub.Encoded)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		change func(*BatchReceipt)
		want   Rule
	}{
		{"number", func(r *BatchReceipt) { r.Seq = 2 }, RuleNoBatch},
		{"other batch", func(r *BatchReceipt) { r.Rcpt.BatchDigest[0] ^= 1 }, RuleResults},
		{"n", func(r *BatchReceipt) { r.Rcpt.N++ }, RuleResults},
		{"too few", func(r *BatchReceipt) { r.Results = r.Results[1:] }, RuleResults},
		{"order", func(r *BatchReceipt) { r.Results[0], r.Results[1] = r.Results[1], r.Results[0] }, RuleResults},
		{"payload", func(r *BatchReceipt) { r.Results[1].PayloadHash[0] ^= 1 }, RuleResults},
		{"nonce", func(r *BatchReceipt) { r.Results[1].Nonce++ }, RuleResults},
		{"code", func(r *BatchReceipt) { r.Results[1].Code = 0 }, RuleResults},
		{"result", func(r *BatchReceipt) { r.Results[1].AppCode++ }, RuleResults},
		{"root", func(r *BatchReceipt) { r.Rcpt.ResultRoot[0] ^= 1 }, RuleResults},
		{"height", func(r *BatchReceipt) { r.Rcpt.Height++ }, RuleCertificate},
		{"network", func(r *BatchReceipt) { r.Rcpt.Net[0] ^= 1 }, RuleNetwork},
		{"nobody", func(r *BatchReceipt) { r.Certificate.Bitmap = []byte{0} }, RuleQuorum},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := *good
			r.Results = slices.Clone(r.Results)
			tt.change(&r)
			out, err := a.HandleBatchReceipt(700, &r)
			hasRule(t, err, tt.want)
			if len(out) > 0 || a.Stats().Delivered > 0 {
				t.Fatal("believed")
			}
		})
	}
	if _, err := a.HandleBatchReceipt(700, good); err != nil {
		t.Fatal(err)
	}
	if _, err := a.HandleBatchReceipt(701, good); RuleOf(err) != RuleNoBatch {
		t.Fatal(err)
	}
	// Who submits again gets the receipt, and can look it up.
	out, err = a.HandleSubmission(800, w.messages(ModeEd25519, 3)[2])
	if err != nil {
		t.Fatal(err)
	}
	if r := one[SendReceipts](t, out); r.Len() != 1 || r.At(0).Result.ID != 2 || r.At(0).Result.Code != ResultOK {
		t.Fatal("not the receipt")
	}
	if _, ok := a.Lookup(2, 2); ok {
		t.Fatal("found what isn't there")
	}
	if _, ok := a.Lookup(3, 1); ok {
		t.Fatal("found what isn't there")
	}
	// They are kept for as long as somebody may ask.
	if _, err := a.HandleHead(900, w.head(1002+4096)); err != nil {
		t.Fatal(err)
	}
	if _, ok := a.Lookup(2, 1); !ok {
		t.Fatal("forgotten too early")
	}
	if _, err := a.HandleHead(900, w.head(1003+4096)); err != nil {
		t.Fatal(err)
	}
	if _, ok := a.Lookup(2, 1); ok {
		t.Fatal("kept for too long")
	}
}

func TestAggregatorBoundsReceipts(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	j := new(MemoryJournal)
	a := w.open(firstAgg, j, func(c *AggregatorConfig) { c.Limits.ReceiptBytes = 3000 })
	log := newModelLog(w)
	for i := range uint64(5) {
		now := int64(i) * 10_000
		admit(t, a, now, w.submission(ModeEd25519, 0, i+1, 1000, "pay"))
		out, err := a.Tick(now + 600)
		if err != nil {
			t.Fatal(err)
		}
		out, err = a.HandleReduction(now+700, w.reduce(0, proposals(out)[0]))
		if err != nil {
			t.Fatal(err)
		}
		br, err := log.append(one[Publish](t, out).Encoded)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.HandleBatchReceipt(now+800, br); err != nil {
			t.Fatal(err)
		}
	}
	if s := a.Stats(); s.Forgotten != 3 || len(a.delivered) != 2 || j.Len() != 3 {
		t.Fatalf("%+v, %d kept, %d records", s, len(a.delivered), j.Len())
	}
	// Without the receipt the nonce is still known to be executed.
	out, err := a.HandleSubmission(60_000, w.submission(ModeEd25519, 0, 1, 1000, "pay"))
	if err != nil || refusal(t, out) != RuleExecuted {
		t.Fatal(err)
	}
}

func TestAggregatorLean(t *testing.T) {
	w := newPartyNet(t, 4, 0, nil)
	a, p := w.collecting(t, ModeLean, 4, nil)
	log := newModelLog(w)
	absent := uint64(2)
	deliver := func(now int64, pub Publish) []AggregatorAction {
		t.Helper()
		br, err := log.append(pub.Encoded)
		if err != nil {
			t.Fatal(err)
		}
		out, err := a.HandleBatchReceipt(now, br)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	now := int64(600)
	// The first time all but one answer; then it is alone, and its batches are given
	// up, until it is asked for a signature.
	for id, p := range p {
		if id != absent {
			if _, err := a.HandleReduction(now, w.reduce(id, p)); err != nil {
				t.Fatal(err)
			}
		}
	}
	pub, b, _ := finish(t, a, nil, 1600)
	if len(b.Stragglers) != 1 || len(b.StragglerSigs) != 0 {
		t.Fatal("not absent")
	}
	deliver(1700, pub)
	var asked *RequestSignature
	for now = 2000; asked == nil && now < 60_000; now += 100 {
		out, err := a.Tick(now)
		if err != nil {
			t.Fatal(err)
		}
		if len(actions[Publish](out)) > 0 {
			t.Fatal("published a batch that nobody signed")
		}
		if r := actions[RequestSignature](out); len(r) > 0 {
			asked = &r[0]
		}
	}
	if asked == nil || asked.ID != absent || asked.Nonce != 1 {
		t.Fatalf("asked for %v", asked)
	}
	s := w.submission(ModeEd25519, absent, 1, 1000+absent, fmt.Sprintf("payload %d", absent))
	forged := *s
	forged.Signature = bytes.Clone(s.Signature)
	forged.Signature[0] ^= 1
	if got := refusal(t, admit(t, a, now, &forged)); got != RuleSubmissionSignature {
		t.Fatal(got)
	}
	out := admit(t, a, now+10, s)
	if len(actions[SendAck](out)) != 1 {
		t.Fatal("not acknowledged")
	}
	for ; len(actions[Publish](out)) == 0; now += 100 {
		var err error
		if out, err = a.Tick(now); err != nil {
			t.Fatal(err)
		}
		if now > 120_000 {
			t.Fatal("never published")
		}
	}
	if b, err := DecodeBatch(one[Publish](t, out).Encoded, a.params); err != nil || b.Mode != ModeEd25519 || len(b.IDs) != 1 {
		t.Fatalf("%v", err)
	}
	out = deliver(now, one[Publish](t, out))
	if r := one[SendReceipts](t, out).At(0).Result; r.Code != ResultOK || r.ID != absent || a.Stats().Waiting != 0 {
		t.Fatalf("%+v", r)
	}
}

func TestAggregatorPublishesUntilHandedOff(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	a, p := w.collecting(t, ModeEd25519, 1, nil)
	out, err := a.HandleReduction(600, w.reduce(0, p[0]))
	if err != nil {
		t.Fatal(err)
	}
	first := one[Publish](t, out)
	for now := int64(1600); now < 5000; now += 1000 {
		if d, ok := a.Deadline(); !ok || d != now {
			t.Fatalf("deadline %d, want %d", d, now)
		}
		if out, err = a.Tick(now); err != nil {
			t.Fatal(err)
		}
		if again := one[Publish](t, out); !bytes.Equal(again.Encoded, first.Encoded) || again.Digest != first.Digest {
			t.Fatal("not the same bytes")
		}
	}
	if err := a.HandedOff(5000, 2); err != nil {
		t.Fatal(err)
	}
	if err := a.HandedOff(5000, 1); err != nil {
		t.Fatal(err)
	}
	if d, ok := a.Deadline(); ok {
		t.Fatalf("deadline %d", d)
	}
	// It may be in the log, so it isn't given up when its last height is past, but
	// after the time that a receipt may take.
	if _, err := a.HandleHead(6000, w.head(164+64)); err != nil || a.Stats().Rounds != 1 {
		t.Fatal("given up")
	}
	if _, err := a.HandleHead(6000, w.head(164+65)); err != nil || a.Stats().Lost != 1 || a.Stats().Waiting != 1 {
		t.Fatal("not given up")
	}
}

func TestAggregatorWaits(t *testing.T) {
	var l AggregatorLimits
	p := DefaultParams()
	l.fill(&p)
	w := waits{wait: l.FirstWait}
	for range 19 {
		w.note(10)
	}
	w.update(&l)
	if w.wait != l.FirstWait {
		t.Fatal("concluded from too few")
	}
	rounds := func(n int, times ...int64) {
		for range n {
			for i := range 100 {
				w.note(times[i*len(times)/100])
			}
			w.update(&l)
		}
	}
	rounds(8, 30, 30, 40, 50)
	if w.wait != l.MinWait {
		t.Fatalf("wait %d for fast clients", w.wait)
	}
	rounds(8, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200)
	if w.wait < 1500 || w.wait > 2000 {
		t.Fatalf("wait %d for 95%% within 1.2 s", w.wait)
	}
	rounds(8, 30, 30, 30, 9000)
	if w.wait != l.MaxWait {
		t.Fatalf("wait %d for slow clients", w.wait)
	}
	rounds(8, -5, 1<<60)
	if w.wait != l.MaxWait {
		t.Fatalf("wait %d for impossible ones", w.wait)
	}
}

func TestAggregatorQuarantineGrows(t *testing.T) {
	var l AggregatorLimits
	p := DefaultParams()
	l.fill(&p)
	c := &clientState{}
	now := int64(0)
	want := l.Quarantine
	for range 100 {
		c.quarantine(now, &l)
		if got := c.until - now; got != want {
			t.Fatalf("quarantine of %d, want %d", got, want)
		}
		if !c.slow(c.until-1) || c.slow(c.until) {
			t.Fatal("not that long")
		}
		now = c.until
		want = min(2*want, l.MaxQuarantine)
	}
	for range 100 {
		c.reduced()
	}
	c.quarantine(now, &l)
	if c.until-now != l.Quarantine {
		t.Fatal("not forgiven")
	}
	c = &clientState{}
	c.missed(0, &l)
	if c.slow(0) {
		t.Fatal("in quarantine for missing once")
	}
	c.reduced()
	c.missed(0, &l)
	if c.slow(0) {
		t.Fatal("in quarantine for missing now and then")
	}
	c.missed(0, &l)
	if !c.slow(0) {
		t.Fatal("not in quarantine for missing twice in a row")
	}
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

// TestAggregatorStrict has a client send its messages in the wrong order, where gaps aren't
// allowed. They are executed in the right one, one in a batch at a time.
func TestAggregatorStrict(t *testing.T) {
	w := newPartyNet(t, 2, 0, func(p *Params) { p.Strict = true })
	a := w.open(firstAgg, new(MemoryJournal), nil)
	log := newModelLog(w)
	var order []uint64
	submit := func(now int64, nonce uint64) {
		t.Helper()
		if got := refusal(t, admit(t, a, now, w.submission(ModeEd25519, 0, nonce, 1000, "pay"))); got != 0 {
			t.Fatal(got)
		}
	}
	submit(0, 3)
	submit(10, 2)
	var receipt *BatchReceipt // on its way
	var due int64
	for now := int64(600); now < 20_000; now += 100 {
		if now == 5000 {
			submit(now, 1)
		}
		if receipt != nil && now >= due {
			if _, err := a.HandleBatchReceipt(now, receipt); err != nil {
				t.Fatal(err)
			}
			receipt = nil
		}
		out, err := a.Tick(now)
		if err != nil {
			t.Fatal(err)
		}
		if a.Stats().Rounds > 1 {
			t.Fatal("two batches with messages of one client")
		}
		for id, p := range proposals(out) {
			more, err := a.HandleReduction(now, w.reduce(id, p))
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, more...)
		}
		for _, pub := range actions[Publish](out) {
			br, err := log.append(pub.Encoded)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.HandedOff(now, pub.Seq); err != nil {
				t.Fatal(err)
			}
			if br.Results[0].Code == ResultOK {
				order = append(order, br.Results[0].Nonce)
			}
			receipt, due = br, now+1500
		}
	}
	if !slices.Equal(order, []uint64{1, 2, 3}) || a.Stats().Waiting != 0 {
		t.Fatalf("executed %v, %d wait", order, a.Stats().Waiting)
	}
}

// TestAggregatorQuarantineAmongOthers has many clients in quarantine and one that isn't:
// they don't have to wait for more of the other kind, and there is room for it to be late.
func TestAggregatorQuarantineAmongOthers(t *testing.T) {
	const n = 40
	w := newPartyNet(t, n, 0, func(p *Params) { p.MinStragglers = 20 })
	a := w.open(firstAgg, new(MemoryJournal), nil)
	for id := range uint64(n - 1) {
		a.client(id).until = 1 << 40
	}
	admit(t, a, 0, w.messages(ModeEd25519, n)...)
	out, err := a.Tick(505)
	if err != nil {
		t.Fatal(err)
	}
	p := proposals(out)
	if len(p) != 1 || p[n-1] == nil || p[n-1].Prop.N != 11 {
		t.Fatalf("%d proposals", len(p))
	}
	if out, err = a.Tick(1505); err != nil { // and it is late
		t.Fatal(err)
	}
	log := newModelLog(w)
	for i, pub := range actions[Publish](out) {
		b, err := DecodeBatch(pub.Encoded, a.params)
		if err != nil {
			t.Fatal(err)
		}
		// The second one is of those in quarantine alone.
		if want := []int{11, 20}[i]; len(b.IDs) != want || len(b.Stragglers) != want || b.Aggregate != nil {
			t.Fatalf("batch %d: %d leaves, %d stragglers", i, len(b.IDs), len(b.Stragglers))
		}
		if _, err := log.append(pub.Encoded); err != nil {
			t.Fatal(err)
		}
	}
	if len(log.entries) != 2 {
		t.Fatalf("%d batches", len(log.entries))
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

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
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
	// It waits for as long as it may before it gives the batch up.
	for now := int64(1505); now < 5500; now += 500 {
		if out, err := a.Tick(now); err != nil || len(out) > 0 || a.Stats().Rounds != 1 {
			t.Fatalf("at %d: %v, %v", now, out, err)
		}
	}
	out, err := a.Tick(5510)
	if err != nil || len(actions[Publish](out)) > 0 {
		t.Fatal("published")
	}
	if s := a.Stats(); s.Abandoned != 1 || s.Waiting != 12 || s.Rounds != 0 || s.Slow != 8 {
		t.Fatalf("%+v", s)
	}
	executed := 0
	for now := int64(7000); executed < 12; now += 1000 {
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
	if r := actions[RequestSignature](a.Remind([]uint64{0, absent})); len(r) != 1 || r[0] != *asked {
		t.Fatalf("reminded of %v", r)
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

// TestAggregatorLeanAsksAgain loses the request for a signature, and has the signature come
// while the message is in a batch again.
func TestAggregatorLeanAsksAgain(t *testing.T) {
	w := newPartyNet(t, 2, 0, nil)
	a := w.open(firstAgg, new(MemoryJournal), func(c *AggregatorConfig) { c.Mode = ModeLean })
	admit(t, a, 0, w.submission(ModeLean, 1, 1, 1000, "pay"))
	asked, proposed := 0, 0
	var sent bool
	for now := int64(500); now < 200_000; now += 100 {
		out, err := a.Tick(now)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range actions[RequestSignature](out) {
			if r != (RequestSignature{1, 1}) {
				t.Fatalf("%+v", r)
			}
			if asked++; sent {
				t.Fatal("asked for what is there")
			}
		}
		if proposed += len(proposals(out)); asked == 2 && !sent && a.Stats().Rounds > 0 {
			sent = true
			if out := admit(t, a, now, w.submission(ModeEd25519, 1, 1, 1000, "pay")); len(actions[SendAck](out)) != 1 {
				t.Fatalf("%+v", out)
			}
		}
		if p := actions[Publish](out); len(p) > 0 {
			if b, err := DecodeBatch(p[0].Encoded, a.params); err != nil || b.Mode != ModeEd25519 {
				t.Fatalf("error %v", err)
			}
			if !sent || proposed < 3 {
				t.Fatalf("after %d proposals", proposed)
			}
			return
		}
	}
	t.Fatalf("asked %d times, and never published", asked)
}

// TestAggregatorLookup compares look-ups with a search of all that is kept.
func TestAggregatorLookup(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	a := w.open(firstAgg, new(MemoryJournal), func(c *AggregatorConfig) { c.Limits.ReceiptBytes = 20_000 })
	rng := newRand(1)
	settled := make(map[nonceKey]bool)
	for seq := range uint64(300) {
		d := &delivered{seq: seq}
		var leaves [][32]byte
		for id := range uint64(6) {
			r := Result{Code: ResultAbsent, ID: 3 * id, Nonce: seq/8 + rng.Uint64N(3)}
			if key := (nonceKey{r.ID, r.Nonce}); rng.IntN(3) == 0 || settled[key] {
				r.Code = ResultOK
				settled[key] = true
			}
			if rng.IntN(3) > 0 {
				d.results, leaves = append(d.results, r), append(leaves, r.Hash())
			}
		}
		if len(leaves) == 0 {
			continue
		}
		d.tree = NewTree(leaves)
		a.keep(d)
		for id := range uint64(18) {
			for nonce := range seq/8 + 4 {
				var want *delivered
				final := false
				for _, d := range a.delivered {
					if at, ok := d.find(id); ok && d.results[at].Nonce == nonce && (d.results[at].Code.Final() || !final) {
						want, final = d, d.results[at].Code.Final()
					}
				}
				got, ok := a.Lookup(id, nonce)
				if got.delivered != want || ok != (want != nil) {
					t.Fatalf("seq %d: %d, %d: %v, want %v", seq, id, nonce, got.delivered, want)
				}
				if ok && (got.At(0).Result.ID != id || got.At(0).Result.Nonce != nonce) {
					t.Fatalf("%d, %d: %+v", id, nonce, got.At(0).Result)
				}
			}
		}
	}
	n := 0
	for _, d := range a.delivered {
		n += len(d.results)
	}
	if a.stats.Forgotten == 0 || len(a.receipts) > n {
		t.Fatalf("%d forgotten, %d in the index of %d results", a.stats.Forgotten, len(a.receipts), n)
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"testing"
)

// A stubborn driver brings messages of clients to their receipts through an aggregator
// that crashes once, without ever sending again what was acknowledged.
type stubborn struct {
	t         *testing.T
	w         *partyNet
	mode      Mode
	journal   *faultyJournal
	a         *Aggregator
	log       *modelLog
	now       int64
	acked     map[uint64]bool
	settled   map[uint64]ResultCode
	proposed  map[uint64]Prop
	published map[uint64][]byte
	absent    uint64 // doesn't reduce the first batch
	crashed   bool
}

func (s *stubborn) open() {
	s.t.Helper()
	s.a = s.w.open(firstAgg, s.journal, func(c *AggregatorConfig) { c.Mode = s.mode; c.Limits.Burst = 2 })
	s.do(func() ([]AggregatorAction, error) { return s.a.Tick(s.now) })
}

func (s *stubborn) do(do func() ([]AggregatorAction, error)) {
	s.t.Helper()
	out, err := do()
	if errors.Is(err, errCrash) {
		if s.crashed || len(out) > 0 {
			s.t.Fatal("crashed twice, or goes on after a crash")
		}
		s.crashed = true
		s.absent-- // so that a batch that is made again is another one
		if _, err := s.a.Tick(s.now); !errors.Is(err, errCrash) {
			s.t.Fatal("goes on after a crash")
		}
		s.open()
		return
	}
	if err != nil && RuleOf(err) == 0 {
		s.t.Fatal(err)
	}
	for _, action := range out {
		switch action := action.(type) {
		case SendAck:
			s.acked[action.ID] = true
		case SendRefusal:
			s.t.Fatalf("%+v", action)
		case RequestSignature:
			sub := s.w.submission(ModeEd25519, action.ID, action.Nonce, 1000+action.ID, "payload")
			s.do(func() ([]AggregatorAction, error) { return s.a.HandleSubmission(s.now, sub) })
		case SendProposals:
			for i := range action.Len() {
				id, p := action.At(i)
				if other, ok := s.proposed[p.Prop.Seq]; ok && other != p.Prop {
					s.t.Fatal("two proposals of one number")
				}
				s.proposed[p.Prop.Seq] = p.Prop
				if id != s.absent || p.Prop.Seq != 1 {
					r := s.w.reduce(id, &p)
					s.do(func() ([]AggregatorAction, error) { return s.a.HandleReduction(s.now, r) })
				}
			}
		case Publish:
			if other, ok := s.published[action.Seq]; ok && !bytes.Equal(other, action.Encoded) {
				s.t.Fatal("two batches of one number")
			}
			s.published[action.Seq] = action.Encoded
			br, err := s.log.append(action.Encoded)
			if err != nil {
				s.t.Fatal(err)
			}
			s.do(func() ([]AggregatorAction, error) { return nil, s.a.HandedOff(s.now, action.Seq) })
			s.do(func() ([]AggregatorAction, error) { return s.a.HandleBatchReceipt(s.now, br) })
		case SendReceipts:
			for i := range action.Len() {
				r := action.At(i).Result
				s.settled[r.ID] = r.Code
			}
		case ReportReduction, ReportConflict:
			s.t.Fatalf("%+v", action)
		}
	}
}

// TestAggregatorCrashes stops an aggregator at each write of its journal, before and after
// it. It makes no other proposal and no other batch of a number, and loses nothing that it
// acknowledged.
func TestAggregatorCrashes(t *testing.T) {
	w := newPartyNet(t, 6, 0, nil)
	writes := 0
	for _, mode := range []Mode{ModeEd25519, ModeFolded, ModeLean} {
		for _, after := range []bool{false, true} {
			if mode != ModeEd25519 && !after && os.Getenv("UNDERSIGN_LONG") == "" {
				continue
			}
			for crash := 1; ; crash++ {
				s := &stubborn{
					t: t, w: w, mode: mode, journal: &faultyJournal{new(MemoryJournal), crash, after}, log: newModelLog(w),
					acked: make(map[uint64]bool), settled: make(map[uint64]ResultCode),
					proposed: make(map[uint64]Prop), published: make(map[uint64][]byte), absent: 2,
				}
				s.open()
				for round := 0; ; round++ {
					for id := range uint64(6) {
						if !s.acked[id] && (id < 3 || round > 3) {
							sub := w.submission(mode, id, 1, 1000+id, "payload")
							s.do(func() ([]AggregatorAction, error) { return s.a.HandleSubmission(s.now, sub) })
						}
					}
					s.now += 100
					s.do(func() ([]AggregatorAction, error) { return s.a.Tick(s.now) })
					final := 0
					for _, code := range s.settled {
						if code == ResultOK || code == ResultDup {
							final++
						}
					}
					// The last receipts may be lost in a crash. Then clients ask.
					for id := range uint64(6) {
						if r, ok := s.a.Lookup(id, 1); ok && s.acked[id] {
							s.settled[id] = r.At(0).Result.Code
						}
					}
					if final == 6 {
						break
					}
					if round > 500 {
						t.Fatalf("%v: crash %d, after %v: settled %v of acknowledged %v", mode, crash, after, s.settled, s.acked)
					}
				}
				if n := s.a.Stats(); n.Waiting != 0 || n.Rounds != 0 || n.WaitingSize != 0 {
					t.Fatalf("%+v", n)
				}
				if !s.crashed {
					writes = max(writes, crash-1)
					break
				}
			}
		}
	}
	if writes < 8 {
		t.Fatalf("only %d writes", writes)
	}
}

func TestAggregatorFromBackup(t *testing.T) {
	w := newPartyNet(t, 3, 1, nil)
	j := new(MemoryJournal)
	a := w.open(firstAgg, j, nil)
	admit(t, a, 0, w.messages(ModeEd25519, 3)...)
	out, err := a.Tick(505)
	if err != nil {
		t.Fatal(err)
	}
	first := proposals(out)
	backup := j.Clone() // with the proposal
	if len(first) != 3 {
		t.Fatal("not proposed")
	}

	fromBackup := func(c *AggregatorConfig) { c.FromBackup = true }
	w.open(firstAgg, backup, fromBackup)
	a = w.open(firstAgg, backup, nil) // that it is an old one isn't forgotten
	if !a.Recovering() {
		t.Fatal("forgotten")
	}
	for now := int64(1000); now < 5000; now += 500 {
		out, err := a.Tick(now)
		if err != nil || len(out) > 0 {
			t.Fatalf("%d actions, error %v", len(out), err)
		}
	}
	if got := refusal(t, admit(t, a, 5000, w.submission(ModeEd25519, 0, 2, 1000, "more"))); got != 0 {
		t.Fatal(got)
	}
	hasRule(t, a.Recover(6000, map[uint32]uint64{0: 50}), RuleQuorum)
	hasRule(t, a.Recover(6000, map[uint32]uint64{0: 50, 1: 60, 4: 70}), RuleQuorum) // there is no such validator
	hasRule(t, a.Recover(6000, map[uint32]uint64{0: 50, 1: 1<<64 - 1, 2: 1<<64 - 1}), RuleNonces)
	// A liar can't use up the numbers, nor hide them.
	if err := a.Recover(6000, map[uint32]uint64{0: 60, 1: 1<<64 - 1, 2: 60}); err != nil {
		t.Fatal(err)
	}
	out, err = a.Tick(6000)
	if err != nil {
		t.Fatal(err)
	}
	p := proposals(out)
	if len(p) != 3 || p[0].Prop.Seq < 60+recoveryJump {
		t.Fatalf("proposed %+v", p)
	}
	// The old proposal isn't known any more.
	_, err = a.HandleReduction(6001, w.reduce(0, first[0]))
	hasRule(t, err, RuleNoBatch)
	if a = w.open(firstAgg, backup, nil); a.Recovering() || a.nextSeq != p[0].Prop.Seq+1 {
		t.Fatal("not recovered for good")
	}
}

// TestAggregatorWithoutVersion opens a journal whose proposal is of a version that the
// directory doesn't have any more.
func TestAggregatorWithoutVersion(t *testing.T) {
	w := newPartyNet(t, 2, 0, nil)
	j := new(MemoryJournal)
	a := w.open(firstAgg, j, nil)
	admit(t, a, 0, w.messages(ModeEd25519, 2)...)
	if _, err := a.Tick(505); err != nil {
		t.Fatal(err)
	}
	a = w.open(firstAgg, j, func(c *AggregatorConfig) {
		c.Views = func(uint64) (View, error) { return nil, errors.New("gone") }
	})
	out, err := a.Tick(1000)
	if err != nil || len(out) > 0 || a.Stats().Abandoned != 1 {
		t.Fatalf("%d actions, error %v", len(out), err)
	}
	out, err = a.Tick(1500)
	if err != nil || one[SendProposals](t, out).Seq() != 2 {
		t.Fatal("not proposed anew")
	}
}

func TestAggregatorJournalIsChecked(t *testing.T) {
	w := newPartyNet(t, 3, 0, nil)
	good := new(MemoryJournal)
	a := w.open(firstAgg, good, func(c *AggregatorConfig) { c.Limits.BatchAge = 100 })
	log := newModelLog(w)
	// One batch delivered, one handed off, one proposed, and a message waiting.
	for i := range uint64(3) {
		now := int64(i) * 1000
		for id := range uint64(2) {
			admit(t, a, now, w.submission(ModeEd25519, id, i+1, 1000, "pay"))
		}
		out, err := a.Tick(now + 200)
		if err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			break
		}
		out = append(out, func() (all []AggregatorAction) {
			for id, p := range proposals(out) {
				more, err := a.HandleReduction(now+201, w.reduce(id, p))
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, more...)
			}
			return all
		}()...)
		pub := one[Publish](t, out)
		if err := a.HandedOff(now+202, pub.Seq); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			br, err := log.append(pub.Encoded)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := a.HandleBatchReceipt(now+203, br); err != nil {
				t.Fatal(err)
			}
		}
	}
	admit(t, a, 2300, w.submission(ModeEd25519, 2, 1, 1000, "pay"))
	var records []Record
	for r := range good.Records(nil) {
		records = append(records, r)
	}
	// The first batch's two messages are settled, and the pieces they were in are gone.
	if len(records) != 1+5+2+1+1 {
		t.Fatalf("%d records", len(records))
	}
	opens := func(change func(j *MemoryJournal)) error {
		j := good.Clone()
		change(j)
		_, err := OpenAggregator(AggregatorConfig{
			Network: w.network, ID: firstAgg, Key: w.aggregator[firstAgg], Journal: j,
			Views: func(uint64) (View, error) { return w.view, nil },
		})
		return err
	}
	if err := opens(func(*MemoryJournal) {}); err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		for i := range r.Value {
			if err := opens(func(j *MemoryJournal) { j.Commit([]Record{{r.Key, r.Value[:i]}}) }); err == nil && r.Key[9] != kindHandoff {
				t.Fatalf("record %x cut to %d bytes accepted", r.Key, i)
			}
			if i < 2 && r.Key[9] != kindHandoff {
				if err := opens(func(j *MemoryJournal) {
					v := bytes.Clone(r.Value)
					v[i]++
					j.Commit([]Record{{r.Key, v}})
				}); err == nil {
					t.Fatalf("record %x of another kind accepted", r.Key)
				}
			}
		}
		for _, key := range [][]byte{append(bytes.Clone(r.Key), 1), append(bytes.Clone(r.Key), make([]byte, 8)...), r.Key[:9], append(bytes.Clone(r.Key[:9]), 'x')} {
			if err := opens(func(j *MemoryJournal) { j.Commit([]Record{{key, r.Value}}) }); err == nil {
				t.Fatalf("key %x accepted", key)
			}
		}
		if err := opens(func(j *MemoryJournal) { j.Commit([]Record{{r.Key, append(bytes.Clone(r.Value), 0)}}) }); err == nil {
			t.Fatalf("record %x with a trailing byte accepted", r.Key)
		}
	}
	// Batches whose messages are missing, or others than their roots are of.
	last := a.nextPiece - 1 // client 2's message is in no batch
	for _, r := range records {
		if r.Key[9] != kindPiece {
			continue
		}
		inBatch := binary.BigEndian.Uint64(r.Key[10:]) != last
		if err := opens(func(j *MemoryJournal) { j.Commit([]Record{{Key: r.Key}}) }); (err != nil) != inBatch {
			t.Fatalf("message %x missing: %v", r.Key, err)
		}
	}
	other := newPartyNet(t, 3, 0, func(p *Params) { p.MaxLeaves-- })
	if _, err := OpenAggregator(AggregatorConfig{
		Network: other.network, ID: firstAgg, Key: w.aggregator[firstAgg], Journal: good,
		Views: func(uint64) (View, error) { return w.view, nil },
	}); err == nil {
		t.Fatal("journal of another network accepted")
	}
}

// FuzzJournal opens clients and aggregators with any records.
func FuzzJournal(f *testing.F) {
	w := newPartyNet(f, 1, 0, nil)
	j := new(MemoryJournal)
	c := w.client(0, j, nil)
	if _, _, err := c.Submit(0, []byte("pay"), 0); err != nil {
		f.Fatal(err)
	}
	a := w.open(firstAgg, j, nil)
	admit(f, a, 0, w.submission(ModeEd25519, 0, 1, 1000, "pay"))
	if _, err := a.Tick(600); err != nil {
		f.Fatal(err)
	}
	for r := range j.Records(nil) {
		f.Add(r.Key, r.Value)
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		if value == nil {
			value = []byte{}
		}
		j := j.Clone()
		j.Commit([]Record{{key, value}})
		if c, err := OpenClient(ClientConfig{Network: w.network, Keys: w.keys[0], Journal: j}); err == nil {
			if _, err := c.Tick(0); err != nil {
				t.Fatal(err)
			}
		}
		a, err := OpenAggregator(AggregatorConfig{
			Network: w.network, ID: firstAgg, Key: w.aggregator[firstAgg], Journal: j,
			Views: func(uint64) (View, error) { return w.view, nil },
		})
		if err == nil {
			if _, err := a.Tick(0); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestAggregatorReductionBeforeFirstTick has somebody sign the digest that a batch from the
// journal has before it is taken up.
func TestAggregatorReductionBeforeFirstTick(t *testing.T) {
	w := newPartyNet(t, 3, 0, nil)
	j := new(MemoryJournal)
	a := w.open(firstAgg, j, nil)
	admit(t, a, 0, w.messages(ModeEd25519, 3)...)
	out, err := a.Tick(505)
	if err != nil {
		t.Fatal(err)
	}
	p := proposals(out)
	a = w.open(firstAgg, j, func(c *AggregatorConfig) { c.Limits.Burst = 1 })
	forged := w.reduce(2, p[2])
	forged.Digest = [32]byte{}
	_, err = a.HandleReduction(600, forged)
	hasRule(t, err, RuleNoBatch)
	if _, err := a.Tick(700); err != nil {
		t.Fatal(err)
	}
	for id := range p {
		if _, err := a.HandleReduction(800, w.reduce(id, p[id])); err != nil {
			t.Fatal(err)
		}
	}
	if s := a.Stats(); s.Bad != 0 || s.Published != 1 {
		t.Fatalf("%+v", s)
	}
}

// TestAggregatorInAnotherMode opens an aggregator in another mode than that in which it
// admitted a message, which is for its client to send again.
func TestAggregatorInAnotherMode(t *testing.T) {
	for _, from := range []Mode{ModeEd25519, ModeFolded, ModeLean} {
		for _, to := range []Mode{ModeEd25519, ModeFolded, ModeLean} {
			w := newPartyNet(t, 2, 0, nil)
			j := new(MemoryJournal)
			in := func(m Mode) func(*AggregatorConfig) { return func(c *AggregatorConfig) { c.Mode = m } }
			a := w.open(firstAgg, j, in(from))
			admit(t, a, 0, w.submission(from, 0, 1, 1000, "pay"))
			a = w.open(firstAgg, j, in(to))
			if _, err := a.Tick(0); err != nil {
				t.Fatal(err)
			}
			admit(t, a, 1, w.submission(to, 1, 1, 1000, "pay"))
			out, err := a.Tick(600)
			if err != nil {
				t.Fatal(err)
			}
			p := proposals(out)
			// An Ed25519 signature does no harm in a lean batch.
			fits := from == to || from == ModeEd25519 && to == ModeLean
			if fits != (p[0] != nil) || p[1] == nil {
				t.Fatalf("%v in %v: %d proposals", from, to, len(p))
			}
			if !fits {
				if r := one[SendRefusal](t, out).Refusal; r.ID != 0 || r.Rule != RuleSubmissionSignature {
					t.Fatalf("%v in %v: %+v", from, to, r)
				}
			}
			// Of two, one doesn't sign.
			if _, err := a.HandleReduction(700, w.reduce(1, p[1])); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Tick(5000); err != nil || a.Stats().Published != 1 || a.Stats().Unsealed != 0 {
				t.Fatalf("%v in %v: %+v, error %v", from, to, a.Stats(), err)
			}
		}
	}
}

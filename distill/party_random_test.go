// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// A chaos is clients, aggregators and a log, with messages that are lost, repeated and
// overtake each other, and parties that crash at any write of their journals, or are
// restored from backups. All of it follows from the seed.
type chaos struct {
	t   *testing.T
	w   *partyNet
	rng *rand.Rand
	log *modelLog
	now int64

	events []chaosEvent
	calm   bool // no more faults

	aggs    []*chaosAggregator
	clients []*chaosClient

	proposed  map[[2]uint64]Prop     // by aggregator and number
	published map[[2]uint64][32]byte // digests
	villain   uint64                 // a client without a Client
	villainy  []*Reduction           // what it has sent
	mode      Mode
	crashes   int
	restores  int
}

type chaosEvent struct {
	at  int64
	run func()
}

type chaosAggregator struct {
	id      uint64
	a       *Aggregator
	journal *faultyJournal
	backup  *MemoryJournal
}

type chaosClient struct {
	id      uint64
	c       *Client
	journal *faultyJournal
	backup  *MemoryJournal
	asleep  bool                // signs no batches
	todo    []string            // payloads to be submitted
	pending map[uint64]string   // by nonce
	handled map[uint64]bool     // settled, and acted upon by the application
	signed  map[uint64][32]byte // payloads by nonce
}

func newChaos(t *testing.T, w *partyNet, mode Mode, seed int) *chaos {
	s := &chaos{
		t: t, w: w, rng: newRand(seed), log: newModelLog(w), mode: mode,
		proposed: make(map[[2]uint64]Prop), published: make(map[[2]uint64][32]byte),
	}
	for _, id := range []uint64{firstAgg, secondAgg} {
		x := &chaosAggregator{id: id, journal: &faultyJournal{MemoryJournal: new(MemoryJournal)}}
		s.aggs = append(s.aggs, x)
		s.openAggregator(x, false)
	}
	s.villain = uint64(len(w.keys) - 1)
	for id := range w.keys[:s.villain] {
		x := &chaosClient{
			id: uint64(id), journal: &faultyJournal{MemoryJournal: new(MemoryJournal)},
			pending: make(map[uint64]string), handled: make(map[uint64]bool), signed: make(map[uint64][32]byte),
		}
		for i := range 6 {
			x.todo = append(x.todo, fmt.Sprintf("%d of %d", i, id))
		}
		s.clients = append(s.clients, x)
		s.openClient(x, false)
	}
	return s
}

// random is where numbers come from that must not be guessed.
func (s *chaos) random(b []byte) {
	for i := range b {
		b[i] = byte(s.rng.Uint32())
	}
}

// later runs something after a delay, or never, or twice.
func (s *chaos) later(run func()) {
	times := 1
	if !s.calm {
		switch s.rng.IntN(12) {
		case 0:
			return
		case 1:
			times = 2
		}
	}
	for range times {
		delay := int64(s.rng.IntN(60))
		if !s.calm && s.rng.IntN(20) == 0 {
			delay = int64(s.rng.IntN(4000))
		}
		s.events = append(s.events, chaosEvent{s.now + delay, run})
	}
}

// arm makes a journal fail soon.
func (s *chaos) arm(j *faultyJournal) {
	j.left, j.after = 1+s.rng.IntN(4), s.rng.IntN(2) == 0
}

// fell reports whether a party's journal has failed.
func (s *chaos) fell(err error) bool {
	if errors.Is(err, errCrash) {
		s.crashes++
		return true
	}
	return false
}

func (s *chaos) openAggregator(x *chaosAggregator, fromBackup bool) {
	s.t.Helper()
	a, err := OpenAggregator(AggregatorConfig{
		Network: s.w.network, ID: x.id, Key: s.w.aggregator[x.id], Journal: x.journal, Mode: s.mode,
		Views:      func(version uint64) (View, error) { return s.w.views[version], nil },
		FromBackup: fromBackup, Random: s.random,
		Limits: AggregatorLimits{Burst: 3, Quarantine: 2000, MaxQuarantine: 4000},
	})
	if s.fell(err) {
		s.openAggregator(x, fromBackup)
		return
	}
	if err != nil {
		s.t.Fatal(err)
	}
	x.a = a
	a.SetView(s.w.view)
	s.aggregatorDo(x, func() ([]AggregatorAction, error) { return x.a.HandleHead(s.now, s.w.head(s.log.height)) })
}

func (s *chaos) openClient(x *chaosClient, fromBackup bool) {
	s.t.Helper()
	c, err := OpenClient(ClientConfig{
		Network: s.w.network, ID: x.id, Keys: s.w.keys[x.id], Journal: x.journal, Mode: s.mode,
		First: int(x.id), FromBackup: fromBackup, Random: s.random,
	})
	if s.fell(err) {
		s.openClient(x, fromBackup)
		return
	}
	if err != nil {
		s.t.Fatal(err)
	}
	x.c = c
	// The application finds out what the client has in its journal. It has one of its
	// own, by which it knows what it has acted upon, even if the client is a backup.
	x.pending = make(map[uint64]string)
	for _, f := range c.flights {
		if !x.handled[f.nonce] {
			x.pending[f.nonce] = string(f.payload)
		}
	}
	s.clientDo(x, func() ([]ClientAction, error) { return x.c.HandleHead(s.now, s.w.head(s.log.height)) })
}

// aggregatorDo hands something to an aggregator and carries out what it wants.
func (s *chaos) aggregatorDo(x *chaosAggregator, do func() ([]AggregatorAction, error)) {
	s.t.Helper()
	out, err := do()
	if s.fell(err) {
		if len(out) > 0 {
			s.t.Fatal("an aggregator wants something done after its journal failed")
		}
		s.openAggregator(x, false)
		return
	}
	if err != nil && RuleOf(err) == 0 {
		s.t.Fatal(err)
	}
	for _, action := range out {
		switch action := action.(type) {
		case SendAck:
			s.toClient(action.ID, func(c *Client) ([]ClientAction, error) {
				return nil, c.HandleAck(s.now, x.id, action.Nonce)
			})
		case SendRefusal:
			s.toClient(action.Refusal.ID, func(c *Client) ([]ClientAction, error) {
				return nil, c.HandleRefusal(s.now, x.id, &action.Refusal)
			})
		case RequestSignature:
			s.toClient(action.ID, func(c *Client) ([]ClientAction, error) {
				return c.HandleSignatureRequest(s.now, x.id, action.Nonce)
			})
		case SendProposals:
			for i := range action.Len() {
				id, p := action.At(i)
				number := [2]uint64{x.id, p.Prop.Seq}
				if other, ok := s.proposed[number]; ok && other != p.Prop {
					s.t.Fatalf("aggregator %d made two proposals %d", x.id, p.Prop.Seq)
				}
				s.proposed[number] = p.Prop
				if id == s.villain {
					s.reduceBadly(x, &p)
					continue
				}
				if s.clients[id].asleep {
					continue
				}
				s.toClient(id, func(c *Client) ([]ClientAction, error) { return c.HandleProposal(s.now, x.id, &p) })
			}
		case Publish:
			number := [2]uint64{x.id, action.Seq}
			if other, ok := s.published[number]; ok && other != action.Digest {
				s.t.Fatalf("aggregator %d published two batches %d", x.id, action.Seq)
			}
			s.published[number] = action.Digest
			s.later(func() { s.order(x, action) })
		case SendReceipts:
			for i := range action.Len() {
				r := action.At(i)
				if r.Result.ID == s.villain {
					continue
				}
				s.toClient(r.Result.ID, func(c *Client) ([]ClientAction, error) { return c.HandleReceipt(s.now, &r) })
			}
		case ReportConflict:
			if action.First.ID != s.villain || action.Second.ID != s.villain {
				s.t.Fatalf("an honest client is reported: %+v", action)
			}
		case ReportReduction:
			if action.ID != s.villain {
				s.t.Fatalf("an honest client is reported: %+v", action)
			}
		}
	}
}

// order puts a batch into the log and lets its aggregator know.
func (s *chaos) order(x *chaosAggregator, p Publish) {
	s.t.Helper()
	br, err := s.log.append(p.Encoded)
	if err != nil && RuleOf(err) != RuleExpired {
		s.t.Fatal(err)
	}
	if err != nil {
		return
	}
	s.later(func() {
		s.aggregatorDo(x, func() ([]AggregatorAction, error) { return nil, x.a.HandedOff(s.now, p.Seq) })
	})
	s.later(func() {
		s.aggregatorDo(x, func() ([]AggregatorAction, error) { return x.a.HandleBatchReceipt(s.now, br) })
	})
}

// reduceBadly answers a proposal for the villain: with nothing, something wrong, or as it
// should.
func (s *chaos) reduceBadly(x *chaosAggregator, p *Proposal) {
	r := s.w.reduce(s.villain, p)
	switch s.rng.IntN(6) {
	case 0:
		return
	case 1:
		r = s.w.reduceBy(s.w.keys[0].BLS, s.villain, p) // another's key
	case 2:
		r.Signature[100] ^= 1
	case 3:
		r.ID += uint64(s.rng.IntN(3)) // the caller lets nobody speak for others
	case 4:
		if len(s.villainy) > 0 { // an old one
			old := *s.villainy[s.rng.IntN(len(s.villainy))]
			old.Seq, old.Digest = r.Seq, r.Digest
			r = &old
		}
	}
	s.villainy = append(s.villainy, r)
	s.later(func() {
		s.aggregatorDo(x, func() ([]AggregatorAction, error) { return x.a.HandleReduction(s.now, r) })
	})
}

// submitBadly submits something as the villain, often under a nonce that was used.
func (s *chaos) submitBadly() {
	x := s.aggs[s.rng.IntN(len(s.aggs))]
	mode := s.mode
	if s.rng.IntN(8) == 0 {
		mode = Mode(s.rng.IntN(3))
	}
	nonce, notAfter := uint64(1+s.rng.IntN(90)), s.log.height+uint64(s.rng.IntN(70))
	sub := s.w.submission(mode, s.villain, nonce, notAfter, fmt.Sprint(s.rng.IntN(3)))
	if len(sub.Signature) > 0 && s.rng.IntN(8) == 0 {
		sub.Signature[s.rng.IntN(len(sub.Signature))] ^= 1
	}
	s.later(func() {
		s.aggregatorDo(x, func() ([]AggregatorAction, error) { return x.a.HandleSubmission(s.now, sub) })
	})
}

// rotate gives new keys to a client. Aggregators hear of it some time later.
func (s *chaos) rotate(x *chaosClient) {
	view := s.w.renewed([]uint64{x.id}, nil)
	for _, a := range s.aggs {
		s.events = append(s.events, chaosEvent{s.now + int64(s.rng.IntN(2000)), func() {
			if a.a.view.Version() < view.version {
				a.a.SetView(view)
			}
		}})
	}
	s.clientDo(x, func() ([]ClientAction, error) { return x.c.SetKeys(s.now, s.w.keys[x.id]) })
}

func (s *chaos) toClient(id uint64, do func(*Client) ([]ClientAction, error)) {
	s.t.Helper()
	if id >= s.villain {
		return
	}
	x := s.clients[id]
	s.later(func() { s.clientDo(x, func() ([]ClientAction, error) { return do(x.c) }) })
}

// clientDo hands something to a client and carries out what it wants.
func (s *chaos) clientDo(x *chaosClient, do func() ([]ClientAction, error)) {
	s.t.Helper()
	out, err := do()
	if s.fell(err) {
		if len(out) > 0 {
			s.t.Fatal("a client wants something done after its journal failed")
		}
		s.openClient(x, false)
		return
	}
	if err != nil && RuleOf(err) == 0 {
		s.t.Fatal(err)
	}
	for _, action := range out {
		switch action := action.(type) {
		case SendSubmission:
			sub := action.Submission
			hash := PayloadHash(sub.Payload)
			if other, ok := x.signed[sub.Nonce]; ok && other != hash {
				s.t.Fatalf("client %d signed two payloads with nonce %d", x.id, sub.Nonce)
			}
			x.signed[sub.Nonce] = hash
			to := s.aggs[slices.IndexFunc(s.aggs, func(a *chaosAggregator) bool { return a.id == action.AggID })]
			s.later(func() {
				s.aggregatorDo(to, func() ([]AggregatorAction, error) { return to.a.HandleSubmission(s.now, &sub) })
			})
		case SendReduction:
			to := s.aggs[slices.IndexFunc(s.aggs, func(a *chaosAggregator) bool { return a.id == action.AggID })]
			s.later(func() {
				s.aggregatorDo(to, func() ([]AggregatorAction, error) { return to.a.HandleReduction(s.now, &action.Reduction) })
			})
		case SendLookup:
			s.later(func() {
				look := s.w.look(0, s.log.look(&action.Lookup))
				s.toClient(x.id, func(c *Client) ([]ClientAction, error) { return c.HandleLook(s.now, look) })
			})
		case Settled:
			s.settled(x, action)
		case ReportEquivocation:
			s.t.Fatalf("an honest aggregator is reported: %+v", action)
		}
	}
}

// settled is the application: what wasn't executed is submitted anew.
func (s *chaos) settled(x *chaosClient, o Settled) {
	s.t.Helper()
	payload, ok := x.pending[o.Nonce]
	switch {
	case x.handled[o.Nonce]:
		s.clientDo(x, func() ([]ClientAction, error) { return nil, x.c.Release(o.Nonce) })
		return
	case !ok:
		s.t.Fatalf("client %d: nonce %d settled, but not submitted", x.id, o.Nonce)
	}
	e, executed := s.log.done[x.id][o.Nonce]
	switch o.Outcome.Kind {
	case OutcomeExecuted:
		if !executed || e.hash != PayloadHash([]byte(payload)) || o.Outcome.Height != e.height || o.Outcome.Code != e.code {
			s.t.Fatalf("client %d: nonce %d said to be executed: %+v", x.id, o.Nonce, o.Outcome)
		}
	case OutcomeNotExecuted, OutcomeExpired:
		if executed && e.hash == PayloadHash([]byte(payload)) {
			s.t.Fatalf("client %d: nonce %d said not to be executed: %+v", x.id, o.Nonce, o.Outcome)
		}
		x.todo = append(x.todo, payload)
	default:
		s.t.Fatalf("outcome %+v", o.Outcome)
	}
	delete(x.pending, o.Nonce)
	x.handled[o.Nonce] = true
	s.clientDo(x, func() ([]ClientAction, error) { return nil, x.c.Release(o.Nonce) })
}

// submit has a client submit something new.
func (s *chaos) submit(x *chaosClient) {
	if len(x.todo) == 0 {
		return
	}
	payload := x.todo[0]
	var nonce uint64
	before := x.c
	s.clientDo(x, func() (out []ClientAction, err error) {
		nonce, out, err = x.c.Submit(s.now, []byte(payload), 12+uint64(s.rng.IntN(20)))
		return out, err
	})
	switch {
	case x.c != before:
		// It crashed. Whether it has the payload is known from its journal.
		if slices.Contains(slices.Collect(mapValues(x.pending)), payload) {
			x.todo = x.todo[1:]
		}
	case nonce != 0:
		x.todo = x.todo[1:]
		x.pending[nonce] = payload
	}
}

func mapValues[K comparable, V any](m map[K]V) func(yield func(V) bool) {
	return func(yield func(V) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// step lets 100 milliseconds pass.
func (s *chaos) step() {
	s.t.Helper()
	s.now += 100
	if s.now%500 == 0 {
		s.log.height++
		for _, x := range s.aggs {
			s.later(func() {
				s.aggregatorDo(x, func() ([]AggregatorAction, error) { return x.a.HandleHead(s.now, s.w.head(s.log.height)) })
			})
		}
		for _, x := range s.clients {
			s.toClient(x.id, func(c *Client) ([]ClientAction, error) { return c.HandleHead(s.now, s.w.head(s.log.height)) })
		}
	}
	if !s.calm {
		s.fault()
	}
	for {
		// The event that is due first.
		next := -1
		for i, e := range s.events {
			if e.at <= s.now && (next < 0 || e.at < s.events[next].at) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		e := s.events[next]
		s.events = slices.Delete(s.events, next, next+1)
		e.run()
	}
	if !s.calm && s.rng.IntN(5) == 0 {
		s.submitBadly()
	}
	for _, x := range s.aggs {
		if at, ok := x.a.Deadline(); ok && at <= s.now {
			s.aggregatorDo(x, func() ([]AggregatorAction, error) { return x.a.Tick(s.now) })
		}
	}
	for _, x := range s.clients {
		if at, ok := x.c.Deadline(); ok && at <= s.now {
			s.clientDo(x, func() ([]ClientAction, error) { return x.c.Tick(s.now) })
		}
		if s.rng.IntN(10) == 0 || s.calm {
			s.submit(x)
		}
	}
}

// fault makes something go wrong, now and then.
func (s *chaos) fault() {
	x := s.aggs[s.rng.IntN(len(s.aggs))]
	c := s.clients[s.rng.IntN(len(s.clients))]
	switch s.rng.IntN(120) {
	case 0, 1, 2, 3:
		s.arm(x.journal)
	case 4, 5, 6, 7:
		s.arm(c.journal)
	case 8, 9:
		c.asleep = !c.asleep
	case 10:
		x.backup = x.journal.Clone()
	case 11:
		if x.backup != nil {
			s.restores++
			x.journal = &faultyJournal{MemoryJournal: x.backup.Clone()}
			s.openAggregator(x, true)
		}
	case 12:
		c.backup = c.journal.Clone()
	case 13:
		if c.backup != nil {
			s.restores++
			c.journal = &faultyJournal{MemoryJournal: c.backup.Clone()}
			s.openClient(c, true)
			// The application has a journal of its own, which is newer. What the
			// client doesn't know any more is lost for good, and isn't submitted
			// anew, for it may be executed.
		}
	case 19:
		s.rotate(c)
	case 14, 15, 16, 17, 18:
		if x.a.Recovering() {
			last := uint64(0)
			for number := range s.log.taken {
				if number[0] == x.id {
					last = max(last, number[1])
				}
			}
			s.aggregatorDo(x, func() ([]AggregatorAction, error) { return nil, x.a.Recover(s.now, map[uint32]uint64{0: last}) })
		}
	}
}

// settle ends all faults, and waits until everything is settled.
func (s *chaos) settle() {
	s.t.Helper()
	s.calm = true
	for _, x := range s.aggs {
		x.journal.left = 0
		x.a.SetView(s.w.view)
	}
	for _, x := range s.clients {
		x.journal.left = 0
		x.asleep = false
	}
	for range 1500 {
		for _, x := range s.aggs {
			if x.a.Recovering() {
				last := uint64(0)
				for number := range s.log.taken {
					if number[0] == x.id {
						last = max(last, number[1])
					}
				}
				s.aggregatorDo(x, func() ([]AggregatorAction, error) { return nil, x.a.Recover(s.now, map[uint32]uint64{0: last}) })
			}
		}
		s.step()
		busy := 0
		for _, x := range s.clients {
			busy += len(x.todo) + len(x.pending)
		}
		if busy == 0 {
			return
		}
	}
	for _, x := range s.clients {
		if len(x.todo)+len(x.pending) > 0 {
			s.t.Errorf("client %d has %d to do and %v pending", x.id, len(x.todo), x.pending)
		}
	}
	s.t.Fatal("not everything is settled")
}

// check verifies that nothing was executed twice, and everything that should be once.
func (s *chaos) check() {
	s.t.Helper()
	for _, x := range s.clients {
		times := make(map[[32]byte]int)
		for nonce, e := range s.log.done[x.id] {
			if x.signed[nonce] != e.hash {
				s.t.Fatalf("client %d: executed under nonce %d what wasn't signed", x.id, nonce)
			}
			times[e.hash]++
		}
		for hash, n := range times {
			if n > 1 {
				s.t.Fatalf("client %d: %x executed %d times", x.id, hash[:4], n)
			}
		}
		if s.restores == 0 {
			for i := range 6 {
				if times[PayloadHash(fmt.Appendf(nil, "%d of %d", i, x.id))] != 1 {
					s.t.Fatalf("client %d: payload %d wasn't executed", x.id, i)
				}
			}
		}
	}
}

// TestPartiesAtRandom runs clients and aggregators through faults of all kinds.
func TestPartiesAtRandom(t *testing.T) {
	seeds := 6
	if os.Getenv("UNDERSIGN_LONG") != "" {
		seeds = 900
	}
	heads := make(map[uint64]*SignedHead)
	crashes, restores, executed := 0, 0, 0
	for seed := range seeds {
		ok := t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			w := newPartyNet(t, 5, 0, func(p *Params) {
				p.ValidFor, p.MaxAhead, p.MinStragglers, p.StragglerPercent = 6, 60, 1, 50
			})
			w.heads = heads // of the same validators
			s := newChaos(t, w, Mode(seed%3), seed)
			for range 250 {
				s.step()
			}
			s.settle()
			s.check()
			crashes += s.crashes
			restores += s.restores
			for _, done := range s.log.done {
				executed += len(done)
			}
		})
		if !ok {
			return
		}
	}
	t.Logf("%d crashes, %d restored from backups, %d executed", crashes, restores, executed)
	if crashes < seeds || restores == 0 || executed < 10*seeds {
		t.Errorf("%d crashes, %d restored from backups, %d executed: nothing was tested", crashes, restores, executed)
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"
)

// A logModel is the slow, obvious validator: it remembers everything, and forgets by
// looking at heights.
type logModel struct {
	p        Params
	net      NetworkID
	head     LogHead
	executed map[nonceKey]Execution
	last     map[uint64]uint64   // largest nonce executed
	changes  map[uint64][]uint64 // versions that changed an id's keys
	ids      uint64
	taken    map[uint64]map[uint64]bool // numbers by aggregator
	until    map[uint64]uint64
	strikes  map[uint64]int
}

func newLogModel(g *Genesis) *logModel {
	return &logModel{
		p: g.Params, net: g.ID(), executed: make(map[nonceKey]Execution), last: make(map[uint64]uint64),
		changes: make(map[uint64][]uint64), taken: make(map[uint64]map[uint64]bool),
		until: make(map[uint64]uint64), strikes: make(map[uint64]int),
	}
}

// position is rule 1.
func (m *logModel) position(b *Batch) Rule {
	largest := uint64(0)
	for seq := range m.taken[b.AggID] {
		largest = max(largest, seq)
	}
	switch h := m.head.Height; {
	case m.strikes[b.AggID] > 0 && h <= m.until[b.AggID]:
		return RuleSuspended
	case b.Seq+m.p.SeqWindow <= largest && len(m.taken[b.AggID]) > 0:
		return RuleSeqOld
	case m.taken[b.AggID][b.Seq]:
		return RuleSeqSeen
	case h > b.ValidUntil:
		return RuleExpired
	case b.ValidUntil > h+m.p.ValidFor:
		return RuleValidUntil
	case b.Dirver > m.head.Dirver:
		return RuleDirectoryNew
	case b.Dirver+m.p.DirectoryLag < m.head.Dirver:
		return RuleDirectoryOld
	}
	return 0
}

func (m *logModel) chain(digest [32]byte, n uint64, root [32]byte) {
	m.head.LogHash = Rcpt{m.net, m.head.Height, m.head.LogHash, digest, n, root}.Digest()
}

// strike is what a bad batch does.
func (m *logModel) strike(b *Batch, digest [32]byte) {
	m.until[b.AggID] = m.head.Height + m.p.ValidFor<<m.strikes[b.AggID]
	m.strikes[b.AggID]++
	m.chain(digest, 0, [32]byte{})
}

// kept returns what was executed under a nonce, if that is remembered.
func (m *logModel) kept(id, nonce uint64) (Execution, bool) {
	e, ok := m.executed[nonceKey{id, nonce}]
	return e, ok && e.NotAfter+m.p.KeepResults >= m.head.Height
}

// execute is rule 8.
func (m *logModel) execute(b *Batch, digest [32]byte) []Result {
	if m.taken[b.AggID] == nil {
		m.taken[b.AggID] = make(map[uint64]bool)
	}
	m.taken[b.AggID][b.Seq] = true
	var list []Result
	for i, id := range b.IDs {
		key := nonceKey{id, b.Nonces[i]}
		r := Result{ID: id, Nonce: key.n, PayloadHash: PayloadHash(b.Payloads.At(i))}
		absent := b.Mode == ModeLean && slices.Contains(b.Stragglers, uint32(i))
		if absent {
			r.PayloadHash = [32]byte(b.Payloads.At(i))
		}
		first, known := m.kept(id, key.n)
		_, ever := m.executed[key]
		changed := slices.ContainsFunc(m.changes[id], func(v uint64) bool { return v > b.Dirver })
		last, any := m.last[id]
		switch {
		case absent:
			r.Code = ResultAbsent
		case known && first.PayloadHash == r.PayloadHash:
			r.Code, r.FirstCode, r.AppCode, r.ExecHeight = ResultDup, first.Code, first.AppCode, first.Height
		case known:
			r.Code = ResultTaken
		case any && key.n+NonceWindow <= last:
			r.Code = ResultSkipped
		case ever:
			r.Code = ResultTaken
		case changed:
			r.Code = ResultKey
		default:
			code, ok := oddApp{}.Execute(m.head.Height, id, key.n, b.Payloads.At(i))
			r.Code, r.AppCode, r.ExecHeight = ResultOK, code, m.head.Height
			if !ok {
				r.Code = ResultAppReject
			}
			m.executed[key] = Execution{b.NotAfter[i], r.PayloadHash, r.Code, code, m.head.Height}
			m.last[id] = max(last, key.n)
		}
		list = append(list, r)
	}
	m.head.Batches++
	m.chain(digest, uint64(len(list)), ResultRoot(list))
	return list
}

// look is what an answer to a question says.
func (m *logModel) look(q Lookup) Look {
	k := Look{Net: m.net, Challenge: q.Challenge, Height: m.head.Height, ID: q.ID, Nonce: q.Nonce, NotAfter: q.NotAfter, LastNonce: m.last[q.ID]}
	e, known := m.kept(q.ID, q.Nonce)
	_, ever := m.executed[nonceKey{q.ID, q.Nonce}]
	inWindow := q.Nonce+NonceWindow > m.last[q.ID]
	switch {
	case known:
		k.Code, k.FirstCode, k.AppCode, k.ExecHeight, k.PayloadHash = LookExecuted, e.Code, e.AppCode, e.Height, e.PayloadHash
	case inWindow && !ever, !inWindow && q.NotAfter+m.p.KeepResults >= m.head.Height:
		k.Code = LookNotExecuted
	default:
		k.Code = LookUnknown
	}
	return k
}

// An oddApp refuses odd payloads.
type oddApp struct{}

func (oddApp) Execute(height, id, nonce uint64, payload []byte) (uint16, bool) {
	code := uint16(id)<<8 | uint16(payload[0])
	return code, payload[0]%2 == 0
}

// A history is a random log, with what a model makes of it.
type history struct {
	*town
	t     testing.TB
	rng   *rand.Rand
	model *logModel
	past  [][]byte // batches
	next  int      // keys
	known []*resident
}

func newHistory(t testing.TB, seed uint64) *history {
	w := newTown(t, 1, 0)
	p := &w.genesis.Params
	p.KeepResults, p.MaxAhead, p.ValidFor, p.SeqWindow, p.DirectoryLag = 12, 12, 6, 10, 2
	w.net = w.genesis.ID()
	return &history{town: w, t: t, rng: rand.New(rand.NewPCG(seed, 8)), model: newLogModel(w.genesis)}
}

// open returns a validator with what is stored.
func (h *history) open(s Store) *Validator {
	h.t.Helper()
	v, err := OpenValidator(ValidatorConfig{Genesis: h.genesis, Key: nil, Store: s, App: oddApp{}})
	if err != nil {
		h.t.Fatal(err)
	}
	return v
}

// change returns an entry with a change of the directory.
func (h *history) change() []byte {
	var c Change
	h.next++
	fresh := person(h.t, h.next)
	id := h.rng.Uint64N(uint64(len(h.known)) + 1)
	m := h.model
	m.head.Dirver++
	switch {
	case id < m.ids && h.known[id] != nil && h.rng.IntN(4) == 0 && id > 3:
		c = *Revoke(h.net, id, m.head.Dirver-1, h.known[id].ed)
		h.known[id] = nil
		m.changes[id] = append(m.changes[id], m.head.Dirver)
	case id < m.ids && h.known[id] != nil:
		c = h.rotate(h.t, id, m.head.Dirver-1, h.known[id], fresh)
		h.known[id] = fresh
		m.changes[id] = append(m.changes[id], m.head.Dirver)
	default:
		c = h.register(h.t, fresh, m.head.Height+5)
		h.known = append(h.known, fresh)
		m.ids++
	}
	data := h.entry(c)
	m.chain(sha256.Sum256(data), 0, [32]byte{})
	return data
}

// random returns a batch that isn't verified, so that its aggregate may be anything.
func (h *history) random() *Batch {
	m, rng := h.model, h.rng
	near := func(x uint64, below, above int) uint64 {
		return uint64(max(0, int(x)-below+rng.IntN(below+above+1)))
	}
	b := &Batch{Net: h.net, AggID: 3 + rng.Uint64N(2), Mode: ModeLean, Aggregate: make([]byte, 96)}
	b.Dirver = near(m.head.Dirver, 0, 0)
	if rng.IntN(4) == 0 {
		b.Dirver = near(m.head.Dirver, 3, 1)
	}
	for seq := range m.taken[b.AggID] {
		b.Seq = max(b.Seq, seq)
	}
	if b.Seq++; rng.IntN(5) == 0 {
		b.Seq = near(b.Seq, 12, 12)
	}
	b.ValidUntil = near(m.head.Height, 0, 6)
	if rng.IntN(6) == 0 {
		b.ValidUntil = near(m.head.Height, 2, 8)
	}
	for id := range m.ids {
		if h.known[id] == nil && rng.IntN(3) != 0 || rng.IntN(3) == 0 {
			continue
		}
		nonce := m.last[id] + 1
		switch rng.IntN(6) {
		case 0:
			nonce = near(nonce, 4, 3)
		case 1:
			nonce = near(nonce, 70, 0)
		case 2:
			nonce = near(nonce, 0, 90)
		}
		b.IDs, b.Nonces = append(b.IDs, id), append(b.Nonces, nonce)
		b.NotAfter = append(b.NotAfter, b.ValidUntil+rng.Uint64N(10))
		payload := []byte{"abc"[rng.IntN(3)]}
		if rng.IntN(20) == 0 {
			b.Stragglers = append(b.Stragglers, uint32(len(b.IDs)-1))
			hash := PayloadHash(payload)
			payload = hash[:]
		}
		b.Payloads.Append(payload)
	}
	if len(b.Stragglers) == len(b.IDs) {
		b.Aggregate = nil
	}
	return b
}

// tick applies a random tick to v and compares.
func (h *history) tick(v *Validator) error {
	m, rng := h.model, h.rng
	m.head.Height++
	var entries []Entry
	var want []EntryOutcome
	for range rng.IntN(4) {
		switch {
		case m.ids < 3 || rng.IntN(12) == 0:
			entries = append(entries, Entry{Data: h.change()})
			want = append(want, EntryOutcome{Receipt: &RcptShare{Kind: RecordDirectory}})
			continue
		}
		b := h.random()
		if len(b.IDs) == 0 {
			continue
		}
		data := h.publish(h.t, b)
		if len(h.past) > 0 && rng.IntN(8) == 0 {
			data = h.past[rng.IntN(len(h.past))]
			var err error
			if b, err = DecodeBatch(data, &m.p); err != nil {
				return err
			}
		}
		h.past = append(h.past, data)
		e := Entry{Data: data}
		bad := rng.IntN(25) == 0 && b.Aggregate != nil
		if !bad {
			verified := &Verified{Batch: b, Digest: BatchDigest(data)}
			verified.hashLeaves()
			e.Checked = &Checked{v, data, verified}
		}
		entries = append(entries, e)
		rule := m.position(b)
		switch {
		case rule != 0:
			want = append(want, EntryOutcome{Err: reject(rule)})
		case bad:
			m.strike(b, BatchDigest(data))
			want = append(want, EntryOutcome{Err: reject(RuleAggregateEncoding), Receipt: &RcptShare{Kind: RecordStrike}})
		default:
			want = append(want, EntryOutcome{Results: m.execute(b, BatchDigest(data)), Receipt: &RcptShare{Kind: RecordBatch}})
		}
	}
	a, err := v.Apply(m.head.Height, entries)
	if err != nil {
		return err
	}
	for i, o := range a.Outcomes {
		badRule := RuleOf(o.Err) != RuleOf(want[i].Err)
		if RuleOf(want[i].Err) == RuleAggregateEncoding {
			badRule = !RuleOf(o.Err).Signed()
		}
		if badRule || (o.Receipt == nil) != (want[i].Receipt == nil) || o.Receipt != nil && o.Receipt.Kind != want[i].Receipt.Kind {
			return fmt.Errorf("height %d, entry %d: %v, receipt %v, want %v", m.head.Height, i, o.Err, o.Receipt, want[i].Err)
		}
		if !reflect.DeepEqual(o.Results, want[i].Results) {
			return fmt.Errorf("height %d, entry %d: results\n%+v, want\n%+v", m.head.Height, i, o.Results, want[i].Results)
		}
	}
	if v.Head() != m.head || a.Hgt != (Hgt{h.net, m.head.Height, m.head.Batches, m.head.LogHash, m.head.Dirver}) {
		return fmt.Errorf("head %+v, want %+v", v.Head(), m.head)
	}
	return nil
}

// looks compares answers about all ids, and returns them.
func (h *history) looks(v *Validator) ([]Look, error) {
	var list []Look
	for id := range h.model.ids {
		last := int(h.model.last[id])
		q := Lookup{ID: id, Nonce: uint64(max(0, last-h.rng.IntN(80)+4)), NotAfter: uint64(max(0, int(h.model.head.Height)-20+h.rng.IntN(30)))}
		got, err := v.Lookup(q)
		if err != nil {
			return nil, err
		}
		if want := h.model.look(q); got.Look != want {
			return nil, fmt.Errorf("height %d: answer %+v, want %+v", h.model.head.Height, got.Look, want)
		}
		list = append(list, got.Look)
	}
	return list, nil
}

// Random logs, with reopening, come to what the model says.
func TestValidatorModel(t *testing.T) {
	seeds := uint64(12)
	if os.Getenv("UNDERSIGN_LONG") != "" {
		seeds = 400
	}
	codes := make(map[ResultCode]int)
	lookCodes := make(map[LookCode]int)
	rules := make(map[Rule]int)
	for seed := range seeds {
		h := newHistory(t, seed)
		store := new(MemStore)
		v := h.open(store)
		for range 120 {
			if err := h.tick(v); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			looks, err := h.looks(v)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for _, k := range looks {
				lookCodes[k.Code]++
			}
			if h.rng.IntN(20) == 0 {
				v = h.open(store)
			}
		}
		for _, r := range store.log {
			for _, x := range r.Results {
				codes[x.Code]++
			}
			if r.Kind == RecordStrike {
				rules[RuleAggregate]++
			}
		}
	}
	// The logs are only worth something if all of it happens.
	for code := ResultOK; code <= ResultAbsent; code++ {
		if codes[code] < 10 {
			t.Errorf("%v happened %d times", code, codes[code])
		}
	}
	for code := LookExecuted; code <= LookUnknown; code++ {
		if lookCodes[code] < 10 {
			t.Errorf("%v happened %d times", code, lookCodes[code])
		}
	}
	if rules[RuleAggregate] == 0 {
		t.Error("no strikes")
	}
}

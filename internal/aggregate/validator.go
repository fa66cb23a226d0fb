// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"sync"
	"time"

	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/aggregate/frame"
	"github.com/undersign/undersign/internal/failpoint"
	"github.com/undersign/undersign/internal/relay"
	"github.com/undersign/undersign/internal/store"
)

// A validator reads the queue, applies what is in it, and tells others.
type validator struct {
	s       *Service
	log     *slog.Logger
	index   int
	tick    time.Duration
	relay   relay.Relay
	own     bool       // the relay is in the node's store
	late    *lateRelay // the relay, if it has to be opened
	places  *places    // nil, unless this validator shortens the queue
	journal *store.Journal
	store   *store.Validator
	peers   []*remote // of the other validators
	feed    *feed
	checks  chan struct{} // slots for verifying batches
	changes *changes

	restored bool // from a backup, and batches aren't witnessed yet

	// The machine. mu is held for all of its methods but Check.
	mu sync.Mutex
	v  *distill.Validator

	cacheMu sync.Mutex
	cache   map[[32]byte]*distill.Checked // verified, and not in the log yet
	order   [][32]byte                    // of the cache, the oldest first

	stateMu sync.Mutex
	waiting string    // what the validator waits for, or empty
	applied time.Time // when the last height was
	height  uint64
	moved   chan struct{} // closed when height changes
}

// maxCache is how many verified batches are kept in memory.
const maxCache = 16

func newValidator(s *Service) (*validator, error) {
	cfg := s.cfg.Validator
	v := &validator{
		s: s, log: s.log.With("role", "validator"), tick: cfg.tick(), relay: s.cfg.Relay,
		journal: s.host.Store.Journal("validator"), store: s.host.Store.Validator(),
		checks: make(chan struct{}, max(1, runtime.GOMAXPROCS(0))), cache: make(map[[32]byte]*distill.Checked),
		index: -1, moved: make(chan struct{}),
	}
	name := cfg.Key
	if name == "" {
		name = "validator.key"
	}
	key, err := s.openKey(name)
	if err != nil {
		return nil, err
	}
	for i := range s.genesis.Validators {
		if s.network.Committee().Key(i).PublicKey().Equal(key.PublicKey()) {
			v.index = i
		}
	}
	if v.index < 0 {
		return nil, fmt.Errorf("aggregate: the key in %s isn't one of the genesis' validators", name)
	}
	if !s.isSelf(s.cfg.Validators[v.index]) {
		return nil, fmt.Errorf("aggregate: the key in %s is that of validator %d, which isn't named self", name, v.index)
	}
	if v.relay == nil && s.cfg.NATS != nil {
		if v.late, err = newLateRelay(*s.cfg.NATS, s.host.Dir, v.log); err != nil {
			return nil, err
		}
		v.relay = v.late
		if s.cfg.NATS.Prune {
			v.places = &places{journal: v.journal, queue: v.late}
		}
	}
	if v.relay == nil {
		if len(s.genesis.Validators) > 1 {
			return nil, errors.New("aggregate: several validators need a queue that they share")
		}
		v.relay, v.own = relay.NewLocal(s.host.Store), true
	}
	for i := range s.genesis.Validators {
		if i != v.index {
			v.peers = append(v.peers, &remote{s: s, index: i})
		}
	}
	from, err := v.witnessFrom()
	if err != nil {
		return nil, err
	}
	v.v, err = distill.OpenValidator(distill.ValidatorConfig{
		Genesis: s.genesis, Network: s.network, Index: v.index, Key: key, Store: v.store, App: s.cfg.App, WitnessFrom: from,
	})
	if err != nil {
		return nil, err
	}
	v.height = v.v.Head().Height
	v.feed = newFeed(v.height + 1)
	if s.cfg.Directory != nil {
		v.changes = newChanges(s.cfg.Directory.Queue)
	}
	return v, nil
}

// Names in the validator's journal.
var (
	positionKey = []byte("position") // in the queue, with the height that ends there
	embargoKey  = []byte("witness-from")
)

func readPair(j *store.Journal, key []byte) (a, b uint64, err error) {
	for r, err := range j.Records(key) {
		if err != nil {
			return 0, 0, err
		}
		if len(r.Value) != 16 {
			return 0, 0, fmt.Errorf("aggregate: the record %s is damaged", key)
		}
		return binary.BigEndian.Uint64(r.Value), binary.BigEndian.Uint64(r.Value[8:]), nil
	}
	return 0, 0, nil
}

func pairRecord(key []byte, a, b uint64) distill.Record {
	return distill.Record{Key: key, Value: binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, a), b)}
}

// witnessFrom returns the height from which the validator witnesses batches. Restored
// from a backup it may have witnessed what it doesn't know of. That has expired some time
// past the height that others are at now, which isn't known before they were asked: until
// then it is past all heights.
func (v *validator) witnessFrom() (uint64, error) {
	from, _, err := readPair(v.journal, embargoKey)
	if err != nil {
		return 0, err
	}
	v.restored, err = v.s.host.Restored("validator")
	if err != nil || !v.restored {
		return from, err
	}
	return math.MaxUint64, nil
}

// settle finds out from when on a restored validator witnesses batches. It does the rest of
// its work meanwhile: others who were restored too wait for its height.
func (v *validator) settle(ctx context.Context) {
	said := time.Time{}
	for {
		if head, ok := v.certifiedHead(ctx); ok {
			from := head + v.s.params.ValidFor
			err := v.journal.Commit([]distill.Record{pairRecord(embargoKey, from, 0)})
			if err == nil {
				err = v.s.host.Settled("validator")
			}
			if err != nil {
				v.s.host.Fail(err)
				return
			}
			v.mu.Lock()
			v.v.SetWitnessFrom(from)
			v.mu.Unlock()
			v.log.Info("restored from a backup: batches are witnessed later", "from", from)
			return
		}
		if time.Since(said) > time.Minute {
			said = time.Now()
			v.log.Warn("restored from a backup: too few validators are at one height, and no batch is witnessed")
		}
		if !sleep(ctx, 500*time.Millisecond) {
			return
		}
	}
}

// certifiedHead returns the height that F+1 of the others sign, or of the only validator its
// own: the largest if there are several. Of one of them alone a height isn't believed, for
// no batch would be witnessed before it.
func (v *validator) certifiedHead(ctx context.Context) (height uint64, ok bool) {
	if len(v.peers) == 0 {
		height, _ := v.now()
		return height, true
	}
	votes := make(map[distill.Hgt]int)
	for _, h := range v.heads(ctx) {
		if votes[h]++; votes[h] >= v.s.genesis.Quorum() {
			height, ok = max(height, h.Height), true
		}
	}
	return height, ok
}

// heads asks the other validators for their heights.
func (v *validator) heads(ctx context.Context) map[int]distill.Hgt {
	var group sync.WaitGroup
	var mu sync.Mutex
	heads := make(map[int]distill.Hgt)
	for _, p := range v.peers {
		group.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, callTime)
			defer cancel()
			if h, _, err := p.head(ctx); err == nil {
				mu.Lock()
				heads[p.index] = h
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return heads
}

func (v *validator) run(ctx context.Context) error {
	if v.late != nil {
		v.late.start()
	}
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { v.ticks(ctx) })
	group.Go(func() { v.collect(ctx) })
	if v.changes != nil {
		group.Go(func() { v.bundle(ctx) })
	}
	if v.restored {
		group.Go(func() { v.settle(ctx) })
	}
	err := v.read(ctx)
	cancel()
	group.Wait()
	if v.own || v.late != nil {
		err = errors.Join(err, v.relay.Close())
	}
	return err
}

// ticks publishes the tick of each next height when its time has come.
func (v *validator) ticks(ctx context.Context) {
	for {
		height, moved := v.now()
		t := time.NewTimer(v.tick)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-moved: // somebody else's tick
			t.Stop()
			continue
		case <-t.C:
		}
		if err := v.relay.Publish(ctx, relay.NewTick(height+1)); err != nil && ctx.Err() == nil {
			v.log.Warn("no tick", "height", height+1, "error", err)
			if v.late != nil {
				v.setWaiting("the queue, which takes no tick") // until there is an entry
			}
			continue
		}
		// It is applied when all before it is.
		for stay := true; stay; {
			select {
			case <-ctx.Done():
				return
			case <-moved:
				stay = false
			case <-time.After(max(v.tick, time.Second)):
				stay = v.relay.Publish(ctx, relay.NewTick(height+1)) == nil
			}
		}
	}
}

// now returns the height, and a channel that is closed when there is another.
func (v *validator) now() (uint64, <-chan struct{}) {
	v.stateMu.Lock()
	defer v.stateMu.Unlock()
	return v.height, v.moved
}

func (v *validator) setWaiting(what string) {
	v.stateMu.Lock()
	defer v.stateMu.Unlock()
	v.waiting = what
}

func (v *validator) status() error {
	if v.late != nil {
		if err := v.late.status(); err != nil {
			return fmt.Errorf("the validator waits for the queue: %w", err)
		}
	}
	v.stateMu.Lock()
	defer v.stateMu.Unlock()
	if v.waiting != "" {
		return errors.New("the validator waits for " + v.waiting)
	}
	return nil
}

// read applies the queue, from where it was left.
func (v *validator) read(ctx context.Context) error {
	position, ended, err := readPair(v.journal, positionKey)
	if err != nil {
		return err
	}
	v.mu.Lock()
	head := v.v.Head().Height
	v.mu.Unlock()
	if ended > head {
		return errors.New("aggregate: the validator's place in the queue is past its log")
	}
	q := &queue{validator: v, position: position, next: ended + 1, head: head, saved: ended}
	for {
		entries, err := v.relay.Read(ctx, q.position, 64)
		if ctx.Err() != nil || errors.Is(err, relay.ErrClosed) {
			return q.save(true)
		}
		if err != nil {
			v.log.Warn("the queue can't be read", "error", err)
			if v.own {
				return err
			}
			v.setWaiting("the queue: " + err.Error())
			if !sleep(ctx, time.Second) {
				return nil
			}
			continue
		}
		v.setWaiting("")
		for i := range entries {
			if err := q.take(ctx, &entries[i]); err != nil {
				if ctx.Err() != nil {
					return q.save(true)
				}
				return err
			}
		}
	}
}

// A queue is where a validator is in it.
type queue struct {
	*validator
	position uint64 // of the last entry
	next     uint64 // the height that entries are of
	head     uint64 // the height that the log had at the start: what is up to there was applied
	tickAt   uint64 // position of the last tick that counted
	saved    uint64 // height
	entries  []distill.Entry
}

// take takes an entry. What it makes of it depends on the entries before it, and on
// nothing else.
func (q *queue) take(ctx context.Context, e *relay.Entry) error {
	defer func() { q.position = e.Position }()
	kind, data, err := e.Content()
	if err != nil {
		q.log.Warn("an entry isn't one", "position", e.Position)
		return nil
	}
	switch kind {
	case relay.Tick:
		height, err := e.Height()
		if err != nil || height != q.next {
			// One that comes late. It has no effect, whoever sent it.
			return nil
		}
		q.tickAt = e.Position
		return q.end(ctx)
	case relay.Change:
		if q.next > q.head && len(data) > saltSize {
			q.entries = append(q.entries, distill.Entry{Data: data[saltSize:]})
		}
	case relay.Order:
		if q.next <= q.head {
			return nil
		}
		o, err := frame.ParseOrder(data)
		if err == nil {
			wit := o.Wit(q.s.network.ID())
			err = q.s.network.Committee().Verify(&wit, &o.Witness)
		}
		if err != nil {
			q.log.Warn("an order isn't one", "position", e.Position, "error", err)
			return nil
		}
		// One that comes again, perhaps when nobody has its batch any more: who waited for
		// that would wait for ever. F+1 have signed the number with the digest.
		q.mu.Lock()
		used := q.v.Used(o.Aggregator, o.Seq)
		q.mu.Unlock()
		if used {
			q.log.Warn("an order comes again", "position", e.Position, "aggregator", o.Aggregator, "batch", o.Seq)
			return nil
		}
		entry, err := q.batch(ctx, o)
		if err != nil {
			return err
		}
		q.entries = append(q.entries, entry)
	}
	return nil
}

// end applies the height that ends.
func (q *queue) end(ctx context.Context) error {
	height, entries := q.next, q.entries
	q.next, q.entries = height+1, nil
	if height <= q.head {
		return nil
	}
	if err := failpoint.Hit("aggregate.validator.apply"); err != nil {
		return err
	}
	q.mu.Lock()
	applied, err := q.v.Apply(height, entries)
	q.mu.Unlock()
	if err != nil {
		return err
	}
	if err := failpoint.Hit("aggregate.validator.applied"); err != nil {
		return err
	}
	q.tell(applied, entries)
	return q.save(false)
}

// savedEvery is after how many heights the place in the queue is written. After a crash
// entries are read again, and not applied.
const savedEvery = 64

func (q *queue) save(now bool) error {
	ended := q.next - 1
	if q.tickAt == 0 || ended == q.saved || !now && ended-q.saved < savedEvery {
		return nil
	}
	records := []distill.Record{pairRecord(positionKey, q.tickAt, ended)}
	if q.places != nil {
		records = append(records, q.places.record(q.tickAt, ended))
	}
	if err := q.journal.Commit(records); err != nil {
		return err
	}
	q.saved = ended
	if local, ok := q.relay.(*relay.Local); ok && q.own {
		return local.Forget(q.tickAt)
	}
	return nil
}

// tell passes on what became of a height.
func (v *validator) tell(a *distill.Applied, entries []distill.Entry) {
	e := &event{height: a.Height, hgt: &a.Hgt, share: a.Share}
	for i := range a.Outcomes {
		o := &a.Outcomes[i]
		if o.Err != nil {
			v.log.Warn("an entry has no effect", "height", a.Height, "error", o.Err)
		}
		if v.changes != nil && o.Directory != nil {
			v.changes.done(entries[i].Data, o.Directory)
		} else if v.changes != nil && o.Err != nil {
			v.changes.failed(entries[i].Data, o.Err)
		}
		if o.Receipt == nil {
			continue
		}
		x := outcome{kind: o.Receipt.Kind, rcpt: o.Receipt.Rcpt, share: o.Receipt.Share}
		if x.kind == distill.RecordBatch {
			if h, err := distill.DecodeHeader(entries[i].Data); err == nil {
				x.aggregator, x.seq = h.AggID, h.Seq
			}
			x.results = frame.ResultBytes(o.Results)
			v.uncache(x.rcpt.BatchDigest)
		}
		e.outcomes = append(e.outcomes, x)
	}
	v.feed.add(e)
	v.stateMu.Lock()
	v.height, v.applied = a.Height, time.Now()
	close(v.moved)
	v.moved = make(chan struct{})
	v.stateMu.Unlock()
}

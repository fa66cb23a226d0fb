// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/undersign/undersign/distill"
	aggregatev1 "github.com/undersign/undersign/gen/undersign/aggregate/v1"
	"github.com/undersign/undersign/gen/undersign/aggregate/v1/aggregatev1connect"
	"github.com/undersign/undersign/internal/aggregate/frame"
	"github.com/undersign/undersign/internal/audit"
	"github.com/undersign/undersign/internal/store"
)

// An aggregator runs the machine in one goroutine, which alone has it. Sessions and
// those who talk to validators hand it functions, through a queue of bounded length: who
// finds it full waits, and so do those who send to it.
type aggregator struct {
	s       *Service
	id      uint64
	log     *slog.Logger
	journal *store.Journal
	remotes []*remote
	dir     directory

	work   chan func(now int64) error // new messages
	urgent chan func(now int64) error // what is about those that are here: it goes first
	quit   chan struct{}              // closed when the loop has ended

	// Of the loop alone.
	machine    *distill.Aggregator
	sessions   map[*session]struct{}
	routes     map[uint64]*session // of clients
	pending    []*session          // for which something has piled up
	publishing map[uint64]bool     // by number
	group      *sync.WaitGroup
	ctx        context.Context

	awaited atomic.Pointer[map[[32]byte]uint64] // numbers of published batches, by digest
	head    atomic.Pointer[distill.SignedHead]
	view    atomic.Pointer[viewBox] // of the machine
	metrics *metrics
	tokens  tokens

	open    atomic.Int64 // sessions
	most    int64
	problem atomic.Pointer[string] // why it can't do its work
}

type viewBox struct{ distill.View }

var _ aggregatev1connect.AggregatorServiceHandler = (*aggregator)(nil)

// queueLength is how many functions may wait for the loop.
const queueLength = 64

func newAggregator(s *Service) (*aggregator, error) {
	cfg := s.cfg.Aggregator
	key, ok := s.genesis.AggregatorKey(cfg.ID)
	if !ok {
		return nil, fmt.Errorf("aggregate: the genesis has no aggregator %d", cfg.ID)
	}
	if !bytes.Equal(key[:], s.host.Identity.PublicKey()) {
		return nil, fmt.Errorf("aggregate: the genesis has another key for aggregator %d than the node's", cfg.ID)
	}
	a := &aggregator{
		s: s, id: cfg.ID, log: s.log.With("role", "aggregator"), journal: s.host.Store.Journal("aggregator"),
		work: make(chan func(int64) error, queueLength), urgent: make(chan func(int64) error, queueLength), quit: make(chan struct{}),
		sessions: make(map[*session]struct{}), routes: make(map[uint64]*session), publishing: make(map[uint64]bool),
		most: int64(cfg.Sessions), tokens: newTokens(),
	}
	if a.most == 0 {
		a.most = 1024
	}
	for i := range s.genesis.Validators {
		a.remotes = append(a.remotes, &remote{s: s, index: i})
	}
	if s.validator != nil {
		a.dir = localDirectory{s.validator}
	} else {
		d, err := openFollower(a)
		if err != nil {
			return nil, err
		}
		a.dir = d
	}
	restored, err := s.host.Restored("aggregator")
	if err != nil {
		return nil, err
	}
	a.machine, err = distill.OpenAggregator(distill.AggregatorConfig{
		Network: s.network, ID: cfg.ID, Key: s.host.Identity.SigningKey(), Journal: a.journal,
		Mode: distill.Mode(modeNames[cfg.Mode]), Views: a.dir.at, FromBackup: restored,
		Limits: distill.AggregatorLimits{
			Leaves: cfg.BatchLeaves, BatchBytes: cfg.BatchBytes, BatchAge: int64(cfg.BatchAgeMS), InFlight: cfg.InFlight,
			MinWait: int64(cfg.MinWaitMS), MaxWait: int64(cfg.MaxWaitMS), FirstWait: int64(min(1000, orElse(cfg.MaxWaitMS, 1000))),
			PoolMessages: cfg.PoolMessages, PoolBytes: cfg.PoolBytes, ReceiptBytes: cfg.ReceiptBytes, Rate: cfg.Rate,
		},
	})
	if err != nil {
		return nil, err
	}
	// The heights that come first may be older than what was known before the start.
	view, err := a.dir.latest()
	if err != nil {
		return nil, err
	}
	a.setView(view)
	a.await()
	// What happens here is the answer to a restored state; from now on the journal says
	// itself that it waits to be settled.
	if restored {
		if err := s.host.Settled("aggregator"); err != nil {
			return nil, err
		}
	}
	a.metrics = newMetrics(s.host.Metrics)
	a.setProblem("no certified height yet")
	return a, nil
}

func orElse(v, other int) int {
	if v == 0 {
		return other
	}
	return v
}

func (a *aggregator) setProblem(p string) { a.problem.Store(&p) }

func (a *aggregator) status() error {
	if p := a.problem.Load(); p != nil && *p != "" {
		return errors.New("the aggregator has " + *p)
	}
	return nil
}

// do has the loop run a function before new messages, or returns false if there is no
// loop any more.
func (a *aggregator) do(ctx context.Context, f func(now int64) error) bool {
	return a.hand(ctx, a.urgent, f)
}

// later has the loop run a function when its turn comes.
func (a *aggregator) later(ctx context.Context, f func(now int64) error) bool {
	return a.hand(ctx, a.work, f)
}

func (a *aggregator) hand(ctx context.Context, c chan<- func(int64) error, f func(int64) error) bool {
	select {
	case c <- f:
		return true
	case <-ctx.Done():
	case <-a.quit:
	}
	return false
}

func (a *aggregator) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	a.ctx, a.group = ctx, &group
	group.Go(func() { a.follow(ctx) })
	group.Go(func() { a.tokens.expire(ctx) })
	if a.machine.Recovering() {
		group.Go(func() { a.recover(ctx) })
	}
	err := a.loop(ctx)
	cancel()
	close(a.quit)
	group.Wait()
	return err
}

// loop runs until ctx ends or the machine is broken.
func (a *aggregator) loop(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	stats := time.NewTicker(time.Second)
	defer stats.Stop()
	for {
		wait := time.Hour
		if at, ok := a.machine.Deadline(); ok {
			wait = min(wait, time.Duration(max(at-a.s.now(), 0))*time.Millisecond)
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return nil
		case <-stats.C:
			a.metrics.set(a.machine.Stats(), len(a.sessions))
			a.await()
			continue
		case f := <-a.urgent:
			if err := f(a.s.now()); err != nil {
				return err
			}
		case f := <-a.work:
			if err := f(a.s.now()); err != nil {
				return err
			}
		case <-timer.C:
		}
		// Signatures that have come count, however long they have waited here for the loop.
		if err := a.drain(); err != nil {
			return err
		}
		if at, ok := a.machine.Deadline(); ok && at <= a.s.now() {
			out, err := a.machine.Tick(a.s.now())
			if err := a.done(out, err); err != nil {
				return err
			}
		}
		a.flush()
	}
}

// drain runs what is urgent.
func (a *aggregator) drain() error {
	for range 4 * queueLength {
		select {
		case f := <-a.urgent:
			if err := f(a.s.now()); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	return nil
}

// done does what the machine wants done. An error that isn't about what somebody sent
// means that the machine is broken.
func (a *aggregator) done(out []distill.AggregatorAction, err error) error {
	for _, x := range out {
		switch x := x.(type) {
		case distill.SendAck:
			if s := a.pend(x.ID); s != nil {
				s.pending.acks.Ids = append(s.pending.acks.Ids, x.ID)
				s.pending.acks.Nonces = append(s.pending.acks.Nonces, x.Nonce)
			}
		case distill.SendRefusal:
			if s := a.pend(x.Refusal.ID); s != nil {
				frame.AddRefusal(&s.pending.refusals, &x.Refusal)
				if x.Refusal.Rule == distill.RuleFull {
					s.pending.throttle = max(s.pending.throttle, x.Refusal.RetryAfter)
				}
			}
		case distill.SendProposals:
			for s, at := range a.split(x.Len(), x.ID) {
				s.out.add(outItem{proposals: x, at: at}, len(at))
			}
		case distill.SendReceipts:
			for s, at := range a.split(x.Len(), x.ID) {
				s.out.add(outItem{receipts: x, at: at}, len(at))
			}
		case distill.RequestSignature:
			if s := a.pend(x.ID); s != nil {
				s.pending.requests.Ids = append(s.pending.requests.Ids, x.ID)
				s.pending.requests.Nonces = append(s.pending.requests.Nonces, x.Nonce)
			}
		case distill.Publish:
			a.await() // before anybody can say what became of it
			a.publish(x)
		case distill.ReportConflict:
			a.report(&x)
		case distill.ReportReduction:
			a.log.Debug("a signature isn't valid", "id", x.ID, "batch", x.Seq)
		}
	}
	if err != nil && distill.RuleOf(err) == 0 {
		return err
	}
	return nil
}

// await notes which batches receipts are waited for of.
func (a *aggregator) await() {
	m := a.machine.Published()
	a.awaited.Store(&m)
}

// split divides the items of an action among the sessions of the clients they are for.
func (a *aggregator) split(n int, id func(int) uint64) map[*session][]int32 {
	parts := make(map[*session][]int32)
	var last *session
	var list []int32
	for i := range n {
		s := a.routes[id(i)]
		if s == nil {
			continue
		}
		if s != last {
			if last != nil {
				parts[last] = list
			}
			last, list = s, parts[s]
		}
		list = append(list, int32(i))
	}
	if last != nil {
		parts[last] = list
	}
	return parts
}

// pend returns the session of a client, for which something is about to pile up, or nil.
func (a *aggregator) pend(id uint64) *session {
	s := a.routes[id]
	if s != nil && !s.pending.some {
		s.pending.some = true
		a.pending = append(a.pending, s)
	}
	return s
}

// flush sends what has piled up for sessions.
func (a *aggregator) flush() {
	for _, s := range a.pending {
		s.pending.some = false
		s.flush()
	}
	clear(a.pending)
	a.pending = a.pending[:0]
}

// report keeps evidence against a client that signed two messages with one nonce.
func (a *aggregator) report(c *distill.ReportConflict) {
	e := distill.NewSubEvidence(a.s.network.ID(), c.Dirver, &c.First, &c.Second)
	detail := fmt.Sprintf("client %d signed two payloads for nonce %d", c.First.ID, c.First.Nonce)
	if data, err := e.MarshalBinary(); err == nil {
		detail += ": evidence " + hex.EncodeToString(data)
	}
	a.log.Warn("conflict", "id", c.First.ID, "nonce", c.First.Nonce)
	a.group.Go(func() {
		// The audit log cuts long details; the evidence itself is short if payloads are.
		if err := a.s.host.Audit.Event(audit.Entry{Operation: "aggregate.conflict", Detail: detail}, audit.Failed); err != nil {
			a.s.host.Fail(err)
		}
	})
}

// setHead gives the machine a certified height, after the directory that goes with it.
func (a *aggregator) setHead(ctx context.Context, h *distill.SignedHead) {
	view, err := a.dir.view(ctx, h.Hgt.Dirver)
	if err != nil {
		a.log.Warn("the directory is behind", "version", h.Hgt.Dirver, "error", err)
		return
	}
	a.do(ctx, func(now int64) error {
		if a.view.Load().Version() < view.Version() {
			a.setView(view)
		}
		out, err := a.machine.HandleHead(now, h)
		if err == nil && a.machine.Head() == h.Hgt.Height {
			a.head.Store(h)
			a.setProblem("")
			for s := range a.sessions {
				s.out.setHead(h)
			}
		}
		return a.done(out, err)
	})
}

func (a *aggregator) setView(v distill.View) {
	a.view.Store(&viewBox{v})
	a.machine.SetView(v)
}

// recover finds out, after the node was restored from a backup, which numbers of batches
// may have been used since.
func (a *aggregator) recover(ctx context.Context) {
	need := 2*int(a.s.genesis.F) + 1
	for {
		var mu sync.Mutex
		largest := make(map[uint32]uint64)
		var group sync.WaitGroup
		for _, r := range a.remotes {
			group.Go(func() {
				if seq, err := r.lastBatch(ctx, a.id); err == nil {
					mu.Lock()
					largest[uint32(r.index)] = seq
					mu.Unlock()
				}
			})
		}
		group.Wait()
		if len(largest) >= need {
			result := make(chan error, 1)
			if !a.do(ctx, func(now int64) error {
				err := a.machine.Recover(now, largest)
				result <- err
				return a.done(nil, err)
			}) {
				return
			}
			select {
			case err := <-result:
				if err == nil {
					a.log.Info("restored from a backup: numbers of batches were jumped over")
					return
				}
			case <-a.quit:
				return
			}
		}
		a.log.Warn("restored from a backup: too few validators answer", "answers", len(largest), "needed", need)
		if !sleep(ctx, 2*time.Second) {
			return
		}
	}
}

// headFrame returns the newest certified height as it travels, or nil.
func (a *aggregator) headFrame() *aggregatev1.Head { return frame.NewHead(a.head.Load()) }

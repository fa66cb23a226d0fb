// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/undersign/undersign/internal/bls12381"
)

// An AggregatorConfig is what an aggregator is opened with.
type AggregatorConfig struct {
	Network *Network
	ID      uint64 // in the genesis
	Key     ed25519.PrivateKey
	Journal Journal
	Mode    Mode

	// Views returns the directory at a version that the journal names. A proposal
	// whose version it doesn't have is abandoned.
	Views func(version uint64) (View, error)

	// FromBackup is to be set if the journal may be older than what the aggregator
	// has signed. Then it proposes nothing before [Aggregator.Recover] was called.
	FromBackup bool

	Limits AggregatorLimits

	// Random fills a slice with random bytes. It is for simulations, which must be
	// repeatable: nil, for crypto/rand, is what is safe.
	Random func([]byte)
}

// Format writes nothing of the secret, whatever the verb.
func (c AggregatorConfig) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "aggregator %d", c.ID) }

// AggregatorLimits are sizes and times of an aggregator. The zero value of each stands for
// a default. Times are in milliseconds.
type AggregatorLimits struct {
	Leaves     int   // of a batch: 65,536
	BatchBytes int   // of the payloads of a batch: 4 MiB
	BatchAge   int64 // how long the first message waits for others: 500
	InFlight   int   // batches from proposal to receipt: 4

	AdmitBurst int   // messages verified together: 2,048
	AdmitAge   int64 // how long the first of them waits: 5
	Burst      int   // reductions verified together: 1,024

	// How long a batch waits for reductions. Between the bounds it goes by how long
	// they have taken: 200, 1,000 and 5,000.
	MinWait, FirstWait, MaxWait int64

	Retry        int64 // until a batch is published again, if it isn't taken: 1,000
	PoolMessages int   // 1,048,576
	PoolBytes    int   // of messages, in batches and not: 512 MiB
	ReceiptBytes int   // of results that are kept for lookups: 256 MiB

	Rate      int // messages of one client in a second: 64
	RateBurst int // of those, how many at once: 128

	Quarantine    int64 // for the first offence, and twice as long for each other: 10,000
	MaxQuarantine int64 // 3,600,000
}

func (l *AggregatorLimits) fill(p *Params) {
	set := func(v *int, def int) {
		if *v <= 0 {
			*v = def
		}
	}
	setTime := func(v *int64, def int64) {
		if *v <= 0 {
			*v = def
		}
	}
	set(&l.Leaves, 1<<16)
	l.Leaves = min(l.Leaves, int(p.MaxLeaves))
	set(&l.BatchBytes, 4<<20)
	set(&l.InFlight, 4)
	set(&l.AdmitBurst, 2048)
	set(&l.Burst, 1024)
	set(&l.PoolMessages, 1<<20)
	set(&l.PoolBytes, 512<<20)
	set(&l.ReceiptBytes, 256<<20)
	set(&l.Rate, 64)
	l.Rate = min(l.Rate, 1_000_000)
	set(&l.RateBurst, 128)
	setTime(&l.BatchAge, 500)
	setTime(&l.AdmitAge, 5)
	setTime(&l.MinWait, 200)
	setTime(&l.FirstWait, 1_000)
	setTime(&l.MaxWait, 5_000)
	setTime(&l.Retry, 1_000)
	setTime(&l.Quarantine, 10_000)
	setTime(&l.MaxQuarantine, 3_600_000)
}

// An Aggregator collects messages and makes batches of them. It can delay and leave out
// messages; that it does neither, as long as it runs and its clients answer, is its whole
// duty. A message that was acknowledged is in the journal.
//
// Methods that take now, in milliseconds, return what is to be done. There is one
// goroutine at a time. The caller has authenticated the clients whose messages it hands
// over: that of another would make trouble for this one. If the journal fails, the
// aggregator does nothing more and is to be opened again.
type Aggregator struct {
	cfg    AggregatorConfig
	limits AggregatorLimits
	params *Params
	ledger ledger

	view       View
	leastView  uint64 // version by which a message in the journal was admitted: the latest
	lastView   View   // of those in the journal
	head       uint64
	hasHead    bool
	draining   bool
	slowTurn   bool // in ModeLean: the next batch is for those in quarantine
	recovering bool
	resumed    bool // after opening

	clients  map[uint64]*clientState
	pool     pool
	incoming incoming

	nextSeq uint64
	rounds  []*round // in ascending order of their numbers
	waits   waits
	trash   []Record // what the next commit deletes

	nextPiece uint64
	touched   []*piece          // of which the next commit says what is left
	gone      map[uint64][]byte // while the journal is read: what is settled, of pieces that come

	delivered     []*delivered            // the oldest first
	receipts      map[nonceKey]*delivered // where a nonce's is
	receiptsBytes int

	negG1 *bls12381.G1
	stats AggregatorStats
}

// OpenAggregator returns an aggregator in the state that its journal has, which may be
// empty. Call [Aggregator.Tick] next. Nothing is admitted before SetView and HandleHead.
func OpenAggregator(cfg AggregatorConfig) (*Aggregator, error) {
	if cfg.Network == nil || cfg.Journal == nil || cfg.Views == nil {
		return nil, errors.New("distill: an aggregator without a network, journal or directory")
	}
	if len(cfg.Key) != ed25519.PrivateKeySize {
		return nil, errors.New("distill: an aggregator without a key")
	}
	key := cfg.Network.verifier.aggregators[cfg.ID]
	if key == nil {
		return nil, reject(RuleAggregator)
	}
	if enc := key.Bytes(); !bytes.Equal(enc[:], cfg.Key.Public().(ed25519.PublicKey)) {
		return nil, errors.New("distill: an aggregator with another key than its own")
	}
	a := &Aggregator{
		cfg: cfg, limits: cfg.Limits, params: &cfg.Network.verifier.params,
		ledger:  ledger{journal: cfg.Journal},
		clients: make(map[uint64]*clientState), receipts: make(map[nonceKey]*delivered), nextSeq: 1, nextPiece: 1,
		gone:  make(map[uint64][]byte),
		negG1: new(bls12381.G1).Neg(bls12381.G1Generator()),
	}
	if cfg.Mode >= modes || !a.params.Modes.Has(cfg.Mode) {
		return nil, reject(RuleMode)
	}
	if a.cfg.Random == nil {
		a.cfg.Random = secureRandom
	}
	a.limits.fill(a.params)
	a.waits.wait = a.limits.FirstWait
	if err := a.load(); err != nil {
		return nil, err
	}
	if cfg.FromBackup || a.recovering {
		if err := a.beginRecovery(); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// Format writes nothing of the secret, whatever the verb.
func (a Aggregator) Format(f fmt.State, verb rune) { a.cfg.Format(f, verb) }

// Stats returns the counters.
func (a *Aggregator) Stats() AggregatorStats {
	s := a.stats
	s.Waiting, s.WaitingSize, s.Rounds = a.pool.waiting, a.pool.bytes, len(a.rounds)
	s.Slow, s.Wait = a.pool.slow.n, a.waits.wait
	return s
}

// Head returns the newest certified height that the aggregator has seen.
func (a *Aggregator) Head() uint64 { return a.head }

// SetView changes the directory for what comes. Batches that were proposed stay with the
// version they name. After a start nothing is admitted or proposed by a version that is
// older than those before: it doesn't have all clients whose messages were acknowledged.
func (a *Aggregator) SetView(v View) { a.view = v }

// current reports whether the directory and the height are known, as far as they were
// before the start.
func (a *Aggregator) current() bool {
	return a.hasHead && a.view != nil && a.view.Version() >= a.leastView
}

// Drain makes the aggregator take no more messages, and bring those it has to an end. It
// is done when [AggregatorStats] has none waiting and no rounds.
func (a *Aggregator) Drain() { a.draining = true }

// HandleHead notes a certified height. Batches whose last height is past are abandoned.
func (a *Aggregator) HandleHead(now int64, h *SignedHead) (out []AggregatorAction, err error) {
	if a.ledger.err != nil {
		return nil, a.ledger.err
	}
	defer a.stop(&out)
	if a.hasHead && h.Hgt.Height <= a.head {
		return nil, nil
	}
	if err := a.cfg.Network.VerifyHead(h); err != nil {
		return nil, err
	}
	a.head, a.hasHead = h.Hgt.Height, true
	for _, r := range append([]*round(nil), a.rounds...) {
		last := r.validUntil
		if r.state == roundHandedOff {
			// It may be in the log, and its receipt on the way.
			last += a.params.ValidFor
		}
		if last < a.head {
			if out, err = a.abandon(now, r, out); err != nil {
				return out, err
			}
		}
	}
	a.forgetReceipts()
	return a.advance(now, out)
}

// Tick does what is due. Call it when the time of [Aggregator.Deadline] has come, and after
// the aggregator was opened.
func (a *Aggregator) Tick(now int64) (out []AggregatorAction, err error) {
	if a.ledger.err != nil {
		return nil, a.ledger.err
	}
	defer a.stop(&out)
	if !a.resumed {
		a.resumed = true
		if out, err = a.resume(now, out); err != nil {
			return out, err
		}
	}
	if a.incoming.due(now, &a.limits) {
		if out, err = a.admit(now, out); err != nil {
			return out, err
		}
	}
	return a.advance(now, out)
}

// stop takes actions back if the journal has failed: then nothing is to be done, whether
// it depends on what wasn't written or not.
func (a *Aggregator) stop(out *[]AggregatorAction) {
	if a.ledger.err != nil {
		*out = nil
	}
}

// advance proposes, closes and publishes what is due.
func (a *Aggregator) advance(now int64, out []AggregatorAction) ([]AggregatorAction, error) {
	if !a.resumed {
		return out, nil // what the journal has must be taken up first
	}
	var err error
	for _, r := range append([]*round(nil), a.rounds...) {
		switch {
		case r.state == roundCollecting && (r.open == 0 || now >= r.closeAt):
			out, err = a.close(now, r, out)
		case r.state == roundFinal && now >= r.publishAt:
			out = a.publish(now, r, out)
		}
		if err != nil {
			return out, err
		}
	}
	for a.mayPropose(now) {
		before := len(a.rounds)
		if out, err = a.propose(now, out); err != nil || len(a.rounds) == before {
			return out, err
		}
	}
	return out, nil
}

// Deadline returns the time of the next Tick, or false if there is nothing to wait for.
func (a *Aggregator) Deadline() (at int64, ok bool) {
	at = never
	if !a.resumed {
		at = 0
	}
	if len(a.incoming.list) > 0 {
		at = min(at, a.incoming.since+a.limits.AdmitAge)
	}
	if a.pool.open && a.canPropose() {
		at = min(at, a.pool.since+a.limits.BatchAge)
	}
	for _, r := range a.rounds {
		switch r.state {
		case roundCollecting:
			at = min(at, r.closeAt)
		case roundFinal:
			at = min(at, r.publishAt)
		}
	}
	return at, at != never
}

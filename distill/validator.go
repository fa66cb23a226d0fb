// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/undersign/undersign/bls"
)

// A Validator makes the same of an ordered log as all others: it verifies batches, executes
// each message once at most, and signs receipts. The log comes in ticks, one for each
// height, with any number of entries or none.
//
// It is for one goroutine at a time. What it did with a tick depends on the ticks up to
// then, and on nothing else, so that after a crash it is given the ticks again
// from [Validator.Head] on.
type Validator struct {
	committee *Committee
	verifier  *Verifier
	params    Params
	index     int
	key       *bls.SecretKey
	store     Store
	app       App
	from      uint64 // height to witness from

	dir     *Directory
	head    LogHead
	aggs    map[uint64]*AggregatorState
	clients clientColumns
	broken  error // why the state in memory may be another than the stored one
}

// An App executes messages. It must do the same on all validators.
type App interface {
	// Execute executes a message and returns the application's code for the result,
	// and whether it accepted the message. It is called before the tick is durable, and
	// again after a crash: what it changes must become durable with the tick, or be
	// derived from the log.
	Execute(height, id, nonce uint64, payload []byte) (code uint16, ok bool)
}

// A ValidatorConfig says what a validator is made of.
type ValidatorConfig struct {
	Genesis *Genesis
	Network *Network       // of Genesis, to share with others, or nil
	Index   int            // which of the genesis' validators it is
	Key     *bls.SecretKey // its key, or nil if it only follows the log
	Store   Store
	App     App // or nil: all messages are accepted

	// WitnessFrom is the first height at which the validator witnesses batches. If its
	// store was lost, or restored from a copy, that must be [Params.ValidFor] heights
	// past the certified head that it sees first: what it may have witnessed
	// before has expired by then.
	WitnessFrom uint64
}

// OpenValidator returns a validator with the state that its store has. Executions stay in
// the store.
func OpenValidator(c ValidatorConfig) (*Validator, error) {
	network := c.Network
	if network == nil {
		var err error
		if network, err = NewNetwork(c.Genesis); err != nil {
			return nil, err
		}
	} else if network.ID() != c.Genesis.ID() {
		return nil, reject(RuleNetwork)
	}
	committee, verifier := network.committee, network.verifier
	if c.Key != nil && !committee.Key(c.Index).PublicKey().Equal(c.Key.PublicKey()) {
		return nil, reject(RuleValidator)
	}
	v := &Validator{
		committee: committee, verifier: verifier, params: c.Genesis.Params, index: c.Index, key: c.Key,
		store: c.Store, app: c.App, from: c.WitnessFrom,
		dir: newDirectory(committee, c.Genesis.Params), aggs: make(map[uint64]*AggregatorState),
	}
	if err := v.load(); err != nil {
		return nil, fmt.Errorf("distill: loading a validator's state: %w", err)
	}
	return v, nil
}

var errStore = errors.New("distill: stored state is damaged")

func (v *Validator) load() (err error) {
	if v.head, err = v.store.Head(); err != nil {
		return err
	}
	if err := v.store.Rows(v.dir.Load); err != nil {
		return err
	}
	if v.dir.Version() != v.head.Dirver {
		return errStore
	}
	v.clients.grow(v.dir.Len())
	err = v.store.Clients(func(id uint64, c ClientState) error {
		if id >= v.dir.Len() {
			return errStore
		}
		v.clients.last[id], v.clients.window[id] = c.LastNonce, c.Window
		return nil
	})
	if err != nil {
		return err
	}
	aggs, err := v.store.Aggregators()
	if err != nil {
		return err
	}
	for _, a := range aggs {
		if _, known := v.verifier.aggregators[a.ID]; !known || len(a.Window) != v.params.seqWords() {
			return errStore
		}
		a.Window = append([]uint64(nil), a.Window...)
		v.aggs[a.ID] = &a
	}
	return nil
}

// Directory returns the validator's directory, which only [Validator.Apply] changes.
func (v *Validator) Directory() *Directory { return v.dir }

// Head returns the end of the log that was applied.
func (v *Validator) Head() LogHead { return v.head }

// LastSeq returns the largest number of a batch that an aggregator has in the log, or
// false if it has none. One that was restored from a copy asks 2F+1 validators.
func (v *Validator) LastSeq(aggID uint64) (seq uint64, ok bool) {
	a := v.aggs[aggID]
	if a == nil {
		return 0, false
	}
	return a.LastSeq, a.Any
}

// Used reports whether a batch of that number has no effect any more, whatever is in it: one
// has been in the log, or the number is behind those that are remembered. That stays so.
func (v *Validator) Used(aggID, seq uint64) bool {
	a := v.aggs[aggID]
	return a != nil && (a.old(seq, v.params.SeqWindow) || a.seen(seq))
}

// Suspended returns the last height of an aggregator's suspension, if that isn't over.
func (v *Validator) Suspended(aggID uint64) (until uint64, ok bool) {
	a := v.aggs[aggID]
	if a == nil || a.Until <= v.head.Height {
		return 0, false
	}
	return a.Until, true
}

// Client returns what was executed for an id.
func (v *Validator) Client(id uint64) (c ClientState, ok bool) {
	if id >= v.dir.Len() {
		return c, false
	}
	return v.clients.at(id), true
}

// A Checked is a batch that was verified before its place in the log was known.
type Checked struct {
	by       *Validator
	data     []byte
	verified *Verified
}

// Digest returns the digest of the batch.
func (c *Checked) Digest() [32]byte { return c.verified.Digest }

// Data returns the encoded batch, which mustn't be changed.
func (c *Checked) Data() []byte { return c.data }

// Check verifies an encoded batch whatever its place in the log will be. An [Entry] with
// what it returns isn't verified again, and data mustn't be changed until then. Check, and
// no other method, may be called by several goroutines, at any time.
func (v *Validator) Check(data []byte) (*Checked, error) {
	h, _, err := v.verifier.Open(data)
	if err != nil {
		return nil, err
	}
	view, err := v.dir.At(h.Dirver)
	if err != nil {
		return nil, err
	}
	verified, err := v.verifier.Verify(data, view)
	if err != nil {
		return nil, err
	}
	return &Checked{v, data, verified}, nil
}

// Place says what an encoded batch would be refused for if it were the next in the log,
// beside what [Validator.Check] finds. That is a courtesy: it is decided in the log.
func (v *Validator) Place(data []byte) error {
	if v.broken != nil {
		return v.broken
	}
	h, _, err := v.verifier.Open(data)
	if err != nil {
		return err
	}
	if rule := v.position(v.head.Height+1, &h); rule != 0 {
		return reject(rule)
	}
	return nil
}

// matches reports whether c is the outcome of verifying data.
func (c *Checked) matches(v *Validator, data []byte) bool {
	return c != nil && c.by == v && bytes.Equal(c.data, data)
}

// position returns the rule that a batch breaks at a height, or 0. It depends on the log
// before it alone, and so may depend on heights and versions.
func (v *Validator) position(height uint64, h *Header) Rule {
	version := v.dir.version() // no lock: this goroutine alone changes it
	a := v.aggs[h.AggID]
	switch {
	case a != nil && height <= a.Until:
		return RuleSuspended
	case a != nil && a.old(h.Seq, v.params.SeqWindow):
		return RuleSeqOld
	case a != nil && a.seen(h.Seq):
		return RuleSeqSeen
	case height > h.ValidUntil:
		return RuleExpired
	case h.ValidUntil-height > v.params.ValidFor:
		return RuleValidUntil
	case h.Dirver > version:
		return RuleDirectoryNew
	case version-h.Dirver > v.params.DirectoryLag:
		return RuleDirectoryOld
	}
	return 0
}

// aggregator returns the state of an aggregator, to be changed.
func (v *Validator) aggregator(id uint64) *AggregatorState {
	a := v.aggs[id]
	if a == nil {
		a = &AggregatorState{ID: id, Window: make([]uint64, v.params.seqWords())}
		v.aggs[id] = a
	}
	return a
}

func (p *Params) seqWords() int { return int((p.SeqWindow + 63) / 64) }

func (a *AggregatorState) old(seq, window uint64) bool {
	return a.Any && a.LastSeq >= window && seq <= a.LastSeq-window
}

func (a *AggregatorState) seen(seq uint64) bool {
	return a.Any && seq <= a.LastSeq && a.bit(seq, 0) != 0
}

// bit returns the bit of seq after setting it, if set is 1.
func (a *AggregatorState) bit(seq, set uint64) uint64 {
	at := seq % (64 * uint64(len(a.Window)))
	a.Window[at/64] |= set << (at % 64)
	return a.Window[at/64] >> (at % 64) & 1
}

// take marks seq as used, which must be neither old nor seen.
func (a *AggregatorState) take(seq uint64) {
	ring := 64 * uint64(len(a.Window))
	switch {
	case !a.Any:
		a.Any, a.LastSeq = true, seq
	case seq > a.LastSeq && seq-a.LastSeq >= ring:
		clear(a.Window)
		a.LastSeq = seq
	case seq > a.LastSeq:
		for a.LastSeq < seq {
			a.LastSeq++
			at := a.LastSeq % ring
			a.Window[at/64] &^= 1 << (at % 64)
		}
	}
	a.bit(seq, 1)
}

// strike suspends an aggregator for a bad batch that is in the log at a height: for
// [Params.ValidFor] heights, and twice as long each time. The batch itself has expired
// when the suspension ends, so that one batch counts once.
func (a *AggregatorState) strike(height, validFor uint64) {
	a.Until = height + validFor<<min(a.Strikes, 16)
	a.Strikes++
}

// clientColumns are the states of all ids.
type clientColumns struct {
	last, window []uint64
}

func (c *clientColumns) grow(n uint64) {
	for uint64(len(c.last)) < n {
		c.last, c.window = append(c.last, 0), append(c.window, 0)
	}
}

func (c *clientColumns) at(id uint64) ClientState { return ClientState{c.last[id], c.window[id]} }

// A nonceState says what became of a nonce, as far as a [ClientState] tells.
type nonceState uint8

const (
	nonceNew  nonceState = iota // not executed
	nonceUsed                   // executed
	nonceOld                    // too far behind to be executed, and perhaps it was
)

func (c ClientState) nonce(n uint64) nonceState {
	switch {
	case n > c.LastNonce:
		return nonceNew
	case c.LastNonce-n >= NonceWindow:
		return nonceOld
	case c.Window>>(c.LastNonce-n)&1 != 0:
		return nonceUsed
	}
	return nonceNew
}

// use marks a nonce as executed, which is new.
func (c *ClientState) use(n uint64) {
	if n > c.LastNonce {
		c.Window <<= min(n-c.LastNonce, NonceWindow)
		c.LastNonce = n
	}
	c.Window |= 1 << (c.LastNonce - n)
}

// kept reports whether an execution with that last height is still kept at a height.
func (p *Params) kept(notAfter, height uint64) bool {
	return height <= notAfter || height-notAfter <= p.KeepResults
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/distill"
)

// A validator is one with its store. A rogue one does the same, and says something else.
type validator struct {
	node
	s     *sim
	index int
	v     *distill.Validator
	store *distill.MemStore
	seen  uint64 // height that was checked, and told of
	rogue *rogueValidator

	backup   *distill.MemStore
	restored bool
}

func newValidator(s *sim, index int) *validator {
	return &validator{node: node{name: fmt.Sprintf("validator %d", index)}, s: s, index: index, store: s.w.store.Clone(), seen: registered}
}

// app is what messages are executed by: it refuses those that end with '!'.
type app struct{}

func (app) Execute(_, _, _ uint64, payload []byte) (code uint16, ok bool) {
	n := len(payload)
	return uint16(n), n == 0 || payload[n-1] != '!'
}

func (v *validator) open() error {
	cfg := distill.ValidatorConfig{Genesis: v.s.w.genesis, Network: v.s.w.network, Index: v.index, Store: v.store, App: app{}}
	if v.s.signs {
		cfg.Key = v.s.w.validators[v.index]
	}
	x, err := distill.OpenValidator(cfg)
	if err != nil {
		return err
	}
	v.v, v.down = x, false
	return nil
}

func (v *validator) reopen() {
	if err := v.open(); err != nil {
		v.s.violate(Sound, "%s can't be opened: %v", v.name, err)
		return
	}
	v.tell()
}

// restore goes back to the backup, as a validator is to do that: it is given the log from
// there on again.
func (v *validator) restore() {
	v.s.faults.Restores++
	v.s.tracef("%s is restored from a backup", v.name)
	v.store, v.backup, v.restored = v.backup, nil, true
	head, err := v.store.Head()
	v.s.sound(v.name, err)
	v.seen = min(v.seen, head.Height)
	v.reopen()
	v.catchUp()
}

// arm makes the store fail at the next commit.
func (v *validator) arm() {
	durable := v.s.one(2)
	v.store.Fault = func(*distill.Commit) (bool, error) {
		v.store.Fault = nil
		return durable, errCrash
	}
}

// catchUp applies the ticks that are there.
func (v *validator) catchUp() {
	s := v.s
	if v.down || v.v == nil || s.now < s.apart && v.side != s.log.side {
		return
	}
	for v.v.Head().Height < s.log.height() {
		height := v.v.Head().Height + 1
		entries := s.log.at(height)
		_, err := v.v.Apply(height, entries)
		switch {
		case errors.Is(err, errCrash):
			s.faults.Crashes++
			s.tracef("%s crashes at height %d", v.name, height)
			v.down = true
			s.after(int64(s.rng.IntN(2000)), func() {
				if v.down {
					v.reopen()
					v.catchUp()
				}
			})
			return
		case err != nil:
			s.violate(Sound, "%s: height %d: %v", v.name, height, err)
			return
		}
		v.tell()
	}
}

// tell says what became of the heights that are durable, whether it is known from Apply or
// was found after a crash.
func (v *validator) tell() {
	s := v.s
	head := v.v.Head()
	for ; v.seen < head.Height; v.seen++ {
		height := v.seen + 1
		records, err := v.store.Tick(height)
		if err != nil {
			s.violate(Sound, "%s: log of height %d: %v", v.name, height, err)
			return
		}
		s.oracle.height(s, v, height, records)
		for i := range records {
			if records[i].Kind != distill.RecordBatch {
				continue
			}
			if h, err := distill.DecodeHeader(records[i].Data); err == nil {
				v.push(s.aggregator(h.AggID), &records[i])
			}
		}
	}
	s.oracle.head(s, v, head)
	if s.log.wanted(head.Height) {
		v.sendHead(head)
	}
}

// sign signs a statement, or returns what the validator has signed by itself.
func (v *validator) sign(st distill.Statement) *distill.Share {
	share, err := distill.SignStatement(v.s.w.validators[v.index], v.index, st)
	if err != nil {
		v.s.violate(Sound, "%s: %v", v.name, err)
		return nil
	}
	return share
}

func (v *validator) sendHead(head distill.LogHead) {
	s := v.s
	hgt := distill.Hgt{Net: s.w.network.ID(), Height: head.Height, Batches: head.Batches, LogHash: head.LogHash, Dirver: head.Dirver}
	sign := func() *distill.Share { return v.sign(hgt) }
	if s.signs {
		signed, share, err := v.v.SignHead()
		if err != nil || share == nil || signed != hgt {
			s.violate(True, "%s signs another head than it has: %v", v.name, err)
			return
		}
		sign = func() *distill.Share { return share }
	}
	if v.rogue != nil {
		for _, lie := range v.rogue.heads(s, hgt) {
			s.send(&v.node, &s.relay.node, "a false head", func() { s.relay.add(s, lie, func() *distill.Share { return v.sign(lie) }) })
			if s.one(2) {
				forged := s.forge(lie, v.sign(lie))
				c := s.clients[s.rng.IntN(len(s.clients))]
				s.send(&v.node, &c.node, "a forged certificate", func() { c.head(forged) })
			}
		}
		if v.rogue.has(silent) {
			return
		}
		if v.rogue.has(garbage) {
			sign = func() *distill.Share { return v.rogue.spoil(v.sign(hgt)) }
		}
	}
	s.send(&v.node, &s.relay.node, "a head", func() { s.relay.add(s, hgt, sign) })
}

// push sends a receipt for a batch to its aggregator.
func (v *validator) push(a *aggregator, r *distill.LogRecord) {
	s := v.s
	rcpt, results := r.Rcpt, r.Results
	sign := func() *distill.Share { return v.sign(rcpt) }
	if s.signs {
		sign = func() *distill.Share { return v.signed(rcpt) }
	}
	if v.rogue != nil {
		if lie, other, ok := v.rogue.rcpt(rcpt, results); ok {
			s.send(&v.node, &a.node, "a false receipt", func() {
				a.rcpt(v, lie, other, func() *distill.Share { return v.sign(lie) })
			})
		}
		if v.rogue.has(silent) {
			return
		}
		if v.rogue.has(garbage) {
			sign = func() *distill.Share { return v.rogue.spoil(v.sign(rcpt)) }
		}
	}
	s.send(&v.node, &a.node, "a receipt", func() { a.rcpt(v, rcpt, results, sign) })
}

// signed returns what the validator itself signs about an entry of the log.
func (v *validator) signed(rcpt distill.Rcpt) *distill.Share {
	if v.down || v.v.Head().Height < rcpt.Height {
		return nil // it was restored from a backup, and isn't there again
	}
	_, list, err := v.v.Receipts(rcpt.Height)
	v.s.sound(v.name, err)
	for _, r := range list {
		if r.Rcpt == rcpt {
			return r.Share
		}
	}
	v.s.violate(True, "%s doesn't sign what it has at height %d", v.name, rcpt.Height)
	return nil
}

// sendReceipt sends a receipt again.
func (v *validator) sendReceipt(a *aggregator, digest [32]byte) {
	height, ok := v.s.log.heights[digest]
	if v.down || !ok || height > v.seen {
		return
	}
	records, err := v.store.Tick(height)
	v.s.sound(v.name, err)
	for i := range records {
		if records[i].Rcpt.BatchDigest == digest && records[i].Kind == distill.RecordBatch {
			v.push(a, &records[i])
		}
	}
}

// lookup answers a client's question.
func (v *validator) lookup(c *client, q distill.Lookup) {
	if v.down {
		return
	}
	l, err := v.v.Lookup(q)
	if err != nil {
		v.s.sound(v.name, err)
		return
	}
	what := "an answer"
	if v.rogue != nil {
		if v.rogue.has(silent) {
			return
		}
		if v.rogue.look(&l.Look) {
			what = "a false answer"
			l.Share = *v.sign(l.Look)
		}
	}
	v.s.send(&v.node, &c.node, what, func() {
		if !v.s.signs && l.Share.Signature == [96]byte{} {
			l.Share = *v.sign(l.Look)
		}
		c.look(l)
	})
}

func (v *validator) lastSeq(id uint64) uint64 {
	seq, _ := v.v.LastSeq(id)
	if v.rogue != nil && v.rogue.has(lieAnswers) {
		return v.rogue.number(seq)
	}
	return seq
}

// viewAt returns the directory at a version, as anybody has it who follows the log.
func (s *sim) viewAt(version uint64) (distill.View, error) {
	var err error
	for _, v := range s.vals {
		var view distill.View
		if view, err = v.v.Directory().At(version); err == nil {
			return view, nil
		}
	}
	return nil, err
}

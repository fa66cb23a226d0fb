// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"errors"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/internal/zip215"
)

// incoming is messages that passed the cheap checks. Their signatures are verified
// together, and they are made durable together.
type incoming struct {
	list  []*poolEntry
	bytes int
	since int64
}

func (in *incoming) due(now int64, l *AggregatorLimits) bool {
	return len(in.list) > 0 && (len(in.list) >= l.AdmitBurst || now >= in.since+l.AdmitAge)
}

// HandleSubmission takes a message of a client, or refuses it. It is acknowledged when it
// is durable, which may be later.
func (a *Aggregator) HandleSubmission(now int64, s *Submission) (out []AggregatorAction, err error) {
	if a.ledger.err != nil {
		return nil, a.ledger.err
	}
	defer a.stop(&out)
	a.stats.Submitted++
	c, rule, wait := a.examine(now, s)
	if rule != 0 {
		return a.refuse(s.ID, s.Nonce, rule, wait, nil), nil
	}
	if c.executed(s.Nonce) {
		if r, ok := a.Lookup(s.ID, s.Nonce); ok {
			a.stats.Repeated++
			return append(out, r), nil
		}
		return a.refuse(s.ID, s.Nonce, RuleExecuted, 0, nil), nil
	}
	e := &poolEntry{
		id: s.ID, nonce: s.Nonce, notAfter: s.NotAfter, hash: PayloadHash(s.Payload),
		payload: bytes.Clone(s.Payload),
	}
	if len(s.Signature) > 0 {
		e.sig = bytes.Clone(s.Signature)
	}
	if known := c.find(s.Nonce); known != nil && known.same(e) && (known.sig != nil || e.sig == nil) && a.holds(known) {
		return a.repeat(known, nil), nil
	}
	if len(a.incoming.list) == 0 {
		a.incoming.since = now
	}
	a.incoming.list = append(a.incoming.list, e)
	a.incoming.bytes += e.size()
	if a.incoming.due(now, &a.limits) {
		if out, err = a.admit(now, nil); err != nil {
			return out, err
		}
		return a.advance(now, out)
	}
	return nil, nil
}

// same reports whether two entries with one nonce are the same message.
func (e *poolEntry) same(x *poolEntry) bool { return e.hash == x.hash && e.notAfter == x.notAfter }

// examine makes the checks that cost nothing, in an order in which nobody unknown, and
// nobody greedy, costs more than that.
func (a *Aggregator) examine(now int64, s *Submission) (c *clientState, rule Rule, wait int64) {
	switch {
	case !a.current():
		return nil, RuleNoHead, a.limits.BatchAge
	case a.view.FirstInactive([]uint64{s.ID}) >= 0:
		return nil, RuleInactive, 0
	case uint64(len(s.Payload)) > a.params.MaxPayload || !a.fits(1, leafBytes(len(s.Payload))):
		return nil, RulePayloadSize, 0
	}
	c = a.client(s.ID)
	if wait := c.allow(now, &a.limits); wait > 0 {
		return c, RuleRate, wait
	}
	known := c.find(s.Nonce) != nil
	switch {
	case a.draining && !known && !c.executed(s.Nonce):
		return c, RuleDraining, 0
	case !known && (a.pool.bytes+a.incoming.bytes >= a.limits.PoolBytes ||
		a.messages()+len(a.incoming.list) >= a.limits.PoolMessages):
		return c, RuleFull, a.limits.BatchAge
	case !known && a.pool.bytes >= a.limits.PoolBytes/2 && c.size() >= a.limits.PoolBytes/poolShares:
		return c, RuleFull, a.limits.BatchAge // so that a few can't keep all others out
	case !known && len(c.entries) >= NonceWindow:
		return c, RuleWindow, a.limits.BatchAge
	case s.Nonce == 0 || c.behind(s.Nonce):
		return c, RuleOldNonce, 0
	case s.NotAfter < a.head+2*a.params.ValidFor && !known && !c.executed(s.Nonce):
		return c, RuleTooLate, 0
	case s.NotAfter > a.head+a.params.MaxAhead:
		return c, RuleLifetime, 0
	case !a.goodSize(s.Signature):
		return c, RuleSubmissionSignature, 0
	}
	return c, 0, 0
}

// poolShares is the number of clients that can fill a pool up from its half.
const poolShares = 1024

// size returns the bytes of the client's entries.
func (c *clientState) size() (n int) {
	for _, e := range c.entries {
		n += e.size()
	}
	return n
}

// messages returns the number of entries, in batches or not.
func (a *Aggregator) messages() int {
	n := a.pool.waiting
	for _, r := range a.rounds {
		n += len(r.members)
	}
	return n
}

// goodSize reports whether a signature has the length of one of the mode. In ModeLean it
// may be there if it was asked for.
func (a *Aggregator) goodSize(sig []byte) bool {
	switch a.cfg.Mode {
	case ModeEd25519:
		return len(sig) == signatureSize
	case ModeFolded:
		return len(sig) == bls.SignatureSize
	}
	return len(sig) == 0 || len(sig) == signatureSize && a.params.Modes.Has(ModeEd25519)
}

// suits reports whether a signature that was admitted is one of the mode: the journal may
// have those of another.
func (a *Aggregator) suits(sig []byte) bool {
	if a.cfg.Mode == ModeFolded {
		return len(sig) == ReductionSize
	}
	return a.goodSize(sig)
}

func (a *Aggregator) refuse(id, nonce uint64, rule Rule, wait int64, out []AggregatorAction) []AggregatorAction {
	a.stats.Refused++
	if wait > 0 {
		a.stats.Throttled++
	}
	return append(out, SendRefusal{Refusal{id, nonce, rule, wait}})
}

// repeat answers to a message that is known: the client has lost the acknowledgement, or
// the proposal.
func (a *Aggregator) repeat(e *poolEntry, out []AggregatorAction) []AggregatorAction {
	a.stats.Repeated++
	out = append(out, SendAck{e.id, e.nonce})
	if r := e.round; r != nil && r.state == roundCollecting {
		if at := r.find(e.id); at >= 0 && r.status[at] == memberOpen {
			out = append(out, SendProposals{r, []uint32{uint32(at)}})
		}
	}
	return out
}

// admit verifies the signatures of the messages that came in, makes the good ones durable
// and then acknowledges them.
func (a *Aggregator) admit(now int64, out []AggregatorAction) ([]AggregatorAction, error) {
	list := a.incoming.list
	a.incoming = incoming{}
	good := a.verifySubmissions(list)

	var fresh, signed []*poolEntry
	first := make(map[nonceKey]*poolEntry) // new in this burst
	more := make(map[uint64]int)           // of them, of a client
	for i, e := range list {
		c := a.client(e.id)
		known := c.find(e.nonce)
		if known == nil {
			known = first[nonceKey{e.id, e.nonce}]
		}
		switch {
		case !good[i]:
			rule := RuleSubmissionSignature
			if a.view.FirstInactive([]uint64{e.id}) >= 0 {
				rule = RuleInactive // since it came in
			}
			out = a.refuse(e.id, e.nonce, rule, 0, out)
		case known == nil && c.executed(e.nonce):
			out = a.refuse(e.id, e.nonce, RuleExecuted, 0, out)
		case known == nil && len(c.entries)+more[e.id] >= NonceWindow:
			out = a.refuse(e.id, e.nonce, RuleWindow, a.limits.BatchAge, out)
		case known == nil:
			first[nonceKey{e.id, e.nonce}] = e
			more[e.id]++
			fresh = append(fresh, e)
		case !known.same(e):
			a.stats.Conflicts++
			// With one payload the second is executed no more than the first.
			if known.sig != nil && e.sig != nil && known.hash != e.hash {
				out = append(out, ReportConflict{a.view.Version(), a.wireForm(known), a.wireForm(e)})
			}
			out = a.refuse(e.id, e.nonce, RuleConflict, 0, out)
		case e.sig != nil && (known.sig == nil || known.round == nil && !a.holds(known)):
			// The signature that was asked for, or one by new keys.
			signed = append(signed, known)
			a.pool.bytes += len(e.sig) - len(known.sig)
			known.sig, known.view = e.sig, e.view
		default:
			out = a.repeat(known, out)
		}
	}
	if err := a.commit(a.enter(append(fresh[:len(fresh):len(fresh)], signed...))...); err != nil {
		return nil, err
	}
	for _, e := range fresh {
		a.stats.Admitted++
		a.insert(now, e)
		out = append(out, SendAck{e.id, e.nonce})
	}
	for _, e := range signed {
		out = append(out, SendAck{e.id, e.nonce})
		a.enqueue(now, a.client(e.id), false)
	}
	return out, nil
}

// commit writes records, and deletes those that are to go.
func (a *Aggregator) commit(writes ...Record) error {
	if len(writes) > 0 {
		writes = append(append(a.trash, writes...), a.left()...)
		a.trash = nil
	}
	return a.ledger.commit(writes...)
}

// verifySubmissions says of each message whether its client is active and its signature
// valid. The directory may be another than when the message came.
func (a *Aggregator) verifySubmissions(list []*poolEntry) []bool {
	good := make([]bool, len(list))
	var items []int // by their positions in the joint check
	var bad []int
	switch a.cfg.Mode {
	case ModeFolded:
		joint := bls.NewBatch(bls.Augmented)
		for i, e := range list {
			key := a.view.BLSKey(e.id)
			sig, err := bls.ParseSignature(e.sig)
			if key == nil || err != nil {
				continue
			}
			d := a.sub(e).Digest()
			joint.Add(key.PublicKey(), d[:], sig)
			e.sig = sig.UncompressedBytes()
			items, good[i] = append(items, i), true
		}
		if err, ok := errors.AsType[*bls.BatchError](joint.Verify()); ok {
			bad = err.Bad
		}
	default:
		joint := zip215.NewBatch(len(list))
		var buf [128]byte
		for i, e := range list {
			key := a.view.EdKey(e.id)
			good[i] = key != nil
			if key == nil || e.sig == nil {
				continue // in ModeLean the client needn't sign, but be active
			}
			joint.Add(key, a.sub(e).append(buf[:0]), e.sig)
			items = append(items, i)
		}
		bad = joint.Verify()
	}
	for _, at := range bad {
		good[items[at]] = false
	}
	for i, e := range list {
		if good[i] {
			e.view = a.view
		}
	}
	return good
}

// holds reports whether a message could be in a batch of the present version of the
// directory, as a straggler's: whether its client is active, and its signature by the keys
// of today. They may have changed since it was admitted. If that weren't noticed before the
// batch is proposed, one client could void it for all.
func (a *Aggregator) holds(e *poolEntry) bool {
	if e.round != nil || e.view != nil && e.view.Version() == a.view.Version() {
		return true
	}
	key := a.view.BLSKey(e.id)
	if key == nil {
		return false
	}
	// Whoever changes one key changes both.
	same := e.view != nil && key.Equal(e.view.BLSKey(e.id))
	if !same && e.sig != nil && !a.verifies(e, key) {
		return false
	}
	e.view = a.view
	return true
}

// verifies reports whether the signature of a message that was admitted is by the present
// keys of its client.
func (a *Aggregator) verifies(e *poolEntry, key *bls.ProvenKey) bool {
	sub := a.sub(e)
	if len(e.sig) == signatureSize {
		return a.view.EdKey(e.id).Verify(sub.Bytes(), e.sig) == nil
	}
	sig, err := bls.ParseUncompressedSignature(e.sig)
	d := sub.Digest()
	return err == nil && bls.Augmented.Verify(key.PublicKey(), d[:], sig) == nil
}

func (a *Aggregator) sub(e *poolEntry) *Sub {
	return &Sub{a.cfg.Network.verifier.net, e.id, e.nonce, e.notAfter, e.hash}
}

// wireForm returns the message as it came.
func (a *Aggregator) wireForm(e *poolEntry) Submission {
	s := Submission{ID: e.id, Nonce: e.nonce, NotAfter: e.notAfter, Payload: e.payload, Signature: e.sig}
	if len(e.sig) == ReductionSize {
		if sig, err := bls.ParseUncompressedSignature(e.sig); err == nil {
			s.Signature = sig.Bytes()
		}
	}
	return s
}

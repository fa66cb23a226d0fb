// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/undersign/undersign/internal/wire"
)

// The keys of an aggregator's records: a letter, its id, a kind, and what it is of. They
// are in the order in which they are read: messages before the batches they are in.
const (
	aggregatorKey       = 'a'
	aggregatorKeyLength = 1 + 8 + 1

	kindState    = 'a'
	kindGone     = 'b'
	kindPiece    = 'c'
	kindBatch    = 'd'
	kindHandoff  = 'e'
	kindReceipts = 'f'
)

// The forms of a batch's record.
const (
	batchProposed = iota + 1
	batchFinal
)

func (a *Aggregator) key(kind byte, of ...uint64) []byte {
	k := binary.BigEndian.AppendUint64([]byte{aggregatorKey}, a.cfg.ID)
	if kind != 0 {
		k = append(k, kind)
	}
	for _, v := range of {
		k = binary.BigEndian.AppendUint64(k, v)
	}
	return k
}

func (a *Aggregator) batchKey(seq uint64) []byte    { return a.key(kindBatch, seq) }
func (a *Aggregator) handoffKey(seq uint64) []byte  { return a.key(kindHandoff, seq) }
func (a *Aggregator) receiptsKey(seq uint64) []byte { return a.key(kindReceipts, seq) }

func header(e *wire.Encoder, kind uint8) {
	e.U8(recordVersion)
	e.U8(kind)
}

func (a *Aggregator) stateRecord(nextSeq uint64, recovering bool) Record {
	var e wire.Encoder
	header(&e, recordAggregator)
	e.Fixed(a.cfg.Network.verifier.net[:])
	e.U64(nextSeq)
	e.U8(flag(recovering))
	return Record{a.key(kindState), e.Data()}
}

// proposedRecord says which messages a round's tree is of.
func (a *Aggregator) proposedRecord(r *round) Record {
	var e wire.Encoder
	e.Grow(128 + 16*len(r.members))
	header(&e, recordBatch)
	e.U8(batchProposed)
	e.U8(uint8(r.mode))
	e.U64(r.view.Version())
	e.U64(r.validUntil)
	root := r.tree.Root()
	e.Fixed(root[:])
	e.U32(uint32(len(r.members)))
	for _, m := range r.members {
		e.U64(m.id)
		e.U64(m.nonce)
	}
	return Record{a.batchKey(r.seq), e.Data()}
}

func (a *Aggregator) finalRecord(r *round) Record {
	var e wire.Encoder
	e.Grow(16 + len(r.encoded))
	header(&e, recordBatch)
	e.U8(batchFinal)
	e.Bytes(r.encoded)
	return Record{a.batchKey(r.seq), e.Data()}
}

func (a *Aggregator) handoffRecord(seq uint64) Record {
	return Record{a.handoffKey(seq), []byte{recordVersion}}
}

func (a *Aggregator) receiptsRecord(d *delivered) Record {
	var e wire.Encoder
	e.Grow(512 + LeafSize*len(d.results))
	header(&e, recordReceipts)
	e.U64(d.expires)
	e.Bytes(d.rcpt.Rcpt.Bytes())
	e.Bytes(d.rcpt.Certificate.Bitmap)
	e.Fixed(d.rcpt.Certificate.Signature[:])
	e.U32(uint32(len(d.results)))
	for i := range d.results {
		b := d.results[i].Block()
		e.Fixed(b[:])
	}
	return Record{a.receiptsKey(d.seq), e.Data()}
}

// viewAt returns the directory at a version, or nil if it doesn't have it.
func (a *Aggregator) viewAt(version uint64) View {
	if a.lastView != nil && a.lastView.Version() == version {
		return a.lastView
	}
	v, err := a.cfg.Views(version)
	if err != nil {
		return nil
	}
	a.lastView = v
	return v
}

// load reads the journal.
func (a *Aggregator) load() error {
	for r, err := range a.cfg.Journal.Records(a.key(0)) {
		if err == nil {
			err = a.loadRecord(r)
		}
		if err != nil {
			return corrupt(r.Key, err)
		}
	}
	if len(a.gone) > 0 {
		return corrupt(a.key(kindGone), errors.New("of messages that aren't there"))
	}
	for _, r := range a.rounds {
		a.nextSeq = max(a.nextSeq, r.seq+1)
	}
	return nil
}

func (a *Aggregator) loadRecord(r Record) error {
	if len(r.Key) < aggregatorKeyLength || len(r.Key)%8 != aggregatorKeyLength%8 {
		return errors.New("a key of another length")
	}
	var of []uint64
	for k := r.Key[aggregatorKeyLength:]; len(k) > 0; k = k[8:] {
		of = append(of, binary.BigEndian.Uint64(k))
	}
	d := wire.NewDecoder(r.Value)
	var err error
	switch kind := r.Key[aggregatorKeyLength-1]; {
	case kind == kindState && len(of) == 0:
		d.Header(recordVersion, recordAggregator)
		var net NetworkID
		d.Read("network", net[:])
		if net != a.cfg.Network.ID() {
			d.Fail("network", "it is another one")
		}
		a.nextSeq = d.U64("next number")
		a.recovering = readFlag(d, "recovering")
	case kind == kindGone && len(of) == 1:
		err = a.loadGone(d, of[0])
	case kind == kindPiece && len(of) == 1:
		err = a.loadPiece(d, of[0])
	case kind == kindBatch && len(of) == 1:
		err = a.loadBatch(d, of[0])
	case kind == kindHandoff && len(of) == 1:
		d.U8("version")
		if r := a.round(of[0]); r != nil && r.state == roundFinal {
			r.state = roundHandedOff
		}
	case kind == kindReceipts && len(of) == 1:
		err = a.loadReceipts(d, of[0])
	default:
		return errors.New("an unknown key")
	}
	if err != nil {
		return err
	}
	return d.Finish()
}

// loadBatch makes a round of a batch's record. Its messages were read before. If the
// directory doesn't have the version of a proposal any more, it is abandoned later.
func (a *Aggregator) loadBatch(d *wire.Decoder, seq uint64) error {
	d.Header(recordVersion, recordBatch)
	r := &round{seq: seq}
	var dirver uint64
	var root [32]byte
	var nonces []uint64
	switch form := d.U8("form"); form {
	case batchProposed:
		r.state = roundCollecting
		r.mode = Mode(d.U8("mode"))
		dirver = d.U64("version of the directory")
		r.validUntil = d.U64("last height")
		d.Read("root", root[:])
		n := count(d, "members", 1<<MaxDepth, 16)
		for range n {
			r.ids = append(r.ids, d.U64("id"))
			nonces = append(nonces, d.U64("nonce"))
		}
		if d.Err() == nil && (n == 0 || r.mode >= modes) {
			d.Fail("members", "none, or of an unknown mode")
		}
	case batchFinal:
		r.state = roundFinal
		r.encoded = d.Bytes("batch", int(a.params.MaxBatch))
		if d.Err() != nil {
			return d.Err()
		}
		b, err := DecodeBatch(r.encoded, a.params)
		if err != nil {
			return err
		}
		r.mode, r.validUntil, r.digest = b.Mode, b.ValidUntil, BatchDigest(r.encoded)
		r.ids, nonces, dirver = b.IDs, b.Nonces, b.Dirver
	default:
		d.Fail("form", "%d is none", form)
	}
	if err := d.Finish(); err != nil {
		return err
	}
	for i, id := range r.ids {
		var e *poolEntry
		if c := a.clients[id]; c != nil {
			e = c.find(nonces[i])
		}
		if e == nil || e.round != nil {
			return fmt.Errorf("message %d of client %d isn't there", nonces[i], id)
		}
		a.fly(e, r)
		r.members = append(r.members, e)
	}
	a.rounds = append(a.rounds, r)
	r.view = a.viewAt(dirver)
	a.build(r)
	if r.state != roundCollecting {
		return nil
	}
	if r.tree.Root() != root {
		return errors.New("messages of another root")
	}
	return nil
}

func (a *Aggregator) loadReceipts(d *wire.Decoder, seq uint64) error {
	d.Header(recordVersion, recordReceipts)
	x := &delivered{seq: seq, expires: d.U64("expires")}
	rcpt := d.Bytes("receipt", 256)
	x.rcpt.Certificate.Bitmap = d.Bytes("signers", maxValidators/8)
	d.Read("certificate", x.rcpt.Certificate.Signature[:])
	n := count(d, "results", 1<<MaxDepth, LeafSize)
	if d.Err() != nil || n == 0 {
		return errors.Join(d.Err(), errors.New("no results"))
	}
	if err := x.rcpt.Rcpt.UnmarshalBinary(rcpt); err != nil {
		return err
	}
	x.results = make([]Result, 0, n)
	var block [LeafSize]byte
	for range n {
		d.Read("result", block[:])
		res, err := ParseResult(block[:])
		if err != nil {
			return err
		}
		x.results = append(x.results, res)
		a.client(res.ID).learn(&res)
	}
	a.trash = append(a.trash, a.keep(x)...)
	return nil
}

// resume goes on where the journal ends: the same proposals are sent again, and the same
// batches published, so that nobody ever sees two of one number.
func (a *Aggregator) resume(now int64, out []AggregatorAction) ([]AggregatorAction, error) {
	if a.pool.open {
		a.pool.since = now
	}
	for _, r := range append([]*round(nil), a.rounds...) {
		switch {
		case r.state != roundCollecting:
			out = a.publish(now, r, out)
		case r.view == nil:
			var err error
			if out, err = a.abandon(now, r, out); err != nil {
				return out, err
			}
		default:
			a.signProposal(r)
			r.proposedAt, r.closeAt = now, now+a.waits.wait
			out = append(out, r.proposals())
		}
	}
	return out, nil
}

// beginRecovery makes durable that the journal is an old one. Its batches are given up:
// others may have been published under their numbers, and two would be evidence against
// the aggregator.
func (a *Aggregator) beginRecovery() error {
	a.recovering = true
	if err := a.commit(a.stateRecord(a.nextSeq, true)); err != nil {
		return err
	}
	for _, r := range append([]*round(nil), a.rounds...) {
		if _, err := a.abandon(0, r, nil); err != nil {
			return err
		}
	}
	return nil
}

// Recovering reports whether the aggregator was restored from a backup and waits for
// [Aggregator.Recover].
func (a *Aggregator) Recovering() bool { return a.recovering }

// Recover lets an aggregator that was restored from a backup propose again. What it takes
// is the largest number of a batch of this aggregator that each of 2F+1 validators, or more,
// has seen. The next number is far over what F+1 of them have said.
func (a *Aggregator) Recover(now int64, largest map[uint32]uint64) error {
	if a.ledger.err != nil || !a.recovering {
		return a.ledger.err
	}
	committee := a.cfg.Network.committee
	var numbers []uint64
	for validator, seq := range largest {
		if committee.Key(int(validator)) != nil {
			numbers = append(numbers, seq)
		}
	}
	last, ok := committee.settled(numbers)
	if !ok {
		return reject(RuleQuorum)
	}
	next := jump(max(last, a.nextSeq), a.cfg.Random)
	if next == 0 {
		return reject(RuleNonces)
	}
	if err := a.commit(a.stateRecord(next, false)); err != nil {
		return err
	}
	a.nextSeq, a.recovering = next, false
	return nil
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"cmp"
	"slices"
	"sync"
)

// A BatchReceipt is what validators say about a batch: the results of all leaves, in their
// order, of which the signed receipt has the root.
type BatchReceipt struct {
	Seq uint64
	SignedRcpt
	Results []Result
}

// delivered is the results of a batch, kept for clients that ask.
type delivered struct {
	seq     uint64
	rcpt    SignedRcpt
	results []Result
	expires uint64 // height after which nobody has a right to ask

	once sync.Once
	tree *Tree // of results that were read from the journal, once somebody asks
}

// proof returns the siblings of a result. Many batches are read when an aggregator starts,
// and few are asked for again.
func (d *delivered) proof(at int) [][32]byte {
	d.once.Do(func() {
		if d.tree != nil {
			return
		}
		leaves := make([][32]byte, len(d.results))
		for i := range d.results {
			leaves[i] = d.results[i].Hash()
		}
		d.tree = NewTree(leaves)
	})
	return d.tree.Proof(at)
}

func (d *delivered) receipt(at int) Receipt {
	return Receipt{SignedRcpt: d.rcpt, Result: d.results[at], Index: uint64(at), Siblings: d.proof(at)}
}

// size is what the results take in memory, roughly.
func (d *delivered) size() int { return 1024 + (LeafSize+104)*len(d.results) }

// find returns the position of a client's result, or false.
func (d *delivered) find(id uint64) (int, bool) {
	return slices.BinarySearchFunc(d.results, id, func(r Result, id uint64) int { return cmp.Compare(r.ID, id) })
}

// Published returns the numbers of the batches that were published, and wait for their
// receipts, by their digests.
func (a *Aggregator) Published() map[[32]byte]uint64 {
	m := make(map[[32]byte]uint64)
	for _, r := range a.rounds {
		if r.state != roundCollecting {
			m[r.digest] = r.seq
		}
	}
	return m
}

// HandedOff notes that the validators have a batch, so that it isn't published again.
func (a *Aggregator) HandedOff(now int64, seq uint64) error {
	r := a.round(seq)
	if a.ledger.err != nil || r == nil || r.state != roundFinal {
		return a.ledger.err
	}
	if err := a.commit(a.handoffRecord(seq)); err != nil {
		return err
	}
	r.state = roundHandedOff
	return nil
}

// HandleBatchReceipt verifies the receipt for a batch. The batch is done then: its clients
// get their receipts, and messages that weren't executed for a reason that may pass go
// into another batch.
func (a *Aggregator) HandleBatchReceipt(now int64, br *BatchReceipt) (out []AggregatorAction, err error) {
	if a.ledger.err != nil {
		return nil, a.ledger.err
	}
	defer a.stop(&out)
	r := a.round(br.Seq)
	switch {
	case r == nil || r.state == roundCollecting:
		return nil, reject(RuleNoBatch)
	case br.Rcpt.BatchDigest != r.digest || br.Rcpt.N != uint64(len(r.members)) || len(br.Results) != len(r.members):
		return nil, reject(RuleResults)
	}
	d := &delivered{seq: r.seq, rcpt: br.SignedRcpt, results: slices.Clone(br.Results)}
	leaves := make([][32]byte, len(r.members))
	for i, e := range r.members {
		res := &d.results[i]
		block := res.Block()
		if _, err := ParseResult(block[:]); err != nil || res.ID != e.id || res.Nonce != e.nonce || res.PayloadHash != e.hash {
			return nil, rejectAt(RuleResults, i)
		}
		leaves[i] = res.Hash()
		d.expires = max(d.expires, e.notAfter+a.params.KeepResults)
	}
	d.tree = NewTree(leaves)
	if d.tree.Root() != br.Rcpt.ResultRoot {
		return nil, reject(RuleResults)
	}
	if err := a.cfg.Network.VerifyRcpt(&d.rcpt); err != nil {
		return nil, err
	}

	writes := []Record{a.receiptsRecord(d), {Key: a.batchKey(r.seq)}, {Key: a.handoffKey(r.seq)}}
	for i, e := range r.members {
		if !again(d.results[i].Code) {
			a.leave(e)
		}
	}
	writes = append(writes, a.keep(d)...)
	if err := a.commit(writes...); err != nil {
		return nil, err
	}
	a.stats.Delivered++
	a.stats.Receipts += uint64(len(d.results))
	a.end(r)
	s := SendReceipts{delivered: d, at: make([]uint32, len(d.results))}
	for i, e := range r.members {
		c := a.clients[e.id]
		a.land(e)
		if !again(d.results[i].Code) {
			a.remove(e)
		}
		c.learn(&d.results[i])
		s.at[i] = uint32(i)
	}
	for _, e := range r.members {
		a.enqueue(now, a.clients[e.id], false)
	}
	return a.advance(now, append(out, s))
}

// again reports whether a message with that result goes into another batch. With
// [ResultKey] it can't: the client has to sign it with its new keys.
func again(code ResultCode) bool { return code == ResultAbsent }

// learn notes what a result says about a client's nonces.
func (c *clientState) learn(r *Result) {
	if r.Code.Executed() || r.Code == ResultDup || r.Code == ResultTaken {
		c.execute(r.Nonce)
	}
}

// maxDelivered is how many batches' results are kept at most.
const maxDelivered = 1 << 14

// keep adds results to those that are kept, and returns the records of those that have to
// make room.
func (a *Aggregator) keep(d *delivered) (deletions []Record) {
	a.delivered = append(a.delivered, d)
	a.receiptsBytes += d.size()
	for i := range d.results {
		r := &d.results[i]
		key := nonceKey{r.ID, r.Nonce}
		if !r.Code.Final() {
			if old := a.receipts[key]; old != nil {
				if at, ok := old.find(r.ID); ok && old.results[at].Code.Final() {
					continue
				}
			}
		}
		a.receipts[key] = d
	}
	for a.receiptsBytes > a.limits.ReceiptBytes && len(a.delivered) > 1 || len(a.delivered) > maxDelivered {
		deletions = append(deletions, a.forget(0))
		a.stats.Forgotten++
	}
	return deletions
}

func (a *Aggregator) forget(i int) Record {
	d := a.delivered[i]
	a.receiptsBytes -= d.size()
	a.delivered = slices.Delete(a.delivered, i, i+1)
	for i := range d.results {
		if key := (nonceKey{d.results[i].ID, d.results[i].Nonce}); a.receipts[key] == d {
			delete(a.receipts, key)
		}
	}
	return Record{Key: a.receiptsKey(d.seq)}
}

// forgetReceipts drops results that have expired, in the journal with the next commit.
func (a *Aggregator) forgetReceipts() {
	for len(a.delivered) > 0 && a.delivered[0].expires < a.head {
		a.trash = append(a.trash, a.forget(0))
	}
}

// Lookup returns the receipt for a client's nonce, if there is one here: the one that
// settles the message, or else the newest. Whoever gets none asks validators.
func (a *Aggregator) Lookup(id, nonce uint64) (SendReceipts, bool) {
	d := a.receipts[nonceKey{id, nonce}]
	if d == nil {
		return SendReceipts{}, false
	}
	at, ok := d.find(id)
	return SendReceipts{d, []uint32{uint32(at)}}, ok
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import "slices"

// A poolEntry is a message from its admission until it is settled, or expires.
type poolEntry struct {
	id, nonce, notAfter uint64
	hash                [32]byte
	payload             []byte
	sig                 []byte // of its Sub; in ModeFolded uncompressed
	view                View   // by whose keys sig was verified, or nil
	round               *round // the batch it is in, or nil
	asked               bool   // for a signature
	piece               *piece // of the journal that it is in
	at                  uint32 // where in it
}

// entryOverhead is what an entry takes in memory beside its payload, roughly.
const entryOverhead = 256

func (e *poolEntry) size() int { return entryOverhead + len(e.payload) + len(e.sig) }

// The pool has a queue of clients with messages that wait for a batch, and another one of
// those in quarantine. A client is in one of them at most, once, whatever the number of
// its messages: a batch has one of each client.
type pool struct {
	fast, slow queue
	waiting    int // entries in no batch
	bytes      int // of all entries
	payloads   int // bytes of the payloads of entries in no batch
	since      int64
	open       bool // something waits, since that time
}

// insert adds an entry to its client and queues the client.
func (a *Aggregator) insert(now int64, e *poolEntry) {
	c := a.client(e.id)
	i, _ := c.search(e.nonce)
	c.entries = slices.Insert(c.entries, i, e)
	a.pool.bytes += e.size()
	a.wait(e)
	a.enqueue(now, c, false)
}

// wait notes that an entry is in no batch.
func (a *Aggregator) wait(e *poolEntry) {
	a.pool.waiting++
	a.pool.payloads += len(e.payload)
}

// fly notes that an entry is in a batch.
func (a *Aggregator) fly(e *poolEntry, r *round) {
	a.pool.waiting--
	a.pool.payloads -= len(e.payload)
	e.round = r
}

// land puts an entry that was in a batch back among those that wait.
func (a *Aggregator) land(e *poolEntry) {
	e.round, e.asked = nil, false // what was asked for may have been lost
	a.wait(e)
}

// remove forgets an entry that is in no batch.
func (a *Aggregator) remove(e *poolEntry) {
	c := a.clients[e.id]
	i, _ := c.search(e.nonce)
	c.entries = slices.Delete(c.entries, i, i+1)
	a.pool.waiting--
	a.pool.payloads -= len(e.payload)
	a.pool.bytes -= e.size()
}

// enqueue puts a client into its queue, unless it is there or nothing of it waits.
func (a *Aggregator) enqueue(now int64, c *clientState, front bool) {
	if c.queued || a.pick(c) == nil {
		return
	}
	c.queued = true
	q := &a.pool.fast
	if c.slow(now) {
		q = &a.pool.slow
	}
	if front {
		q.pushFront(c)
	} else {
		q.push(c)
	}
	if !a.pool.open {
		a.pool.open, a.pool.since = true, now
	}
}

// pick returns the message of a client that is next, or nil.
func (a *Aggregator) pick(c *clientState) *poolEntry {
	for _, e := range c.entries {
		if e.round == nil {
			return e
		}
	}
	return nil
}

// A queue is a ring of clients.
type queue struct {
	ring []*clientState
	head int
	n    int
}

func (q *queue) grow() {
	if q.n < len(q.ring) {
		return
	}
	ring := make([]*clientState, max(16, 2*len(q.ring)))
	for i := range q.n {
		ring[i] = q.ring[(q.head+i)%len(q.ring)]
	}
	q.ring, q.head = ring, 0
}

func (q *queue) push(c *clientState) {
	q.grow()
	q.ring[(q.head+q.n)%len(q.ring)] = c
	q.n++
}

func (q *queue) pushFront(c *clientState) {
	q.grow()
	q.head = (q.head + len(q.ring) - 1) % len(q.ring)
	q.ring[q.head] = c
	q.n++
}

func (q *queue) pop() *clientState {
	c := q.ring[q.head]
	q.ring[q.head] = nil
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	return c
}

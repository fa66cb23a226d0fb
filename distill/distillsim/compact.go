// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import (
	"fmt"
	"slices"
)

// The compact mode (Camaioni and others 2024, section 4): the leaves of a batch have no
// numbers of their own. All have the largest that any of them was submitted with, to which
// the clients agree by signing the root. Who doesn't sign stands with its own number.
//
// A client keeps a range: from the number that its message was submitted with to the largest
// that it has signed for it. The next message begins after the range. So the range must be
// durable before the signature leaves, or a crash makes the client use a number again that
// an older batch, still on its way, has as well: and the older message is delivered twice.
//
// In this model signatures are symbols, and there is one validator, which is honest.

// A compactLeaf is a message with the number that it stands with.
type compactLeaf struct {
	id, seq uint64
	msg     string
}

// A compactBatch is leaves to be delivered: those of reducers with the raised number,
// those of stragglers with their own.
type compactBatch struct {
	broker, seq uint64
	until       uint64 // batches in the log, after which it isn't delivered
	leaves      []compactLeaf
}

type compact struct {
	network
	rep     *Report
	wrong   bool
	clients []*compactClient
	brokers []*compactBroker
	log     node

	top       uint64 // batches delivered
	seen      map[[2]uint64]bool
	last      map[uint64]compactLeaf
	delivered map[compactLeaf]int // by id and message, with seq 0
}

// A compactClient has one message in flight.
type compactClient struct {
	node
	s *compact

	// Durable: the message, the number that it is submitted with, and the largest
	// signed for it.
	at     int
	lo, hi uint64

	raised uint64 // hi in memory
	top    uint64 // batches that are known to be delivered
	msgs   []string
	id     uint64
	broker int
}

type compactBroker struct {
	node
	s    *compact
	id   uint64
	seq  uint64
	pool []compactLeaf
	open map[uint64]*compactRound
}

type compactRound struct {
	batch   *compactBatch
	raise   uint64
	reduced map[uint64]bool
}

const compactLife = 20 // batches

// runCompact runs the model.
func runCompact(cfg Config, rep *Report) {
	s := &compact{
		network: newNetwork(cfg.Seed, 1<<32, cfg.Trace), rep: rep, wrong: cfg.Wrong == WrongRange,
		seen: make(map[[2]uint64]bool), last: make(map[uint64]compactLeaf), delivered: make(map[compactLeaf]int),
	}
	s.log.name = "compact log"
	nodes := []*node{&s.log}
	for i := range uint64(2 + s.rng.IntN(2)) {
		b := &compactBroker{node: node{name: fmt.Sprintf("broker %d", i)}, s: s, id: i, open: make(map[uint64]*compactRound)}
		s.brokers = append(s.brokers, b)
		nodes = append(nodes, &b.node)
		s.every(400, func() bool { b.propose(); return true })
	}
	for i := range uint64(2 + s.rng.IntN(3)) {
		c := &compactClient{node: node{name: fmt.Sprintf("compact client %d", i)}, s: s, id: i, broker: int(i)}
		for j := range 2 + s.rng.IntN(5) {
			c.msgs = append(c.msgs, fmt.Sprintf("message %d of %d", j, i))
		}
		rep.Compact += len(c.msgs)
		s.clients = append(s.clients, c)
		nodes = append(nodes, &c.node)
		s.every(300, func() bool { c.submit(); return true })
	}
	s.every(200, func() bool {
		if s.calm {
			return false
		}
		switch c := s.clients[s.rng.IntN(len(s.clients))]; {
		case s.one(8) && !c.down:
			c.crash()
		case s.one(60) && s.now > s.apart:
			s.part(nodes)
		}
		return true
	})
	// The log goes on, or nothing would ever expire.
	s.every(1000, func() bool { s.top++; s.heads(); return true })
	broken := func() bool { return len(rep.Violations) > 0 }
	s.runUntil(12_000, broken)
	s.calm, s.apart = true, 0
	s.runUntil(s.now+120_000, func() bool { return broken() || s.done() })
	if !broken() && !s.done() {
		s.violate(Settled, "not all messages of the compact mode are delivered")
	}
	rep.Faults.add(&s.faults)
}

func (s *compact) every(interval int64, do func() bool) {
	s.after(interval, func() {
		if do() {
			s.every(interval, do)
		}
	})
}

func (s *compact) violate(i Invariant, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	s.rep.Violations = append(s.rep.Violations, Violation{i, text})
	s.tracef("VIOLATION of %q: %s", i, text)
}

func (s *compact) done() bool {
	for _, c := range s.clients {
		if c.at < len(c.msgs) {
			return false
		}
	}
	return true
}

// crash forgets what isn't durable.
func (c *compactClient) crash() {
	c.s.faults.Crashes++
	c.s.tracef("%s crashes", c.name)
	c.down = true
	c.s.after(int64(c.s.rng.IntN(1500)), func() { c.down, c.raised = false, c.hi })
}

// submit sends the message, the same each time, to one broker after the other.
func (c *compactClient) submit() {
	// A number is legitimate if so many batches were delivered: nobody can push the
	// numbers of others to the end.
	if c.down || c.at == len(c.msgs) || c.lo > c.top {
		return
	}
	if c.s.one(6) {
		c.broker++
	}
	b := c.s.brokers[c.broker%len(c.s.brokers)]
	leaf := compactLeaf{c.id, c.lo, c.msgs[c.at]}
	c.s.send(&c.node, &b.node, "a compact message", func() { b.submission(leaf) })
}

// proposal is a tree in which the client's message stands with a raised number.
func (c *compactClient) proposal(b *compactBroker, r *compactRound) {
	i := slices.IndexFunc(r.batch.leaves, func(l compactLeaf) bool { return l.id == c.id })
	if c.down || c.at == len(c.msgs) || r.batch.leaves[i].msg != c.msgs[c.at] || r.raise < c.lo || r.raise > c.top || c.s.one(4) {
		return
	}
	c.raised = max(c.raised, r.raise)
	if !c.s.wrong {
		c.hi = c.raised // durable before the signature leaves
	}
	c.s.send(&c.node, &b.node, "a compact reduction", func() { r.reduced[c.id] = true })
	if !c.s.calm && c.s.one(4) {
		c.crash()
	}
}

// receipt ends a message. Only then is the next one signed.
func (c *compactClient) receipt(msg string) {
	if c.down || c.at == len(c.msgs) || c.msgs[c.at] != msg {
		return
	}
	c.at++
	c.lo = c.raised + 1
	c.hi, c.raised = c.lo, c.lo
}

func (b *compactBroker) submission(leaf compactLeaf) {
	if leaf.seq > b.s.top {
		return // not legitimate
	}
	b.pool = slices.DeleteFunc(b.pool, func(l compactLeaf) bool { return l.id == leaf.id })
	b.pool = append(b.pool, leaf)
}

func (b *compactBroker) propose() {
	if len(b.pool) == 0 {
		return
	}
	slices.SortFunc(b.pool, func(x, y compactLeaf) int { return int(x.id) - int(y.id) })
	r := &compactRound{reduced: make(map[uint64]bool), batch: &compactBatch{broker: b.id, seq: b.seq, until: b.s.top + compactLife, leaves: b.pool}}
	b.pool = nil
	b.seq++
	for _, l := range r.batch.leaves {
		r.raise = max(r.raise, l.seq)
	}
	if b.s.one(3) && b.s.top > r.raise {
		r.raise += b.s.rng.Uint64N(b.s.top - r.raise + 1) // a broker may, as far as that is legitimate
	}
	for _, l := range r.batch.leaves {
		c := b.s.clients[l.id]
		b.s.send(&b.node, &c.node, "a compact proposal", func() { c.proposal(b, r) })
	}
	b.s.after(300, func() {
		for i := range r.batch.leaves {
			if l := &r.batch.leaves[i]; r.reduced[l.id] {
				l.seq = r.raise
			}
		}
		b.publish(r.batch, 3)
	})
}

// publish hands a batch to the log, some brokers after a long time, and again if need be.
func (b *compactBroker) publish(x *compactBatch, times int) {
	s := b.s
	delay := int64(0)
	if !s.calm && s.one(4) {
		delay = int64(s.rng.IntN(6000))
	}
	s.after(delay, func() {
		s.send(&b.node, &s.log, "a compact batch", func() { s.deliver(x) })
		if times > 1 {
			s.after(1500, func() {
				if !s.seen[[2]uint64{x.broker, x.seq}] {
					b.publish(x, times-1)
				}
			})
		}
	})
}

// deliver is the validator: it keeps the last number and the last message of each client.
func (s *compact) deliver(x *compactBatch) {
	if s.seen[[2]uint64{x.broker, x.seq}] || s.top > x.until {
		return
	}
	s.seen[[2]uint64{x.broker, x.seq}] = true
	s.top++
	for _, l := range x.leaves {
		last, ok := s.last[l.id]
		switch {
		case ok && last.msg == l.msg: // delivered before: acknowledged again
		case ok && l.seq <= last.seq:
			continue
		default:
			s.last[l.id] = l
			s.tracef("client %d: %q is delivered as number %d", l.id, l.msg, l.seq)
			key := compactLeaf{id: l.id, msg: l.msg}
			if s.delivered[key]++; s.delivered[key] > 1 {
				s.violate(Once, "%q of compact client %d is delivered a second time, as number %d", l.msg, l.id, l.seq)
			}
		}
		c := s.clients[l.id]
		s.send(&s.log, &c.node, "a compact receipt", func() { c.receipt(l.msg) })
	}
	s.heads()
}

// heads tells clients how many batches were delivered.
func (s *compact) heads() {
	top := s.top
	for _, c := range s.clients {
		s.send(&s.log, &c.node, "a compact head", func() { c.top = max(c.top, top) })
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/distill"
)

// A client is an honest one, with its application, which has a journal of its own that
// isn't lost: it knows what it wants, and what it has acted upon.
type client struct {
	node
	s       *sim
	id      uint64
	keys    distill.ClientKeys
	coming  *keyChange // a rotation, until the client goes by it
	journal *journal
	c       *distill.Client
	opened  int // how often
	backup  *distill.MemoryJournal

	asleep   bool // signs no batches
	restored bool
	revoked  bool
	hasty    bool // wrong: reissues on one validator's word

	orders  []*order
	pending map[uint64]*order // by nonce
	handled map[uint64]bool   // settled, and acted upon
	settled map[uint64]distill.Outcome
}

// An order is something the application wants executed.
type order struct {
	payload []byte
	hash    [32]byte
	state   orderState
	tries   int
}

type orderState uint8

const (
	orderTodo orderState = iota
	orderPending
	orderDone
	orderLost    // the client was restored and doesn't know of it any more
	orderDropped // the client was revoked, and won't try again
)

func newClient(s *sim, id uint64, keys distill.ClientKeys) *client {
	c := &client{
		node: node{name: fmt.Sprintf("client %d", id)}, s: s, id: id, keys: keys, journal: newJournal(),
		pending: make(map[uint64]*order), handled: make(map[uint64]bool), settled: make(map[uint64]distill.Outcome),
	}
	for range 1 + s.rng.IntN(2) {
		c.order()
	}
	return c
}

// order makes something that the application wants executed.
func (c *client) order() {
	p := fmt.Appendf(nil, "message %d of client %d", len(c.orders), c.id)
	if c.s.one(8) {
		p = append(p, '!') // the application refuses it
	}
	o := &order{payload: p, hash: distill.PayloadHash(p)}
	c.orders = append(c.orders, o)
	c.s.oracle.payloads[o.hash] = string(p)
}

func (c *client) open(fromBackup bool) {
	c.down = false
	c.opened++
	x, err := distill.OpenClient(distill.ClientConfig{
		Network: c.s.w.network, ID: c.id, Keys: c.keys, Journal: c.journal, Mode: c.s.mode, First: int(c.id),
		FromBackup: fromBackup, AckTimeout: 900, ReceiptTimeout: 3500, Random: c.s.random,
	})
	if err != nil {
		c.crash(err, fromBackup)
		return
	}
	c.c = x
	c.reconcile()
	if fromBackup {
		c.lose()
	}
	c.do(func() ([]distill.ClientAction, error) { return x.HandleHead(c.s.now, c.s.relay.newest()) })
}

// reconcile finds out what the client has that the application asked it for when it
// crashed.
func (c *client) reconcile() {
	for _, m := range c.c.Unsettled() {
		if c.handled[m.Nonce] || c.pending[m.Nonce] != nil {
			continue
		}
		for _, o := range c.orders {
			if o.hash == distill.PayloadHash(m.Payload) && o.state == orderTodo {
				c.take(o, m.Nonce, m.NotAfter)
			}
		}
	}
}

// take notes that the client has an order.
func (c *client) take(o *order, nonce, notAfter uint64) {
	o.state, o.tries = orderPending, o.tries+1
	c.pending[nonce] = o
	c.s.oracle.choose(c.id, nonce, notAfter, o.hash)
}

// lose gives up what the client doesn't know of any more. It may have been executed, so
// it isn't submitted anew.
func (c *client) lose() {
	known := make(map[uint64]bool)
	for _, m := range c.c.Unsettled() {
		known[m.Nonce] = true
	}
	for nonce, o := range c.pending {
		if !known[nonce] && o.state == orderPending {
			o.state = orderLost
		}
	}
}

// crash takes the client down for a while if its journal has failed.
func (c *client) crash(err error, fromBackup bool) bool {
	if !errors.Is(err, errCrash) {
		c.s.sound(c.name, err)
		return false
	}
	c.s.faults.Crashes++
	c.s.tracef("%s crashes", c.name)
	c.down = true
	opened := c.opened
	c.s.after(int64(c.s.rng.IntN(1200)), func() {
		if c.opened == opened {
			c.open(fromBackup)
		}
	})
	return true
}

// restore goes back to the backup, as a client is to do that.
func (c *client) restore() {
	c.s.faults.Restores++
	c.s.tracef("%s is restored from a backup", c.name)
	c.restored = true
	c.journal = &journal{MemoryJournal: c.backup}
	c.backup = nil
	c.order()
	c.open(true)
}

// do hands something to the client and carries out what it wants.
func (c *client) do(call func() ([]distill.ClientAction, error)) {
	if c.down {
		return
	}
	out, err := call()
	if err != nil && c.crash(err, false) {
		if len(out) > 0 {
			c.s.violate(Sound, "%s wants something done after its journal failed", c.name)
		}
		return
	}
	for _, action := range out {
		c.act(action)
	}
	c.wake()
}

// wake ticks when it is time.
func (c *client) wake() {
	at, ok := c.c.Deadline()
	if c.down || !ok {
		return
	}
	x := c.c
	c.s.after(max(at-c.s.now, 1), func() {
		if now, ok := x.Deadline(); x == c.c && ok && now <= c.s.now {
			c.do(func() ([]distill.ClientAction, error) { return x.Tick(c.s.now) })
		}
	})
}

func (c *client) act(action distill.ClientAction) {
	s := c.s
	switch action := action.(type) {
	case distill.SendSubmission:
		sub := action.Submission
		if !c.journal.holds(distill.PayloadHash(sub.Payload)) {
			s.violate(Chosen, "%s signs message %d, which isn't durable", c.name, sub.Nonce)
		}
		s.oracle.choose(c.id, sub.Nonce, sub.NotAfter, distill.PayloadHash(sub.Payload))
		a := s.aggregator(action.AggID)
		s.send(&c.node, &a.node, "a message", func() { a.submission(&sub) })
	case distill.SendReduction:
		a := s.aggregator(action.AggID)
		s.send(&c.node, &a.node, "a reduction", func() { a.reduction(&action.Reduction) })
	case distill.SendLookup:
		for _, v := range s.vals {
			s.send(&c.node, &v.node, "a question", func() { v.lookup(c, action.Lookup) })
		}
	case distill.Settled:
		c.outcome(action.Nonce, action.Outcome)
	case distill.ReportEquivocation:
		s.watch.prop(s, action.First)
		s.watch.prop(s, action.Second)
	}
}

// outcome is the application: what wasn't executed it submits anew.
func (c *client) outcome(nonce uint64, o distill.Outcome) {
	s := c.s
	if first, ok := c.settled[nonce]; ok && first != o {
		s.violate(Settled, "%s: the outcome of message %d was %v, and is %v", c.name, nonce, first, o)
	}
	c.settled[nonce] = o
	x := c.pending[nonce]
	s.tracef("%s: message %d is settled: %v %v", c.name, nonce, o.Kind, o.Code)
	switch {
	case c.handled[nonce]:
	case x == nil:
		s.violate(Settled, "%s: message %d is settled, and the application doesn't know it", c.name, nonce)
	default:
		s.oracle.outcome(s, c, nonce, x, o)
		if x.state == orderPending {
			switch {
			case !o.Kind.MayReissue():
				x.state = orderDone
			case c.revoked:
				x.state = orderDropped
			default:
				x.state = orderTodo
			}
		}
		delete(c.pending, nonce)
		c.handled[nonce] = true
	}
	c.do(func() ([]distill.ClientAction, error) { return nil, c.c.Release(nonce) })
}

// submit has the client submit the next order.
func (c *client) submit() {
	if c.down {
		return
	}
	for _, o := range c.orders {
		if o.state != orderTodo {
			continue
		}
		if c.revoked {
			o.state = orderDropped
			continue
		}
		life := 2*c.s.w.params.ValidFor + 2 + uint64(c.s.rng.IntN(10))
		c.do(func() ([]distill.ClientAction, error) {
			nonce, out, err := c.c.Submit(c.s.now, o.payload, life)
			if err == nil {
				c.s.tracef("%s submits %q as message %d", c.name, o.payload, nonce)
				c.take(o, nonce, out[0].(distill.SendSubmission).Submission.NotAfter)
			}
			return out, err
		})
		return
	}
}

// done reports whether every order has come to its end.
func (c *client) done() bool {
	for _, o := range c.orders {
		if o.state == orderTodo && !c.revoked || o.state == orderPending {
			return false
		}
	}
	return true
}

// busy reports whether the client waits for the first heights, or has something to submit.
func (c *client) busy() bool {
	for _, o := range c.orders {
		if o.state == orderTodo && !c.revoked {
			return true
		}
	}
	return c.c == nil || c.c.Recovering()
}

func (c *client) proposal(aggID uint64, p *distill.Proposal) {
	if c.down || c.asleep {
		return
	}
	c.s.watch.prop(c.s, p.SignedProp)
	c.do(func() ([]distill.ClientAction, error) { return c.c.HandleProposal(c.s.now, aggID, p) })
}

func (c *client) look(l *distill.SignedLook) {
	if c.down {
		return
	}
	c.s.watch.look(c.s, l)
	if c.hasty {
		c.believe(&l.Look)
	}
	c.do(func() ([]distill.ClientAction, error) { return c.c.HandleLook(c.s.now, l) })
}

func (c *client) head(h *distill.SignedHead) {
	if c.down {
		return
	}
	if k := c.coming; k != nil && k.version != 0 && h.Hgt.Dirver >= k.version {
		c.keys, c.coming = k.keys, nil
		c.keys.Since = k.version
		c.s.tracef("%s goes by its new keys", c.name)
		c.do(func() ([]distill.ClientAction, error) { return c.c.SetKeys(c.s.now, c.keys) })
	}
	c.do(func() ([]distill.ClientAction, error) { return c.c.HandleHead(c.s.now, h) })
	if c.c.Head() > c.s.log.height() {
		c.s.violate(True, "%s believes in a height to come", c.name)
	}
}

func (c *client) receipt(r *distill.Receipt) {
	c.do(func() ([]distill.ClientAction, error) { return c.c.HandleReceipt(c.s.now, r) })
}

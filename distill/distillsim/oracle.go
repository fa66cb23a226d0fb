// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import "github.com/undersign/undersign/distill"

// An oracle knows what everybody has chosen and what the log has executed, and compares.
type oracle struct {
	payloads map[[32]byte]string // of honest clients
	chosen   map[message]choice
	executed map[message]execution
	times    map[payloadOf]int

	heights []heightFacts // from the height after the registrations on
	batches int
	strikes int
	clients uint64            // registered
	changed map[uint64]uint64 // by id: the version of the directory that its keys are of, or that revoked it

	outcomes []told
}

type message struct{ id, nonce uint64 }

type choice struct {
	notAfter uint64
	hash     [32]byte
}

type execution struct {
	hash    [32]byte
	height  uint64
	code    distill.ResultCode
	appCode uint16
}

type payloadOf struct {
	id   uint64
	hash [32]byte
}

// heightFacts is what all validators must have at a height.
type heightFacts struct {
	records int
	last    distill.Rcpt // of the records, or zero
	head    distill.LogHead
	hasHead bool
}

// told is an outcome that an application was told.
type told struct {
	c       *client
	message message
	order   *order
	outcome distill.Outcome
}

func (o *oracle) init() {
	o.payloads = make(map[[32]byte]string)
	o.chosen = make(map[message]choice)
	o.executed = make(map[message]execution)
	o.times = make(map[payloadOf]int)
	o.clients, o.changed = worldClients, make(map[uint64]uint64)
}

// choose notes that an honest client has chosen a message, durably.
func (o *oracle) choose(id, nonce, notAfter uint64, hash [32]byte) {
	if _, ok := o.chosen[message{id, nonce}]; !ok {
		o.chosen[message{id, nonce}] = choice{notAfter, hash}
	}
}

// height compares the log of a validator at a height with that of those that were there
// before, or with what must hold if it is the first.
func (o *oracle) height(s *sim, v *validator, height uint64, records []distill.LogRecord) {
	facts := heightFacts{records: len(records)}
	if n := len(records); n > 0 {
		facts.last = records[n-1].Rcpt // it hashes all that is before it
	}
	i := int(height - registered - 1)
	if i < len(o.heights) {
		if o.heights[i].last != facts.last || o.heights[i].records != facts.records {
			s.violate(Agreed, "%s has another log at height %d", v.name, height)
		}
		return
	}
	o.heights = append(o.heights, facts)
	for r := range records {
		o.record(s, v, &records[r])
	}
	if n := v.v.Directory().Len(); v.v.Head().Height == height && n != o.clients {
		s.violate(Innocent, "%d clients are registered, and should be %d", n, o.clients)
	}
}

// head compares the end of a validator's log.
func (o *oracle) head(s *sim, v *validator, head distill.LogHead) {
	if head.Height <= registered {
		return
	}
	f := &o.heights[head.Height-registered-1]
	if f.hasHead && f.head != head {
		s.violate(Agreed, "%s has another head at height %d", v.name, head.Height)
	}
	f.head, f.hasHead = head, true
}

// certified checks a head that f+1 validators have signed.
func (o *oracle) certified(s *sim, h *distill.Hgt) {
	i := int(h.Height) - registered - 1
	if i < 0 || i >= len(o.heights) || !o.heights[i].hasHead {
		s.violate(True, "height %d is certified, and no honest validator has it", h.Height)
		return
	}
	if f := o.heights[i].head; f.LogHash != h.LogHash || f.Batches != h.Batches || f.Dirver != h.Dirver {
		s.violate(True, "another head than the honest validators' is certified at height %d", h.Height)
	}
}

// record checks an entry of the log.
func (o *oracle) record(s *sim, v *validator, r *distill.LogRecord) {
	switch r.Kind {
	case distill.RecordBatch:
		o.batches++
		s.tracef("height %d: a batch of %d", r.Rcpt.Height, len(r.Results))
		h, err := distill.DecodeHeader(r.Data)
		if err != nil || r.Rcpt.Height > h.ValidUntil {
			s.violate(Chosen, "a batch is executed at height %d, after its last one, %d: %v", r.Rcpt.Height, h.ValidUntil, err)
		}
		for i := range r.Results {
			if x := &r.Results[i]; x.Code.Executed() && h.Dirver < o.changed[x.ID] {
				s.violate(Chosen, "message %d of client %d is executed by keys that it has no more", x.Nonce, x.ID)
			}
			o.result(s, &r.Results[i], r.NotAfter[i], r.Rcpt.Height)
		}
	case distill.RecordStrike:
		o.strikes++
		s.watch.strike(s, r.Data)
	case distill.RecordDirectory:
		s.directory(v, r)
	}
}

func (o *oracle) result(s *sim, r *distill.Result, notAfter, height uint64) {
	m := message{r.ID, r.Nonce}
	before, known := o.executed[m]
	switch r.Code {
	case distill.ResultOK, distill.ResultAppReject:
		o.execute(s, m, execution{r.PayloadHash, height, r.Code, r.AppCode}, notAfter)
	case distill.ResultDup:
		if !known || before != (execution{r.PayloadHash, r.ExecHeight, r.FirstCode, r.AppCode}) {
			s.violate(True, "a receipt says that message %d of client %d was executed before, and it wasn't so", m.nonce, m.id)
		}
	case distill.ResultTaken:
		if !known || before.hash == r.PayloadHash {
			s.violate(True, "a receipt says that nonce %d of client %d is taken, and it isn't", m.nonce, m.id)
		}
	}
}

// execute checks what a message may be executed for.
func (o *oracle) execute(s *sim, m message, e execution, notAfter uint64) {
	if _, again := o.executed[m]; again {
		s.violate(Once, "message %d of client %d is executed twice", m.nonce, m.id)
	}
	o.executed[m] = e
	c := s.honest(m.id)
	if c == nil {
		return
	}
	if e.height > notAfter {
		s.violate(Chosen, "message %d of %s is executed at height %d, after its last height %d", m.nonce, c.name, e.height, notAfter)
	}
	if o.chosen[m] != (choice{notAfter, e.hash}) {
		s.violate(Chosen, "%s hasn't chosen what is executed as its message %d", c.name, m.nonce)
	}
	p := payloadOf{m.id, e.hash}
	if o.times[p]++; o.times[p] > 1 {
		s.violate(Once, "%q is executed a second time, as message %d of %s", o.payloads[e.hash], m.nonce, c.name)
	}
}

// honest returns an honest client, or nil.
func (s *sim) honest(id uint64) *client {
	for _, c := range s.clients {
		if c.id == id {
			return c
		}
	}
	return nil
}

// outcome notes what an application was told, to be checked now and at the end.
func (o *oracle) outcome(s *sim, c *client, nonce uint64, x *order, out distill.Outcome) {
	t := told{c, message{c.id, nonce}, x, out}
	o.outcomes = append(o.outcomes, t)
	o.check(s, &t)
}

func (o *oracle) check(s *sim, t *told) {
	e, executed := o.executed[t.message]
	mine := executed && e.hash == t.order.hash
	switch t.outcome.Kind {
	case distill.OutcomeExecuted:
		if !mine || e.height != t.outcome.Height || e.code != t.outcome.Code || e.appCode != t.outcome.AppCode {
			s.violate(True, "%s: message %d isn't executed as its outcome says", t.c.name, t.message.nonce)
		}
	case distill.OutcomeNotExecuted, distill.OutcomeExpired:
		if mine {
			s.violate(True, "%s: message %d is executed, and its outcome says %v", t.c.name, t.message.nonce, t.outcome.Kind)
		}
	default:
		if !t.c.restored {
			s.violate(Settled, "%s: message %d has the outcome %v", t.c.name, t.message.nonce, t.outcome.Kind)
		}
	}
}

// finish makes the checks of the end.
func (o *oracle) finish(s *sim) {
	for i := range o.outcomes {
		o.check(s, &o.outcomes[i])
	}
	for _, c := range s.clients {
		for _, x := range c.orders {
			n := o.times[payloadOf{c.id, x.hash}]
			switch {
			case x.state == orderDone && n == 1, x.state == orderLost, x.state == orderDropped && n == 0:
			case x.state == orderTodo && c.revoked:
			case x.state == orderDone && c.restored:
			default:
				s.violate(Settled, "%s: %q is in state %d, was submitted %d times and executed %d times",
					c.name, x.payload, x.state, x.tries, n)
			}
		}
	}
	for _, a := range s.aggs {
		if a.down || a.rogue == nil && a.a.Recovering() {
			s.violate(Settled, "%s hasn't recovered", a.name)
		}
	}
	for _, v := range s.vals {
		if v.v.Head() != s.vals[0].v.Head() || v.v.Head().Height != s.log.height() {
			s.violate(Agreed, "%s is at height %d of %d with another log", v.name, v.v.Head().Height, s.log.height())
		}
	}
	s.watch.finish(s)
}

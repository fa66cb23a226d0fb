// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

// A question is what a client asks validators, until F+1 of them have said the same. The
// challenge is fresh, so that no answer is older than the question.
type question struct {
	challenge [32]byte
	askAt     int64
	interval  int64
	answers   []answer // the latest of each validator
}

type answer struct {
	validator uint32
	look      Look
}

func (q *question) due() int64 {
	if q == nil {
		return 0
	}
	return q.askAt
}

// reset makes the question be asked at once, and often again.
func (q *question) reset(now int64) { q.askAt, q.interval = now, 0 }

// ask asks a question that is due, a new one if there is none.
func (c *Client) ask(now int64, q **question, nonce, notAfter uint64, out []ClientAction) []ClientAction {
	if *q == nil {
		*q = &question{askAt: now}
		c.cfg.Random((*q).challenge[:])
	}
	if now < (*q).askAt {
		return out
	}
	(*q).interval = min(max(c.cfg.AckTimeout, 2*(*q).interval), maxLookupInterval)
	(*q).askAt = now + (*q).interval
	return append(out, SendLookup{Lookup{(*q).challenge, c.cfg.ID, nonce, notAfter}})
}

// add notes an answer, in place of an earlier one of the same validator.
func (q *question) add(validator uint32, k *Look) {
	for i := range q.answers {
		if q.answers[i].validator == validator {
			q.answers[i].look = *k
			return
		}
	}
	q.answers = append(q.answers, answer{validator, *k})
}

// HandleLook notes a validator's answer to a question, and settles what F+1 of them agree
// about.
func (c *Client) HandleLook(now int64, s *SignedLook) (out []ClientAction, err error) {
	if c.ledger.err != nil {
		return nil, c.ledger.err
	}
	k := &s.Look
	if k.Net != c.cfg.Network.ID() {
		return nil, reject(RuleNetwork)
	}
	var q *question
	var f *flight
	if c.recovering && c.recovery != nil && k.Challenge == c.recovery.challenge {
		q = c.recovery
		if k.Nonce != c.next || k.NotAfter != 0 {
			return nil, reject(RuleChallenge)
		}
	} else if i := c.find(k.Nonce); i >= 0 {
		f = c.flights[i]
		q = f.question
		if q == nil || k.Challenge != q.challenge || k.NotAfter != f.notAfter {
			return nil, reject(RuleChallenge)
		}
	}
	if q == nil || k.ID != c.cfg.ID {
		return nil, reject(RuleChallenge)
	}
	if !k.consistent() {
		return nil, reject(RuleLook)
	}
	if err := c.cfg.Network.committee.VerifyShare(k, &s.Share); err != nil {
		return nil, err
	}
	if f == nil {
		q.add(s.Share.Validator, k)
		return nil, c.recover(q)
	}
	if k.Code != LookExecuted && k.Height <= f.notAfter {
		return nil, nil // it may still be executed
	}
	q.add(s.Share.Validator, k)
	if o, ok := c.decide(q, f); ok {
		return c.settle(f, o, nil)
	}
	return nil, nil
}

// consistent reports whether an answer says one thing.
func (k *Look) consistent() bool {
	if k.Code == LookExecuted {
		return k.FirstCode.Executed() && k.ExecHeight <= k.Height
	}
	return (k.Code == LookNotExecuted || k.Code == LookUnknown) &&
		k.FirstCode == 0 && k.AppCode == 0 && k.ExecHeight == 0 && k.PayloadHash == [32]byte{}
}

// decide returns the outcome that F+1 validators agree about. One's word is nobody's: it
// would let a payload be executed twice.
func (c *Client) decide(q *question, f *flight) (o Outcome, ok bool) {
	for i := range q.answers {
		k := &q.answers[i].look
		n := 0
		for j := range q.answers {
			if q.answers[j].look.says(k) {
				n++
			}
		}
		if n < c.cfg.Network.committee.Quorum() {
			continue
		}
		switch {
		case k.Code == LookNotExecuted:
			return Outcome{Kind: OutcomeExpired}, true
		case k.Code == LookUnknown:
			return Outcome{Kind: OutcomeUnknown}, true
		case k.PayloadHash != f.hash:
			return Outcome{Kind: OutcomeNotExecuted, Code: ResultTaken}, true
		}
		return Outcome{OutcomeExecuted, k.FirstCode, k.AppCode, k.ExecHeight}, true
	}
	return o, false
}

// says reports whether k and l say the same of a message, at whatever heights.
func (k *Look) says(l *Look) bool {
	return k.Code == l.Code && k.FirstCode == l.FirstCode && k.AppCode == l.AppCode &&
		k.ExecHeight == l.ExecHeight && k.PayloadHash == l.PayloadHash
}

// beginRecovery makes durable that the journal is an old one: until it is known which
// nonces were used since, none is given out, and nothing in the journal is sent again.
func (c *Client) beginRecovery() error {
	c.recovering = true
	writes := []Record{c.stateRecord(c.next, true)}
	for _, f := range c.flights {
		if f.state != flightSettled {
			f.state = flightHeld
			writes = append(writes, c.flightRecord(f))
		}
	}
	return c.ledger.commit(writes...)
}

// recover jumps over all nonces that may have been used, when 2F+1 validators have said
// which was the last. The jump covers what was sent but not executed, and an honest
// validator that lags behind.
func (c *Client) recover(q *question) error {
	var numbers []uint64
	for i := range q.answers {
		numbers = append(numbers, q.answers[i].look.LastNonce)
	}
	last, ok := c.cfg.Network.committee.settled(numbers)
	if !ok {
		return nil
	}
	next := jump(max(last, c.next), c.cfg.Random)
	if err := c.ledger.commit(c.stateRecord(next, false)); err != nil {
		return err
	}
	c.next, c.recovering, c.recovery = next, false, nil
	return nil
}

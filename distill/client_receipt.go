// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

// HandleAck notes that an aggregator has a message. It isn't believed for longer than the
// time for a receipt.
func (c *Client) HandleAck(now int64, aggID, nonce uint64) error {
	if f := c.sentTo(aggID, nonce); f != nil {
		f.state, f.resendAt = flightAcked, never
	}
	return c.ledger.err
}

// HandleRefusal notes that an aggregator doesn't take a message, or not now. No aggregator
// can make a client give one up: it tries again, here or elsewhere.
func (c *Client) HandleRefusal(now int64, aggID uint64, r *Refusal) error {
	if f := c.sentTo(aggID, r.Nonce); f != nil && r.ID == c.cfg.ID {
		f.state = flightSent
		if r.RetryAfter > 0 {
			f.resendAt = now + min(r.RetryAfter, c.cfg.ReceiptTimeout)
		} else {
			f.resendAt = never
			f.moveAt = min(f.moveAt, now+c.cfg.AckTimeout)
		}
	}
	return c.ledger.err
}

// HandleSignatureRequest answers an aggregator in [ModeLean] that has had no reduction
// from the client and wants its Ed25519 signature instead.
func (c *Client) HandleSignatureRequest(now int64, aggID, nonce uint64) (out []ClientAction, err error) {
	f := c.sentTo(aggID, nonce)
	if f == nil || c.ledger.err != nil {
		return nil, c.ledger.err
	}
	s, err := c.submission(f, ModeEd25519)
	if err != nil {
		return nil, err
	}
	return append(out, SendSubmission{aggID, s}), nil
}

// sentTo returns a message that waits for this aggregator, or nil.
func (c *Client) sentTo(aggID, nonce uint64) *flight {
	i := c.find(nonce)
	if i < 0 || c.cfg.Network.aggregators[c.flights[i].agg] != aggID {
		return nil
	}
	if f := c.flights[i]; f.state == flightSent || f.state == flightAcked {
		return f
	}
	return nil
}

// HandleReceipt verifies a receipt, from wherever it came, and settles the message if what
// became of it is final.
func (c *Client) HandleReceipt(now int64, r *Receipt) (out []ClientAction, err error) {
	if c.ledger.err != nil {
		return nil, c.ledger.err
	}
	i := c.find(r.Result.Nonce)
	switch {
	case r.Result.ID != c.cfg.ID:
		return nil, reject(RuleReceipt)
	case i < 0:
		return nil, reject(RuleNotInFlight)
	case r.Result.PayloadHash != c.flights[i].hash:
		return nil, reject(RuleReceipt)
	}
	if err := c.cfg.Network.VerifyReceipt(r); err != nil {
		return nil, err
	}

	f := c.flights[i]
	o, final := r.Outcome()
	switch {
	case f.state == flightSettled:
		return nil, nil
	case final:
	case f.state == flightSent || f.state == flightAcked:
		// Not final: the same message again, signed by the keys of today.
		f.state = flightSent
		return c.send(now, f, nil)
	default:
		return nil, nil
	}
	if out, err = c.settle(f, o, nil); err != nil {
		return out, err
	}
	// Skipped because of a nonce that wasn't given out: it was signed before a backup was
	// restored, and somebody has kept it. All others up to it would be skipped as well.
	if r.Result.Code == ResultSkipped && c.next-f.nonce <= NonceWindow && !c.recovering {
		return out, c.beginRecovery()
	}
	return out, nil
}

// settle makes an outcome durable and then tells it.
func (c *Client) settle(f *flight, o Outcome, out []ClientAction) ([]ClientAction, error) {
	settled := *f
	settled.state, settled.outcome = flightSettled, o
	if err := c.ledger.commit(c.flightRecord(&settled)); err != nil {
		return out, err
	}
	f.state, f.outcome, f.question, f.roots = flightSettled, o, nil, nil
	return append(out, Settled{c.cfg.ID, f.nonce, o}), nil
}

// HandleHead notes a certified height. Messages whose last height is past can't be executed
// any more; whether they have been is what the client then asks the validators.
func (c *Client) HandleHead(now int64, h *SignedHead) (out []ClientAction, err error) {
	if c.ledger.err != nil {
		return nil, c.ledger.err
	}
	if c.hasHead && h.Hgt.Height <= c.head {
		return nil, nil
	}
	if err := c.cfg.Network.VerifyHead(h); err != nil {
		return nil, err
	}
	before := c.head
	c.head, c.hasHead = h.Hgt.Height, true
	for _, f := range c.flights {
		if f.notAfter >= c.head {
			continue
		}
		switch f.state {
		case flightSent, flightAcked:
			f.state = flightExpired
			out = c.ask(now, &f.question, f.nonce, f.notAfter, out)
		case flightHeld:
			if f.question != nil && f.notAfter >= before {
				f.question.reset(now) // from now on "not executed" is final
				out = c.ask(now, &f.question, f.nonce, f.notAfter, out)
			}
		}
	}
	return out, nil
}

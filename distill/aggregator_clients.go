// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import "slices"

// A clientState is what an aggregator knows of a client. All of it is advice: the
// validators decide.
type clientState struct {
	id      uint64
	entries []*poolEntry // in ascending order of nonces
	queued  bool         // in one of the queues

	last   uint64 // largest nonce known to be executed
	window uint64 // nonces executed, bit i for last-i

	credit  int64 // for the rate: microseconds at which all is used up
	until   int64 // end of the quarantine
	strikes uint8 // invalid reductions, and quarantines for missing ones
	misses  uint8 // batches in a row without a reduction
}

// client returns the state of a client that is in the directory.
func (a *Aggregator) client(id uint64) *clientState {
	c := a.clients[id]
	if c == nil {
		c = &clientState{id: id}
		a.clients[id] = c
	}
	return c
}

// executed reports whether a nonce is known to be executed.
func (c *clientState) executed(nonce uint64) bool {
	return nonce <= c.last && c.last-nonce < NonceWindow && c.window>>(c.last-nonce)&1 == 1
}

// behind reports whether a nonce is too far behind the last one to be executed.
func (c *clientState) behind(nonce uint64) bool {
	return c.last >= NonceWindow && nonce <= c.last-NonceWindow
}

// execute notes that a nonce was executed.
func (c *clientState) execute(nonce uint64) {
	switch {
	case nonce > c.last:
		if nonce-c.last < NonceWindow {
			c.window <<= nonce - c.last
		} else {
			c.window = 0
		}
		c.last = nonce
		c.window |= 1
	case c.last-nonce < NonceWindow:
		c.window |= 1 << (c.last - nonce)
	}
}

// allow takes one message from a client's rate, or returns how many milliseconds to wait.
func (c *clientState) allow(now int64, l *AggregatorLimits) (wait int64) {
	const second = 1_000_000
	t := now * 1000
	each := second / int64(l.Rate)
	c.credit = max(c.credit, t)
	if c.credit-t > each*int64(l.RateBurst-1) {
		return (c.credit-t-each*int64(l.RateBurst-1))/1000 + 1
	}
	c.credit += each
	return 0
}

// slow reports whether a client is in quarantine.
func (c *clientState) slow(now int64) bool { return now < c.until }

// quarantine puts a client where nobody waits for its reductions, for twice as long each
// time.
func (c *clientState) quarantine(now int64, l *AggregatorLimits) {
	d := l.Quarantine
	for i := uint8(0); i < c.strikes && d < l.MaxQuarantine; i++ {
		d *= 2
	}
	c.until = now + min(d, l.MaxQuarantine)
	if c.strikes < 63 {
		c.strikes++
	}
	c.misses = 0
}

// reduced notes a valid reduction.
func (c *clientState) reduced() {
	c.misses = 0
	if c.strikes > 0 {
		c.strikes--
	}
}

// missed notes that a batch was closed without a client's reduction.
func (c *clientState) missed(now int64, l *AggregatorLimits) {
	if c.misses++; c.misses >= maxMisses {
		c.quarantine(now, l)
	}
}

// maxMisses is how many batches in a row may wait for a client in vain.
const maxMisses = 2

// find returns an entry, or nil.
func (c *clientState) find(nonce uint64) *poolEntry {
	i, ok := c.search(nonce)
	if !ok {
		return nil
	}
	return c.entries[i]
}

func (c *clientState) search(nonce uint64) (int, bool) {
	return slices.BinarySearchFunc(c.entries, nonce, func(e *poolEntry, nonce uint64) int {
		switch {
		case e.nonce < nonce:
			return -1
		case e.nonce > nonce:
			return 1
		}
		return 0
	})
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"context"
	"sync"
)

// claims are the primes of a search that somebody is about to find. While all that
// are wanted are claimed, the other workers rest: what they test would be for nothing,
// since a claim hardly ever fails. A nil *claims keeps nobody waiting.
type claims struct {
	mu      sync.Mutex
	free    int           // wanted and not claimed
	changed chan struct{} // closed when free rises
}

func newClaims(wanted int) *claims {
	return &claims{free: wanted, changed: make(chan struct{})}
}

// take claims a prime, even if none is free.
func (c *claims) take() {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.free--
	}
}

// giveBack undoes take.
func (c *claims) giveBack() {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.free++
		close(c.changed)
		c.changed = make(chan struct{})
	}
}

// wait returns when a prime is free, or ctx is done.
func (c *claims) wait(ctx context.Context) {
	for c != nil {
		c.mu.Lock()
		free, changed := c.free, c.changed
		c.mu.Unlock()
		if free > 0 {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

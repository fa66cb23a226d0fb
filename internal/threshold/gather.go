// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"errors"
	"runtime"
	"sync"

	"github.com/undersign/undersign/thresholdrsa"
)

// A gatherer signs as many requests at a time as there are processors. Those who come
// meanwhile wait, and once they are many, are signed together, which takes less time
// than one after the other. Nobody waits for others to come.
type gatherer struct {
	mu      sync.Mutex
	busy    int
	waiting []*waiter
}

// A waiter is a call that waits, until its answer is there or it has others to answer.
type waiter struct {
	r     *thresholdrsa.Request
	wake  chan struct{}
	turn  []*waiter // itself first, or nil
	share *thresholdrsa.SignatureShare
	err   error
}

var errNotSigned = errors.New("threshold: signing ended early")

// sign signs with a share, which is the same one in all calls at a time.
func (g *gatherer) sign(share *thresholdrsa.KeyShare, r *thresholdrsa.Request) (*thresholdrsa.SignatureShare, error) {
	w := &waiter{r: r, wake: make(chan struct{}), err: errNotSigned}
	g.mu.Lock()
	free := g.busy < runtime.GOMAXPROCS(0)
	if free {
		g.busy++
		w.turn = []*waiter{w}
	} else {
		g.waiting = append(g.waiting, w)
	}
	g.mu.Unlock()
	if !free {
		<-w.wake
	}
	if w.turn != nil {
		g.answer(share, w.turn)
	}
	return w.share, w.err
}

// answer signs for all of a turn, and passes the processor on.
func (g *gatherer) answer(share *thresholdrsa.KeyShare, turn []*waiter) {
	defer func() {
		for _, w := range turn[1:] {
			close(w.wake)
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		if len(g.waiting) == 0 {
			g.busy--
			return
		}
		n := turnSize(len(g.waiting), share.BatchSize())
		next := g.waiting[0]
		next.turn = append([]*waiter(nil), g.waiting[:n]...)
		g.waiting = append([]*waiter(nil), g.waiting[n:]...)
		close(next.wake)
	}()
	if len(turn) > 1 {
		rs := make([]*thresholdrsa.Request, len(turn))
		for i, w := range turn {
			rs[i] = w.r
		}
		if sigs, err := share.SignBatch(rs); err == nil {
			for i, w := range turn {
				w.share, w.err = sigs[i], nil
			}
			return
		}
	}
	for _, w := range turn { // each gets its own error
		w.share, w.err = share.Sign(w.r)
	}
}

// turnSize returns how many of those who wait are answered next: one, if a batch isn't
// full enough to be worth it.
func turnSize(waiting, batch int) int {
	if batch == 1 || waiting < batch*3/4 {
		return 1
	}
	return min(waiting, batch)
}

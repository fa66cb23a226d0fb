// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"context"
	"math/big"
	"sync"
)

// A source hands out the candidates of one window after the other to the workers
// that share it. Sieving a window costs as much as dozens of tests, so that workers
// who look for one prime had better not have one each.
type source struct {
	mu     sync.Mutex
	window *window
	turn   *turn
}

// A turn is the time of one window. Its fields are under the source's lock.
type turn struct {
	used  bool // nothing is to be had any more
	given bool // it has given its prime
}

func newSource(pr params, table *primeTable) *source {
	return &source{window: newWindow(pr, table), turn: &turn{used: true}}
}

// enter returns the turn, a new one if the last is used up. It waits while somebody
// sieves.
func (s *source) enter(ctx context.Context) (*turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn.used {
		if err := s.window.draw(ctx); err != nil {
			return nil, err
		}
		s.turn = new(turn)
	}
	return s.turn, nil
}

// next sets q to the next candidate of a turn, if it has one.
func (s *source) next(t *turn, q *big.Int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !t.used && !s.window.next(q) {
		t.used = true
	}
	return !t.used
}

// give reports whether a prime is the first of its turn. There is no other then.
func (s *source) give(t *turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !t.given
	t.given, t.used = true, true
	return first
}

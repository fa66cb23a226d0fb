// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"context"
	"errors"
	"math/big"
	"sync"
	"sync/atomic"
	"testing"
)

func TestSource(t *testing.T) {
	pr := paramsFor(128)
	s := newSource(pr, testTable(t, pr.bound))
	enter := func() *turn {
		t.Helper()
		turn, err := s.enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return turn
	}
	q := new(big.Int)
	a := enter()
	start := s.window.start.String()
	if enter() != a || !s.next(a, q) {
		t.Fatal("a new turn, or an old one without candidates, before the first is used up")
	}
	if !s.give(a) || s.give(a) {
		t.Error("a turn gives one prime")
	}
	if s.next(a, q) {
		t.Error("a candidate after the prime")
	}

	b := enter()
	if b == a || s.window.start.String() == start {
		t.Fatal("the old window again")
	}
	n := len(s.window.survivors)
	for i := range n + 1 {
		if s.next(b, q) != (i < n) {
			t.Fatalf("candidate %d of %d", i, n)
		}
	}
	// One who still tests the last candidates isn't late.
	c := enter()
	if c == b {
		t.Fatal("the turn goes on without candidates")
	}
	if !s.give(b) || s.give(b) {
		t.Error("a turn that is over gives one prime")
	}
	if !s.next(c, q) || s.next(b, q) || s.next(a, q) {
		t.Error("turns are mixed up")
	}

	s.give(c)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if turn, err := s.enter(ctx); turn != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v after an interrupt", turn, err)
	}
	if d := enter(); d == c || !s.next(d, q) {
		t.Error("an interrupt has spoilt the source")
	}
}

// Workers that share windows find at most one prime in each.
func TestSourceShared(t *testing.T) {
	const workers, each = 4, 25
	pr := paramsFor(96)
	pr.width, pr.bound = 1<<13, 1<<12 // many primes in every window
	s := newSource(pr, testTable(t, pr.bound))
	var tested atomic.Uint64
	var mu sync.Mutex
	turns := map[*turn]bool{}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			ts := newTester(kernelFor(pr.bits))
			for range each {
				turn, err := s.enter(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				p, err := ts.search(t.Context(), func(q *big.Int) bool { return s.next(turn, q) }, &tested)
				if err != nil {
					t.Error(err)
				}
				if p == nil || !s.give(turn) {
					continue
				}
				mu.Lock()
				if turns[turn] {
					t.Error("two primes of one window")
				}
				turns[turn] = true
				mu.Unlock()
				if !p.ProbablyPrime(10) || !new(big.Int).Rsh(p, 1).ProbablyPrime(10) {
					t.Errorf("%v isn't a safe prime", p)
				}
			}
		})
	}
	wg.Wait()
	if len(turns) == 0 {
		t.Error("no primes")
	}
}

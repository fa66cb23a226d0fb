// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package safeprime finds random safe primes: primes p such that
// q' = (p-1)/2 is prime too.
//
// The search draws a random window of candidates q' = 6x+5, sieves q' and
// 2q'+1 together by all primes up to a bound that grows with the size, and
// tests the survivors in random order. A window gives at most one prime, so
// the primes returned by one call are independent of each other.
//
// Nothing here is constant time. The duration of a search tells how many
// candidates were drawn and refused, and memory accesses depend on them; each
// candidate is drawn afresh, so this says next to nothing about the primes
// that are returned. Their final tests run in variable time as well. Losing
// candidates and sieve buffers are not wiped; the primes returned are the
// caller's to wipe.
package safeprime

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of the sizes that Find accepts, in bits. The small ones are of use
// to tests only.
const (
	MinBits = 16
	MaxBits = 8192
)

// maxCount bounds the number of primes of one call.
const maxCount = 1000

// Progress says how far a search has come.
type Progress struct {
	// Candidates is the number of candidates tested so far.
	Candidates uint64
	// Expected is the mean of Candidates at the end of such a search. Each
	// candidate succeeds with the same small probability whatever came
	// before, so what remains to be done doesn't shrink as Candidates grows:
	// one search in e^t for one prime takes more than t times this number.
	Expected uint64
	// Found is the number of primes found, Wanted the number asked for.
	Found, Wanted int
}

// progressInterval is the time between two calls of the progress function,
// unless a prime is found in between.
const progressInterval = 250 * time.Millisecond

// Find returns count distinct safe primes of exactly bits bits, an even
// number, with the two top bits set, so that a product of two has exactly
// 2*bits bits.
//
// It keeps GOMAXPROCS goroutines busy and returns when all of them have
// ended. When ctx is done it returns an error that wraps ctx.Err() as soon as
// each has completed a test of candidates: about 3 ms at 2048 bits, and
// 60 ms in the rare case that it is the final test of a prime.
//
// If progress isn't nil, it is called a few times a second and after every
// prime found, by the goroutine that called Find.
//
// About the distribution: a window of w consecutive candidates starts at a
// uniformly random place, and every one of its safe primes is equally likely
// to be the one found, since survivors are tested in random order. A prime is
// therefore returned with probability proportional to the mean of 1/S over
// the w windows that contain it, S being the number of safe primes in a window.
// No prime is more likely than under the uniform distribution by more than the
// mean of S given S > 0, a loss of at most log2 of it in min-entropy: 2.1 bits
// at size 1024 and 1.3 bits at size 2048, or less with the shorter windows of a
// processor that tests eight candidates at once. A search upward from a random start would
// favour primes after long gaps without any such bound.
func Find(ctx context.Context, bits, count int, progress func(Progress)) ([]*big.Int, error) {
	switch {
	case bits < MinBits || bits > MaxBits:
		return nil, fmt.Errorf("safeprime: size of %d bits is not between %d and %d", bits, MinBits, MaxBits)
	case bits%2 != 0:
		return nil, fmt.Errorf("safeprime: size of %d bits is odd", bits)
	case count < 1:
		return nil, fmt.Errorf("safeprime: cannot find %d primes", count)
	case count > maxCountFor(bits):
		return nil, fmt.Errorf("safeprime: %d primes of %d bits are more than %d", count, bits, maxCountFor(bits))
	}
	return find(ctx, paramsFor(bits), count, progress)
}

// maxCountFor keeps a caller from asking for more primes than there are: 87 of
// 16 bits with the two top bits set.
func maxCountFor(bits int) int {
	if bits < 24 {
		return 1 << (bits/2 - 4)
	}
	return maxCount
}

func find(ctx context.Context, pr params, count int, progress func(Progress)) ([]*big.Int, error) {
	table, err := sharedTable(ctx, pr.bound)
	if err != nil {
		return nil, interrupted(err)
	}

	var (
		tested  atomic.Uint64
		results = make(chan result)
		claims  = newClaims(count)
		wg      sync.WaitGroup
	)
	workers, stop := context.WithCancel(ctx)
	defer wg.Wait()
	defer stop()
	n := runtime.GOMAXPROCS(0)
	sources := make([]*source, min(n, count))
	for i := range sources {
		sources[i] = newSource(pr, table)
	}
	for i := range n {
		wg.Go(func() {
			newWorker(pr, sources[i%len(sources)], &tested, claims).run(workers, results)
		})
	}

	expected := uint64(math.Ceil(float64(count) * pr.meanCandidates()))
	found := make([]*big.Int, 0, count)
	report := func() {
		if progress != nil {
			progress(Progress{tested.Load(), expected, len(found), count})
		}
	}
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	for len(found) < count {
		select {
		case <-ctx.Done():
			return nil, interrupted(ctx.Err())
		case <-ticker.C:
			report()
		case r := <-results:
			if r.err != nil {
				return nil, fmt.Errorf("safeprime: %w", r.err)
			}
			if !contains(found, r.p) {
				found = append(found, r.p)
				report()
			} else {
				claims.giveBack()
			}
		}
	}
	return found, nil
}

func interrupted(err error) error {
	return fmt.Errorf("safeprime: search interrupted: %w", err)
}

// contains reports whether p was found before, which happens at toy sizes
// only.
func contains(found []*big.Int, p *big.Int) bool {
	for _, f := range found {
		if f.Cmp(p) == 0 {
			return true
		}
	}
	return false
}

// A worker searches window after window.
type worker struct {
	source *source
	tester *tester
	tested *atomic.Uint64
}

// A result is a safe prime or the reason why there is none.
type result struct {
	p   *big.Int
	err error
}

func newWorker(pr params, s *source, tested *atomic.Uint64, claims *claims) *worker {
	t := newTester(kernelFor(pr.bits))
	t.claims = claims
	return &worker{s, t, tested}
}

// run sends safe primes, at most one of each window, until ctx is done.
func (w *worker) run(ctx context.Context, results chan<- result) {
	for ctx.Err() == nil {
		w.tester.claims.wait(ctx)
		p, err := w.search(ctx)
		if p == nil && (err == nil || ctx.Err() != nil) {
			continue
		}
		select {
		case results <- result{p, err}:
		case <-ctx.Done():
		}
	}
}

// search returns a safe prime of a window, nil if it has none or somebody else found one.
func (w *worker) search(ctx context.Context) (*big.Int, error) {
	t, err := w.source.enter(ctx)
	if err != nil {
		return nil, err
	}
	p, err := w.tester.search(ctx, func(q *big.Int) bool { return w.source.next(t, q) }, w.tested)
	if p != nil && !w.source.give(t) {
		w.tester.claims.giveBack()
		return nil, nil
	}
	return p, err
}

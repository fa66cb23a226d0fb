// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2

import (
	"crypto/rand"
	"sync"

	"github.com/undersign/undersign/internal/sm2ec"
)

// Stats counts the items of a batch by what decided on them.
type Stats struct {
	Malformed int // without arithmetic: encoding, key or range
	Tables    int // tables of recurring keys
	Hinted    int // a linear combination, with hints
	Recovered int // a linear combination, with signs that were recovered
	Single    int // one by one
	Confirmed int // of those in linear combinations, one by one since the combination failed
}

// Verify returns nil if all signatures are valid, as they are in an empty batch, and
// else a [*BatchError] that names every bad one. The batch stays as it is: more may
// be added, and all of it verified again.
func (b *Batch) Verify() error {
	b.hash()
	if b.opts.Cache == nil {
		b.opts.Cache = NewCache(DefaultCacheSize)
	}
	cfg := sm2ec.Config{Cache: b.opts.Cache.tables, Workers: b.opts.workers(), Signers: len(b.keys.keys), Force: b.force, Single: singles()}
	rand.Read(cfg.Seed[:])
	results, stats := sm2ec.Verify(b.items, &cfg)
	b.results = results
	b.stats = Stats{
		Malformed: len(b.index) - len(b.items),
		Tables:    stats.Tables,
		Hinted:    stats.Joint,
		Recovered: stats.Recovered,
		Single:    stats.Single,
		Confirmed: stats.Confirmed,
	}
	b.findNoPoints()
	var err *BatchError
	for i, s := range b.index {
		reason := s.bad
		if reason == 0 {
			reason = reasonOf(results[s.at].Verdict)
		}
		if reason != 0 {
			if err == nil {
				err = &BatchError{Len: len(b.index)}
			}
			err.Bad = append(err.Bad, i)
			err.Reasons = append(err.Reasons, reason)
		}
	}
	if err == nil {
		return nil
	}
	return err
}

// Stats returns what the last Verify did.
func (b *Batch) Stats() Stats { return b.stats }

// Hint returns the hint of item i, if the last Verify found the signature valid and its
// hint came out on the way. If the item had a wrong hint, this is the right one.
func (b *Batch) Hint(i int) Hint {
	s := b.index[i]
	if s.bad != 0 || s.at >= len(b.results) {
		return NoHint
	}
	r := b.results[s.at]
	if r.Verdict != sm2ec.Valid {
		return NoHint
	}
	return hintOf(r.Hint)
}

func reasonOf(v sm2ec.Verdict) Reason {
	switch v {
	case sm2ec.Valid:
		return 0
	case sm2ec.BadKey:
		return ReasonKey
	case sm2ec.BadRange:
		return ReasonRange
	case sm2ec.NoPoint:
		return ReasonNoPoint
	}
	return ReasonEquation // no other verdict is good
}

// findNoPoints tells the two reasons apart that bad equations can have. Ways to
// verify that don't need the point of a signature don't see whether it exists.
func (b *Batch) findNoPoints() {
	var bad []int
	for i := range b.results {
		if b.results[i].Verdict == sm2ec.BadEquation {
			bad = append(bad, i)
		}
	}
	b.parallel(len(bad), 32, func(lo, hi int) {
		for _, i := range bad[lo:hi] {
			if !b.items[i].HasPoint() {
				b.results[i].Verdict = sm2ec.NoPoint
			}
		}
	})
}

// parallel cuts n things into pieces of at most size, for as many goroutines as
// there may be, and waits for them.
func (b *Batch) parallel(n, size int, f func(lo, hi int)) {
	workers := min(b.opts.workers(), (n+size-1)/size)
	if workers <= 1 {
		f(0, n)
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { f(n*w/workers, n*(w+1)/workers) })
	}
	wg.Wait()
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2

import (
	"runtime"
	"testing"
)

// TestMemory measures what a cache holds alive, and what a stream of batches leaves behind.
func TestMemory(t *testing.T) {
	s := newSource(t)
	const budget = 1 << 20
	// Warm up what isn't counted: tables of the generator.
	warm := NewBatch(nil)
	priv := s.key()
	digest := s.bytes(32)
	sig := s.sign(priv, digest)
	for range 5000 {
		warm.AddDigest(&priv.PublicKey, digest, sig)
	}
	if err := warm.Verify(); err != nil {
		t.Fatal(err)
	}
	warm = nil

	before := heap()
	cache := NewCache(budget)
	keys := s.keys(60)
	b := NewBatch(&Options{Cache: cache, Workers: 1})
	var most uint64
	for round := range 20 {
		b.Reset()
		for i := range 240 {
			priv := keys[(i+7*round)%len(keys)]
			b.AddDigest(&priv.PublicKey, digest, s.sign(priv, digest))
		}
		if err := b.Verify(); err != nil {
			t.Fatal(err)
		}
		if n := cache.Size(); n > budget {
			t.Fatalf("round %d: the cache says %d bytes", round, n)
		}
		if round == 4 || round == 19 {
			most = max(most, heap()-min(before, heap()))
		}
	}
	if n := cache.Len(); n == 0 || n == len(keys) {
		t.Errorf("%d of %d keys in the cache", n, len(keys))
	}
	t.Logf("%d tables; the cache says %d kB, the heap grew by %d kB", cache.Len(), cache.Size()>>10, most>>10)
	// The batch's own buffers, for 240 items, come on top.
	if most > budget+budget/8+512<<10 {
		t.Errorf("the heap grew by %d bytes, and the budget is %d", most, budget)
	}
	runtime.KeepAlive(b)
}

// heap returns the number of bytes alive.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestGoroutines demands that none outlives a call.
func TestGoroutines(t *testing.T) {
	s := newSource(t)
	trials := s.corpus(300)
	before := runtime.NumGoroutine()
	b := fill(&Options{Workers: 8}, trials)
	check(t, b, trials)
	if n := runtime.NumGoroutine(); n > before {
		t.Errorf("%d goroutines, and %d before", n, before)
	}
}

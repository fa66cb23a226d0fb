// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"errors"
	"runtime"
	"testing"
	"time"
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
	for range 10_000 {
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

// TestCacheAdd makes tables beforehand.
func TestCacheAdd(t *testing.T) {
	s := newSource(t)
	var pubs []*ecdsa.PublicKey
	for _, k := range s.keys(3) {
		pubs = append(pubs, &k.PublicKey)
	}
	priv := s.key()
	off := *pubs[0]
	off.Curve = elliptic.P256()
	cache := NewCache(10 << 20)
	for _, bad := range []*ecdsa.PublicKey{nil, {}, &off} {
		if err := cache.Add(pubs[0], bad); !errors.Is(err, ErrKey) || cache.Len() != 0 {
			t.Errorf("%v, %d tables", err, cache.Len())
		}
	}
	if err := cache.Add(append(pubs, &priv.PublicKey)...); err != nil || cache.Len() != 4 {
		t.Fatalf("%v, %d tables", err, cache.Len())
	}
	b := NewBatch(&Options{Cache: cache})
	digest := s.bytes(32)
	b.AddDigest(&priv.PublicKey, digest, s.sign(priv, digest))
	if err := b.Verify(); err != nil || b.Stats().Tables != 1 {
		t.Errorf("%v, %+v", err, b.Stats())
	}
	// A smaller budget has smaller tables, or none.
	for _, budget := range []int64{0, 1000, 30 << 10, 200 << 10} {
		cache := NewCache(budget)
		if err := cache.Add(pubs...); err != nil || cache.Size() > budget {
			t.Errorf("budget %d: %v, %d bytes", budget, err, cache.Size())
		}
	}
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
	// One that has told its owner that it is done still takes a moment to end.
	n := runtime.NumGoroutine()
	for deadline := time.Now().Add(5 * time.Second); n > before && time.Now().Before(deadline); n = runtime.NumGoroutine() {
		time.Sleep(time.Millisecond)
	}
	if n > before {
		t.Errorf("%d goroutines, and %d before", n, before)
	}
}

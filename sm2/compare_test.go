// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/undersign/undersign/internal/sm2ec"
)

// TestCompare holds verdicts against gmsm's: on every path and tier, in
// any order and any split. With UNDERSIGN_LONG=1 it takes a million items.
func TestCompare(t *testing.T) {
	size := 1500
	if testing.Short() {
		size = 300
	}
	rounds := 1
	if long {
		rounds = 1_000_000/size + 1
	}
	s := newSource(t)
	kinds := map[string][2]int{}
	total := 0
	for round := range rounds {
		trials := s.corpus(size)
		for i := range trials {
			c := kinds[trials[i].kind]
			c[btoi(trials[i].want)]++
			kinds[trials[i].kind] = c
		}
		total += len(trials)
		cache := NewCache(16 << 20)
		everyWay(t, func(t *testing.T, path sm2ec.Path) {
			if round > 0 && path != sm2ec.Auto && s.IntN(4) > 0 {
				t.SkipNow() // the million is about items
			}
			b := fill(&Options{Cache: cache, Workers: 1 + s.IntN(3)}, trials)
			b.force = path
			check(t, b, trials)
			shuffled := slices.Clone(trials)
			s.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			for len(shuffled) > 0 {
				n := min(len(shuffled), 1+s.IntN(1<<s.IntN(11)))
				b.Reset()
				for i := range shuffled[:n] {
					b.AddItem(shuffled[i].Item)
				}
				check(t, b, shuffled[:n])
				shuffled = shuffled[n:]
			}
		})
		if t.Failed() {
			break
		}
	}
	t.Logf("%d items", total)
	for kind, c := range kinds {
		t.Logf("%-24s %7d bad %7d good", kind, c[0], c[1])
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestPositions moves a bad item through a batch of good ones.
func TestPositions(t *testing.T) {
	s := newSource(t)
	keys := s.keys(3)
	const n = 70
	var good []trial
	for i := range n {
		priv := s.key()
		if i%2 == 0 {
			priv = keys[i%3]
		}
		digest := s.bytes(32)
		good = append(good, digestTrial("good", &priv.PublicKey, digest, s.sign(priv, digest)))
		good[i].Hint, _ = FindHint(good[i].PublicKey, digest, good[i].Signature)
	}
	priv := s.key()
	digest := s.bytes(32)
	bad := digestTrial("bad", &priv.PublicKey, s.bytes(32), s.sign(priv, digest))
	everyWay(t, func(t *testing.T, path sm2ec.Path) {
		b := NewBatch(nil)
		b.force = path
		for at := s.IntN(10); at < n; at += 1 + s.IntN(20) {
			for _, hint := range []Hint{NoHint, HintEven, HintOdd} {
				bad.Hint = hint
				trials := slices.Insert(slices.Clone(good), at, bad)
				b.Reset()
				for i := range trials {
					b.AddItem(trials[i].Item)
				}
				check(t, b, trials)
			}
		}
	})
}

// TestSizes verifies batches of every small size.
func TestSizes(t *testing.T) {
	s := newSource(t)
	var trials []trial
	for range 45 {
		priv := s.key()
		digest := s.bytes(32)
		trials = append(trials, digestTrial("good", &priv.PublicKey, digest, s.sign(priv, digest)))
	}
	s.hint(trials)
	everyWay(t, func(t *testing.T, path sm2ec.Path) {
		b := NewBatch(nil)
		b.force = path
		for n := range trials {
			if testing.Short() && n%7 != 0 {
				continue
			}
			b.Reset()
			for i := range trials[:n] {
				b.AddItem(trials[i].Item)
			}
			if err := b.Verify(); err != nil {
				t.Errorf("%d items: %v", n, err)
			}
		}
	})
}

// TestShared has several batches run at once on a cache that is too small for them.
func TestShared(t *testing.T) {
	s := newSource(t)
	trials := s.corpus(600)
	cache := NewCache(300 << 10)
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for g := range errs {
		order := s.Perm(len(trials))
		wg.Go(func() {
			b := NewBatch(&Options{Cache: cache, Workers: 2})
			for round := range 3 {
				b.Reset()
				for _, i := range order {
					b.AddItem(trials[i].Item)
				}
				bad := map[int]bool{}
				if err, ok := b.Verify().(*BatchError); ok {
					for _, i := range err.Bad {
						bad[i] = true
					}
				}
				for k, i := range order {
					if bad[k] == trials[i].want {
						errs[g] = fmt.Errorf("round %d: item %d, %s: wrong verdict", round, k, trials[i].kind)
					}
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	if n := cache.Size(); n > 300<<10 {
		t.Errorf("%d bytes in the cache", n)
	}
}

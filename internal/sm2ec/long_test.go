// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// A million items, ordinary, crafted and from attacks, with hints of all kinds, in
// random batches: every path and tier has gmsm's verdicts.
func TestVerifyLong(t *testing.T) {
	if os.Getenv("UNDERSIGN_LONG") == "" {
		t.Skip("UNDERSIGN_LONG isn't set")
	}
	r := newRand(t)
	cache := NewCache(4 << 20)
	end, limited := t.Deadline()
	const total = 1_000_000
	good, done := 0, 0
	for done < total {
		if limited && time.Until(end) < time.Minute {
			t.Logf("no time left for all of %d", total)
			break
		}
		js := judgeAll(t, longItems(t, r))
		for _, j := range js {
			if j.good {
				good++
			}
		}
		done += len(js)
		for _, name := range Tiers() {
			restore := ForceTier(name)
			for _, path := range forced {
				r.Shuffle(len(js), func(i, k int) { js[i], js[k] = js[k], js[i] })
				items := withHints(r, js, []float64{0, 0.001, 0.05, 0.5, 1}[r.IntN(5)])
				for lo := 0; lo < len(js); {
					hi := min(len(js), lo+1+r.IntN(1<<r.IntN(13)))
					cfg := Config{Seed: randSeed(r), Force: path, Workers: r.IntN(3)}
					if r.IntN(2) == 0 {
						cfg.Cache = cache
					}
					got, _ := Verify(items[lo:hi], &cfg)
					checkResults(t, fmt.Sprint(name, " ", path), items[lo:hi], js[lo:hi], got)
					lo = hi
				}
			}
			restore()
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d items, %d good", done, good)
}

// longItems returns some thousands of items: nearly all valid in some calls.
func longItems(t *testing.T, r *rand.Rand) []Item {
	items := ordinary(r, 2000, 1+r.IntN(200))
	if r.IntN(2) == 0 {
		for i := range items {
			if _, ok := FindHint(&items[i]); !ok {
				items[i] = signed(randInt(r), randInt(r), randInt(r))
			}
		}
	}
	items = append(items, crafted(r)...)
	for _, attack := range attacks {
		for range 1 + r.IntN(20) {
			for _, it := range attack(t, r) {
				it.Hint = NoHint
				items = append(items, it)
			}
		}
	}
	// The same again, and the same points under other keys.
	for range 100 {
		items = append(items, items[r.IntN(len(items))])
	}
	q := randPoint(r)
	for range 20 {
		items = append(items, withPoint(r, &q))
	}
	return items
}

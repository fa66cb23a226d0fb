// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

var forced = []Path{Auto, Tables, Joint, Recovered, Single}

func randSeed(r *rand.Rand) (seed [32]byte) {
	for i := range seed {
		seed[i] = byte(r.Uint32())
	}
	return seed
}

// A judged item comes with gmsm's verdict and, if that is good, the hint by parity.
type judged struct {
	Item
	good bool
	hint Hint
}

func judgeAll(t testing.TB, items []Item) []judged {
	js := make([]judged, len(items))
	for i := range items {
		js[i] = judged{Item: items[i], good: oracle(&items[i])}
		hint, ok := FindHint(&items[i])
		if ok != js[i].good {
			t.Fatalf("FindHint says %v, gmsm %v: %+v", ok, js[i].good, items[i])
		}
		js[i].hint = hint
	}
	return js
}

// withHints returns the items with hints that are right, but for a part of them:
// wrong, missing or no hints at all.
func withHints(r *rand.Rand, js []judged, wrong float64) []Item {
	items := make([]Item, len(js))
	for i := range js {
		items[i] = js[i].Item
		it := &items[i]
		it.Hint = js[i].hint
		if it.Hint == NoHint {
			it.Hint = HintEven
		}
		if r.Float64() >= wrong {
			continue
		}
		switch r.IntN(4) {
		case 0:
			it.Hint = NoHint
		case 1:
			it.Hint = Hint(5 + r.IntN(100))
		default:
			it.Hint = it.Hint.opposite()
		}
	}
	return items
}

// checkResults compares verdicts, and hints.
func checkResults(t *testing.T, what string, items []Item, js []judged, got []Result) {
	t.Helper()
	if len(got) != len(items) {
		t.Fatalf("%s: %d results of %d items", what, len(got), len(items))
	}
	for i, res := range got {
		if (res.Verdict == Valid) != js[i].good {
			t.Errorf("%s: item %d: verdict %d, gmsm says %v: %+v", what, i, res.Verdict, js[i].good, items[i])
		}
		if want := js[i].hint; res.Hint != want {
			t.Errorf("%s: item %d: hint %d, want %d", what, i, res.Hint, want)
		}
		if res.Verdict == Unchecked {
			t.Errorf("%s: item %d is unchecked", what, i)
		}
	}
}

// Every path agrees with gmsm on crafted and ordinary items, in any order and split.
func TestVerify(t *testing.T) { onTiers(t, testVerify) }

func testVerify(t *testing.T) {
	r := newRand(t)
	js := judgeAll(t, append(append(crafted(r), ordinary(r, 60, 3)...), ordinary(r, 60, 60)...))
	for _, path := range forced {
		for _, wrong := range []float64{0, 0.05, 1} {
			r.Shuffle(len(js), func(i, k int) { js[i], js[k] = js[k], js[i] })
			for lo := 0; lo < len(js); {
				hi := min(len(js), lo+1+r.IntN(len(js)))
				items := withHints(r, js[lo:hi], wrong)
				cfg := Config{Seed: randSeed(r), Force: path, Workers: r.IntN(4)}
				got, _ := Verify(items, &cfg)
				checkResults(t, fmt.Sprint(path, " ", wrong), items, js[lo:hi], got)
				lo = hi
			}
		}
	}
}

// Good batches of all sizes, with a bad item at each place in some.
func TestVerifyPlaces(t *testing.T) {
	r := newRand(t)
	var good []judged
	for _, j := range judgeAll(t, ordinary(r, 80, 80)) {
		if j.good {
			good = append(good, j)
		}
	}
	for _, path := range forced {
		for n := range 30 {
			items := withHints(r, good[:n], 0)
			got, _ := Verify(items, &Config{Seed: randSeed(r), Force: path})
			checkResults(t, path.String(), items, good[:n], got)
		}
		for bad := range 30 {
			js := append([]judged(nil), good[:30]...)
			js[bad].S.Add(&js[bad].S, &Scalar{1})
			js[bad].good, js[bad].hint = false, NoHint
			items := withHints(r, js, 0)
			got, _ := Verify(items, &Config{Seed: randSeed(r), Force: path})
			checkResults(t, path.String(), items, js, got)
		}
	}
}

// The same signature many times over, and its mirror images, and then the same
// point in many signatures.
func TestVerifyEqual(t *testing.T) {
	r := newRand(t)
	good := signed(randInt(r), randInt(r), randInt(r))
	var items []Item
	for i := range 100 {
		it := good
		if i%10 == 9 {
			it.P.Neg(&it.P)
		}
		items = append(items, it)
	}
	// The same point, and the opposite one, under different keys.
	q := randPoint(r)
	for i := range 40 {
		items = append(items, withPoint(r, &q))
		if i%3 == 0 {
			q.Neg(&q)
		}
	}
	js := judgeAll(t, items)
	for _, path := range forced {
		for _, wrong := range []float64{0, 1} {
			its := withHints(r, js, wrong)
			got, _ := Verify(its, &Config{Seed: randSeed(r), Force: path})
			checkResults(t, path.String(), its, js, got)
		}
	}
}

func TestVerifyReasons(t *testing.T) {
	r := newRand(t)
	good := signed(randInt(r), randInt(r), randInt(r))
	var items []Item
	var want []Verdict
	add := func(v Verdict, f func(it *Item)) {
		it := good
		f(&it)
		items, want = append(items, it), append(want, v)
	}
	add(Valid, func(*Item) {})
	add(BadKey, func(it *Item) { it.P.Y.Add(&it.P.Y, &feOne) })
	add(BadKey, func(it *Item) { it.P = Affine{} })
	add(BadRange, func(it *Item) { it.R = Scalar{} })
	add(BadRange, func(it *Item) { it.S = Scalar{} })
	add(BadRange, func(it *Item) { it.S.Neg(&it.R) })
	add(BadEquation, func(it *Item) { it.S.Add(&it.S, &Scalar{1}) })
	for range 20 {
		add(NoPoint, func(it *Item) {
			for {
				it.E = randScalar(r)
				x, _, _ := it.XCandidates()
				curveRHS(&x, &x)
				if !new(Element).Sqrt(&x) {
					return
				}
			}
		})
	}
	for _, path := range forced {
		for i := range items {
			items[i].Hint = HintEven
		}
		got, _ := Verify(items, &Config{Seed: randSeed(r), Force: path})
		for i := range items {
			v := got[i].Verdict
			if v == BadEquation && want[i] == NoPoint && path != Joint && path != Recovered {
				continue // the other paths don't look for points
			}
			if v != want[i] {
				t.Errorf("%s: item %d: verdict %d, want %d", path, i, v, want[i])
			}
		}
	}
}

func TestVerifyNothing(t *testing.T) {
	for _, path := range forced {
		if got, stats := Verify(nil, &Config{Force: path}); len(got) != 0 || stats != (Stats{}) {
			t.Errorf("%s: %v, %+v", path, got, stats)
		}
	}
}

// A cache serves batches one after the other, and doesn't change verdicts.
func TestVerifyCache(t *testing.T) {
	r := newRand(t)
	js := judgeAll(t, ordinary(r, 200, 20))
	cache := NewCache(8 << 20)
	tables := 0
	for range 30 {
		items := withHints(r, js, 0.5)
		got, stats := Verify(items, &Config{Seed: randSeed(r), Cache: cache})
		checkResults(t, "cache", items, js, got)
		tables = stats.Tables
	}
	if cache.Len() == 0 || tables < 150 {
		t.Errorf("%d tables kept, %d items by tables at last", cache.Len(), tables)
	}
	if cache.Size() > 8<<20 {
		t.Errorf("%d bytes", cache.Size())
	}
}

// goodItems returns n valid items without hints, and their hints.
func goodItems(t testing.TB, r *rand.Rand, n, signers int) []judged {
	var items []Item
	for len(items) < n {
		for _, it := range ordinary(r, n, signers) {
			if hint, ok := FindHint(&it); ok && len(items) < n {
				it.Hint = hint
				items = append(items, it)
			}
		}
	}
	js := make([]judged, n)
	for i := range js {
		js[i] = judged{items[i], true, items[i].Hint}
		js[i].Item.Hint = NoHint
	}
	return js
}

// Wrong hints, in all four ways to express them, make no item invalid and come
// back right.
func TestWrongHints(t *testing.T) {
	r := newRand(t)
	js := goodItems(t, r, 150, 150)
	for _, k := range []int{1, 2, 20, 150} {
		items := withHints(r, js, 0)
		for _, i := range r.Perm(len(items))[:k] {
			items[i].Hint = items[i].Hint.opposite()
		}
		got, stats := Verify(items, &Config{Seed: randSeed(r), Force: Joint})
		checkResults(t, fmt.Sprint(k, " wrong"), items, js, got)
		if stats.Confirmed < k {
			t.Errorf("%d confirmed, of %d with wrong hints", stats.Confirmed, k)
		}
	}
	// Hints that compare y with p - y.
	items := withHints(r, js, 0)
	for i := range items {
		y := js[i].point(t).Y
		high := bigOf(&y).Cmp(halfP) > 0
		items[i].Hint = HintLow
		if high {
			items[i].Hint = HintHigh
		}
		if !items[i].Hint.matches(&y) || items[i].Hint.opposite().matches(&y) {
			t.Fatalf("y = %x: hint %d", bigOf(&y), items[i].Hint)
		}
	}
	got, stats := Verify(items, &Config{Seed: randSeed(r), Force: Joint})
	if stats.Confirmed != 0 {
		t.Errorf("%d confirmed with right hints", stats.Confirmed)
	}
	for i := range got {
		if got[i] != (Result{Valid, items[i].Hint}) {
			t.Errorf("item %d: %+v with hint %d", i, got[i], items[i].Hint)
		}
	}
	for _, i := range []int{3, 77} {
		items[i].Hint = items[i].Hint.opposite()
	}
	got, _ = Verify(items, &Config{Seed: randSeed(r), Force: Joint})
	for i := range got {
		want := items[i].Hint
		if i == 3 || i == 77 {
			want = want.opposite()
		}
		if got[i] != (Result{Valid, want}) {
			t.Errorf("item %d: %+v, want hint %d", i, got[i], want)
		}
	}
}

// point returns sG + tP.
func (j *judged) point(t testing.TB) Affine {
	var sum [1]Jacobian
	combine(sum[:], []*Item{&j.Item})
	a, ok := sum[0].Affine()
	if !ok {
		t.Fatal("infinity")
	}
	return a
}

// Several goroutines may share a cache, and use several goroutines each.
func TestVerifyConcurrent(t *testing.T) {
	r := newRand(t)
	js := judgeAll(t, ordinary(r, 100, 30))
	cache := NewCache(1 << 20)
	items := withHints(r, js, 0.3)
	parallel(4, func(i int) {
		for k, path := range forced {
			cfg := Config{Seed: [32]byte{byte(i), byte(k)}, Cache: cache, Workers: 3, Force: path}
			got, _ := Verify(items, &cfg)
			checkResults(t, path.String(), items, js, got)
		}
	})
}

func TestCombine(t *testing.T) { onTiers(t, testCombine) }

func testCombine(t *testing.T) {
	r := newRand(t)
	items := crafted(r)
	sums := make([]Jacobian, len(items))
	ps := make([]*Item, len(items))
	for i := range items {
		ps[i] = &items[i]
	}
	for lo := 0; lo < len(ps); {
		hi := min(len(ps), lo+1+r.IntN(2*combineMin))
		combine(sums[lo:hi], ps[lo:hi])
		lo = hi
	}
	for i := range items {
		var want, base Jacobian
		tt, _ := items[i].T()
		want.ScalarMult(&items[i].P, &tt)
		base.BaseMult(&items[i].S)
		want.Add(&want, &base)
		if !sums[i].Equal(&want) {
			t.Errorf("item %d: wrong sum", i)
		}
	}
}

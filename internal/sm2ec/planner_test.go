// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"math/big"
	"testing"
)

// plannedItems returns n items of so many signers that aren't signatures of anything:
// a planner doesn't look at them.
func plannedItems(n, signers int, hint Hint) []Item {
	keys := make([]Affine, signers)
	for i := range keys {
		keys[i] = bigMultiple(big.NewInt(int64(1000 + i)))
	}
	items := make([]Item, n)
	for i := range items {
		items[i] = Item{P: keys[i%signers], E: Scalar{1, 0, 0, 1}, R: Scalar{uint64(i) + 1, 0, 1}, S: Scalar{7}, Hint: hint}
	}
	return items
}

// planned returns how many items each path gets.
func planned(items []Item, cfg *Config) (tables, joint, recovered, single int) {
	v := verifier{cfg: cfg, workers: 1, items: items, results: make([]Result, len(items))}
	v.plan(v.screen())
	for _, j := range v.tableJobs {
		for _, s := range j.signers {
			tables += len(s.items)
		}
	}
	return tables, len(v.hinted), len(v.unhinted), len(v.single)
}

type planCase struct {
	n, signers int
	hint       Hint
	want       Path
}

func checkPlans(t *testing.T, cases []planCase) {
	for _, c := range cases {
		tables, joint, recovered, single := planned(plannedItems(c.n, c.signers, c.hint), &Config{})
		got := map[Path]int{Tables: tables, Joint: joint, Recovered: recovered, Single: single}
		if got[c.want] != c.n {
			t.Errorf("%d items of %d signers, hint %d: %v, want %s", c.n, c.signers, c.hint, got, c.want)
		}
	}
}

func TestPlan(t *testing.T) {
	onScalars(t)
	checkPlans(t, []planCase{
		{1, 1, NoHint, Single},
		{1, 1, HintEven, Single},
		{2, 2, NoHint, Single},
		{2, 1, NoHint, Single},
		{8, 8, NoHint, Single},
		{64, 64, HintEven, Joint},
		{1024, 1024, HintHigh, Joint},
		{1024, 1024, NoHint, Recovered},
		{1024, 1024, 77, Recovered}, // no hint at all
		{1024, 1, NoHint, Tables},
		{1024, 1, HintEven, Tables},
		{4096, 4, NoHint, Tables},
		{1024, 64, HintEven, Joint},
	})
}

func TestPlanLanes(t *testing.T) {
	onLanes(t)
	checkPlans(t, []planCase{
		{1, 1, NoHint, Single},
		{1, 1, HintEven, Single},
		{2, 1, NoHint, Single},
		{8, 8, HintEven, Single},
		{16, 16, NoHint, Single},
		{64, 64, NoHint, Single},
		{256, 256, NoHint, Recovered},
		{4096, 4096, NoHint, Recovered},
		{1024, 64, NoHint, Recovered},
		{96, 96, HintEven, Joint},
		{256, 256, HintEven, Joint},
		{4096, 4096, HintHigh, Joint},
		{256, 1, NoHint, Tables},
		{4096, 4, HintLow, Tables},
	})
}

// One signer of many items among many of one, half of which have hints.
func TestPlanMixed(t *testing.T) {
	onScalars(t)
	items := append(plannedItems(3000, 1, NoHint), plannedItems(500, 500, HintEven)[1:]...)
	items = append(items, plannedItems(900, 900, NoHint)[500:]...)
	tables, joint, recovered, single := planned(items, &Config{})
	if tables != 3000 || joint != 499 || recovered != 400 || single != 0 {
		t.Errorf("%d by tables, %d joint, %d recovered, %d single", tables, joint, recovered, single)
	}
}

// A key that recurs gets a table though no batch has many of its items, and
// a wider one when it recurs often. A cache without room for it changes nothing.
func TestPlanRecurring(t *testing.T) {
	cache := NewCache(4 << 20)
	items := signedOnce(t)
	var widths []int
	for range 3000 {
		if _, stats := Verify(items, &Config{Cache: cache}); stats.Tables > 0 {
			table, _ := cache.Use(&items[0].P, 0)
			if len(widths) == 0 || widths[len(widths)-1] != table.w {
				widths = append(widths, table.w)
			}
		}
		if len(widths) > 1 {
			break
		}
	}
	if len(widths) < 2 || widths[1] <= widths[0] {
		t.Errorf("widths %v", widths)
	}
	small := NewCache(1 << 10)
	for range 100 {
		if _, stats := Verify(items, &Config{Cache: small}); stats.Single != 1 {
			t.Fatalf("%+v", stats)
		}
	}
	if cache.Size() > 4<<20 || small.Size() > 1<<10 {
		t.Errorf("%d and %d bytes", cache.Size(), small.Size())
	}
}

func signedOnce(t *testing.T) []Item {
	r := newRand(t)
	return []Item{signed(randInt(r), randInt(r), randInt(r))}
}

// Tables that are made at a time stay within their bound.
func TestPlanTableMemory(t *testing.T) {
	v := verifier{cfg: &Config{Force: Tables}, items: plannedItems(4000, 2000, NoHint), results: make([]Result, 4000)}
	v.plan(v.screen())
	if len(v.tableJobs) < 2 {
		t.Fatalf("%d jobs", len(v.tableJobs))
	}
	for _, j := range v.tableJobs {
		if size := int64(len(j.signers)) * TableSize(j.width); size > tempTables {
			t.Errorf("a job with %d bytes of tables", size)
		}
	}
}

// Someone else's single verification decides where it's given, and hints still come
// out where they were wrong.
func TestPlanSingle(t *testing.T) {
	r := newRand(t)
	js := goodItems(t, r, 200, 200)
	calls := 0
	cfg := Config{Single: func(ok []bool, items []*Item) {
		calls += len(items)
		VerifySingles(ok, items)
	}}
	items := withHints(r, js[:5], 0)
	got, _ := Verify(items, &cfg)
	for i := range got {
		if got[i].Verdict != Valid {
			t.Errorf("item %d: %+v", i, got[i])
		}
	}
	if calls == 0 {
		t.Error("no call for a small batch")
	}
	calls = 0
	items = withHints(r, js, 0)
	items[33].Hint = items[33].Hint.opposite()
	cfg.Force = Joint
	got, _ = Verify(items, &cfg)
	for i := range got {
		if got[i].Verdict != Valid || calls == 0 && got[i].Hint != js[i].hint {
			t.Errorf("item %d: %+v", i, got[i])
		}
	}
	for i := range items {
		items[i].S.Add(&items[i].S, &Scalar{1})
	}
	calls = 0
	got, _ = Verify(items, &cfg)
	for i := range got {
		if got[i] != (Result{Verdict: BadEquation}) {
			t.Errorf("item %d: %+v", i, got[i])
		}
	}
	if calls != len(items) {
		t.Errorf("%d calls for %d bad items", calls, len(items))
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"sync"
	"testing"
)

func TestCache(t *testing.T) {
	r := newRand(t)
	var ps []Affine
	for range 12 {
		ps = append(ps, randPoint(r))
	}
	ts := NewTables(ps, 4)
	one := ts[0].Size() + countCost
	c := NewCache(8 * (one*3 + one/2) / 7) // three tables and a half
	for i := range ps {
		if tab, uses := c.Use(&ps[i], 2); tab != nil || uses != 2 {
			t.Fatalf("a new key has %v, %d uses", tab, uses)
		}
	}
	if _, uses := c.Use(&ps[0], 3); uses != 5 {
		t.Fatalf("%d uses, want 5", uses)
	}
	if c.Len() != 0 {
		t.Fatal("tables out of nothing")
	}
	for i := range 3 {
		c.Put(&ps[i], ts[i])
	}
	if tab, uses := c.Use(&ps[0], 1); tab != ts[0] || uses != 6 {
		t.Fatalf("got %p, %d uses", tab, uses)
	}
	c.Put(&ps[3], ts[3]) // in place of number 1
	for i, want := range []*Table{ts[0], nil, ts[2], ts[3]} {
		if tab, _ := c.Use(&ps[i], 0); tab != want {
			t.Fatalf("key %d has %p, want %p", i, tab, want)
		}
	}
	// Another table of the same key replaces the first.
	small := NewTable(&ps[3], 2)
	c.Put(&ps[3], small)
	if tab, _ := c.Use(&ps[3], 0); tab != small || c.Len() != 3 {
		t.Fatal("a table was not replaced")
	}
	if big := NewTable(&ps[4], 8); c.Room(big.Size()) || !c.Room(small.Size()) {
		t.Fatal("room for what is larger than the budget, or none")
	} else if c.Put(&ps[4], big); c.Len() != 3 {
		t.Fatal("a table larger than the budget")
	}
}

// The budget holds whatever is put in, and counts never push out tables.
func TestCacheBudget(t *testing.T) {
	r := newRand(t)
	const budget = 120000
	c := NewCache(budget)
	hot := randPoint(r)
	tab := NewTable(&hot, 4)
	c.Put(&hot, tab)
	for i := range 3000 {
		p := Affine{X: Element{uint64(i)}}
		if c.Use(&p, 1); i%50 == 0 {
			c.Put(&p, NewTable(&hot, 2+i%3))
			if got, _ := c.Use(&hot, 1); got == nil {
				t.Fatalf("the hot key lost its table at %d", i)
			}
		}
		if c.Size() > budget {
			t.Fatalf("%d bytes of %d", c.Size(), budget)
		}
	}
	if len(c.records) != c.counts.n+c.tables.n {
		t.Fatal("records were left behind")
	}
	for _, b := range []int64{-5, 0, 1, 3000} {
		c := NewCache(b)
		c.Use(&hot, 1)
		c.Put(&hot, tab)
		if c.Len() != 0 || c.Size() > max(b, 0) {
			t.Fatalf("budget %d: %d tables, %d bytes", b, c.Len(), c.Size())
		}
	}
	var none *Cache
	none.Put(&hot, tab)
	if got, uses := none.Use(&hot, 3); got != nil || uses != 3 || none.Len() != 0 || none.Size() != 0 || none.Room(1) {
		t.Fatal("a nil cache kept something")
	}
}

func TestCacheConcurrent(t *testing.T) {
	r := newRand(t)
	var ps []Affine
	for range 8 {
		ps = append(ps, randPoint(r))
	}
	ts := NewTables(ps, 3)
	c := NewCache(5 * (ts[0].Size() + countCost))
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 500 {
				k := (i*7 + g) % len(ps)
				if tab, _ := c.Use(&ps[k], 1); tab == nil {
					c.Put(&ps[k], ts[k])
				} else if tab.Point() != ps[k] {
					t.Error("another key's table")
				}
			}
		})
	}
	wg.Wait()
}

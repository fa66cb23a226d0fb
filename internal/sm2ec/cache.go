// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import "sync"

// A Cache keeps the tables of recurring keys within a budget of bytes, and counts
// how often keys are used, so as to know which are worth a table. Tables and
// counts that haven't been used for longest go first. Its methods may be called
// concurrently. A nil Cache keeps nothing.
type Cache struct {
	mu      sync.Mutex
	records map[Affine]*record
	tables  lru // of the records with a table,
	counts  lru // and of those without
}

// countCost is charged for a key without a table: its record and the shares of
// a map's buckets.
const countCost = 384

// NewCache returns a cache that keeps at most budget bytes. An eighth of it
// is for the counts of keys without tables. A table that was dropped lives on
// while someone uses it.
func NewCache(budget int64) *Cache {
	counts := budget / 8
	c := &Cache{records: map[Affine]*record{}}
	c.tables.init(budget - counts)
	c.counts.init(counts)
	return c
}

// Use counts n more uses of the key p. It returns their number since the key
// is known, these included, and the table if there is one.
func (c *Cache) Use(p *Affine, n int) (t *Table, uses int64) {
	if c == nil {
		return nil, int64(n)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.records[*p]
	switch {
	case r == nil:
		r = &record{key: *p, cost: countCost}
		c.add(&c.counts, r)
	case r.table != nil:
		c.tables.refresh(r)
	default:
		c.counts.refresh(r)
	}
	r.uses += int64(n)
	return r.table, r.uses
}

// Put keeps a table of the key p, in place of any other, unless it is larger than all that
// the cache may keep.
func (c *Cache) Put(p *Affine, t *Table) {
	if c == nil {
		return
	}
	cost := t.Size() + countCost
	c.mu.Lock()
	defer c.mu.Unlock()
	if cost > c.tables.budget {
		return
	}
	r := &record{key: *p, table: t, cost: cost}
	if old := c.records[*p]; old != nil {
		r.uses = old.uses
		c.remove(old)
	}
	c.add(&c.tables, r)
}

// add adds a record of a key that has none, and drops others from the list until it fits, and
// itself if it can't.
func (c *Cache) add(l *lru, r *record) {
	if r.cost > l.budget {
		return
	}
	for l.size+r.cost > l.budget {
		c.remove(l.ends.prev)
	}
	l.size += r.cost
	l.n++
	l.insert(r)
	c.records[r.key] = r
}

func (c *Cache) remove(r *record) {
	l := &c.counts
	if r.table != nil {
		l = &c.tables
	}
	l.size -= r.cost
	l.n--
	r.unlink()
	delete(c.records, r.key)
}

// Room reports whether the cache could keep a table of this many bytes at all.
func (c *Cache) Room(size int64) bool {
	return c != nil && size+countCost <= c.tables.budget
}

// Len returns the number of tables.
func (c *Cache) Len() int {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tables.n
}

// Size returns the number of bytes in use. It never exceeds the budget.
func (c *Cache) Size() int64 {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tables.size + c.counts.size
}

// An lru is a list of records, those used most recently first.
type lru struct {
	budget, size int64
	n            int
	ends         record // before the first, and after the last
}

type record struct {
	key        Affine
	table      *Table // or nil
	uses       int64
	cost       int64
	prev, next *record
}

func (l *lru) init(budget int64) {
	l.budget = budget
	l.ends.prev, l.ends.next = &l.ends, &l.ends
}

// insert puts r first.
func (l *lru) insert(r *record) {
	r.prev, r.next = &l.ends, l.ends.next
	r.prev.next, r.next.prev = r, r
}

func (r *record) unlink() { r.prev.next, r.next.prev = r.next, r.prev }

// refresh makes r the first.
func (l *lru) refresh(r *record) {
	r.unlink()
	l.insert(r)
}

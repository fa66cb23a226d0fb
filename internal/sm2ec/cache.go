// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"container/list"
	"sync"
)

// A Cache keeps the tables of recurring keys within a budget of bytes, and counts
// how often keys are used, so as to know which are worth a table. Tables and
// counts that haven't been used for longest go first. Its methods may be called
// concurrently. A nil Cache keeps nothing.
type Cache struct {
	mu     sync.Mutex
	tables lru
	counts lru
}

// countCost is charged for a key without a table: its record, list element and
// the shares of a map's buckets.
const countCost = 384

// NewCache returns a cache that keeps at most budget bytes. An eighth of it
// is for the counts of keys without tables. A table that was dropped lives on
// while someone uses it.
func NewCache(budget int64) *Cache {
	counts := budget / 8
	return &Cache{tables: newLRU(budget - counts), counts: newLRU(counts)}
}

// Use counts n more uses of the key p. It returns their number since the key
// is known, these included, and the table if there is one.
func (c *Cache) Use(p *Affine, n int) (t *Table, uses int64) {
	if c == nil {
		return nil, int64(n)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.tables.get(p)
	if r == nil {
		r = c.counts.get(p)
	}
	if r == nil {
		r = &record{key: *p, cost: countCost}
		c.counts.add(r)
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
	for _, l := range []*lru{&c.counts, &c.tables} {
		if old := l.get(p); old != nil {
			r.uses = old.uses
			l.remove(p)
		}
	}
	c.tables.add(r)
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
	return c.tables.order.Len()
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

// An lru is a map that drops the records used least recently when it has to.
type lru struct {
	budget, size int64
	order        *list.List // of *record, the most recent first
	records      map[Affine]*list.Element
}

type record struct {
	key   Affine
	table *Table // or nil
	uses  int64
	cost  int64
}

func newLRU(budget int64) lru {
	return lru{budget: budget, order: list.New(), records: map[Affine]*list.Element{}}
}

// get returns the record of p, now the most recent, or nil.
func (l *lru) get(p *Affine) *record {
	e := l.records[*p]
	if e == nil {
		return nil
	}
	l.order.MoveToFront(e)
	return e.Value.(*record)
}

// add adds a record of a key that has none, and drops others until it fits, and itself
// if it can't.
func (l *lru) add(r *record) {
	if r.cost > l.budget {
		return
	}
	for l.size+r.cost > l.budget {
		l.remove(&l.order.Back().Value.(*record).key)
	}
	l.size += r.cost
	l.records[r.key] = l.order.PushFront(r)
}

// remove drops the record of p, which there is.
func (l *lru) remove(p *Affine) {
	e := l.records[*p]
	l.size -= e.Value.(*record).cost
	l.order.Remove(e)
	delete(l.records, *p)
}

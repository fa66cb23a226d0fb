// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
)

// A Record is a key with its value. To be written, a nil value deletes the key.
type Record struct {
	Key, Value []byte
}

// A Journal keeps what clients and aggregators must know again after a crash. Each has
// keys of its own, so that one journal serves many.
//
// A client or an aggregator calls Commit before it returns what depends on the records:
// a message that has left was in the journal before. If Commit fails nobody knows what
// is durable, so that the caller stops for good, and is to be opened anew.
type Journal interface {
	// Commit writes records, all or none of them, and returns when that is durable.
	// It doesn't keep the slices. Concurrent calls may be committed together.
	Commit(writes []Record) error

	// Records returns the records whose keys begin with prefix, in ascending order of
	// keys. What is yielded may be kept.
	Records(prefix []byte) iter.Seq2[Record, error]
}

// A MemoryJournal is a Journal in memory, for tests and simulations: it survives
// everything but the end of the process. The zero value is empty.
type MemoryJournal struct {
	mu     sync.Mutex
	owners map[string]map[string][]byte // records by the beginnings of their keys
}

// owner returns the part of a key that says whose record it is, so that one of many
// clients is opened without a look at the others' records.
func owner(key []byte) []byte { return key[:min(len(key), clientKeyLength)] }

// Commit writes records.
func (j *MemoryJournal) Commit(writes []Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.owners == nil {
		j.owners = make(map[string]map[string][]byte)
	}
	for _, w := range writes {
		records := j.owners[string(owner(w.Key))]
		if w.Value == nil {
			delete(records, string(w.Key))
			continue
		}
		if records == nil {
			records = make(map[string][]byte)
			j.owners[string(owner(w.Key))] = records
		}
		records[string(w.Key)] = bytes.Clone(w.Value)
	}
	return nil
}

// Records returns the records whose keys begin with prefix.
func (j *MemoryJournal) Records(prefix []byte) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for _, r := range j.find(prefix) {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (j *MemoryJournal) find(prefix []byte) (found []Record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	add := func(records map[string][]byte) {
		for k, v := range records {
			if bytes.HasPrefix([]byte(k), prefix) {
				found = append(found, Record{[]byte(k), bytes.Clone(v)})
			}
		}
	}
	if len(prefix) >= clientKeyLength {
		add(j.owners[string(owner(prefix))])
	} else {
		for _, records := range j.owners {
			add(records)
		}
	}
	slices.SortFunc(found, func(a, b Record) int { return bytes.Compare(a.Key, b.Key) })
	return found
}

// Clone returns a copy: a backup.
func (j *MemoryJournal) Clone() *MemoryJournal {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := &MemoryJournal{owners: make(map[string]map[string][]byte, len(j.owners))}
	for k, records := range j.owners {
		c.owners[k] = maps.Clone(records)
	}
	return c
}

// Len returns the number of records.
func (j *MemoryJournal) Len() (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, records := range j.owners {
		n += len(records)
	}
	return n
}

// A ledger is a journal as its user sees it: after the first error there is no other
// use of it.
type ledger struct {
	journal Journal
	err     error
}

func (l *ledger) commit(writes ...Record) error {
	if l.err == nil && len(writes) > 0 {
		if err := l.journal.Commit(writes); err != nil {
			l.err = fmt.Errorf("distill: journal: %w", err)
		}
	}
	return l.err
}

// corrupt returns the error for a record that the package hasn't written.
func corrupt(key []byte, err error) error {
	return fmt.Errorf("distill: journal: record %x: %w", key, err)
}

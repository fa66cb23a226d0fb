// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"iter"

	"github.com/undersign/undersign/distill"
)

// A Journal is a [distill.Journal] in a store.
type Journal struct {
	s     *Store
	space string
}

// Journal returns a journal. Those with different names have nothing in common.
func (s *Store) Journal(name string) *Journal { return &Journal{s, name} }

// Commit implements [distill.Journal].
func (j *Journal) Commit(writes []distill.Record) error {
	return j.s.Update(func(tx *Tx) error {
		sets := inserter{tx: tx, head: "INSERT OR REPLACE INTO journal (space, key, value) VALUES ", columns: 3}
		for len(writes) > 0 {
			// In their order, as a key may be there twice.
			n := 0
			for n < len(writes) && (writes[n].Value == nil) == (writes[0].Value == nil) {
				n++
			}
			if writes[0].Value == nil {
				if err := j.remove(tx, writes[:n]); err != nil {
					return err
				}
			} else {
				for _, w := range writes[:n] {
					if err := sets.add(j.space, w.Key, w.Value); err != nil {
						return err
					}
				}
				if err := sets.flush(); err != nil {
					return err
				}
			}
			writes = writes[n:]
		}
		return nil
	})
}

// remove deletes keys, many by one statement.
func (j *Journal) remove(tx *Tx, list []distill.Record) error {
	for len(list) > 0 {
		n := 1
		if len(list) >= insertRows {
			n = insertRows
		}
		args := make([]any, 0, 1+n)
		args = append(args, j.space)
		for _, r := range list[:n] {
			args = append(args, r.Key)
		}
		if _, err := tx.Exec("DELETE FROM journal WHERE space = ? AND key IN "+string(tuple(n)), args...); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

var errStop = errors.New("stop")

// Records implements [distill.Journal].
func (j *Journal) Records(prefix []byte) iter.Seq2[distill.Record, error] {
	return func(yield func(distill.Record, error) bool) {
		err := j.s.View(func(tx *Tx) error {
			var r distill.Record
			query, args := "SELECT key, value FROM journal WHERE space = ? AND key >= ?", []any{j.space, nonNil(prefix)}
			if end := successor(prefix); end != nil {
				query += " AND key < ?"
				args = append(args, end)
			}
			return tx.Rows([]any{&r.Key, &r.Value}, func() error {
				r.Value = nonNil(r.Value)
				if !yield(r, nil) {
					return errStop
				}
				r = distill.Record{}
				return nil
			}, query+" ORDER BY key", args...)
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(distill.Record{}, err)
		}
	}
}

// successor returns the least key that is greater than all with a prefix, or nil.
func successor(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			end := append([]byte(nil), prefix[:i+1]...)
			end[i]++
			return end
		}
	}
	return nil
}

// nonNil keeps an empty column from becoming NULL.
func nonNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

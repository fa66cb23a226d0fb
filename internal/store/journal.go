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
		for _, w := range writes {
			var err error
			if w.Value == nil {
				_, err = tx.Exec("DELETE FROM journal WHERE space = ? AND key = ?", j.space, w.Key)
			} else {
				_, err = tx.Exec("INSERT INTO journal (space, key, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
					j.space, w.Key, w.Value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
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

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import (
	"bytes"
	"errors"

	"github.com/undersign/undersign/distill"
)

var errCrash = errors.New("distillsim: crash")

// A journal fails at a write, before or after it is durable.
type journal struct {
	*distill.MemoryJournal
	left    int // writes until it fails, or 0
	durable bool
}

func newJournal() *journal { return &journal{MemoryJournal: new(distill.MemoryJournal)} }

// Commit implements [distill.Journal].
func (j *journal) Commit(writes []distill.Record) error {
	if j.left > 0 {
		if j.left--; j.left == 0 {
			if j.durable {
				if err := j.MemoryJournal.Commit(writes); err != nil {
					return err
				}
			}
			return errCrash
		}
	}
	return j.MemoryJournal.Commit(writes)
}

// arm makes the journal fail soon.
func (j *journal) arm(w *network) { j.left, j.durable = 1+w.rng.IntN(4), w.one(2) }

// holds reports whether something is durable. It doesn't go by the layout of the records:
// the bytes of a hash don't occur in a record by chance.
func (j *journal) holds(hash [32]byte) bool {
	for r, err := range j.Records(nil) {
		if err == nil && bytes.Contains(r.Value, hash[:]) {
			return true
		}
	}
	return false
}

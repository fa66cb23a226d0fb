// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/store"
)

// A pruner is a queue whose oldest entries can be removed: those that nobody needs who
// reads on after a position.
type pruner interface {
	Prune(ctx context.Context, after uint64) error
}

// placeKey begins the records of places.
var placeKey = []byte("place/")

// places are where heights ended in the queue, of those at which the validator's own place
// was written down. Others know heights only: a height that all have applied, and that is
// long past, is where the queue may begin.
type places struct {
	journal *store.Journal
	queue   pruner
}

func (p *places) record(position, height uint64) distill.Record {
	return pairRecord(binary.BigEndian.AppendUint64(append([]byte(nil), placeKey...), height), position, height)
}

// prune removes the entries of heights up to one, or a bit less.
func (p *places) prune(ctx context.Context, height uint64) error {
	var position uint64
	var before []distill.Record // without values: to be deleted
	for r, err := range p.journal.Records(placeKey) {
		if err != nil {
			return err
		}
		if len(r.Value) != 16 {
			return errors.New("aggregate: the record of a place is damaged")
		}
		if binary.BigEndian.Uint64(r.Value[8:]) > height {
			break
		}
		position = binary.BigEndian.Uint64(r.Value)
		before = append(before, distill.Record{Key: append([]byte(nil), r.Key...)})
	}
	if len(before) == 0 {
		return nil
	}
	if err := p.queue.Prune(ctx, position); err != nil {
		return err
	}
	// The last one stays, lest the next round find nothing if it comes to less.
	if before = before[:len(before)-1]; len(before) == 0 {
		return nil
	}
	return p.journal.Commit(before)
}

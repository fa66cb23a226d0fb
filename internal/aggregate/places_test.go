// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package aggregate

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/undersign/undersign/distill"
	"github.com/undersign/undersign/internal/store"
)

// A fakeQueue notes what it is told to remove.
type fakeQueue struct {
	after []uint64
	err   error
}

func (q *fakeQueue) Prune(_ context.Context, after uint64) error {
	q.after = append(q.after, after)
	return q.err
}

func TestPlaces(t *testing.T) {
	s, err := store.Open(filepath.Join(t.TempDir(), "store.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	q := &fakeQueue{}
	p := &places{journal: s.Journal("validator"), queue: q}
	if err := p.journal.Commit([]distill.Record{pairRecord(positionKey, 77, 300), pairRecord(embargoKey, 1, 0)}); err != nil {
		t.Fatal(err)
	}
	for height := uint64(64); height <= 5*64; height += 64 {
		if err := p.journal.Commit([]distill.Record{p.record(10*height, height)}); err != nil {
			t.Fatal(err)
		}
	}
	left := func() (n int) {
		for _, err := range p.journal.Records(placeKey) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		return n
	}
	for _, tt := range []struct {
		height, after uint64 // 0: nothing is removed
		err           error
		left          int
	}{
		{0, 0, nil, 5},
		{63, 0, nil, 5},
		{64, 640, nil, 5},
		{200, 1920, errors.New("no"), 5}, // and what it knows stays
		{200, 1920, nil, 3},
		{64, 0, nil, 3}, // a validator that is put back: less than before
		{1 << 40, 3200, nil, 1},
		{1 << 40, 3200, nil, 1},
	} {
		q.after, q.err = nil, tt.err
		if err := p.prune(t.Context(), tt.height); !errors.Is(err, tt.err) {
			t.Errorf("to %d: %v", tt.height, err)
		}
		if tt.after == 0 && len(q.after) > 0 || tt.after > 0 && (len(q.after) != 1 || q.after[0] != tt.after) {
			t.Errorf("to %d: removed before %v, want %d", tt.height, q.after, tt.after)
		}
		if n := left(); n != tt.left {
			t.Errorf("to %d: %d places are left, want %d", tt.height, n, tt.left)
		}
	}
	if a, b, err := readPair(p.journal, positionKey); a != 77 || b != 300 || err != nil {
		t.Errorf("the validator's own place: %d, %d, %v", a, b, err)
	}
	if err := p.journal.Commit([]distill.Record{{Key: placeKey, Value: []byte{1}}}); err != nil {
		t.Fatal(err)
	}
	if err := p.prune(t.Context(), 1<<40); err == nil {
		t.Error("a damaged record")
	}
}

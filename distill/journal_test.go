// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"testing"
)

// TestMemoryJournal compares the journal with a plain map.
func TestMemoryJournal(t *testing.T) {
	rng := newRand(1)
	j := new(MemoryJournal)
	want := make(map[string]string)
	key := func() []byte {
		k := make([]byte, rng.IntN(14))
		for i := range k {
			k[i] = byte(rng.IntN(2))
		}
		return k
	}
	var backup *MemoryJournal
	var backupLen int
	for i := range 3000 {
		var writes []Record
		for range rng.IntN(3) {
			r := Record{Key: key()}
			if rng.IntN(3) > 0 {
				r.Value = fmt.Append([]byte{}, i)
				want[string(r.Key)] = string(r.Value)
			} else {
				delete(want, string(r.Key))
			}
			writes = append(writes, r)
		}
		if err := j.Commit(writes); err != nil {
			t.Fatal(err)
		}
		for _, w := range writes {
			clear(w.Value) // it doesn't keep the slices
		}
		if j.Len() != len(want) {
			t.Fatalf("%d records, want %d", j.Len(), len(want))
		}
		prefix := key()
		n := 0
		for k := range want {
			if bytes.HasPrefix([]byte(k), prefix) {
				n++
			}
		}
		var last []byte
		for r, err := range j.Records(prefix) {
			if err != nil || !bytes.HasPrefix(r.Key, prefix) || last != nil && bytes.Compare(r.Key, last) <= 0 {
				t.Fatalf("record %x after %x for prefix %x, error %v", r.Key, last, prefix, err)
			}
			if want[string(r.Key)] != string(r.Value) {
				t.Fatalf("record %x is %q, want %q", r.Key, r.Value, want[string(r.Key)])
			}
			last = r.Key
			n--
		}
		if n != 0 {
			t.Fatalf("%d records missing for prefix %x", n, prefix)
		}
		if i == 1000 {
			backup, backupLen = j.Clone(), j.Len()
		}
	}
	if backup.Len() != backupLen {
		t.Fatal("a backup has changed")
	}
}

// A deafJournal can't be read.
type deafJournal struct{ MemoryJournal }

func (j *deafJournal) Records([]byte) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) { yield(Record{}, errCrash) }
}

func TestJournalThatCantBeRead(t *testing.T) {
	w := newPartyNet(t, 1, 0, nil)
	if _, err := OpenClient(ClientConfig{Network: w.network, Keys: w.keys[0], Journal: new(deafJournal)}); !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
	_, err := OpenAggregator(AggregatorConfig{
		Network: w.network, ID: firstAgg, Key: w.aggregator[firstAgg], Journal: new(deafJournal),
		Views: func(uint64) (View, error) { return w.view, nil },
	})
	if !errors.Is(err, errCrash) {
		t.Fatal(err)
	}
}

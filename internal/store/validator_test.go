// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/undersign/undersign/distill"
)

// A history makes commits as validators do, of random content.
type history struct {
	r    *rand.Rand
	head distill.LogHead
	used map[[2]uint64]bool
}

func (h *history) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(h.r.Uint32())
	}
	return b
}

func (h *history) next() *distill.Commit {
	h.head.Height++
	c := &distill.Commit{}
	for range h.r.IntN(3) {
		r := distill.LogRecord{Kind: distill.RecordBatch, Data: h.bytes(h.r.IntN(300))}
		r.Rcpt = distill.Rcpt{Height: h.head.Height, PrevLogHash: h.head.LogHash, N: h.r.Uint64()}
		for range h.r.IntN(250) {
			id, nonce := h.r.Uint64N(20)-3, h.r.Uint64N(250)
			x := distill.Result{Code: distill.ResultSkipped, ID: id, Nonce: nonce, PayloadHash: [32]byte(h.bytes(32))}
			if !h.used[[2]uint64{id, nonce}] {
				h.used[[2]uint64{id, nonce}] = true
				x.Code, x.AppCode, x.ExecHeight = distill.ResultOK, uint16(h.r.Uint32()), h.head.Height
			}
			r.Results = append(r.Results, x)
			r.NotAfter = append(r.NotAfter, h.head.Height+h.r.Uint64N(30))
		}
		h.head.LogHash = r.Rcpt.Digest()
		h.head.Batches++
		c.Log = append(c.Log, r)
	}
	for range h.r.IntN(2) {
		h.head.Dirver++
		r := distill.LogRecord{Kind: distill.RecordDirectory, Data: h.bytes(h.r.IntN(300)), Version: h.head.Dirver}
		r.Rcpt = distill.Rcpt{Height: h.head.Height, PrevLogHash: h.head.LogHash}
		h.head.LogHash = r.Rcpt.Digest()
		c.Log = append(c.Log, r)
		c.Rows = append(c.Rows, h.bytes(40)...)
	}
	for id := range uint64(4) {
		if h.r.IntN(2) == 0 {
			c.Aggregators = append(c.Aggregators, distill.AggregatorState{
				ID: id - 1, Any: h.r.IntN(2) == 0, LastSeq: h.r.Uint64N(50), Window: []uint64{h.r.Uint64(), h.r.Uint64()},
				Strikes: h.r.Uint64N(9), Until: h.r.Uint64(),
			})
		}
	}
	for id := range uint64(300) {
		if h.r.IntN(3) == 0 {
			c.ClientIDs = append(c.ClientIDs, id)
			c.Clients = append(c.Clients, distill.ClientState{LastNonce: h.r.Uint64(), Window: h.r.Uint64()})
		}
	}
	c.Head = h.head
	return c
}

type snapshot struct {
	Head    distill.LogHead
	Aggs    map[uint64]distill.AggregatorState
	Clients map[uint64]distill.ClientState
	Rows    []byte
	Ticks   map[uint64][]distill.LogRecord
	Changes map[string][]distill.LogRecord
	Execs   map[[2]uint64]distill.Execution
}

func read(t *testing.T, s distill.Store, height uint64) (x snapshot) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	x.Head, err = s.Head()
	must(err)
	aggs, err := s.Aggregators()
	must(err)
	x.Aggs, x.Clients = make(map[uint64]distill.AggregatorState), make(map[uint64]distill.ClientState)
	for _, a := range aggs {
		x.Aggs[a.ID] = a
	}
	must(s.Clients(func(id uint64, c distill.ClientState) error {
		x.Clients[id] = c
		return nil
	}))
	must(s.Rows(func(rows []byte) error {
		x.Rows = append(x.Rows, rows...)
		return nil
	}))
	x.Ticks, x.Changes = make(map[uint64][]distill.LogRecord), make(map[string][]distill.LogRecord)
	normal := func(list []distill.LogRecord) []distill.LogRecord {
		for i := range list {
			list[i].Data = append([]byte{}, list[i].Data...)
			list[i].Results = append([]distill.Result{}, list[i].Results...)
			list[i].NotAfter = append([]uint64{}, list[i].NotAfter...)
		}
		return append([]distill.LogRecord{}, list...)
	}
	for h := range height + 2 {
		list, err := s.Tick(h)
		must(err)
		x.Ticks[h] = normal(list)
		for _, max := range []int{0, 100, 1000} {
			list, err = s.Changes(h, max)
			must(err)
			x.Changes[fmt.Sprint(h, max)] = normal(list)
		}
	}
	x.Execs = make(map[[2]uint64]distill.Execution)
	for id := range uint64(24) {
		for nonce := range uint64(251) {
			e, ok, err := s.Execution(id-4, nonce)
			must(err)
			if ok {
				x.Execs[[2]uint64{id - 4, nonce}] = e
			}
		}
	}
	return x
}

// The store says the same as the one in memory, also after it was opened anew.
func TestValidatorStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s := open(t, path)
	var memory distill.MemStore
	h := &history{r: rand.New(rand.NewPCG(1, 2)), used: make(map[[2]uint64]bool)}
	if got, want := read(t, s.Validator(), 0), read(t, &memory, 0); !reflect.DeepEqual(got, want) {
		t.Fatalf("empty: %+v, want %+v", got, want)
	}
	for range 12 {
		c := h.next()
		if err := s.Validator().Commit(c); err != nil {
			t.Fatal(err)
		}
		if err := memory.Commit(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	got, want := read(t, s.Validator(), h.head.Height), read(t, &memory, h.head.Height)
	if len(want.Execs) < 200 || len(want.Rows) == 0 || len(want.Aggs) != 4 {
		t.Fatal("the history is too short")
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the stores differ")
	}

	// What isn't asked for any more goes, after a while, and nothing else.
	before := h.head.Height + 10
	for range 256 {
		h.head.Height++
		if err := s.Validator().Commit(&distill.Commit{Head: h.head, PruneBefore: before}); err != nil {
			t.Fatal(err)
		}
	}
	kept := 0
	after := read(t, s.Validator(), 0).Execs
	for key, e := range want.Execs {
		_, ok := after[key]
		// Ids over 2^63 are negative in the file, and stay.
		if ok != (e.NotAfter >= before || int64(key[0]) < 0) {
			t.Errorf("execution of %v, until %d: kept %v", key, e.NotAfter, ok)
		}
		if ok {
			kept++
		}
	}
	if kept == 0 || kept == len(want.Execs) {
		t.Errorf("%d of %d kept", kept, len(want.Execs))
	}
}

func TestValidatorWitness(t *testing.T) {
	s, _ := tempStore(t)
	v := s.Validator()
	if _, ok, err := v.Witness(1, 2); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	digest := [32]byte{1, 2, 3}
	if err := v.CommitWitness(1, 2, digest, []byte("batch")); err != nil {
		t.Fatal(err)
	}
	if err := v.CommitWitness(1, 2, [32]byte{9}, []byte("another")); err == nil {
		t.Error("two batches of one number are witnessed")
	}
	if got, ok, err := v.Witness(1, 2); got != digest || !ok || err != nil {
		t.Errorf("%x, %v, %v", got, ok, err)
	}
	if b, ok, err := v.Batch(digest); string(b) != "batch" || !ok || err != nil {
		t.Errorf("%q, %v, %v", b, ok, err)
	}
	if err := v.Commit(&distill.Commit{Aggregators: []distill.AggregatorState{{ID: 1, LastSeq: 67, Window: []uint64{0}}}}); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := v.Witness(1, 2); ok || err != nil {
		t.Errorf("a witness behind the window is kept: %v", err)
	}
}

func TestJournal(t *testing.T) {
	s, path := tempStore(t)
	var memory distill.MemoryJournal
	r := rand.New(rand.NewPCG(3, 4))
	keys := [][]byte{{}, {0}, {0, 0}, {1}, {1, 2}, {1, 2, 3}, {1, 3}, {0xff}, {0xff, 0xff}, {0xff, 0xff, 1}, []byte("é")}
	for range 50 {
		var writes []distill.Record
		for range r.IntN(5) {
			w := distill.Record{Key: keys[r.IntN(len(keys))]}
			if r.IntN(3) > 0 {
				w.Value = []byte(fmt.Sprint(r.Uint64()))
			}
			writes = append(writes, w)
		}
		if err := s.Journal("a").Commit(writes); err != nil {
			t.Fatal(err)
		}
		if err := memory.Commit(writes); err != nil {
			t.Fatal(err)
		}
	}
	// As many as are written and deleted by one statement, and some keys twice.
	for range 4 {
		var writes []distill.Record
		for i := range 900 {
			w := distill.Record{Key: []byte{1, 7, byte(r.IntN(200))}}
			if i/300%2 == 0 {
				w.Value = []byte(fmt.Sprint(r.Uint64()))
			}
			writes = append(writes, w)
		}
		if err := errors.Join(s.Journal("a").Commit(writes), memory.Commit(writes)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Journal("b").Commit([]distill.Record{{Key: []byte{1}, Value: []byte("other")}, {Key: []byte{2}, Value: []byte{}}}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = open(t, path)
	list := func(j distill.Journal, prefix []byte) (got []distill.Record) {
		for rec, err := range j.Records(prefix) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, rec)
		}
		return got
	}
	for _, prefix := range append(keys, nil, []byte{2}) {
		got, want := list(s.Journal("a"), prefix), list(&memory, prefix)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("prefix %x: %v, want %v", prefix, got, want)
		}
	}
	if got := list(s.Journal("b"), nil); len(got) != 2 || !bytes.Equal(got[1].Value, []byte{}) || got[1].Value == nil {
		t.Errorf("the other journal has %v", got)
	}
	for range s.Journal("a").Records(nil) {
		break // ends the reading
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, err := range s.Journal("a").Records(nil) {
		if err == nil {
			t.Error("read after it was closed")
		}
	}
}

// An execution whose results were deleted, and that itself wasn't yet, isn't there, and isn't
// damaged either: one that is ends the validator.
func TestExecutionCollected(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "store.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	v := s.Validator()
	c := &distill.Commit{Head: distill.LogHead{Height: 1, Batches: 1}}
	c.Log = []distill.LogRecord{{
		Kind: distill.RecordBatch, Data: []byte("batch"), Rcpt: distill.Rcpt{Height: 1, N: 1},
		Results: []distill.Result{{Code: distill.ResultOK, ID: 3, Nonce: 7, ExecHeight: 1}}, NotAfter: []uint64{20},
	}}
	if err := v.Commit(c); err != nil {
		t.Fatal(err)
	}
	if e, ok, err := v.Execution(3, 7); err != nil || !ok || e.Height != 1 || e.NotAfter != 20 {
		t.Fatalf("%+v, %v, %v", e, ok, err)
	}
	if err := v.Collect(1, 0, 10); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := v.Execution(3, 7); err != nil || !ok {
		t.Fatalf("without the batch: %v, %v", ok, err)
	}
	if err := v.Collect(1, 1, 10); err != nil {
		t.Fatal(err)
	}
	if e, ok, err := v.Execution(3, 7); err != nil || ok {
		t.Fatalf("without results: %+v, %v, %v", e, ok, err)
	}
	// What is there in part is damaged.
	if err := s.Update(func(tx *Tx) error {
		_, err := tx.Exec("UPDATE log SET results = x'01'")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := v.Execution(3, 7); err == nil {
		t.Error("a damaged execution")
	}
}

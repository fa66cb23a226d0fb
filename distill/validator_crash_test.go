// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
)

// crashLog is a log with a bit of everything, of one tick for each element.
func crashLog(t *testing.T, w *town) (ticks [][][]byte) {
	settle := w.settle(t, 4)
	batch := func(agg, seq, dirver uint64, leaves ...townLeaf) []byte {
		return w.publish(t, w.batch(t, agg, seq, dirver, 12, ModeEd25519, leaves, nil))
	}
	first := batch(3, 1, 1, leaf(0, 1, "b"), leaf(1, 1, "a"), leaf(2, 1, "b"))
	bad := w.publish(t, w.batch(t, 4, 1, 1, 8, ModeEd25519, []townLeaf{leaf(0, 9, "b")}, map[uint64]*resident{0: person(t, 50)}))
	ticks = [][][]byte{
		{settle},
		{first},
		{},
		{first, batch(4, 7, 1, leaf(0, 2, "b"), leaf(2, 3, "b")), batch(3, 2, 1, leaf(0, 1, "b"), leaf(2, 3, "b"), leaf(3, 5, "b"))},
		{w.entry(w.rotate(t, 3, 1, w.clients[3], person(t, 51))), batch(3, 3, 1, leaf(2, 4, "b"), leaf(3, 6, "b"))},
		{bad},
		{batch(4, 8, 1, leaf(0, 3, "b")), batch(3, 4, 2, leaf(1, 2, "b"))},
	}
	return ticks
}

// signatures are all that a validator has signed about ticks.
type signatures map[string][96]byte

func (s signatures) add(t *testing.T, a *Applied, rcpts []*RcptShare) {
	t.Helper()
	put := func(name string, st Statement, share *Share) {
		name = fmt.Sprintf("%s %x", name, st.Bytes())
		if old, ok := s[name]; ok && old != share.Signature {
			t.Errorf("%s is signed in two ways", name)
		}
		s[name] = share.Signature
	}
	if a != nil {
		put(fmt.Sprintf("head %d", a.Height), a.Hgt, a.Share)
	}
	for _, r := range rcpts {
		put(fmt.Sprintf("receipt %d", r.Rcpt.Height), r.Rcpt, r.Share)
	}
}

// A crash at any commit, whether it was durable or not, changes nothing in the end: the
// same is signed, and nothing else.
func TestCrash(t *testing.T) {
	w := newTown(t, 1, 0)
	ticks := crashLog(t, w)
	run := func(crash int, durable bool) (signatures, *MemStore) {
		store := new(MemStore)
		v := openValidator(t, w, 0, store)
		got := make(signatures)
		for i := 0; i < len(ticks); {
			store.Fault = nil
			if i == crash {
				crash = -1
				store.Fault = func(*Commit) (bool, error) { return durable, errors.New("power failure") }
			}
			entries := make([]Entry, len(ticks[i]))
			for j := range entries {
				entries[j].Data = ticks[i][j]
			}
			a, err := v.Apply(uint64(i+1), entries)
			if store.Fault != nil {
				if err == nil {
					t.Fatal("signed without a commit")
				}
				wantBroken(t, v, ticks[1][0])
				store.Fault = nil
				store = store.Clone()
				v = openValidator(t, w, 0, store)
				// After the restart it goes on where its store says.
				if i = int(v.Head().Height); durable != (i == len(got.heights())+1) {
					t.Fatalf("at height %d after a crash", i)
				}
				if durable {
					_, rcpts, err := v.Receipts(uint64(i))
					if err != nil {
						t.Fatal(err)
					}
					hgt, share, err := v.SignHead()
					if err != nil {
						t.Fatal(err)
					}
					got.add(t, &Applied{Height: uint64(i), Hgt: hgt, Share: share}, rcpts)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			var rcpts []*RcptShare
			for _, o := range a.Outcomes {
				if o.Receipt != nil {
					rcpts = append(rcpts, o.Receipt)
				}
			}
			got.add(t, a, rcpts)
			i++
		}
		return got, store
	}
	want, stored := run(-1, false)
	if len(want) < 15 {
		t.Fatalf("%d signatures", len(want))
	}
	for crash := range ticks {
		for _, durable := range []bool{false, true} {
			got, store := run(crash, durable)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("crash at height %d, durable %v: other signatures", crash+1, durable)
			}
			if !reflect.DeepEqual(store.executions, stored.executions) || !reflect.DeepEqual(store.clients, stored.clients) ||
				!reflect.DeepEqual(store.aggs, stored.aggs) || !reflect.DeepEqual(store.log, stored.log) {
				t.Errorf("crash at height %d, durable %v: another state", crash+1, durable)
			}
		}
	}
	// A copy of any age, and the log from there on, come to the same.
	v := openValidator(t, w, 0, new(MemStore))
	var copies []*MemStore
	for _, tick := range ticks {
		copies = append(copies, v.store.(*MemStore).Clone())
		apply(t, v, tick...)
	}
	signed := len(want)
	for i, store := range copies {
		old := openValidator(t, w, 0, store)
		for _, tick := range ticks[i:] {
			a := apply(t, old, tick...)
			for _, o := range a.Outcomes {
				if o.Receipt != nil {
					want.add(t, nil, []*RcptShare{o.Receipt})
				}
			}
			want.add(t, a, nil)
		}
	}
	if len(want) != signed {
		t.Errorf("restored copies have signed %d other statements", len(want)-signed)
	}
}

// heights returns the heads that were signed.
func (s signatures) heights() (list []string) {
	for name := range s {
		if name[:4] == "head" {
			list = append(list, name)
		}
	}
	return list
}

// wantBroken demands that a validator whose commit failed says nothing any more: nobody
// knows whether what it remembers is stored.
func wantBroken(t *testing.T, v *Validator, batch []byte) {
	t.Helper()
	if _, err := v.Apply(v.Head().Height+1, nil); err == nil {
		t.Error("applies")
	}
	if _, _, err := v.SignHead(); err == nil {
		t.Error("signs a head")
	}
	if _, _, err := v.Receipts(v.Head().Height); err == nil {
		t.Error("signs receipts")
	}
	if _, err := v.Lookup(Lookup{}); err == nil || errors.Is(err, ErrRejected) {
		t.Errorf("answers: %v", err)
	}
	if err := v.Place(batch); err == nil || errors.Is(err, ErrRejected) {
		t.Errorf("places: %v", err)
	}
	if _, _, err := v.Witness(batch); err == nil || errors.Is(err, ErrRejected) {
		t.Errorf("witnesses: %v", err)
	}
}

// A brokenStore can't be read.
type brokenStore struct {
	*MemStore
	fail string
}

var errRead = errors.New("disk on fire")

func (s brokenStore) err(what string) error {
	if s.fail == what {
		return errRead
	}
	return nil
}

func (s brokenStore) Head() (LogHead, error) { return s.head, s.err("head") }
func (s brokenStore) Aggregators() ([]AggregatorState, error) {
	list, _ := s.MemStore.Aggregators()
	return list, s.err("aggregators")
}
func (s brokenStore) Clients(f func(uint64, ClientState) error) error {
	return errors.Join(s.MemStore.Clients(f), s.err("clients"))
}
func (s brokenStore) Rows(f func([]byte) error) error {
	return errors.Join(s.MemStore.Rows(f), s.err("rows"))
}
func (s brokenStore) Execution(id, nonce uint64) (Execution, bool, error) {
	e, ok, _ := s.MemStore.Execution(id, nonce)
	return e, ok, s.err("execution")
}
func (s brokenStore) Witness(agg, seq uint64) ([32]byte, bool, error) {
	d, ok, _ := s.MemStore.Witness(agg, seq)
	return d, ok, s.err("witness")
}

func TestStoreUnreadable(t *testing.T) {
	w := newTown(t, 1, 0)
	store := new(MemStore)
	v := openValidator(t, w, 0, store)
	apply(t, v, w.settle(t, 2))
	apply(t, v, w.publish(t, w.batch(t, 3, 1, 1, 20, ModeEd25519, []townLeaf{leaf(0, 1, "b")}, nil)))
	for _, what := range []string{"head", "aggregators", "clients", "rows"} {
		c := ValidatorConfig{Genesis: w.genesis, Store: brokenStore{store.Clone(), what}}
		if _, err := OpenValidator(c); !errors.Is(err, errRead) {
			t.Errorf("%s: %v", what, err)
		}
	}
	again := w.publish(t, w.batch(t, 3, 2, 1, 20, ModeEd25519, []townLeaf{leaf(0, 1, "b")}, nil))
	b := openValidator(t, w, 0, brokenStore{store.Clone(), "execution"})
	if _, err := b.Lookup(Lookup{ID: 0, Nonce: 1}); !errors.Is(err, errRead) {
		t.Errorf("answer: %v", err)
	}
	if _, err := b.Apply(3, []Entry{{Data: again}}); !errors.Is(err, errRead) {
		t.Errorf("apply: %v", err)
	}
	wantBroken(t, b, again)
	b = openValidator(t, w, 0, brokenStore{store.Clone(), "witness"})
	if _, share, err := b.Witness(again); !errors.Is(err, errRead) || share != nil {
		t.Errorf("witness: %v", err)
	}
	// None of it is a refusal by a rule.
	if errors.Is(errRead, ErrRejected) {
		t.Error("rejected")
	}
}

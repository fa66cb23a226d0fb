// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
)

// openValidator returns a validator of w with what is stored.
func openValidator(t testing.TB, w *town, index int, s Store) *Validator {
	t.Helper()
	v, err := OpenValidator(ValidatorConfig{Genesis: w.genesis, Index: index, Key: w.validators[index], Store: s, App: oddApp{}})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// apply applies the next tick.
func apply(t testing.TB, v *Validator, data ...[]byte) *Applied {
	t.Helper()
	entries := make([]Entry, len(data))
	for i := range data {
		entries[i].Data = data[i]
	}
	a, err := v.Apply(v.Head().Height+1, entries)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func leaf(id, nonce uint64, payload string) townLeaf {
	return townLeaf{id: id, nonce: nonce, notAfter: 200, payload: payload}
}

func codesOf(results []Result) (list []ResultCode) {
	for _, r := range results {
		list = append(list, r.Code)
	}
	return list
}

func wantCodes(t *testing.T, what string, o EntryOutcome, want ...ResultCode) {
	t.Helper()
	if got := codesOf(o.Results); o.Err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: %v, %v, want %v", what, got, o.Err, want)
	}
}

// What is refused for its position, or isn't an aggregator's, has no effect at all: the
// head is the same but for its height, and the number is free.
func TestNoEffect(t *testing.T) {
	w := newTown(t, 1, 0)
	w.genesis.Params.ValidFor = 10
	w.genesis.Params.DirectoryLag = 1
	w.genesis.Params.SeqWindow = 5
	w.net = w.genesis.ID()
	v := openValidator(t, w, 0, new(MemStore))
	apply(t, v, w.settle(t, 3))
	for range 2 {
		apply(t, v, w.entry(w.register(t, person(t, 100+int(v.Head().Height)), 50)))
	}
	if v.Head().Dirver != 3 {
		t.Fatal(v.Head())
	}
	one := []townLeaf{leaf(0, 1, "b")}
	first := w.publish(t, w.batch(t, 3, 20, 3, 10, ModeEd25519, one, nil))
	wantCodes(t, "first", apply(t, v, first).Outcomes[0], ResultOK)
	if seq, ok := v.LastSeq(3); !ok || seq != 20 {
		t.Fatalf("last number %d, %v", seq, ok)
	}
	if _, ok := v.LastSeq(4); ok {
		t.Error("last number of an aggregator that has none")
	}
	next := v.Head().Height + 1
	batch := func(agg, seq, dirver, validUntil uint64) []byte {
		return w.publish(t, w.batch(t, agg, seq, dirver, validUntil, ModeEd25519, []townLeaf{leaf(1, 1, "b")}, nil))
	}
	flipped := bytes.Clone(batch(3, 21, 3, 10))
	flipped[len(flipped)-1] ^= 1
	stranger := w.batch(t, 3, 21, 3, 10, ModeEd25519, []townLeaf{leaf(1, 1, "b")}, nil)
	stranger.AggID = 9
	unknown, err := stranger.Sign(w.aggs[3])
	if err != nil {
		t.Fatal(err)
	}
	foreign := *w
	foreign.net[0] ^= 1
	cases := []struct {
		name string
		data []byte
		rule Rule
	}{
		{"too long", make([]byte, 16<<20+1), RuleBatchSize},
		{"empty", nil, RuleHeader},
		{"short", first[:70], RuleHeader},
		{"another network's", foreign.publish(t, foreign.batch(t, 3, 21, 3, 10, ModeEd25519, []townLeaf{leaf(1, 1, "b")}, nil)), RuleNetwork},
		{"unknown aggregator", unknown, RuleAggregator},
		{"flipped signature", flipped, RuleAggregatorSignature},
		{"the same again", first, RuleSeqSeen},
		{"the number again", batch(3, 20, 3, 10), RuleSeqSeen},
		{"number behind the window", batch(3, 15, 3, 10), RuleSeqOld},
		{"number 0", batch(3, 0, 3, 10), RuleSeqOld},
		{"late", batch(3, 21, 3, next-1), RuleExpired},
		{"height 0", batch(3, 21, 3, 0), RuleExpired},
		{"valid too long", batch(3, 21, 3, next+11), RuleValidUntil},
		{"valid for ever", w.publish(t, w.batch(t, 3, 21, 3, 1<<64-1, ModeEd25519, []townLeaf{{id: 1, nonce: 1, notAfter: 1<<64 - 1}}, nil)), RuleValidUntil},
		{"version to come", batch(3, 21, 4, 10), RuleDirectoryNew},
		{"largest version", batch(3, 21, 1<<64-1, 10), RuleDirectoryNew},
		{"old version", batch(3, 21, 1, 10), RuleDirectoryOld},
		{"directory entry cut off", w.entry(w.register(t, person(t, 9), 50))[:80], RuleDirectoryEntry},
		{"directory entry of nothing", w.entry(w.register(t, w.clients[0], 50)), RuleNoChange},
	}
	before := v.Head()
	var all [][]byte
	for _, c := range cases {
		all = append(all, c.data)
		if !isDirectoryEntry(c.data) {
			wantRule(t, c.name+": Place", v.Place(c.data), c.rule)
		}
	}
	a := apply(t, v, all...)
	for i, c := range cases {
		wantRule(t, c.name, a.Outcomes[i].Err, c.rule)
		if a.Outcomes[i].Receipt != nil || a.Outcomes[i].Results != nil {
			t.Errorf("%s: has a receipt", c.name)
		}
	}
	before.Height++
	if v.Head() != before {
		t.Errorf("head %+v, want %+v", v.Head(), before)
	}
	// The least number in the window, the last height, the oldest version.
	for i := range 3 {
		h := v.Head().Height + 1
		data := [][]byte{batch(3, 16, 3, 10), batch(3, 21, 2, h), batch(3, 22, 3, h+10)}[i]
		if a := apply(t, v, data); a.Outcomes[0].Err != nil {
			t.Errorf("at the edge %d: %v", i, a.Outcomes[0].Err)
		}
	}
	if _, err := v.Apply(v.Head().Height, nil); RuleOf(err) != RuleHeight {
		t.Errorf("height again: %v", err)
	}
	if _, err := v.Apply(v.Head().Height+2, nil); RuleOf(err) != RuleHeight {
		t.Errorf("height skipped: %v", err)
	}
	apply(t, v) // and goes on
}

// Each code of a leaf, with real signatures and in all modes.
func TestLeafCodes(t *testing.T) {
	w := newTown(t, 1, 0)
	w.genesis.Params.KeepResults = 3
	w.net = w.genesis.ID()
	store := new(MemStore)
	v := openValidator(t, w, 0, store)
	apply(t, v, w.settle(t, 6))
	seq := uint64(0)
	do := func(mode Mode, dirver, validUntil uint64, leaves ...townLeaf) EntryOutcome {
		t.Helper()
		seq++
		b := w.batch(t, 3, seq, dirver, validUntil, mode, leaves, nil)
		a := apply(t, v, w.publish(t, b))
		o := a.Outcomes[0]
		for i, r := range o.Results {
			if r.ID != b.IDs[i] || r.Nonce != b.Nonces[i] {
				t.Errorf("result %d is of another leaf", i)
			}
		}
		if o.Receipt != nil && (o.Receipt.Rcpt.N != uint64(len(leaves)) || o.Receipt.Rcpt.ResultRoot != ResultRoot(o.Results) || o.Receipt.Rcpt.Height != a.Height) {
			t.Errorf("receipt %+v", o.Receipt.Rcpt)
		}
		return o
	}
	late := func(l townLeaf) townLeaf { l.straggler = true; return l }
	o := do(ModeEd25519, 1, 60, leaf(0, 1, "b"), leaf(1, 5, "a"), late(leaf(2, 7, "b")))
	wantCodes(t, "first", o, ResultOK, ResultAppReject, ResultOK)
	if o.Results[1].AppCode != 1<<8|'a' || o.Results[1].ExecHeight != 2 || o.Results[1].PayloadHash != PayloadHash([]byte("a")) {
		t.Errorf("result %+v", o.Results[1])
	}
	// Both outcomes use the nonce up; what is executed again says how it went.
	o = do(ModeFolded, 1, 60, leaf(0, 1, "b"), late(leaf(1, 5, "a")), late(leaf(2, 7, "c")), late(leaf(3, 9, "b")))
	wantCodes(t, "again", o, ResultDup, ResultDup, ResultTaken, ResultOK)
	if r := o.Results[1]; r.FirstCode != ResultAppReject || r.AppCode != 1<<8|'a' || r.ExecHeight != 2 {
		t.Errorf("result %+v", r)
	}
	if r := o.Results[2]; r.FirstCode != 0 || r.AppCode != 0 || r.ExecHeight != 0 || r.PayloadHash != PayloadHash([]byte("c")) {
		t.Errorf("result %+v", r)
	}
	// An absent leaf isn't executed, whatever its nonce.
	o = do(ModeLean, 1, 60, late(leaf(0, 2, "b")), late(leaf(1, 5, "a")), leaf(3, 9+64, "b"))
	wantCodes(t, "lean", o, ResultAbsent, ResultAbsent, ResultOK)
	// Out of order within the window; at its edge; behind it.
	o = do(ModeEd25519, 1, 60, leaf(0, 2, "b"), leaf(1, 4, "b"), leaf(2, 1<<64-1, "b"), leaf(3, 9, "b"))
	wantCodes(t, "window", o, ResultOK, ResultOK, ResultOK, ResultDup)
	o = do(ModeEd25519, 1, 60, leaf(2, 1<<64-2, "b"), leaf(3, 10, "b"))
	wantCodes(t, "edge", o, ResultOK, ResultOK)
	o = do(ModeEd25519, 1, 60, leaf(2, 9, "b"), leaf(3, 8, "b"))
	wantCodes(t, "behind", o, ResultSkipped, ResultSkipped)

	// A rotation, and a revocation, take the leaf and not the batch.
	old := w.clients[4]
	next := person(t, 60)
	apply(t, v, w.entry(w.rotate(t, 4, 1, old, next), *Revoke(w.net, 5, 1, w.clients[5].ed)))
	o = do(ModeEd25519, 1, 60, leaf(0, 3, "b"), leaf(4, 1, "b"), late(leaf(5, 1, "b")))
	wantCodes(t, "keys changed", o, ResultOK, ResultKey, ResultKey)
	w.clients[4] = next
	o = do(ModeEd25519, 2, 60, leaf(4, 1, "b"))
	wantCodes(t, "same nonce, new keys", o, ResultOK)
	// A nonce that was used says so although the keys have changed.
	w.clients[4] = old
	o = do(ModeEd25519, 1, 60, leaf(4, 1, "b"))
	wantCodes(t, "same nonce, old keys", o, ResultDup)
}

// A bad batch that its aggregator has signed suspends it, twice as long each time, and
// only once for each batch.
func TestStrike(t *testing.T) {
	w := newTown(t, 1, 0)
	w.genesis.Params.ValidFor = 4
	w.net = w.genesis.ID()
	v := openValidator(t, w, 0, new(MemStore))
	apply(t, v, w.settle(t, 3))
	bad := func(agg, seq uint64) []byte {
		b := w.batch(t, agg, seq, 1, v.Head().Height+1+4, ModeEd25519, []townLeaf{leaf(0, 1, "b"), leaf(1, 1, "b")}, map[uint64]*resident{1: person(t, 40)})
		return w.publish(t, b)
	}
	good := func(agg, seq uint64) []byte {
		b := w.batch(t, agg, seq, 1, v.Head().Height+1+4, ModeEd25519, []townLeaf{leaf(0, seq, "b"), leaf(1, seq, "b")}, nil)
		return w.publish(t, b)
	}
	for i, length := range []uint64{4, 8, 16} {
		first := bad(3, 1)
		from := v.Head()
		a := apply(t, v, first, good(3, 2), good(4, uint64(100+i)))
		wantRule(t, "bad batch", a.Outcomes[0].Err, RuleAggregate)
		wantRule(t, "good batch after it", a.Outcomes[1].Err, RuleSuspended)
		wantCodes(t, "another aggregator", a.Outcomes[2], ResultOK, ResultOK)
		r := a.Outcomes[0].Receipt
		if r == nil || r.Kind != RecordStrike || r.Rcpt.N != 0 || r.Rcpt.ResultRoot != [32]byte{} || r.Rcpt.BatchDigest != BatchDigest(first) || r.Rcpt.PrevLogHash != from.LogHash {
			t.Fatalf("receipt %+v", r)
		}
		if v.Head().Batches != from.Batches+1 {
			t.Errorf("%d batches after %d", v.Head().Batches, from.Batches)
		}
		until, ok := v.Suspended(3)
		if !ok || until != a.Height+length {
			t.Fatalf("suspended from %d to %d, %v", a.Height, until, ok)
		}
		for v.Head().Height < until {
			if h := v.Head().Height; h%3 == 0 {
				v = openValidator(t, w, 0, v.store)
			}
			a := apply(t, v, first, good(3, 2))
			wantRule(t, "while suspended", a.Outcomes[0].Err, RuleSuspended)
			wantRule(t, "while suspended", a.Outcomes[1].Err, RuleSuspended)
		}
		if _, ok := v.Suspended(3); ok {
			t.Error("still suspended")
		}
		a = apply(t, v, first, good(3, uint64(10+i)))
		wantRule(t, "bad batch again", a.Outcomes[0].Err, RuleExpired)
		if a.Outcomes[1].Err != nil {
			t.Errorf("after the suspension: %v", a.Outcomes[1].Err)
		}
	}
	// A signature that isn't its own harms no aggregator.
	forged := bad(4, 9)
	h, err := DecodeHeader(forged)
	if err != nil {
		t.Fatal(err)
	}
	bat := Bat{h.Net, h.AggID, h.Seq, BatchDigest(forged)}
	copy(forged[len(forged)-64:], ed25519.Sign(w.aggs[3], bat.Bytes()))
	wantRule(t, "signed by another", apply(t, v, forged).Outcomes[0].Err, RuleAggregatorSignature)
	if _, ok := v.Suspended(4); ok {
		t.Error("suspended for another's signature")
	}
}

// All validators come to the same, and F+1 of them make certificates.
func TestValidatorsAgree(t *testing.T) {
	w := newTown(t, 4, 1)
	var all []*Validator
	for i := range 4 {
		all = append(all, openValidator(t, w, i, new(MemStore)))
	}
	settle := w.settle(t, 3)
	batch := w.publish(t, w.batch(t, 3, 1, 1, 20, ModeEd25519, []townLeaf{leaf(0, 1, "b"), leaf(2, 1, "b")}, nil))
	committee, err := NewCommittee(w.genesis)
	if err != nil {
		t.Fatal(err)
	}
	for _, tick := range [][][]byte{{settle}, {}, {batch, batch}} {
		var heads, receipts []Share
		var hgt Hgt
		var rcpt Rcpt
		for i, v := range all {
			entries := make([]Entry, len(tick))
			for j, data := range tick {
				entries[j].Data = data
				if i%2 == 1 && !isDirectoryEntry(data) { // verified before, or not: it's all the same
					if entries[j].Checked, err = v.Check(data); err != nil || entries[j].Checked.Digest() != BatchDigest(data) {
						t.Fatal(err)
					}
				}
			}
			a, err := v.Apply(v.Head().Height+1, entries)
			if err != nil {
				t.Fatal(err)
			}
			heads = append(heads, *a.Share)
			if i > 0 && hgt != a.Hgt {
				t.Fatalf("heads %+v and %+v", hgt, a.Hgt)
			}
			if hgt = a.Hgt; len(tick) > 0 {
				if i > 0 && rcpt != a.Outcomes[0].Receipt.Rcpt {
					t.Fatal("different receipts")
				}
				rcpt = a.Outcomes[0].Receipt.Rcpt
				receipts = append(receipts, *a.Outcomes[0].Receipt.Share)
			}
		}
		if _, bad, err := committee.Combine(hgt, heads[1:3]); err != nil || len(bad) != 0 {
			t.Fatal(err)
		}
		if len(receipts) > 0 {
			if _, bad, err := committee.Combine(rcpt, receipts[2:]); err != nil || len(bad) != 0 {
				t.Fatal(err)
			}
		}
	}
	// What one validator has checked is nothing to another.
	next := w.publish(t, w.batch(t, 3, 2, 1, 20, ModeEd25519, []townLeaf{leaf(1, 1, "b")}, map[uint64]*resident{1: w.clients[0]}))
	fake := &Checked{all[0], next, &Verified{Batch: &Batch{}}}
	a, err := all[1].Apply(4, []Entry{{Data: next, Checked: fake}})
	if err != nil {
		t.Fatal(err)
	}
	wantRule(t, "checked by another", a.Outcomes[0].Err, RuleAggregate)
	fake.by = all[2]
	if a, err = all[2].Apply(4, []Entry{{Data: append(bytes.Clone(next), 0)[:len(next)+1], Checked: fake}}); err != nil {
		t.Fatal(err)
	}
	wantRule(t, "other data", a.Outcomes[0].Err, RuleAggregatorSignature)
}

// A directory that is built from what a validator sends is the validator's.
func TestSync(t *testing.T) {
	w := newTown(t, 1, 0)
	v := openValidator(t, w, 0, new(MemStore))
	apply(t, v, w.settle(t, 3))
	apply(t, v, w.entry(w.rotate(t, 1, 1, w.clients[1], person(t, 20))), w.entry(w.register(t, person(t, 21), 9)))
	apply(t, v, w.entry(w.register(t, person(t, 21), 9)))
	apply(t, v, w.entry(*Revoke(w.net, 0, 3, w.clients[0].ed)))
	committee, err := NewCommittee(w.genesis)
	if err != nil {
		t.Fatal(err)
	}
	for _, max := range []int{0, 600, 1 << 20} {
		d := townDirectory(t, w, 0)
		rounds := 0
		for d.Version() < v.Head().Dirver {
			list, err := v.Sync(d.Version(), max)
			if err != nil || len(list) == 0 {
				t.Fatalf("%d, %v", len(list), err)
			}
			rounds++
			for _, r := range list {
				// Whoever doesn't trust the validator asks F+1 for the receipts.
				_, shares, err := v.Receipts(r.Rcpt.Height)
				if err != nil {
					t.Fatal(err)
				}
				found := false
				for _, s := range shares {
					found = found || s.Rcpt == r.Rcpt && committee.VerifyShare(r.Rcpt, s.Share) == nil
				}
				if e, err := ParseDirectoryEntry(r.Data); err != nil || !found || r.Rcpt.BatchDigest != e.Digest() {
					t.Fatal("receipt of another entry")
				}
				if _, err := d.Apply(r.Rcpt.Height, r.Data); err != nil || d.Version() != r.Version {
					t.Fatalf("version %d, want %d: %v", d.Version(), r.Version, err)
				}
			}
		}
		if want := map[int]int{0: 4, 600: 3, 1 << 20: 1}[max]; rounds != want {
			t.Errorf("%d rounds of %d bytes, want %d", rounds, max, want)
		}
		if d.Len() != 4 || d.Latest().BLSKey(0) != nil || !d.Latest().BLSKey(1).Equal(v.Directory().Latest().BLSKey(1)) {
			t.Error("another directory")
		}
	}
	_, err = v.Sync(5, 1)
	wantRule(t, "version to come", err, RuleDirectoryNew)
}

// Of each number one batch is witnessed, and it stays so.
func TestWitness(t *testing.T) {
	w := newTown(t, 4, 1)
	store := new(MemStore)
	v := openValidator(t, w, 2, store)
	apply(t, v, w.settle(t, 3))
	batch := func(seq uint64, straggler bool) []byte {
		l := leaf(1, seq, "b")
		l.straggler = straggler
		return w.publish(t, w.batch(t, 3, seq, 1, 20, ModeEd25519, []townLeaf{leaf(0, seq, "b"), l}, nil))
	}
	one, other := batch(1, false), batch(1, true)
	committee, err := NewCommittee(w.genesis)
	if err != nil {
		t.Fatal(err)
	}
	store.Fault = func(*Commit) (bool, error) { return false, errors.New("disk full") }
	if _, share, err := v.Witness(one); err == nil || share != nil {
		t.Fatalf("signed before it was stored: %v", err)
	}
	store.Fault = func(*Commit) (bool, error) { return true, errors.New("lost the answer") }
	if _, share, err := v.Witness(other); err == nil || share != nil {
		t.Fatalf("signed before it was stored: %v", err)
	}
	store.Fault = nil
	_, _, err = v.Witness(one)
	wantRule(t, "another batch", err, RuleWitnessed)
	for range 2 {
		wit, share, err := v.Witness(other)
		if err != nil || wit.BatchDigest != BatchDigest(other) || committee.VerifyShare(wit, share) != nil {
			t.Fatalf("%+v, %v", wit, err)
		}
		v = openValidator(t, w, 2, store)
	}
	_, _, err = v.Witness(one)
	wantRule(t, "another batch after a restart", err, RuleWitnessed)
	// The order decides nevertheless.
	wantCodes(t, "the other in the log", apply(t, v, one).Outcomes[0], ResultOK, ResultOK)
	_, _, err = v.Witness(other)
	wantRule(t, "after it", err, RuleSeqSeen)
	bad := batch(2, false)
	bad[len(bad)-70] ^= 1
	_, _, err = v.Witness(bad)
	wantRule(t, "changed", err, RuleAggregatorSignature)

	restored, err := OpenValidator(ValidatorConfig{Genesis: w.genesis, Index: 2, Key: w.validators[2], Store: store, WitnessFrom: 5})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = restored.Witness(batch(2, false))
	wantRule(t, "restored", err, RuleWitnessEmbargo)
	apply(t, restored)
	_, _, err = restored.Witness(batch(2, false))
	wantRule(t, "restored", err, RuleWitnessEmbargo)
	apply(t, restored)
	if _, _, err = restored.Witness(batch(2, false)); err != nil {
		t.Errorf("when what it witnessed has expired: %v", err)
	}
}

func TestOpenRefused(t *testing.T) {
	w := newTown(t, 4, 1)
	store := new(MemStore)
	_, err := OpenValidator(ValidatorConfig{Genesis: w.genesis, Index: 1, Key: w.validators[2], Store: store})
	wantRule(t, "another validator's key", err, RuleValidator)
	_, err = OpenValidator(ValidatorConfig{Genesis: w.genesis, Index: 4, Key: w.validators[2], Store: store})
	wantRule(t, "no such validator", err, RuleValidator)
	other := newTown(t, 1, 0)
	network, err := NewNetwork(other.genesis)
	if err != nil {
		t.Fatal(err)
	}
	_, err = OpenValidator(ValidatorConfig{Genesis: w.genesis, Network: network, Store: store})
	wantRule(t, "another network", err, RuleNetwork)
	if _, err = OpenValidator(ValidatorConfig{Genesis: other.genesis, Network: network, Store: store}); err != nil {
		t.Errorf("shared network: %v", err)
	}
	bad := *w.genesis
	bad.F = 2
	_, err = OpenValidator(ValidatorConfig{Genesis: &bad, Store: store})
	wantRule(t, "genesis", err, RuleGenesis)

	v := openValidator(t, w, 0, store)
	apply(t, v, w.settle(t, 2))
	apply(t, v, w.publish(t, w.batch(t, 3, 1, 1, 20, ModeEd25519, []townLeaf{leaf(0, 1, "b")}, nil)))
	apply(t, v, w.entry(w.register(t, person(t, 90), 50)))
	for name, damage := range map[string]func(*MemStore){
		"rows lost":          func(m *MemStore) { m.rows = nil },
		"last row lost":      func(m *MemStore) { m.rows = m.rows[:2*rowSize] },
		"rows cut off":       func(m *MemStore) { m.rows = m.rows[:100] },
		"unknown client":     func(m *MemStore) { m.clients[3] = ClientState{1, 1} },
		"unknown aggregator": func(m *MemStore) { m.aggs[9] = AggregatorState{ID: 9, Window: make([]uint64, 64)} },
		"another window":     func(m *MemStore) { m.aggs[3] = AggregatorState{ID: 3, Window: make([]uint64, 63)} },
	} {
		m := store.Clone()
		damage(m)
		if _, err := OpenValidator(ValidatorConfig{Genesis: w.genesis, Store: m}); err == nil {
			t.Errorf("%s: opened", name)
		}
	}
	openValidator(t, w, 0, store.Clone())
	_, err = v.Lookup(Lookup{ID: 3})
	wantRule(t, "answer for an unknown id", err, RuleUnknownID)
	if c, ok := v.Client(0); !ok || c != (ClientState{1, 1}) {
		t.Errorf("client %+v, %v", c, ok)
	}
	if _, ok := v.Client(3); ok {
		t.Error("client of an unknown id")
	}
	if _, _, err := v.Receipts(4); RuleOf(err) != RuleHeight {
		t.Errorf("receipts to come: %v", err)
	}
	// Without a key it follows, and signs nothing.
	f, err := OpenValidator(ValidatorConfig{Genesis: w.genesis, Store: store.Clone()})
	if err != nil {
		t.Fatal(err)
	}
	a := apply(t, f, w.publish(t, w.batch(t, 3, 2, 1, 20, ModeEd25519, []townLeaf{leaf(0, 2, "b")}, nil)))
	if a.Share != nil || a.Outcomes[0].Receipt.Share != nil || !reflect.DeepEqual(codesOf(a.Outcomes[0].Results), []ResultCode{ResultOK}) {
		t.Errorf("%+v", a.Outcomes[0])
	}
}

// Batches are checked while ticks are applied; the race detector watches.
func TestCheckConcurrent(t *testing.T) {
	w := newTown(t, 1, 0)
	v := openValidator(t, w, 0, new(MemStore))
	apply(t, v, w.settle(t, 3))
	var batches [][]byte
	for seq := range uint64(6) {
		batches = append(batches, w.publish(t, w.batch(t, 3, seq, 1, 20, ModeEd25519, []townLeaf{leaf(0, seq, "b"), {1, seq, 200, "b", true}}, nil)))
	}
	checked := make(chan *Checked, len(batches))
	var workers sync.WaitGroup
	for at := range 2 {
		workers.Go(func() {
			for i := at; i < len(batches); i += 2 {
				c, err := v.Check(batches[i])
				if err != nil {
					t.Error(err)
				}
				checked <- c
			}
		})
	}
	go func() { workers.Wait(); close(checked) }()
	for c := range checked {
		a, err := v.Apply(v.Head().Height+1, []Entry{{c.data, c}, {Data: w.entry(w.register(t, person(t, 70+int(v.Head().Height)), 50))}})
		if err != nil || a.Outcomes[0].Err != nil || a.Outcomes[1].Err != nil {
			t.Error(err, a.Outcomes[0].Err, a.Outcomes[1].Err)
		}
	}
}

// The window of numbers against a set of all that were used.
func TestSeqWindow(t *testing.T) {
	for _, window := range []uint64{1, 10, 64, 65, 128} {
		p := Params{SeqWindow: window}
		rng := rand.New(rand.NewPCG(window, 1))
		a := &AggregatorState{Window: make([]uint64, p.seqWords())}
		used := make(map[uint64]bool)
		largest := uint64(0)
		for range 3000 {
			jump := []uint64{3, window + 3, 3 * window, 300}[rng.IntN(4)]
			seq := largest + rng.Uint64N(jump) - min(largest, rng.Uint64N(window+5))
			if old := len(used) > 0 && seq+window <= largest; a.old(seq, window) != old {
				t.Fatalf("window %d: %d is old after %d: %v", window, seq, largest, !old)
			} else if old {
				continue
			}
			if a.seen(seq) != used[seq] {
				t.Fatalf("window %d: %d is seen after %d: %v", window, seq, largest, !used[seq])
			}
			if !used[seq] {
				a.take(seq)
				used[seq], largest = true, max(largest, seq)
			}
			if a.LastSeq != largest {
				t.Fatalf("window %d: largest %d, want %d", window, a.LastSeq, largest)
			}
		}
	}
	a := &AggregatorState{Window: make([]uint64, 1)}
	a.take(1<<64 - 1)
	if !a.seen(1<<64-1) || !a.old(5, 10) || a.old(1<<64-10, 10) {
		t.Error("at the largest number")
	}
}

// Batches of one tick see what those before them did, and only what they executed.
func TestSameTick(t *testing.T) {
	w := newTown(t, 1, 0)
	v := openValidator(t, w, 0, new(MemStore))
	apply(t, v, w.settle(t, 3))
	seq := uint64(0)
	publish := func(leaves ...townLeaf) []byte {
		seq++
		return w.publish(t, w.batch(t, 3, seq, 1, 60, ModeLean, leaves, nil))
	}
	absent := leaf(1, 1, "b")
	absent.straggler = true
	first := apply(t, v, publish(leaf(0, 1, "a")))
	a := apply(t, v,
		publish(leaf(0, 1, "a"), absent, leaf(2, 1, "b")), publish(leaf(0, 1, "a"), leaf(1, 1, "b"), leaf(2, 1, "c")),
		publish(leaf(0, 1, "c"), leaf(1, 1, "b"), leaf(2, 1, "b")), publish(leaf(0, 1, "a"), leaf(2, 1, "c")))
	wantCodes(t, "first", a.Outcomes[0], ResultDup, ResultAbsent, ResultOK)
	wantCodes(t, "second", a.Outcomes[1], ResultDup, ResultOK, ResultTaken)
	wantCodes(t, "third", a.Outcomes[2], ResultTaken, ResultDup, ResultDup)
	wantCodes(t, "fourth", a.Outcomes[3], ResultDup, ResultTaken)
	for _, r := range []Result{a.Outcomes[0].Results[0], a.Outcomes[1].Results[0], a.Outcomes[3].Results[0]} {
		if r.FirstCode != ResultAppReject || r.ExecHeight != first.Height || r.AppCode != 'a' {
			t.Errorf("duplicate %+v", r)
		}
	}
	for _, r := range a.Outcomes[2].Results[1:] {
		if r.FirstCode != ResultOK || r.ExecHeight != a.Height {
			t.Errorf("duplicate %+v", r)
		}
	}
}

// TestManyInATick has an aggregator fill a tick with bad batches, behind good ones, and with
// copies. Few are verified, and all come to what they would come to one by one.
func TestManyInATick(t *testing.T) {
	w := newTown(t, 1, 0)
	v := openValidator(t, w, 0, new(MemStore))
	apply(t, v, w.settle(t, 3))
	batch := func(agg, seq uint64, as map[uint64]*resident) []byte {
		return w.publish(t, w.batch(t, agg, seq, 1, v.Head().Height+10, ModeEd25519, []townLeaf{leaf(0, 100*agg+seq, "m"), leaf(1, 100*agg+seq, "m")}, as))
	}
	other := map[uint64]*resident{1: person(t, 40)}
	var list [][]byte
	var want []Rule
	add := func(data []byte, rule Rule) { list, want = append(list, data), append(want, rule) }
	for seq := range uint64(20) {
		add(batch(3, seq, nil), 0)
		add(batch(4, seq, nil), 0)
		add(list[len(list)-2], RuleSeqSeen)
	}
	add(batch(3, 20, other), RuleAggregate)
	for seq := range uint64(30) {
		add(batch(3, 20+seq, other), RuleSuspended)
		add(batch(4, 20+seq, nil), 0)
	}

	var found []candidate
	for _, data := range list[60:] {
		c := candidate{data: data}
		if c.header, c.digest, c.err = v.verifier.Open(data); c.err != nil {
			t.Fatal(c.err)
		}
		c.opened = true
		found = append(found, c, c)
	}
	for _, n := range []int{1, 5} {
		tick := &tick{Validator: v, height: v.Head().Height + 1}
		tick.verify(found, n)
		verdicts := 0
		for i := range found {
			if found[i].verified != nil || found[i].err != nil {
				verdicts++
				found[i].verified, found[i].err = nil, nil
			}
		}
		if verdicts != n {
			t.Errorf("%d verified instead of %d", verdicts, n)
		}
	}

	a := apply(t, v, list...)
	for i, o := range a.Outcomes {
		if RuleOf(o.Err) != want[i] {
			t.Errorf("batch %d: %v, want %v", i, o.Err, want[i])
		}
		if (o.Receipt != nil) != (want[i] == 0 || want[i] == RuleAggregate) {
			t.Errorf("batch %d: receipt %v", i, o.Receipt)
		}
	}
}

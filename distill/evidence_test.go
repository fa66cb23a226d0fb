// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"bytes"
	"crypto/ed25519"
	"slices"
	"testing"

	"github.com/undersign/undersign/bls"
)

// through returns e after it was written and read.
func through(t testing.TB, e *Evidence) *Evidence {
	t.Helper()
	b, err := e.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var x Evidence
	if err := x.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	again, err := x.MarshalBinary()
	if err != nil || !bytes.Equal(again, b) {
		t.Fatalf("another encoding: %v", err)
	}
	return &x
}

// wantAccused verifies evidence from its encoding.
func wantAccused(t *testing.T, w *town, what string, e *Evidence, view View, want Accused) {
	t.Helper()
	if got, err := through(t, e).Verify(w.genesis, view); err != nil || got != want {
		t.Errorf("%s: %v %d, %v, want %v %d", what, got.Role, got.ID, err, want.Role, want.ID)
	}
}

// wantNone verifies that evidence convinces nobody.
func wantNone(t *testing.T, w *town, what string, e *Evidence, view View, want Rule) {
	t.Helper()
	got, err := through(t, e).Verify(w.genesis, view)
	wantRule(t, what, err, want)
	if err == nil {
		t.Errorf("%s: accuses %v %d", what, got.Role, got.ID)
	}
}

func (w *town) signProp(aggID uint64, p Prop) SignedProp {
	return SignedProp{p, [64]byte(ed25519.Sign(w.aggs[aggID], p.Bytes()))}
}

func TestEvidenceProp(t *testing.T) {
	w := newTown(t, 1, 0)
	p := Prop{Net: w.net, Dirver: 1, AggID: 3, Seq: 7, N: 2, Root: [32]byte{1}, ValidUntil: 9}
	sign := func(edit func(*Prop)) SignedProp {
		q := p
		edit(&q)
		return w.signProp(q.AggID, q)
	}
	honest := w.signProp(3, p)
	for name, edit := range map[string]func(*Prop){
		"root": func(q *Prop) { q.Root[0]++ }, "length": func(q *Prop) { q.N++ },
		"version": func(q *Prop) { q.Dirver++ }, "height": func(q *Prop) { q.ValidUntil-- },
	} {
		e := NewPropEvidence(sign(edit), honest)
		wantAccused(t, w, "another "+name, e, nil, Accused{RoleAggregator, 3})
		e.First, e.Second = e.Second, e.First
		wantNone(t, w, "another "+name+", swapped", e, nil, RuleEvidence)
	}
	forged := sign(func(q *Prop) { q.N++ })
	forged.Signature = [64]byte(ed25519.Sign(w.aggs[4], forged.Prop.Bytes()))
	wantNone(t, w, "signed by another", NewPropEvidence(honest, forged), nil, RuleEvidenceUnsigned)
	wantNone(t, w, "the same", NewPropEvidence(honest, honest), nil, RuleEvidenceSame)
	wantNone(t, w, "another number", NewPropEvidence(honest, sign(func(q *Prop) { q.Seq++ })), nil, RuleEvidenceSame)
	other := p
	other.AggID = 4
	wantNone(t, w, "another aggregator", NewPropEvidence(honest, w.signProp(4, other)), nil, RuleEvidenceSame)
	stranger := p
	stranger.AggID = 9
	strangers := stranger
	strangers.N++
	wantNone(t, w, "unknown aggregator", NewPropEvidence(w.signProp(3, stranger), w.signProp(3, strangers)), nil, RuleAggregator)
	wantNone(t, w, "another network", NewPropEvidence(honest, sign(func(q *Prop) { q.Net[0]++ })), nil, RuleNetwork)
	// What it signed as client's, or as a batch, isn't a proposal.
	red := p.Red()
	e := NewEvidence(EvidenceProp, Signed{honest.Prop.Bytes(), honest.Signature[:]}, Signed{red.Bytes(), ed25519.Sign(w.aggs[3], red.Bytes())})
	wantNone(t, w, "another statement", e, nil, RuleEvidence)
	e = NewPropEvidence(honest, sign(func(q *Prop) { q.N++ }))
	e.Kind = EvidenceBat
	wantNone(t, w, "another kind", e, nil, RuleEvidence)
	e = NewPropEvidence(honest, sign(func(q *Prop) { q.N++ }))
	e.Second.Signature = e.Second.Signature[:63]
	wantNone(t, w, "short signature", e, nil, RuleEvidenceUnsigned)
}

func TestEvidenceBatches(t *testing.T) {
	w := newTown(t, 1, 0)
	d := townDirectory(t, w, 3)
	view := d.Latest()
	one := []townLeaf{leaf(0, 1, "a"), leaf(1, 1, "b")}
	late := slices.Clone(one)
	late[1].straggler = true
	a := w.publish(t, w.batch(t, 3, 7, 1, 9, ModeEd25519, one, nil))
	b := w.publish(t, w.batch(t, 3, 7, 1, 9, ModeEd25519, late, nil))
	e, err := NewBatEvidence(a, b)
	if err != nil {
		t.Fatal(err)
	}
	wantAccused(t, w, "other stragglers", e, nil, Accused{RoleAggregator, 3})
	if e, err = NewBatEvidence(a, w.publish(t, w.batch(t, 3, 8, 1, 9, ModeEd25519, late, nil))); err != nil {
		t.Fatal(err)
	}
	wantNone(t, w, "another number", e, nil, RuleEvidenceSame)
	if e, err = NewBatEvidence(a, a); err != nil {
		t.Fatal(err)
	}
	wantNone(t, w, "the same batch", e, nil, RuleEvidenceSame)
	tampered := bytes.Clone(b)
	tampered[len(tampered)-65] ^= 1
	if e, err = NewBatEvidence(a, tampered); err != nil {
		t.Fatal(err)
	}
	wantNone(t, w, "tampered", e, nil, RuleEvidenceUnsigned)

	bad := func(b *Batch) *Evidence {
		e, err := NewBatchEvidence(w.publish(t, b))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	accused := Accused{RoleAggregator, 3}
	forged := bad(w.batch(t, 3, 7, 1, 9, ModeEd25519, late, map[uint64]*resident{1: person(t, 30)}))
	wantAccused(t, w, "straggler who didn't sign", forged, view, accused)
	wantNone(t, w, "the same without a directory", forged, nil, RuleVersion)
	before, err := d.At(0)
	if err != nil {
		t.Fatal(err)
	}
	wantNone(t, w, "the same with another version", forged, before, RuleVersion)
	forged.Dirver = 0
	wantNone(t, w, "the same for another version", forged, before, RuleEvidence)
	wantAccused(t, w, "reducer who didn't sign", bad(w.batch(t, 3, 7, 1, 9, ModeEd25519, one, map[uint64]*resident{0: person(t, 30)})), view, accused)
	wantAccused(t, w, "unknown id", bad(w.batch(t, 3, 7, 1, 9, ModeEd25519, []townLeaf{leaf(3, 1, "a")}, map[uint64]*resident{3: person(t, 3)})), view, accused)
	cut := a[:len(a)-80]
	h, err := DecodeHeader(a)
	if err != nil {
		t.Fatal(err)
	}
	bat := Bat{h.Net, h.AggID, h.Seq, BatchDigest(cut)}
	cut = append(bytes.Clone(cut[:len(cut)-64]), ed25519.Sign(w.aggs[3], bat.Bytes())...)
	if e, err = NewBatchEvidence(cut); err != nil {
		t.Fatal(err)
	}
	wantAccused(t, w, "cut off, without a directory", e, nil, accused)

	wantNone(t, w, "a good batch", bad(w.batch(t, 3, 7, 1, 9, ModeEd25519, late, nil)), view, RuleEvidenceInnocent)
	// Somebody else's change to a good batch.
	if e, err = NewBatchEvidence(a); err != nil {
		t.Fatal(err)
	}
	e.First.Statement = bytes.Clone(e.First.Statement)
	e.First.Statement[len(e.First.Statement)-1] ^= 1
	wantNone(t, w, "tampered good batch", e, view, RuleAggregatorSignature)
	e.First.Signature = ed25519.Sign(w.aggs[4], bat.Bytes())
	wantNone(t, w, "signed by another", e, view, RuleAggregatorSignature)
	if _, err := NewBatchEvidence(a[:50]); RuleOf(err) != RuleHeader {
		t.Errorf("no batch: %v", err)
	}
	if _, err := NewBatEvidence(a, a[:50]); RuleOf(err) != RuleHeader {
		t.Errorf("no batch: %v", err)
	}
	// A rotation after the batch makes nobody guilty.
	if _, err := d.Apply(2, w.entry(w.rotate(t, 1, 1, w.clients[1], person(t, 33)))); err != nil {
		t.Fatal(err)
	}
	wantNone(t, w, "a good batch with the keys of today", bad(w.batch(t, 3, 7, 1, 9, ModeEd25519, one, nil)), d.Latest(), RuleVersion)
	wantNone(t, w, "a good batch with the keys of then", bad(w.batch(t, 3, 7, 1, 9, ModeEd25519, one, nil)), view, RuleEvidenceInnocent)
}

func TestEvidenceSub(t *testing.T) {
	w := newTown(t, 1, 0)
	d := townDirectory(t, w, 3)
	view := d.Latest()
	r := w.clients[1]
	submit := func(r *resident, folded bool, edit func(*Submission)) *Submission {
		s := &Submission{ID: 1, Nonce: 5, NotAfter: 9, Payload: []byte("a")}
		if edit != nil {
			edit(s)
		}
		sub := s.Sub(w.net)
		if !folded {
			s.Signature = ed25519.Sign(r.ed, sub.Bytes())
			return s
		}
		digest := sub.Digest()
		sig, err := bls.Augmented.Sign(r.sk, digest[:])
		if err != nil {
			t.Fatal(err)
		}
		s.Signature = sig.Bytes()
		return s
	}
	other := func(s *Submission) { s.Payload = []byte("b") }
	a := submit(r, false, nil)
	for _, b := range []*Submission{submit(r, false, other), submit(r, true, other), submit(r, false, func(s *Submission) { s.Payload, s.NotAfter = nil, 10 })} {
		wantAccused(t, w, "two payloads", NewSubEvidence(w.net, 1, a, b), view, Accused{RoleClient, 1})
		wantAccused(t, w, "the other way round", NewSubEvidence(w.net, 1, b, a), view, Accused{RoleClient, 1})
		wantNone(t, w, "without a directory", NewSubEvidence(w.net, 1, a, b), nil, RuleVersion)
		wantNone(t, w, "for another version", NewSubEvidence(w.net, 0, a, b), view, RuleVersion)
	}
	before, err := d.At(0)
	if err != nil {
		t.Fatal(err)
	}
	b := submit(r, false, other)
	wantNone(t, w, "before it was registered", NewSubEvidence(w.net, 0, a, b), before, RuleInactive)
	// What an honest client signs: the same again, by other means, later or for longer.
	wantNone(t, w, "the same", NewSubEvidence(w.net, 1, a, a), view, RuleEvidenceSame)
	wantNone(t, w, "two signatures of one", NewSubEvidence(w.net, 1, a, submit(r, true, nil)), view, RuleEvidenceSame)
	wantNone(t, w, "one payload with two last heights", NewSubEvidence(w.net, 1, a, submit(r, false, func(s *Submission) { s.NotAfter++ })), view, RuleEvidenceSame)
	wantNone(t, w, "another nonce", NewSubEvidence(w.net, 1, a, submit(r, false, func(s *Submission) { other(s); s.Nonce++ })), view, RuleEvidenceSame)
	wantNone(t, w, "another client", NewSubEvidence(w.net, 1, a, submit(w.clients[2], false, func(s *Submission) { other(s); s.ID = 2 })), view, RuleEvidenceSame)
	// What others make.
	wantNone(t, w, "signed by another", NewSubEvidence(w.net, 1, a, submit(w.clients[2], false, other)), view, RuleEvidenceUnsigned)
	wantNone(t, w, "signed by another with BLS", NewSubEvidence(w.net, 1, a, submit(w.clients[2], true, other)), view, RuleEvidenceUnsigned)
	swapped := submit(r, false, other)
	swapped.Signature = a.Signature
	wantNone(t, w, "the signature of the other", NewSubEvidence(w.net, 1, a, swapped), view, RuleEvidenceUnsigned)
	swapped.Signature = nil
	wantNone(t, w, "no signature", NewSubEvidence(w.net, 1, a, swapped), view, RuleEvidenceUnsigned)
	// The owner of a key signs what it wants for itself, by id and nonce 0.
	var subs [2]Signed
	for i, coin := range []string{"one coin", "another coin"} {
		first := w.clients[0]
		sub := KeyedLeaf{9, KeyedPayloadHash((*KeyBytes)(first.sk.PublicKey().Bytes()), []byte(coin))}.Sub(w.net)
		digest := sub.Digest()
		sig, err := bls.Augmented.Sign(first.sk, digest[:])
		if err != nil {
			t.Fatal(err)
		}
		subs[i] = Signed{sub.Bytes(), sig.Bytes()}
	}
	keyed := NewEvidence(EvidenceSub, subs[0], subs[1])
	keyed.Dirver = 1
	wantNone(t, w, "of a key without an id", keyed, view, RuleEvidenceSame)
	elsewhere := *w
	elsewhere.net[0] ^= 1
	e := NewSubEvidence(elsewhere.net, 1, a, b)
	wantNone(t, w, "another network", e, view, RuleNetwork)
	// It rotates, and whoever has the new keys is somebody else.
	next := person(t, 31)
	if _, err := d.Apply(2, w.entry(w.rotate(t, 1, 1, r, next))); err != nil {
		t.Fatal(err)
	}
	wantNone(t, w, "by old and new keys, for the old version", NewSubEvidence(w.net, 1, a, submit(next, false, other)), view, RuleEvidenceUnsigned)
	wantNone(t, w, "by old and new keys, for the new version", NewSubEvidence(w.net, 2, a, submit(next, false, other)), d.Latest(), RuleEvidenceUnsigned)
	wantNone(t, w, "by old keys, for the new version", NewSubEvidence(w.net, 2, a, b), d.Latest(), RuleEvidenceUnsigned)
}

// signed returns a validator's signature of a statement.
func (w *town) signed(t testing.TB, validator int, s Statement) Signed {
	t.Helper()
	share, err := SignStatement(w.validators[validator], validator, s)
	if err != nil {
		t.Fatal(err)
	}
	return Signed{s.Bytes(), share.Signature[:]}
}

func TestEvidenceRcptHgt(t *testing.T) {
	w := newTown(t, 4, 1)
	accused := Accused{RoleValidator, 2}
	pair := func(kind EvidenceKind, a, b Statement) *Evidence {
		e := NewEvidence(kind, w.signed(t, 2, a), w.signed(t, 2, b))
		e.Validator = 2
		return e
	}
	r := Rcpt{Net: w.net, Height: 5, PrevLogHash: [32]byte{1}, BatchDigest: [32]byte{2}, N: 3, ResultRoot: [32]byte{4}}
	for name, edit := range map[string]func(*Rcpt){
		"digest": func(x *Rcpt) { x.BatchDigest[0]++ }, "results": func(x *Rcpt) { x.ResultRoot[0]++ },
		"height": func(x *Rcpt) { x.Height++ }, "length": func(x *Rcpt) { x.N++ },
	} {
		x := r
		edit(&x)
		wantAccused(t, w, "another "+name, pair(EvidenceRcpt, r, x), nil, accused)
	}
	next := r
	next.PrevLogHash, next.BatchDigest = r.Digest(), [32]byte{9}
	wantNone(t, w, "the next entry", pair(EvidenceRcpt, r, next), nil, RuleEvidenceSame)
	wantNone(t, w, "the same receipt", pair(EvidenceRcpt, r, r), nil, RuleEvidenceSame)
	fork := r
	fork.N++
	e := pair(EvidenceRcpt, r, fork)
	e.Validator = 1
	wantNone(t, w, "another validator", e, nil, RuleEvidenceUnsigned)
	e.Validator = 4
	wantNone(t, w, "no validator", e, nil, RuleValidator)
	e = NewEvidence(EvidenceRcpt, w.signed(t, 2, r), w.signed(t, 1, fork))
	e.Validator = 2
	wantNone(t, w, "of two validators", e, nil, RuleEvidenceUnsigned)
	elsewhere := fork
	elsewhere.Net[0]++
	wantNone(t, w, "another network", pair(EvidenceRcpt, r, elsewhere), nil, RuleNetwork)

	h := Hgt{Net: w.net, Height: 5, Batches: 7, LogHash: [32]byte{1}, Dirver: 3}
	for _, x := range []struct {
		name  string
		other Hgt
		bad   bool
	}{
		{"the same height, another log", Hgt{w.net, 5, 7, [32]byte{2}, 3}, true},
		{"the same height, more batches", Hgt{w.net, 5, 8, [32]byte{1}, 3}, true},
		{"the same height, another version", Hgt{w.net, 5, 7, [32]byte{1}, 4}, true},
		{"fewer batches later", Hgt{w.net, 6, 6, [32]byte{2}, 3}, true},
		{"a lower version later", Hgt{w.net, 6, 7, [32]byte{2}, 2}, true},
		{"more batches before", Hgt{w.net, 4, 8, [32]byte{2}, 3}, true},
		{"a higher version before", Hgt{w.net, 4, 7, [32]byte{2}, 4}, true},
		{"nothing happened", Hgt{w.net, 6, 7, [32]byte{1}, 3}, false},
		{"a strike happened", Hgt{w.net, 6, 7, [32]byte{2}, 3}, false},
		{"batches and changes", Hgt{w.net, 9, 17, [32]byte{2}, 13}, false},
		{"before", Hgt{w.net, 4, 6, [32]byte{2}, 2}, false},
	} {
		if x.bad {
			wantAccused(t, w, x.name, pair(EvidenceHgt, h, x.other), nil, accused)
		} else {
			wantNone(t, w, x.name, pair(EvidenceHgt, h, x.other), nil, RuleEvidenceSame)
		}
	}
}

// Two answers of one validator: what may be, and what may not.
func TestEvidenceLook(t *testing.T) {
	w := newTown(t, 4, 1)
	g := w.genesis.Params.KeepResults
	pair := func(a, b Look) *Evidence {
		x, y := SignedLook{Look: a}, SignedLook{Look: b}
		for _, k := range []*SignedLook{&x, &y} {
			share, err := SignStatement(w.validators[1], 1, k.Look)
			if err != nil {
				t.Fatal(err)
			}
			k.Share = *share
		}
		return NewLookEvidence(&x, &y)
	}
	base := Look{Net: w.net, ID: 5, Nonce: 100, NotAfter: 50}
	executed := func(height, last uint64) Look {
		k := base
		k.Height, k.LastNonce, k.Code, k.FirstCode, k.AppCode, k.ExecHeight, k.PayloadHash = height, last, LookExecuted, ResultOK, 6, 30, [32]byte{7}
		return k
	}
	not := func(height, last uint64, code LookCode) Look {
		k := base
		k.Height, k.LastNonce, k.Code = height, last, code
		k.Challenge[0]++
		return k
	}
	edit := func(k Look, f func(*Look)) Look { f(&k); return k }
	for _, x := range []struct {
		name string
		a, b Look
		bad  bool
	}{
		{"executed twice", executed(40, 100), edit(executed(41, 100), func(k *Look) { k.ExecHeight++ }), true},
		{"another payload", executed(40, 100), edit(executed(41, 100), func(k *Look) { k.PayloadHash[0]++ }), true},
		{"another code", executed(40, 100), edit(executed(41, 100), func(k *Look) { k.FirstCode = ResultAppReject }), true},
		{"another code of the application", executed(40, 100), edit(executed(41, 100), func(k *Look) { k.AppCode++ }), true},
		{"the same answer later", executed(40, 100), executed(90, 300), false},
		{"not executed, before it was", not(29, 99, LookNotExecuted), executed(40, 100), false},
		{"not executed, when it was", not(30, 99, LookNotExecuted), executed(40, 100), true},
		{"not executed, before the answer", not(35, 99, LookNotExecuted), executed(40, 100), true},
		{"not executed, after it", not(41, 100, LookNotExecuted), executed(40, 100), true},
		{"not executed, in the window long after", not(31+g, 163, LookNotExecuted), executed(40, 100), true},
		{"not executed, behind the window but kept", not(30+g, 164, LookNotExecuted), executed(40, 100), true},
		{"not executed, forgotten for another last height", not(31+g, 164, LookNotExecuted), executed(40, 100), false},
		{"not executed, after it was seen at that height", not(50+g, 164, LookNotExecuted), executed(50+g, 164), true},
		{"unknown while kept", not(30+g, 164, LookUnknown), executed(40, 100), true},
		{"unknown long after", not(31+g, 164, LookUnknown), executed(40, 100), false},
		{"unknown long after, in the window", not(31+g, 100, LookUnknown), executed(40, 100), false},
		{"unknown before it was seen", not(49+g, 164, LookUnknown), executed(50+g, 164), true},
		{"largest nonce gone down", not(40, 90, LookNotExecuted), edit(not(41, 89, LookNotExecuted), func(k *Look) { k.Nonce = 7 }), true},
		{"two largest nonces at a height", not(40, 90, LookNotExecuted), edit(not(40, 91, LookNotExecuted), func(k *Look) { k.Nonce = 7 }), true},
		{"largest nonce gone up", not(40, 90, LookNotExecuted), not(41, 91, LookNotExecuted), false},
		{"another nonce", executed(40, 120), edit(not(41, 120, LookNotExecuted), func(k *Look) { k.Nonce = 99 }), false},
		{"another id", executed(40, 120), edit(not(41, 20, LookNotExecuted), func(k *Look) { k.ID++ }), false},
		{"another challenge", not(40, 90, LookNotExecuted), edit(not(40, 90, LookNotExecuted), func(k *Look) { k.Challenge[5]++ }), false},
		{"the same", not(40, 90, LookNotExecuted), not(40, 90, LookNotExecuted), false},
		{"asked for two last heights", not(31+g, 200, LookNotExecuted), edit(not(31+g, 200, LookUnknown), func(k *Look) { k.NotAfter = 1 }), false},
	} {
		if x.bad {
			wantAccused(t, w, x.name, pair(x.a, x.b), nil, Accused{RoleValidator, 1})
			wantAccused(t, w, x.name+", the other way round", pair(x.b, x.a), nil, Accused{RoleValidator, 1})
		} else {
			wantNone(t, w, x.name, pair(x.a, x.b), nil, RuleEvidenceSame)
		}
	}
	e := pair(executed(40, 100), not(41, 100, LookNotExecuted))
	e.Validator = 0
	wantNone(t, w, "another validator", e, nil, RuleEvidenceUnsigned)
	e = pair(executed(40, 100), edit(not(41, 100, LookNotExecuted), func(k *Look) { k.Net[0]++ }))
	wantNone(t, w, "another network", e, nil, RuleNetwork)
}

func TestEvidenceOutcome(t *testing.T) {
	w := newTown(t, 4, 1)
	v := openValidator(t, w, 3, new(MemStore))
	apply(t, v, w.settle(t, 3))
	a := apply(t, v, w.publish(t, w.batch(t, 3, 1, 1, 20, ModeEd25519, []townLeaf{leaf(0, 1, "b"), leaf(1, 1, "b"), leaf(2, 1, "b")}, nil)))
	dup := apply(t, v, w.publish(t, w.batch(t, 3, 2, 1, 20, ModeEd25519, []townLeaf{leaf(1, 1, "b"), leaf(2, 1, "c")}, nil)))
	honest, err := v.Lookup(Lookup{ID: 1, Nonce: 1, NotAfter: 5})
	if err != nil {
		t.Fatal(err)
	}
	evidence := func(a *Applied, index int, look *SignedLook, edit func(*Look)) *Evidence {
		s := *look
		if edit != nil {
			edit(&s.Look)
			share, err := SignStatement(w.validators[3], 3, s.Look)
			if err != nil {
				t.Fatal(err)
			}
			s.Share = *share
		}
		o := a.Outcomes[0]
		var hashes [][32]byte
		for i := range o.Results {
			hashes = append(hashes, o.Results[i].Hash())
		}
		return NewOutcomeEvidence(o.Receipt, o.Results[index], uint64(index), NewTree(hashes).Proof(index), &s)
	}
	deny := func(k *Look) {
		k.Code, k.FirstCode, k.AppCode, k.ExecHeight, k.PayloadHash = LookNotExecuted, 0, 0, 0, [32]byte{}
	}
	accused := Accused{RoleValidator, 3}
	wantAccused(t, w, "denies it", evidence(a, 1, honest, deny), nil, accused)
	wantAccused(t, w, "denies what it called a duplicate", evidence(dup, 0, honest, deny), nil, accused)
	wantAccused(t, w, "another payload", evidence(a, 1, honest, func(k *Look) { k.PayloadHash[0]++ }), nil, accused)
	wantAccused(t, w, "doesn't know", evidence(a, 1, honest, func(k *Look) { deny(k); k.Code = LookUnknown }), nil, accused)
	wantNone(t, w, "honest", evidence(a, 1, honest, nil), nil, RuleEvidenceSame)
	wantNone(t, w, "honest duplicate", evidence(dup, 0, honest, nil), nil, RuleEvidenceSame)
	wantNone(t, w, "before it was executed", evidence(a, 1, honest, func(k *Look) { deny(k); k.Height, k.LastNonce = 1, 0 }), nil, RuleEvidenceSame)
	wantNone(t, w, "another client's result", evidence(a, 0, honest, deny), nil, RuleEvidenceSame)
	wantNone(t, w, "a result without execution", evidence(dup, 1, honest, func(k *Look) { deny(k); k.ID = 2 }), nil, RuleEvidenceSame)
	e := evidence(a, 1, honest, deny)
	e.Result.PayloadHash[0]++
	wantNone(t, w, "forged result", e, nil, RuleProofRoot)
	e = evidence(a, 1, honest, deny)
	e.Index = 3
	wantNone(t, w, "no such leaf", e, nil, RuleProofIndex)
	e = evidence(a, 1, honest, deny)
	e.Siblings = e.Siblings[1:]
	wantNone(t, w, "short proof", e, nil, RuleProofDepth)
	e = evidence(a, 1, honest, deny)
	e.Validator = 1
	wantNone(t, w, "another validator", e, nil, RuleEvidenceUnsigned)
	e = evidence(a, 1, honest, deny)
	e.First.Signature = e.Second.Signature
	wantNone(t, w, "receipt not signed", e, nil, RuleEvidenceUnsigned)
}

// Whatever an honest validator says in its life, it accuses nobody: not when clients
// ask for last heights that aren't theirs, nor after it was restored from a copy.
func TestHonestValidator(t *testing.T) {
	for seed := range uint64(4) {
		h := newHistory(t, 900+seed)
		store := new(MemStore)
		v := h.open(store)
		var looks []Look
		var heads []Hgt
		var rcpts []Rcpt
		var results []Result
		var places []int // receipts of results
		for range 90 {
			if err := h.tick(v); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			for range 2 {
				more, err := h.looks(v)
				if err != nil {
					t.Fatal(err)
				}
				looks = append(looks, more...)
			}
			head, _, err := v.SignHead()
			if err != nil {
				t.Fatal(err)
			}
			log, _, err := v.Receipts(head.Height)
			if err != nil {
				t.Fatal(err)
			}
			heads = append(heads, head)
			for _, r := range log {
				rcpts = append(rcpts, r.Rcpt)
				for _, x := range r.Results {
					results, places = append(results, x), append(places, len(rcpts)-1)
				}
			}
			if h.rng.IntN(10) == 0 {
				v = h.open(store.Clone())
			} else {
				v = h.open(store)
			}
			store = v.store.(*MemStore)
		}
		p := &h.genesis.Params
		facts := 0
		for i := range looks {
			for j := range looks {
				if looks[i] != looks[j] && looksContradict(p, &looks[i], &looks[j]) {
					t.Fatalf("seed %d: honest answers\n%+v\n%+v", seed, looks[i], looks[j])
				}
			}
			for j := range results {
				if f, ok := resultFact(&rcpts[places[j]], &results[j]); ok && looks[i].ID == results[j].ID && looks[i].Nonce == results[j].Nonce {
					if facts++; f.against(p, &looks[i]) {
						t.Fatalf("seed %d: honest receipt and answer\n%+v\n%+v", seed, results[j], looks[i])
					}
				}
			}
		}
		for i := range heads {
			for j := range heads {
				if i != j && headsContradict(&heads[i], &heads[j]) {
					t.Fatalf("seed %d: honest heads %+v, %+v", seed, heads[i], heads[j])
				}
			}
		}
		for i := range rcpts {
			for j := range i {
				if rcpts[i].PrevLogHash == rcpts[j].PrevLogHash {
					t.Fatalf("seed %d: honest receipts %+v, %+v", seed, rcpts[i], rcpts[j])
				}
			}
		}
		if facts < 100 {
			t.Errorf("seed %d: only %d answers about what was executed", seed, facts)
		}
	}
}

func TestEvidenceEncoding(t *testing.T) {
	w := newTown(t, 1, 0)
	p := Prop{Net: w.net, AggID: 3, Seq: 7}
	q := p
	q.N++
	b, err := NewPropEvidence(w.signProp(3, p), w.signProp(3, q)).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var e Evidence
	for i := range b {
		wantRule(t, "cut off", e.UnmarshalBinary(b[:i]), RuleEvidence)
	}
	edit := func(at int, v byte) []byte {
		c := bytes.Clone(b)
		c[at] = v
		return c
	}
	for name, c := range map[string][]byte{
		"trailing byte": append(bytes.Clone(b), 0), "version": edit(0, 2), "kind 0": edit(1, 0), "unknown kind": edit(1, 9),
		"huge statement": edit(2, 0x7f), "another length": edit(5, 0),
	} {
		wantRule(t, name, e.UnmarshalBinary(c), RuleEvidence)
	}
	if _, err := (&Evidence{}).MarshalBinary(); RuleOf(err) != RuleEvidence {
		t.Errorf("empty: %v", err)
	}
	if _, err := (&Evidence{Kind: EvidenceOutcome, Siblings: make([][32]byte, MaxDepth+1)}).MarshalBinary(); RuleOf(err) != RuleEvidence {
		t.Errorf("too many siblings: %v", err)
	}
	if _, err := (&Evidence{}).Verify(w.genesis, nil); RuleOf(err) != RuleEvidence {
		t.Errorf("empty: %v", err)
	}
}

func FuzzEvidence(f *testing.F) {
	w := newTown(f, 1, 0)
	p := Prop{Net: w.net, AggID: 3, Seq: 7}
	for kind := EvidenceProp; kind < evidenceKinds; kind++ {
		e := NewEvidence(kind, Signed{p.Bytes(), make([]byte, 64)}, Signed{p.Bytes(), make([]byte, 64)})
		e.Result, e.Siblings = Result{Code: ResultOK}, make([][32]byte, 2)
		b, err := e.MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var e Evidence
		if e.UnmarshalBinary(b) != nil {
			return
		}
		if again, err := e.MarshalBinary(); err != nil || !bytes.Equal(again, b) {
			t.Errorf("two encodings: %x and %x", b, again)
		}
		if accused, err := e.Verify(w.genesis, nil); err == nil {
			t.Errorf("accuses %v %d", accused.Role, accused.ID)
		}
	})
}

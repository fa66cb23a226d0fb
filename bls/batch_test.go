// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/undersign/undersign/internal/bls12381"
)

// TestBatch puts bad items at random among good ones, and compares the verdicts with
// those of single verification.
func TestBatch(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	n, schemes := 24, allSchemes
	if testing.Short() {
		n, schemes = 12, []Scheme{Augmented, MinSigBasic}
	}
	sks, msgs := numbered(t, n), messages(n)
	for _, s := range schemes {
		for round := range 4 {
			b := NewBatch(s)
			b.ShortWeights = round%2 == 1
			bad := map[int]bool{}
			for range []int{0, 1, 3, n}[round] {
				bad[r.IntN(n)] = true
			}
			if round == 3 {
				msgs = slices.Repeat(msgs[:1], n) // all sign one message
			} else {
				msgs = messages(n)
			}
			sigs := signAll(t, s, sks, msgs...)
			var want []int
			for i, sk := range sks {
				sig := sigs[i]
				if bad[i] {
					sig = must[*Signature](t)(s.Sign(sk, []byte("another")))
				}
				if s.Verify(s.public(sk), msgs[i], sig) != nil {
					want = append(want, i)
				}
				b.Add(s.public(sk), msgs[i], sig)
			}
			if len(want) != len(bad) || b.Len() != n {
				t.Fatal("not the items")
			}
			wantBad(t, fmt.Sprint(s, " round ", round), b, want...)
			wantBad(t, "again", b, want...)
		}
	}
}

// wantBad demands that a batch finds these items bad.
func wantBad(t *testing.T, what string, b *Batch, want ...int) {
	t.Helper()
	err := b.Verify()
	var be *BatchError
	switch {
	case len(want) == 0 && err != nil:
		t.Errorf("%s: %v, want none", what, err)
	case len(want) == 0:
	case !errors.As(err, &be) || !errors.Is(err, ErrSignature):
		t.Errorf("%s: %v, want %v", what, err, want)
	case !slices.Equal(be.Bad, want) || be.Len != b.Len():
		t.Errorf("%s: %v of %d, want %v", what, be.Bad, be.Len, want)
	case !strings.HasPrefix(err.Error(), fmt.Sprintf("bls: %d of %d signatures are bad, the first of them number %d", len(want), be.Len, want[0])):
		t.Error(err)
	}
}

// TestOffsets has errors that cancel in a sum: the batch must not let them.
func TestOffsets(t *testing.T) {
	sks := numbered(t, 4)
	msg := []byte("m")
	sigs := signAll(t, ProofOfPossession, sks, msg)
	delta := sigs[3].p
	plus := &Signature{sigs[0].p.add(delta)}
	minus := &Signature{newPoint(true)}
	minus.p.two.Sub(sigs[1].p.two, delta.two)
	sum := must[*Signature](t)(Aggregate(plus, minus, sigs[2]))
	keys := provens(ProofOfPossession, sks[:3])
	wantErr(t, "the sum", ProofOfPossession.FastAggregateVerify(keys, msg, sum), nil)
	b := NewBatch(ProofOfPossession)
	for i, sig := range []*Signature{plus, minus, sigs[2]} {
		b.Add(keys[i].PublicKey(), msg, sig)
	}
	wantBad(t, "offsets", b, 0, 1)
	// Exchanged signatures of one message cancel as well.
	b = NewBatch(ProofOfPossession)
	b.Add(keys[0].PublicKey(), msg, sigs[1])
	b.Add(keys[1].PublicKey(), msg, sigs[0])
	wantBad(t, "exchanged", b, 0, 1)
}

// TestBatchKinds mixes aggregates of all kinds, good, bad and malformed.
func TestBatchKinds(t *testing.T) {
	const s = ProofOfPossession
	sks, msgs := numbered(t, 5), messages(5)
	keys, proven := publics(s, sks), provens(s, sks)
	digest := [32]byte{1}
	one := signAll(t, s, sks, digest[:])
	all := must[*Signature](t)(Aggregate(signAll(t, s, sks, msgs...)...))
	same := must[*Signature](t)(Aggregate(one...))
	weighted := must[*Signature](t)(s.BDNAggregate(keys, digest, one))
	list := slices.Repeat([][]byte{digest[:]}, 5)
	identity := &Signature{newPoint(true)}
	sum := must[*ProvenKey](t)(SumKeys(proven))

	good := func(b *Batch) {
		b.Add(keys[0], digest[:], one[0])
		b.Add(sum.PublicKey(), digest[:], same)
		b.AddAggregate(keys, msgs, all)
		b.AddAggregateProven(proven, list, same)
		b.AddBDN(keys, digest, weighted)
	}
	b := NewBatch(s)
	good(b)
	wantBad(t, "good", b)
	good(b)
	wantBad(t, "twice", b)

	bad := NewBatch(s)
	good(bad)
	for _, add := range []func(){
		func() { bad.Add(nil, digest[:], one[0]) },
		func() { bad.Add(keys[0], digest[:], nil) },
		func() { bad.Add(keys[0], digest[:], identity) },
		func() { bad.Add(sks[0].MinSigPublicKey(), digest[:], one[0]) },
		func() { bad.Add(keys[0], digest[:], signAll(t, MinSigBasic, sks[:1], nil)[0]) },
		func() { bad.Add(keys[0], digest[:], one[1]) },
		func() { bad.AddAggregate(keys, list, same) }, // equal messages without proofs
		func() { bad.AddAggregate(keys, msgs[1:], all) },
		func() { bad.AddAggregate(nil, nil, identity) },
		func() { bad.AddAggregate(keys, msgs, same) },
		func() { bad.AddAggregateProven(proven[1:], list[1:], same) },
		func() { bad.AddAggregateProven([]*ProvenKey{nil}, list[:1], same) },
		func() { bad.AddBDN(keys[1:], digest, weighted) },
		func() { bad.AddBDN(append(keys[:5:5], keys[0]), digest, weighted) },
		func() { bad.AddBDN(keys, digest, same) },
	} {
		add()
	}
	good(bad)
	wantBad(t, "kinds", bad, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19)

	aug := NewBatch(Augmented)
	aug.AddAggregate(nil, nil, identity)
	wantBad(t, "Chia's empty aggregate", aug)
	aug.AddBDN(keys, digest, weighted)
	aug.AddAggregateProven(proven, list, same)
	aug.AddAggregate(nil, nil, one[0])
	wantBad(t, "augmented", aug, 1, 2, 3)

	// A batch of one, and one of nothing but malformed items.
	single := NewBatch(s)
	single.Add(keys[0], digest[:], one[1])
	wantBad(t, "one", single, 0)
	none := NewBatch(s)
	none.Add(nil, nil, nil)
	wantBad(t, "malformed", none, 0)
}

// TestBatchWeights draws weights twice: they must differ, or they could be met.
func TestBatchWeights(t *testing.T) {
	sks := numbered(t, 2)
	sigs := signAll(t, Basic, sks, nil)
	b := NewBatch(Basic)
	for i, sk := range sks {
		b.Add(sk.PublicKey(), nil, sigs[i])
	}
	d := b.digest([]int{0, 1})
	if d != b.digest([]int{0, 1}) {
		t.Error("the digest isn't one of the contents")
	}
	if d == b.digest([]int{0}) || d == b.digest([]int{1, 0}) {
		t.Error("the digest doesn't cover the items")
	}
}

// TestBatchCopies overwrites messages after they were added.
func TestBatchCopies(t *testing.T) {
	sk := numbered(t, 1)[0]
	good := must[*Signature](t)(Basic.Sign(sk, []byte("good")))
	b := NewBatch(Basic)
	msg := []byte("good")
	b.Add(sk.PublicKey(), msg, good)
	copy(msg, "evil")
	b.Add(sk.PublicKey(), msg, good)
	copy(msg, "good")
	wantBad(t, "overwritten", b, 1)
}

// TestBatchSearch holds what is verified one by one to a bound: none if all items are
// good, and few if one is bad.
func TestBatchSearch(t *testing.T) {
	const n = 40
	sks := numbered(t, n)
	for _, s := range []Scheme{Basic, MinSigBasic} {
		for _, msgs := range [][][]byte{messages(n), messages(1)} {
			sigs := signAll(t, s, sks, msgs...)
			for _, bad := range []int{-1, 0, 17, n - 1} {
				b := NewBatch(s)
				for i, sk := range sks {
					sig := sigs[i]
					if i == bad {
						sig = must[*Signature](t)(s.Sign(sk, []byte("another")))
					}
					b.Add(s.public(sk), msgs[i%len(msgs)], sig)
				}
				if bad < 0 {
					wantBad(t, "good", b)
					if b.found.Confirmed != 0 || b.found.Sums != 0 {
						t.Errorf("%v: %+v for good items", s, b.found)
					}
					continue
				}
				wantBad(t, "one bad", b, bad)
				if b.found.Confirmed > n/2 || b.found.Sums == 0 {
					t.Errorf("%v: %+v for item %d", s, b.found, bad)
				}
			}
		}
	}
}

// TestPairings counts the pairings of aggregates.
func TestPairings(t *testing.T) {
	keys := publics(Basic, numbered(t, 6))
	var ws [6]bls12381.Scalar
	for i := range ws {
		ws[i].SetUint64(uint64(i + 1))
	}
	for _, v := range []struct{ keys, texts, pairings int }{{6, 6, 6}, {1, 6, 1}, {6, 1, 1}, {2, 6, 2}, {6, 3, 3}, {1, 1, 1}} {
		var e equation
		for i := range 6 {
			e.add(&suites[Basic], keys[i%v.keys].p, Basic.Ciphersuite(), messages(6)[i%v.texts])
		}
		e.hash()
		if n := len(e.pairs(e.terms, nil)); n != v.pairings {
			t.Errorf("%d keys and %d texts: %d pairings", v.keys, v.texts, n)
		}
		a := new(bls12381.GT).PairingProductVarTime(e.pairs(e.terms, ws[:])...)
		// The same term by term.
		b := new(bls12381.GT)
		for i, term := range e.terms {
			k := weightedSum(ws[i:i+1], []point{e.keys.list[term.key]})
			b.Mul(b, new(bls12381.GT).PairVarTime(k.one, e.hashes[term.text].two))
		}
		if !a.Equal(b) {
			t.Errorf("%d keys and %d texts: another product", v.keys, v.texts)
		}
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package chia

import (
	"math"
	"slices"
	"testing"

	"github.com/undersign/undersign/distill"
)

// identityBytes returns the sum of no signatures.
func identityBytes() []byte { return append([]byte{0xc0}, make([]byte, 95)...) }

// TestDistilled distils blocks of several shapes, with stragglers and without.
func TestDistilled(t *testing.T) {
	c := NewChain(2)
	keys := NewKeys()
	v := NewVerifier(distill.NetworkID{9}, keys)
	shape := &Block{Name: "shape"}
	for i := range 9 { // keys with 1 to 4 messages
		shape.Pairs = append(shape.Pairs, Pair{Key{byte(i % 3 % (i + 1))}, []byte{byte(i / 2)}})
	}
	for _, b := range []*Owned{c.Block(1), c.Block(7), c.Rekey(shape)} {
		wantErr(t, b.Name, b.Verify(keys), nil)
		n := len(GroupPairs(b.Pairs))
		for _, late := range [][]int{nil, {n - 1}, c.Choose(n, 1)} {
			e, err := b.Distill(v, 5, late)
			if err != nil {
				t.Fatal(err)
			}
			got, err := VerifyDistilled(v, b.Pairs, e)
			wantErr(t, b.Name, err, nil)
			if err == nil && len(got.Stragglers) != len(late) {
				t.Errorf("%s: %d stragglers", b.Name, len(got.Stragglers))
			}
			for name, pairs := range map[string][]Pair{
				"a pair less":     b.Pairs[1:],
				"no pair":         nil,
				"a pair twice":    append(slices.Clone(b.Pairs), b.Pairs[0]),
				"another message": append(slices.Clone(b.Pairs[1:]), Pair{b.Pairs[0].Key, []byte("other")}),
				"another key":     append(slices.Clone(b.Pairs[1:]), Pair{Key{1}, b.Pairs[0].Msg}),
			} {
				_, err := VerifyDistilled(v, pairs, e)
				wantErr(t, b.Name+": "+name, err, ErrSignature)
			}
			e[len(e)-1] ^= 1
			_, err = VerifyDistilled(v, b.Pairs, e)
			wantErr(t, b.Name+": changed", err, ErrSignature)
		}
	}
	_, err := (&Owned{}).Distill(v, 1, nil)
	if distill.RuleOf(err) != distill.RuleEmpty {
		t.Errorf("an empty block: %v", err)
	}
}

// TestDistilledPayload has an aggregator distil a payload that isn't a list of messages,
// or isn't in order, so that it could be read in two ways.
func TestDistilledPayload(t *testing.T) {
	v := NewVerifier(distill.NetworkID{9}, nil)
	k := distill.KeyBytes(NewChain(3).Block(1).Pairs[0].Key)
	for _, payload := range [][]byte{nil, {1}, {0, 0, 0, 1, 2, 0, 0, 0, 1, 1}} {
		_, err := v.NewRound(0, 1, 10, []distill.KeyedMessage{{Key: k, NotAfter: 10, Payload: payload}})
		if distill.RuleOf(err) != distill.RuleKeyedPayload {
			t.Errorf("payload %x: %v", payload, err)
		}
	}
}

// TestDistilledForeignMessages gives a block messages that its spends don't ask for, which
// nobody is to hash.
func TestDistilledForeignMessages(t *testing.T) {
	c := NewChain(2)
	v := NewVerifier(distill.NetworkID{9}, nil)
	b := c.Block(2)
	e, err := b.Distill(v, 5, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	batch, err := distill.DecodeKeyedBatch(e, &v.Params)
	if err != nil {
		t.Fatal(err)
	}
	batch.Payloads = distill.Payloads{}
	for range batch.Len() {
		batch.Payloads.Append(make([]byte, 4*100))
	}
	if e, err = batch.MarshalBinary(); err != nil {
		t.Fatal(err)
	}
	v.Messages = func(*distill.KeyBytes, []byte) ([][]byte, error) {
		t.Error("asked for the messages of a payload")
		return [][]byte{nil}, nil
	}
	_, err = VerifyDistilled(v, b.Pairs, e)
	wantErr(t, "other messages", err, ErrSignature)
}

// TestMaxKeys asks for a block of more keys than the cost limit leaves room for.
func TestMaxKeys(t *testing.T) {
	v := NewVerifier(distill.NetworkID{9}, nil)
	_, err := v.NewRound(0, 1, 10, make([]distill.KeyedMessage, MaxKeys+1))
	if distill.RuleOf(err) != distill.RuleLeaves {
		t.Error(err)
	}
}

// TestChain checks that a chain is the same for a seed, and of the report's statistics.
func TestChain(t *testing.T) {
	a, b, other := NewChain(7).Block(3), NewChain(7).Block(3), NewChain(8).Block(3)
	if string(a.Signature) != string(b.Signature) || a.Pairs[2].Key != b.Pairs[2].Key {
		t.Error("one seed gives two chains")
	}
	if a.Pairs[0].Key == other.Pairs[0].Key || string(a.Pairs[0].Msg[64:]) == string(other.Pairs[0].Msg[64:]) {
		t.Error("two seeds give one chain")
	}
	if len(a.Pairs[0].Msg) != 96 {
		t.Errorf("messages of %d bytes", len(a.Pairs[0].Msg))
	}
	for _, n := range []int{100, 100000} {
		sum := 0
		sizes := NewChain(1).Sizes(n)
		for _, k := range sizes {
			sum += k
		}
		slices.Sort(sizes)
		if mean := float64(sum) / float64(n); math.Abs(mean-MeanPairs) > 1 || sizes[0] < 1 || sizes[n-1] > MaxPairs {
			t.Errorf("%d blocks of %d to %d pairs, on average %.1f", n, sizes[0], sizes[n-1], mean)
		}
		if slices.IsSorted(NewChain(1).Sizes(n)) {
			t.Error("blocks are in the order of their sizes")
		}
	}
}

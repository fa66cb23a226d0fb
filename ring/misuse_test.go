// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"bytes"
	"slices"
	"testing"
)

// What a caller does with its variables after Add changes nothing: neither decoding the next
// signature into the one before, nor writing over a message or the scope.
func TestBatchKeepsWhatItWasGiven(t *testing.T) {
	eachGroup(t, func(t *testing.T, g Group) {
		r, secret := newRingOf(t, g, 3)
		larger, others := newRingOf(t, g, 5)
		scope := []byte("scope")
		o := &Options{Scope: scope}
		good := sign(t, secret[0], r, "yes", o)
		for _, good := range []*Signature{good, expand(t, r, "yes", good, o)} {
			bad := *good
			bad.s = slices.Clone(good.s)
			bad.s[1], bad.s[2] = bad.s[2], bad.s[1]
			b := r.Batch(o)
			var sig Signature
			msg := []byte("yes")
			for _, data := range [][]byte{encode(t, good), encode(t, &bad), encode(t, good)} {
				if err := sig.UnmarshalBinary(data); err != nil {
					t.Fatal(err)
				}
				b.Add(msg, &sig)
				o.Scope[0]++
			}
			copy(scope, "scope")
			msg[0]++
			sig = *sign(t, others[4], larger, "yes", nil)
			wantBad(t, b.Verify(), 1)
		}
	})
}

// The image of somebody's signature can be copied into one that isn't valid, and sent before
// it: that makes nothing a duplicate.
func TestDuplicatesOfInvalid(t *testing.T) {
	r, secret := newRingOf(t, Ristretto255, 3)
	honest := sign(t, secret[1], r, "yes", nil)
	copied := *sign(t, secret[0], r, "no", nil)
	copied.image = honest.image
	again := sign(t, secret[1], r, "no", nil)
	b := r.Batch(nil)
	b.Add([]byte("no"), &copied)
	b.Add([]byte("yes"), honest)
	if got := b.Duplicates(); got != nil {
		t.Errorf("the honest one is a duplicate of one that isn't valid: %v", got)
	}
	wantBad(t, b.Verify(), 0)
	b.Add([]byte("no"), again)
	b.Add([]byte("no"), &copied)
	if got := b.Duplicates(); !slices.Equal(got, []int{2}) {
		t.Errorf("duplicates are %v", got)
	}
	wantBad(t, b.Verify(), 0, 3)
	if !bytes.Equal(again.Image(), honest.Image()) {
		t.Error("the images differ")
	}
	if new(Batch).Duplicates() != nil {
		t.Error("a batch of no ring has duplicates")
	}
}

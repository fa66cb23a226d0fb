// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"bytes"
	"errors"
	"slices"
	"strings"
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

// A signature says how many keys there are, and each has points to be decoded: in G1 it takes
// 12 s for 8 MB. Who knows the ring decodes none of another's.
func TestParseSignature(t *testing.T) {
	eachGroup(t, func(t *testing.T, g Group) {
		r, secret := newRingOf(t, g, 3)
		larger, others := newRingOf(t, g, 5)
		sig := sign(t, secret[1], r, "message", nil)
		wide := expand(t, r, "message", sig, nil)
		for _, sig := range []*Signature{sig, wide} {
			back, err := r.ParseSignature(encode(t, sig))
			if err != nil || r.Verify([]byte("message"), back, nil) != nil {
				t.Errorf("for batches %v: %v", sig.ForBatch(), err)
			}
			if _, err := larger.ParseSignature(encode(t, sig)); !errors.Is(err, ErrSignature) {
				t.Errorf("of another ring: %v", err)
			}
		}
		data := encode(t, wide)
		if len(data) != r.MaxSignatureSize() {
			t.Errorf("%d bytes, and at most %d", len(data), r.MaxSignatureSize())
		}
		// The points are no points, which goes unseen where the ring is another.
		foreign := encode(t, expand(t, larger, "message", sign(t, others[0], larger, "message", nil), nil))
		size := groups[g].pointSize()
		for i := 39; i < 39+size*11; i++ {
			foreign[i] = 0xff
		}
		for name, change := range map[string]func(b []byte) []byte{
			"digest":      func(b []byte) []byte { return b },
			"number":      func(b []byte) []byte { copy(b[3:], data[3:35]); return b },
			"other group": func(b []byte) []byte { b[1] = 3 - b[1]; return b },
		} {
			_, err := r.ParseSignature(change(bytes.Clone(foreign)))
			if !errors.Is(err, ErrSignature) || strings.Contains(err.Error(), "image") {
				t.Errorf("%s: %v", name, err)
			}
		}
		for i := range data {
			if _, err := r.ParseSignature(data[:i]); !errors.Is(err, ErrSignature) {
				t.Errorf("%d bytes: %v", i, err)
			}
		}
		if _, err := new(Ring).ParseSignature(data); err == nil || new(Ring).MaxSignatureSize() != 0 {
			t.Error("a signature of no ring")
		}
	})
}

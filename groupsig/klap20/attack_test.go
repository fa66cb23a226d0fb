// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package klap20

import (
	"testing"

	"github.com/undersign/undersign/internal/bls12381"
)

// A member that wants its signature to be accepted in one layout and refused in the
// other takes 0 for the nonce, so that R is the identity.
func TestIdentityCommitment(t *testing.T) {
	f := group()
	m := f.Members["alice"]
	var r, k bls12381.Scalar
	r.Random()
	made := m.points(&r, &k)
	bls12381.NormalizeG1(&made.uu, &made.vv, &made.ww, made.r)
	m.respond(made, []byte("m"), nil, &k)
	compact, err := ParseSignature(made.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	merged, err := f.G.ParseBatchSignature(made.BatchBytes(), []byte("m"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if compact.ID() != merged.ID() {
		t.Error("the layouts have two IDs")
	}
	for _, sig := range []*Signature{compact, merged} {
		if err := f.G.Verify([]byte("m"), sig, nil); err != nil {
			t.Error(err)
		}
		for _, n := range []int{0, 8, 40} {
			b := f.G.Batch(nil)
			for range n {
				b.Add([]byte("m"), f.Sign("bob", "m"))
			}
			b.Add([]byte("m"), sig)
			if err := b.Verify(); err != nil {
				t.Errorf("with %d others: %v", n, err)
			}
		}
	}
	// That R is the identity helps nobody else.
	other := f.Sign("bob", "m")
	other.r = new(bls12381.G1)
	forged, err := f.G.ParseBatchSignature(other.BatchBytes(), []byte("m"), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := f.G.Batch(nil)
	for range 8 {
		b.Add([]byte("m"), f.Sign("alice", "m"))
	}
	b.Add([]byte("m"), forged)
	if f.G.Verify([]byte("m"), forged, nil) == nil || b.Verify() == nil {
		t.Error("a forged signature is accepted")
	}
}

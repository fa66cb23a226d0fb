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
	m := f.members["alice"]
	var r, k bls12381.Scalar
	r.Random()
	made := m.points(&r, &k)
	bls12381.NormalizeG1(&made.uu, &made.vv, &made.ww, made.r)
	m.respond(made, []byte("m"), nil, &k)
	compact, err := ParseSignature(made.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	merged, err := f.g.ParseBatchSignature(made.BatchBytes(), []byte("m"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if compact.ID() != merged.ID() {
		t.Error("the layouts have two IDs")
	}
	for _, sig := range []*Signature{compact, merged} {
		if err := f.g.Verify([]byte("m"), sig, nil); err != nil {
			t.Error(err)
		}
		for _, n := range []int{0, 8, 40} {
			b := f.g.Batch(nil)
			for range n {
				b.Add([]byte("m"), f.sign("bob", "m"))
			}
			b.Add([]byte("m"), sig)
			if err := b.Verify(); err != nil {
				t.Errorf("with %d others: %v", n, err)
			}
		}
	}
	// That R is the identity helps nobody else.
	other := f.sign("bob", "m")
	other.r = new(bls12381.G1)
	forged, err := f.g.ParseBatchSignature(other.BatchBytes(), []byte("m"), nil)
	if err != nil {
		t.Fatal(err)
	}
	b := f.g.Batch(nil)
	for range 8 {
		b.Add([]byte("m"), f.sign("alice", "m"))
	}
	b.Add([]byte("m"), forged)
	if f.g.Verify([]byte("m"), forged, nil) == nil || b.Verify() == nil {
		t.Error("a forged signature is accepted")
	}
}

// An opening that isn't there, or says nothing, names nobody.
func TestEmptyOpening(t *testing.T) {
	f := group()
	sig := f.sign("alice", "m")
	for _, o := range []*Opening{nil, new(Opening)} {
		if f.g.VerifyOpening([]byte("m"), sig, o, longTermPublic("alice"), nil) == nil {
			t.Error("an empty opening is accepted")
		}
	}
}

// Anybody can sign for an opener's key of small order: lists, and openings.
func TestWeakOpener(t *testing.T) {
	weak := GenerateOpenerKey().Public()
	list := weak[len(weak)-32:]
	clear(list)
	list[0] = 1
	p := &Proposal{Label: "test", Issuer: GenerateIssuerKey().Public(), Opener: weak}
	if _, err := p.ID(); err == nil {
		t.Error("accepted")
	}
}

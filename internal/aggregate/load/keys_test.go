// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"crypto/ed25519"
	"reflect"
	"testing"

	"github.com/undersign/undersign/bls"
	"github.com/undersign/undersign/distill"
)

// Signatures made by additions are those that the keys make.
func TestSignatures(t *testing.T) {
	k := newKeys("test")
	digest := [32]byte{1, 2, 3}
	r := k.root(digest)
	list := []int{0, 1, 2, 5, 70, 71, 500, 499, 7}
	sigs := r.sign(list)
	for j, i := range list {
		sk, err := k.bls(i)
		if err != nil {
			t.Fatal(err)
		}
		want, err := bls.ProofOfPossession.Sign(sk, digest[:])
		if err != nil {
			t.Fatal(err)
		}
		if got := sigs[192*j : 192*(j+1)]; string(got) != string(want.UncompressedBytes()) {
			t.Errorf("identity %d: another signature than its key makes", i)
		}
	}
	s := newEdSigner([]byte("x"))
	for i := range edAhead + 5 {
		key := k.ed(i)
		x := expand(key)
		msg := []byte{byte(i), 9}
		sig := s.sign(nil, &x, msg)
		if !ed25519.Verify(key.Public().(ed25519.PublicKey), msg, sig) {
			t.Errorf("identity %d: the Ed25519 signature isn't valid", i)
		}
		if ed25519.Verify(key.Public().(ed25519.PublicKey), []byte{byte(i), 8}, sig) {
			t.Error("valid for another message")
		}
	}
}

// A registration is what the keys' owner would make.
func TestRegistration(t *testing.T) {
	k := newKeys("test")
	net := distill.NetworkID{1}
	for _, i := range []int{0, 1, 77_000, 9_999_999} {
		sk, err := k.bls(i)
		if err != nil {
			t.Fatal(err)
		}
		want, err := distill.Register(net, sk, k.ed(i), 123)
		if err != nil {
			t.Fatal(err)
		}
		if got := k.registration(net, i, 123); !reflect.DeepEqual(&got, want) {
			t.Errorf("identity %d: another registration", i)
		}
	}
	if newKeys("other").scalar(0).Equal(k.scalar(0)) {
		t.Error("two seeds with a key in common")
	}
}

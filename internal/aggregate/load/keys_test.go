// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"crypto/ed25519"
	"testing"

	"github.com/undersign/undersign/bls"
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

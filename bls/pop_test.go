// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"errors"
	"slices"
	"testing"
)

// TestPopVerifySigned has proofs and signatures that are bad in one way each.
func TestPopVerifySigned(t *testing.T) {
	for _, s := range []Scheme{ProofOfPossession, MinSigProofOfPossession} {
		const n = 9
		sks := numbered(t, n)
		var keys []*PublicKey
		var proofs, sigs []*Signature
		var msgs [][]byte
		for i, sk := range sks {
			if s == MinSigProofOfPossession {
				keys = append(keys, sk.MinSigPublicKey())
			} else {
				keys = append(keys, sk.PublicKey())
			}
			msgs = append(msgs, []byte{byte(i / 2)}) // some are equal
			proofs = append(proofs, must[*Signature](t)(s.PopProve(sk)))
			sigs = append(sigs, must[*Signature](t)(s.Sign(sk, msgs[i])))
		}
		check := func(name string, keys []*PublicKey, proofs, sigs []*Signature, unproven, unsigned []int) {
			t.Helper()
			proven, signed, err := s.PopVerifySigned(keys, proofs, msgs, sigs)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if (proven[i] == nil) != slices.Contains(unproven, i) || signed[i] == slices.Contains(unsigned, i) {
					t.Errorf("%v, %s: key %d is proven: %v, signed: %v", s, name, i, proven[i] != nil, signed[i])
				}
				if proven[i] != nil && !proven[i].PublicKey().Equal(keys[i]) {
					t.Errorf("%v, %s: another key than %d", s, name, i)
				}
			}
		}
		check("good", keys, proofs, sigs, nil, nil)
		badProofs, badSigs := slices.Clone(proofs), slices.Clone(sigs)
		badProofs[0], badSigs[0] = sigs[0], proofs[0] // the right key, under the wrong tag
		badProofs[2] = proofs[3]
		badSigs[3] = sigs[2] // of the same message
		badProofs[4], badSigs[5] = nil, nil
		badSigs[6], badSigs[7] = sigs[7], sigs[6]
		check("bad", keys, badProofs, badSigs, []int{0, 2, 4}, []int{0, 3, 5, 6, 7})
		noKeys := slices.Clone(keys)
		noKeys[1], noKeys[8] = nil, new(PublicKey)
		check("no key", noKeys, proofs, sigs, []int{1, 8}, []int{1, 8})
		for i, err := range []error{
			func() error { _, _, err := s.PopVerifySigned(keys[1:], proofs, msgs, sigs); return err }(),
			func() error { _, _, err := s.PopVerifySigned(keys, proofs[1:], msgs, sigs); return err }(),
			func() error { _, _, err := s.PopVerifySigned(keys, proofs, msgs[1:], sigs); return err }(),
			func() error { _, _, err := s.PopVerifySigned(keys, proofs, msgs, sigs[1:]); return err }(),
			func() error { _, _, err := Basic.PopVerifySigned(keys, proofs, msgs, sigs); return err }(),
		} {
			if !errors.Is(err, ErrKey) {
				t.Errorf("%v, mistake %d: %v", s, i, err)
			}
		}
		if p, g, err := s.PopVerifySigned(nil, nil, nil, nil); err != nil || len(p)+len(g) != 0 {
			t.Errorf("none: %v", err)
		}
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/internal/bls12381"
)

// A Signed is a message as the library was given it, and its signature.
type Signed struct{ Message, Signature []byte }

// VerifyLink checks a proof that signatures of DL21 and DL21SEQ have pseudonyms of one
// secret, and the signatures. The text is the message part of what the library was given
// for the link. Errors of the proof are [ErrProof].
//
// The proof is about sums over all scopes, and in one scope two members together can make
// one for their own two pseudonyms. So the pseudonyms of one scope must be equal here. The
// text is hashed with SHA-1: who chose it could have made another that the proof fits as
// well. The library exports proofs of DL21SEQ with another last byte.
func (k *GroupKey) VerifyLink(set []Signed, text, proof []byte) error {
	if !k.scheme.HasScopes() {
		return fmt.Errorf("libgroupsig: %s has no links", k.scheme)
	}
	if len(set) == 0 || len(text) == 0 {
		return errors.New("libgroupsig: a link of nothing, or for nothing")
	}
	scopes, nyms := new(bls12381.G1), new(bls12381.G1)
	seen := map[string]*bls12381.G1{}
	for i, s := range set {
		res, err := k.Verify(s.Message, s.Signature)
		if err != nil {
			return fmt.Errorf("libgroupsig: signature %d of the link: %w", i, err)
		}
		nym := new(bls12381.G1)
		if err := nym.SetBytes(res.Pseudonym); err != nil {
			return err
		}
		if first := seen[string(res.Scope)]; first != nil && !first.Equal(nym) {
			return refuseProof("two pseudonyms in one scope")
		}
		seen[string(res.Scope)] = nym
		scopes.Add(scopes, hashToG1(res.Scope))
		nyms.Add(nyms, nym)
	}
	r, err := k.readProof(proof)
	if err != nil {
		return err
	}
	s, c := r.scalar("s"), r.scalar("c") // in this order, which isn't that of signatures
	if err := r.end(); err != nil {
		return refuseProof("%w", err)
	}
	if scopes.IsIdentity() || !verifyLog(text, nyms, scopes, c, s) {
		return ErrProof
	}
	return nil
}

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
// one for their own two pseudonyms. So the pseudonyms of one scope must be equal here, and
// no signature may be there twice, since with itself it shows nothing. The text is hashed
// with SHA-1: who chose it could have made another that the proof fits as well. The library
// exports proofs of DL21SEQ without the last byte of c, which is found by trying.
func (k *GroupKey) VerifyLink(set []Signed, text, proof []byte) error {
	if !k.scheme.HasScopes() {
		return fmt.Errorf("libgroupsig: %s has no links", k.scheme)
	}
	if len(set) == 0 || len(text) == 0 {
		return errors.New("libgroupsig: a link of nothing, or for nothing")
	}
	scopes, nyms := new(bls12381.G1), new(bls12381.G1)
	seen := map[string]*bls12381.G1{}
	first := map[string]int{}
	for i, s := range set {
		res, err := k.Verify(s.Message, s.Signature)
		if err != nil {
			return fmt.Errorf("libgroupsig: signature %d of the link: %w", i, err)
		}
		name, err := nameDL21(s.Signature)
		if err != nil {
			return err
		}
		if j, ok := first[name]; ok {
			return refuseProof("signature %d is signature %d again", i, j)
		}
		first[name] = i
		nym := new(bls12381.G1)
		if err := nym.SetBytes(res.Pseudonym); err != nil {
			return err
		}
		if other := seen[string(res.Scope)]; other != nil && !other.Equal(nym) {
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
	cut := k.scheme == DL21SEQ && len(r.b) == cutProofSize && isZero(r.b[linkProofSize-1:])
	if cut {
		r.b = r.b[:linkProofSize]
	}
	s, c := r.scalar("s"), r.scalar("c") // in this order, which isn't that of signatures
	if err := r.end(); err != nil {
		return refuseProof("%w", err)
	}
	verify := verifyLog
	if cut {
		verify = findLog
	}
	if scopes.IsIdentity() || !verify(text, nyms, scopes, c, s) {
		return ErrProof
	}
	return nil
}

// nameDL21 returns what tells a valid signature of DL21 and DL21SEQ from others: all that
// is signed. Two exports of one signature differ in the values of the sequence.
func nameDL21(sig []byte) (string, error) {
	sig, err := decodeText(sig)
	if err != nil {
		return "", refuse("%w", err)
	}
	return string(sig[:min(len(sig), signedDL21)]), nil
}

// Lengths of a proof without its code: as it should be, and as the library exports it in
// DL21SEQ. There the number of values of a sequence follows, none, in eight bytes, of which
// the first is written over the last of c.
const (
	linkProofSize = 2 * (4 + bls12381.ScalarSize)
	cutProofSize  = linkProofSize + 7
)

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"slices"
	"testing"
)

// TestFolded folds augmented signatures into a sum of one message, and changes each part.
func TestFolded(t *testing.T) {
	sks, msgs, digest := numbered(t, 6), messages(4), [32]byte{1}
	for _, s := range []Scheme{ProofOfPossession, MinSigProofOfPossession, Basic} {
		a := Augmented
		if suites[s].minSig {
			a = MinSigAugmented
		}
		keys := publics(s, sks)
		reducers, rest := keys[:3], []*PublicKey{keys[3], keys[4], keys[3], keys[0]}
		sum := must[*PublicKey](t)(s.BDNSum(reducers, digest))
		weighted := must[*Signature](t)(s.BDNAggregate(reducers, digest, signAll(t, s, sks[:3], digest[:])))
		sigs := []*Signature{weighted}
		for i, k := range []int{3, 4, 3, 0} {
			sigs = append(sigs, must[*Signature](t)(a.Sign(sks[k], msgs[i])))
		}
		sig := must[*Signature](t)(Aggregate(sigs...))
		wantErr(t, "folded", s.FoldedVerify(sum, digest[:], rest, msgs, sig), nil)
		wantErr(t, "nothing folded", s.FoldedVerify(sum, digest[:], nil, nil, weighted), nil)
		alone := must[*Signature](t)(Aggregate(sigs[1:]...))
		wantErr(t, "nobody in the sum", s.FoldedVerify(nil, digest[:], rest, msgs, alone), nil)
		wantErr(t, "the same by Augmented", a.AggregateVerify(rest, msgs, alone), nil)

		wantErr(t, "no part", s.FoldedVerify(nil, digest[:], nil, nil, sig), ErrMessages)
		wantErr(t, "no signature", s.FoldedVerify(sum, digest[:], rest, msgs, nil), errNoSig)
		wantErr(t, "the sum left out", s.FoldedVerify(nil, digest[:], rest, msgs, sig), ErrSignature)
		wantErr(t, "one left out", s.FoldedVerify(sum, digest[:], rest[1:], msgs[1:], sig), ErrSignature)
		wantErr(t, "one twice", s.FoldedVerify(sum, digest[:], append(rest, rest[0]), append(msgs, msgs[0]), sig), ErrSignature)
		wantErr(t, "too few messages", s.FoldedVerify(sum, digest[:], rest, msgs[1:], sig), ErrMessages)
		wantErr(t, "another digest", s.FoldedVerify(sum, []byte("another"), rest, msgs, sig), ErrSignature)
		wantErr(t, "another sum", s.FoldedVerify(keys[5], digest[:], rest, msgs, sig), ErrSignature)
		swapped := slices.Clone(msgs)
		swapped[0], swapped[1] = swapped[1], swapped[0]
		wantErr(t, "messages swapped", s.FoldedVerify(sum, digest[:], rest, swapped, sig), ErrSignature)
		swapped = slices.Clone(msgs)
		swapped[0], swapped[2] = swapped[2], swapped[0]
		wantErr(t, "messages of one key swapped", s.FoldedVerify(sum, digest[:], rest, swapped, sig), nil)
		wantErr(t, "an empty sum", s.FoldedVerify(new(PublicKey), digest[:], rest, msgs, sig), errNoKey)
		wantErr(t, "an empty key", s.FoldedVerify(sum, digest[:], []*PublicKey{nil}, msgs[:1], sig), errNoKey)
		wantErr(t, "augmented", a.FoldedVerify(sum, digest[:], rest, msgs, sig), ErrMessages)

		b := NewBatch(s)
		b.AddFolded(sum, digest[:], rest, msgs, sig)
		b.AddFolded(nil, nil, rest, msgs, alone)
		b.AddBDN(reducers, digest, weighted)
		b.AddFolded(sum, digest[:], nil, nil, weighted)
		wantBad(t, "good", b)
		b.AddFolded(sum, digest[:], rest, msgs, weighted)
		b.AddFolded(sum, digest[:], rest, swapped[:3], sig)
		b.AddFolded(nil, nil, nil, nil, sig)
		wantBad(t, "some bad", b, 4, 5, 6)
	}
}

// TestFoldedOtherTag shows that a signature of the digest under one tag is none under the
// other: what is folded can't be taken from the sum, nor the other way round.
func TestFoldedOtherTag(t *testing.T) {
	s, digest := ProofOfPossession, []byte("digest")
	sks := numbered(t, 2)
	keys := publics(s, sks)
	common := must[*Signature](t)(s.Sign(sks[0], digest))
	text := append(keys[0].Bytes(), digest...)
	wantErr(t, "folded as augmented", s.FoldedVerify(nil, nil, keys[:1], [][]byte{digest}, common), ErrSignature)
	wantErr(t, "text of an augmented", s.FoldedVerify(keys[0], text, nil, nil, must[*Signature](t)(Augmented.Sign(sks[0], digest))), ErrSignature)
	wantErr(t, "signature of the text", s.FoldedVerify(nil, nil, keys[:1], [][]byte{digest}, must[*Signature](t)(s.Sign(sks[0], text))), ErrSignature)
}

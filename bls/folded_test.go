// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"fmt"
	"slices"
	"testing"

	"github.com/undersign/undersign/internal/bls12381"
)

// TestFolded folds augmented signatures into a sum of one message, and changes each part.
func TestFolded(t *testing.T) {
	sks, msgs, digest := numbered(t, 6), messages(4), [32]byte{1}
	for _, s := range []Scheme{ProofOfPossession, MinSigProofOfPossession, Basic} {
		a := Augmented
		if suites[s].minSig {
			a = MinSigAugmented
		}
		// Both ways to verify give the same error.
		verify := func(sum *PublicKey, msg []byte, keys []*PublicKey, msgs [][]byte, sig *Signature) error {
			err := s.FoldedVerify(sum, msg, keys, msgs, sig)
			if !suites[s].minSig {
				var raw *UncheckedSignature
				if sig != nil {
					raw = must[*UncheckedSignature](t)(ParseUncheckedCompressed(sig.Bytes()))
				}
				if again := s.FoldedVerifyUnchecked(sum, msg, keys, msgs, raw); fmt.Sprint(again) != fmt.Sprint(err) {
					t.Errorf("%v, and unchecked: %v", err, again)
				}
			}
			return err
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
		wantErr(t, "folded", verify(sum, digest[:], rest, msgs, sig), nil)
		wantErr(t, "nothing folded", verify(sum, digest[:], nil, nil, weighted), nil)
		alone := must[*Signature](t)(Aggregate(sigs[1:]...))
		wantErr(t, "nobody in the sum", verify(nil, digest[:], rest, msgs, alone), nil)
		wantErr(t, "the same by Augmented", a.AggregateVerify(rest, msgs, alone), nil)

		wantErr(t, "no part", verify(nil, digest[:], nil, nil, sig), ErrMessages)
		wantErr(t, "no signature", verify(sum, digest[:], rest, msgs, nil), errNoSig)
		wantErr(t, "the sum left out", verify(nil, digest[:], rest, msgs, sig), ErrSignature)
		wantErr(t, "one left out", verify(sum, digest[:], rest[1:], msgs[1:], sig), ErrSignature)
		wantErr(t, "one twice", verify(sum, digest[:], append(rest, rest[0]), append(msgs, msgs[0]), sig), ErrSignature)
		wantErr(t, "too few messages", verify(sum, digest[:], rest, msgs[1:], sig), ErrMessages)
		wantErr(t, "another digest", verify(sum, []byte("another"), rest, msgs, sig), ErrSignature)
		wantErr(t, "another sum", verify(keys[5], digest[:], rest, msgs, sig), ErrSignature)
		swapped := slices.Clone(msgs)
		swapped[0], swapped[1] = swapped[1], swapped[0]
		wantErr(t, "messages swapped", verify(sum, digest[:], rest, swapped, sig), ErrSignature)
		swapped = slices.Clone(msgs)
		swapped[0], swapped[2] = swapped[2], swapped[0]
		wantErr(t, "messages of one key swapped", verify(sum, digest[:], rest, swapped, sig), nil)
		wantErr(t, "an empty sum", verify(new(PublicKey), digest[:], rest, msgs, sig), errNoKey)
		wantErr(t, "an empty key", verify(sum, digest[:], []*PublicKey{nil}, msgs[:1], sig), errNoKey)
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

// TestFoldedUnchecked gives signatures that lie outside the group.
func TestFoldedUnchecked(t *testing.T) {
	s, msg := ProofOfPossession, []byte("message")
	sk := numbered(t, 1)[0]
	key := sk.PublicKey()
	good := must[*Signature](t)(s.Sign(sk, msg))
	raw := must[*UncheckedSignature](t)(ParseUncheckedCompressed(good.Bytes()))
	wantErr(t, "good", s.FoldedVerifyUnchecked(key, msg, nil, nil, raw), nil)
	if sig, err := raw.Check(); err != nil || !sig.Equal(good) || raw.IsIdentity() {
		t.Errorf("checked: %v", err)
	}
	outside := 0
	for x := range byte(40) {
		b := append([]byte{0x80}, make([]byte, 95)...)
		b[95] = x
		p, err := ParseUncheckedCompressed(b)
		if err != nil {
			continue
		}
		outside++
		wantErr(t, "outside", s.FoldedVerifyUnchecked(key, msg, nil, nil, p), errOutside)
		_, err = p.Check()
		wantErr(t, "outside, checked", err, errOutside)
		_, err = ParseSignature(b)
		wantErr(t, "outside, parsed", err, ErrSignature)
		// Added to the right signature.
		sum := new(bls12381.G2).SumVarTime([]bls12381.G2Affine{p.a, raw.a})
		p.a.Set(sum)
		wantErr(t, "added", s.FoldedVerifyUnchecked(key, msg, nil, nil, p), errOutside)
	}
	if outside == 0 {
		t.Error("no points outside the group")
	}
	id := must[*UncheckedSignature](t)(ParseUncheckedCompressed(append([]byte{0xc0}, make([]byte, 95)...)))
	wantErr(t, "the identity", s.FoldedVerifyUnchecked(key, msg, nil, nil, id), errSigIdentity)
	wantErr(t, "an empty one", s.FoldedVerifyUnchecked(key, msg, nil, nil, new(UncheckedSignature)), errSigIdentity)
	wantErr(t, "none", s.FoldedVerifyUnchecked(key, msg, nil, nil, nil), errNoSig)
	wantErr(t, "no scheme", Scheme(99).FoldedVerifyUnchecked(key, msg, nil, nil, raw), errScheme)
	wantErr(t, "another group", MinSigProofOfPossession.FoldedVerifyUnchecked(publics(MinSigProofOfPossession, numbered(t, 1))[0], msg, nil, nil, raw), errVariant)
	var none *UncheckedSignature
	if _, err := none.Check(); err != errNoSig || none.IsIdentity() {
		t.Errorf("none checked: %v", err)
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

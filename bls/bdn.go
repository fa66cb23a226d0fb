// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/undersign/undersign/internal/bls12381"
)

// bdnTag begins what the coefficients are hashed from.
var bdnTag = [16]byte{0: 'd', 1: 'i', 2: 's', 3: 't', 4: '/', 5: 'b', 6: 'd', 7: 'n', 8: '/', 9: 'v', 10: '1'}

var errBDN = fmt.Errorf("%w: augmented messages differ, and have no weighted aggregate", ErrMessages)

// bdn returns the points of keys and their coefficients after Boneh, Drijvers and
// Neven 2018 (section 3.1): with L all keys in ascending order of their encodings,
// t = SHA-256(tag || L || digest), and a_i the first 128 bits of SHA-256(t || pk_i),
// made odd. Each depends on all keys, so that none can be chosen to fit the others.
func (u *suite) bdn(keys []*PublicKey, digest *[32]byte) ([]point, []bls12381.Scalar, error) {
	if u.kind == Augmented {
		return nil, nil, errBDN
	}
	if len(keys) == 0 {
		return nil, nil, fmt.Errorf("%w: there are none", ErrKey)
	}
	points := make([]point, len(keys))
	encoded := make([][]byte, len(keys))
	for i, k := range keys {
		p, err := u.key(k)
		if err != nil {
			return nil, nil, err
		}
		points[i], encoded[i] = p, p.bytes()
	}
	sorted := slices.SortedFunc(slices.Values(encoded), bytes.Compare)
	h := sha256.New()
	h.Write(bdnTag[:])
	for i, b := range sorted {
		if i > 0 && bytes.Equal(b, sorted[i-1]) {
			return nil, nil, errKeyTwice
		}
		h.Write(b)
	}
	h.Write(digest[:])
	t := h.Sum(nil)
	as := make([]bls12381.Scalar, len(keys))
	for i, b := range encoded {
		a := sha256.Sum256(append(t[:len(t):len(t)], b...))
		a[15] |= 1
		as[i].SetWeight(a[:16])
	}
	return points, as, nil
}

// BDNSum returns the weighted sum of keys, which verifies the digest like one key: by
// [Scheme.Verify], or together with other signatures by [Scheme.FoldedVerify].
func (s Scheme) BDNSum(keys []*PublicKey, digest [32]byte) (*PublicKey, error) {
	u, err := s.suite()
	if err != nil {
		return nil, err
	}
	return u.bdnKey(keys, &digest)
}

// bdnKey returns the weighted sum of keys.
func (u *suite) bdnKey(keys []*PublicKey, digest *[32]byte) (*PublicKey, error) {
	points, as, err := u.bdn(keys, digest)
	if err != nil {
		return nil, err
	}
	p := weightedSum(as, points)
	if p.isIdentity() {
		return nil, errKeyIdentity
	}
	return &PublicKey{p}, nil
}

// BDNAggregate returns the weighted aggregate of sigs[i], which are ordinary signatures
// of the digest by keys[i]. The keys need no proof of possession, and must differ; their
// order doesn't matter. The signatures aren't verified.
//
// Keys that are added up elsewhere without weights must be proven: don't mix the two.
func (s Scheme) BDNAggregate(keys []*PublicKey, digest [32]byte, sigs []*Signature) (*Signature, error) {
	u, err := s.suite()
	if err != nil {
		return nil, err
	}
	if len(sigs) != len(keys) {
		return nil, fmt.Errorf("%w: %d of them for %d keys", ErrSignature, len(sigs), len(keys))
	}
	_, as, err := u.bdn(keys, &digest)
	if err != nil {
		return nil, err
	}
	points := make([]point, len(sigs))
	for i, sig := range sigs {
		if points[i], err = u.sig(sig); err != nil {
			return nil, err
		}
	}
	return &Signature{weightedSum(as, points)}, nil
}

// BDNVerify verifies a signature from [Scheme.BDNAggregate]. Its keys must be all of
// those in the aggregate.
func (s Scheme) BDNVerify(keys []*PublicKey, digest [32]byte, sig *Signature) error {
	u, err := s.suite()
	if err != nil {
		return err
	}
	sum, err := u.bdnKey(keys, &digest)
	if err != nil {
		return err
	}
	return u.verify(sum, digest[:], sig)
}

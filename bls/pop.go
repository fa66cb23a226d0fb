// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import "fmt"

var errNoPop = fmt.Errorf("%w: the scheme has no proofs of possession", ErrKey)

// popSuite returns the suite of a scheme with proofs of possession.
func (s Scheme) popSuite() (*suite, error) {
	u, err := s.suite()
	if err == nil && u.kind != ProofOfPossession {
		err = errNoPop
	}
	return u, err
}

// PopProve returns the proof that one knows sk: a signature of the public key, under
// a tag of its own.
func (s Scheme) PopProve(sk *SecretKey) (*Signature, error) {
	u, err := s.popSuite()
	if err != nil {
		return nil, err
	}
	if sk.empty() {
		return nil, errNoKey
	}
	return &Signature{secretMult(&sk.k, u.hash(sk.public(u).p.bytes(), u.pop))}, nil
}

// PopVerify verifies a proof of possession, and returns the key as a proven one.
//
// A proof can be copied. It says that somebody has the secret, not that whoever
// shows it does: let a registration be signed as well.
func (s Scheme) PopVerify(key *PublicKey, proof *Signature) (*ProvenKey, error) {
	u, err := s.popSuite()
	if err != nil {
		return nil, err
	}
	k, err := u.key(key)
	if err != nil {
		return nil, err
	}
	if err := u.check(k, k.bytes(), u.pop, proof); err != nil {
		return nil, fmt.Errorf("%w: proof of possession: %w", ErrKey, err)
	}
	return &ProvenKey{*key}, nil
}

// PopVerifyBatch verifies proofs[i] of keys[i] together, in little more than half the
// time. If some are bad it returns a [*BatchError], and nil in their place among the proven keys.
func (s Scheme) PopVerifyBatch(keys []*PublicKey, proofs []*Signature) ([]*ProvenKey, error) {
	u, err := s.popSuite()
	if err != nil {
		return nil, err
	}
	if len(keys) != len(proofs) {
		return nil, fmt.Errorf("%w: %d keys with %d proofs", ErrKey, len(keys), len(proofs))
	}
	b := Batch{scheme: s}
	for i, key := range keys {
		k, err := u.key(key)
		if err == nil {
			b.eq.add(u, k, u.pop, k.bytes())
		}
		b.put(u, proofs[i], err)
	}
	bad := b.verify()
	proven := make([]*ProvenKey, len(keys))
	next := bad
	for i, key := range keys {
		if len(next) > 0 && next[0] == i {
			next = next[1:]
			continue
		}
		proven[i] = &ProvenKey{*key}
	}
	if len(bad) > 0 {
		return proven, &BatchError{bad, len(keys), ErrKey}
	}
	return proven, nil
}

// PopVerifySigned verifies, of each key, a proof of possession and a signature of a message,
// all together, with weights of 64 bits: see [Batch.ShortWeights]. It returns the keys whose
// proofs are valid, as proven ones, with nil in the place of the others, and says which
// signatures are. A signature that is nil isn't valid. It is for registrations, where both
// come together.
func (s Scheme) PopVerifySigned(keys []*PublicKey, proofs []*Signature, msgs [][]byte, sigs []*Signature) (proven []*ProvenKey, signed []bool, err error) {
	u, err := s.popSuite()
	if err != nil {
		return nil, nil, err
	}
	if n := len(keys); len(proofs) != n || len(msgs) != n || len(sigs) != n {
		return nil, nil, fmt.Errorf("%w: %d keys with %d proofs, %d messages and %d signatures", ErrKey, n, len(proofs), len(msgs), len(sigs))
	}
	b := Batch{scheme: s, ShortWeights: true}
	for i, key := range keys {
		k, err := u.key(key)
		if err == nil {
			b.eq.add(u, k, u.pop, k.bytes())
		}
		b.put(u, proofs[i], err)
		b.Add(key, msgs[i], sigs[i])
	}
	proven, signed = make([]*ProvenKey, len(keys)), make([]bool, len(keys))
	for i, key := range keys {
		if key != nil {
			proven[i] = &ProvenKey{*key}
		}
		signed[i] = true
	}
	for _, i := range b.verify() {
		if i%2 == 0 {
			proven[i/2] = nil
		} else {
			signed[i/2] = false
		}
	}
	return proven, signed, nil
}

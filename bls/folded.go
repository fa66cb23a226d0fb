// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import "fmt"

var errFold = fmt.Errorf("%w: augmented signatures are folded into those of another scheme", ErrMessages)

// augmented returns the scheme in whose signatures those of s can be folded.
func (u *suite) augmented() (*suite, error) {
	switch {
	case u.kind == Augmented:
		return nil, errFold
	case u.minSig:
		return &suites[MinSigAugmented], nil
	}
	return &suites[Augmented], nil
}

// FoldedVerify verifies one signature that is the sum of the signature of msg by sum,
// and of Augmented signatures of msgs[i] by keys[i]: of those who signed for
// themselves. As [Scheme.AggregateVerify] of Augmented it allows equal messages.
//
// It checks e(P1, sig) = e(sum, H(msg)) Π e(pk_i, H'(pk_i || m_i)). H and H' have
// different tags, and are independent oracles. So sum must be of proven keys, or from
// [Scheme.BDNSum], while keys needn't be proven. Either part may be missing: sum is nil
// if nobody signed msg.
func (s Scheme) FoldedVerify(sum *PublicKey, msg []byte, keys []*PublicKey, msgs [][]byte, sig *Signature) error {
	u, err := s.suite()
	if err != nil {
		return err
	}
	var e equation
	if err := e.addFolded(u, sum, msg, keys, msgs); err != nil {
		return err
	}
	p, err := u.signed(sig)
	if err != nil {
		return err
	}
	if !e.holds(p) {
		return errEquation
	}
	return nil
}

// FoldedVerifyUnchecked is [Scheme.FoldedVerify] for a signature that nobody has found to be
// in the group yet. It finds out on the way, for less than [UncheckedSignature.Check] takes.
func (s Scheme) FoldedVerifyUnchecked(sum *PublicKey, msg []byte, keys []*PublicKey, msgs [][]byte, sig *UncheckedSignature) error {
	u, err := s.suite()
	if err != nil {
		return err
	}
	var e equation
	if err := e.addFolded(u, sum, msg, keys, msgs); err != nil {
		return err
	}
	switch {
	case sig == nil:
		return errNoSig
	case u.minSig:
		return errVariant
	case sig.IsIdentity():
		return errSigIdentity
	case e.holdsUnchecked(sig.a.Point()):
		return nil
	}
	if _, err := sig.Check(); err != nil {
		return err
	}
	return errEquation
}

// AddFolded adds a sum of signatures of two schemes: see [Scheme.FoldedVerify].
func (b *Batch) AddFolded(sum *PublicKey, msg []byte, keys []*PublicKey, msgs [][]byte, sig *Signature) {
	u, err := b.scheme.suite()
	if err == nil {
		err = b.eq.addFolded(u, sum, msg, keys, msgs)
	}
	b.put(u, sig, err)
}

// addFolded adds all terms, or none if there is an error.
func (e *equation) addFolded(u *suite, sum *PublicKey, msg []byte, keys []*PublicKey, msgs [][]byte) error {
	a, err := u.augmented()
	if err != nil {
		return err
	}
	var common point
	if sum != nil {
		if common, err = u.key(sum); err != nil {
			return err
		}
	} else if len(keys) == 0 {
		return errNoMessages
	}
	if err := e.addAll(a, keys, msgs, false); err != nil {
		return err
	}
	if sum != nil {
		e.add(u, common, u.dst, msg)
	}
	return nil
}

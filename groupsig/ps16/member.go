// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/wire"
)

// A MemberKey signs for one member. It may be used by several goroutines, but not
// while Wipe runs.
type MemberKey struct {
	g      *GroupKey
	sk     bls12381.Scalar
	s1, s2 bls12381.G1 // sigma1, sigma2
	record *Record     // without evidence

	comb1, comb2 *bls12381.G1Comb
	combE        *bls12381.GTComb // of e(sigma1, Y)
}

// load checks the credential, e(sigma1, X + sk·Y) = e(sigma2, P2), and precomputes
// the combs. The secret is an exponent of E = e(sigma1, Y) only.
func (m *MemberKey) load() error {
	if m.s1.IsIdentity() || m.s2.IsIdentity() {
		return errors.New("the credential is zero")
	}
	var tau, neg bls12381.G1
	bls12381.NormalizeG1(tau.ScalarBaseMult(&m.sk))
	if err := m.g.k.Owns(m.record, tau.Bytes()); err != nil {
		return err
	}
	var e, power, rest bls12381.GT
	e.PairingProductVarTime(bls12381.PairWith(&m.s1, m.g.k.Y))
	rest.PairingProductVarTime(bls12381.PairWith(&m.s2, m.g.k.P2), bls12381.PairWith(neg.Neg(&m.s1), m.g.k.X))
	if !power.Exp(&e, &m.sk).Equal(&rest) {
		return errors.New("the credential isn't valid for this member")
	}
	m.comb1 = bls12381.NewG1Comb(&m.s1)
	m.comb2 = bls12381.NewG1Comb(&m.s2)
	m.combE = bls12381.NewGTComb(&e)
	return nil
}

// Group returns the group key.
func (m *MemberKey) Group() *GroupKey { return m.g }

// Member returns the identity under which the key was registered.
func (m *MemberKey) Member() string {
	if m.record == nil {
		return ""
	}
	return m.record.Member
}

// Wipe overwrites the secrets. The key is of no use afterwards.
func (m *MemberKey) Wipe() {
	m.sk.Wipe()
	m.s1.Wipe()
	m.s2.Wipe()
	if m.comb1 != nil {
		m.comb1.Wipe()
		m.comb2.Wipe()
		m.combE.Wipe()
		m.comb1 = nil
	}
}

func (m *MemberKey) wiped() bool { return m.comb1 == nil }

// Equal reports whether x is the same key.
func (m *MemberKey) Equal(x *MemberKey) bool {
	return x != nil && !m.wiped() && !x.wiped() && m.g.Equal(x.g) &&
		m.sk.Equal(&x.sk) && m.s1.Equal(&x.s1) && m.s2.Equal(&x.s2)
}

// String shows nothing of the secrets, nor who the member is: it may end up beside a
// signature. The receiver is a value, so that printing a dereferenced key shows no
// more.
func (m MemberKey) String() string {
	if m.g == nil {
		return "ps16.MemberKey(empty)"
	}
	return fmt.Sprintf("ps16.MemberKey(%q)", m.g.Label())
}

// GoString is String.
func (m MemberKey) GoString() string { return m.String() }

// Format writes String, whatever the verb.
func (m MemberKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, m.String()) }

// MarshalBinary returns the canonical encoding, which is secret; clear it after use.
func (m *MemberKey) MarshalBinary() ([]byte, error) {
	if m.wiped() {
		return nil, errWiped
	}
	return tokens.EncodeMember(m.g.k, m.record, bls12381.ScalarSize+2*bls12381.G1Size, func(e *wire.Encoder) {
		codec.PutSecret(e, m.sk.Bytes())
		codec.PutSecret(e, m.s1.Bytes())
		codec.PutSecret(e, m.s2.Bytes())
	})
}

// UnmarshalBinary decodes a key, and checks the group key and the credential again.
func (m *MemberKey) UnmarshalBinary(data []byte) error {
	q := new(MemberKey)
	g, r, err := scheme.DecodeMember(data, func(d *wire.Decoder) {
		codec.ReadSecret(d, "sk", &q.sk)
		codec.ReadG1(d, "sigma1", &q.s1)
		codec.ReadG1(d, "sigma2", &q.s2)
	})
	if err != nil {
		return err
	}
	q.g, q.record = &GroupKey{g}, r
	if err := q.load(); err != nil {
		return fmt.Errorf("ps16: member key: %w", err)
	}
	*m = *q
	return nil
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package klap20

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
	g       *GroupKey
	alpha   bls12381.Scalar
	u, v, w bls12381.G1
	record  *Record // without evidence

	combU, combV, combW *bls12381.G1Comb
}

// load computes u and w, checks the credential, e(v, P2) = e(u, X)·e(w, Y), and
// precomputes the combs. The issuer knows all three points.
func (m *MemberKey) load() error {
	if m.v.IsIdentity() {
		return errors.New("the credential is zero")
	}
	var f, neg bls12381.G1
	bls12381.NormalizeG1(f.ScalarBaseMult(&m.alpha))
	if err := m.g.k.Owns(m.record, f.Bytes()); err != nil {
		return err
	}
	m.u.Set(m.g.hash(&f))
	bls12381.NormalizeG1(m.w.ScalarMult(&m.alpha, &m.u))
	if !bls12381.PairingCheckVarTime(bls12381.PairWith(neg.Neg(&m.v), m.g.k.P2),
		bls12381.PairWith(&m.u, m.g.k.X), bls12381.PairWith(&m.w, m.g.k.Y)) {
		return errors.New("the credential isn't valid for this member")
	}
	m.combU = bls12381.NewG1Comb(&m.u)
	m.combV = bls12381.NewG1Comb(&m.v)
	m.combW = bls12381.NewG1Comb(&m.w)
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
	m.alpha.Wipe()
	m.u.Wipe()
	m.v.Wipe()
	m.w.Wipe()
	if m.combU != nil {
		m.combU.Wipe()
		m.combV.Wipe()
		m.combW.Wipe()
		m.combU = nil
	}
}

func (m *MemberKey) wiped() bool { return m.combU == nil }

// Equal reports whether x is the same key.
func (m *MemberKey) Equal(x *MemberKey) bool {
	return x != nil && !m.wiped() && !x.wiped() && m.g.Equal(x.g) &&
		m.alpha.Equal(&x.alpha) && m.v.Equal(&x.v)
}

// String shows nothing of the secrets, nor who the member is: it may end up beside a
// signature. The receiver is a value, so that printing a dereferenced key shows no
// more.
func (m MemberKey) String() string {
	if m.g == nil {
		return "klap20.MemberKey(empty)"
	}
	return fmt.Sprintf("klap20.MemberKey(%q)", m.g.Label())
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
	return tokens.EncodeMember(m.g.k, m.record, bls12381.ScalarSize+bls12381.G1Size, func(e *wire.Encoder) {
		codec.PutSecret(e, m.alpha.Bytes())
		codec.PutSecret(e, m.v.Bytes())
	})
}

// UnmarshalBinary decodes a key, and checks the group key and the credential again.
func (m *MemberKey) UnmarshalBinary(data []byte) error {
	q := new(MemberKey)
	g, r, err := scheme.DecodeMember(data, func(d *wire.Decoder) {
		codec.ReadSecret(d, "alpha", &q.alpha)
		codec.ReadG1(d, "v", &q.v)
	})
	if err != nil {
		return err
	}
	q.g, q.record = &GroupKey{g}, r
	if err := q.load(); err != nil {
		return fmt.Errorf("klap20: member key: %w", err)
	}
	*m = *q
	return nil
}

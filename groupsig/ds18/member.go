// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ds18

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
	r, q   bls12381.Scalar
	z, w   bls12381.G1 // for (U, Q), as the issuer knows them
	ww     bls12381.G2
	record *Record // without evidence

	inverse      bls12381.Scalar // of q
	combZ, combW *bls12381.G1Comb
	combWW       *bls12381.G2Comb
}

// classOf returns U = r·q·P1 and Q = q·P1.
func classOf(r, q *bls12381.Scalar) (u, v bls12381.G1) {
	var t bls12381.Scalar
	u.ScalarBaseMult(t.Mul(r, q))
	v.ScalarBaseMult(q)
	t.Wipe()
	bls12381.NormalizeG1(&u, &v)
	return u, v
}

// load checks the credential for the registered points, and precomputes the combs. The
// point r·P1, which only the member may know, goes into no pairing.
func (m *MemberKey) load() error {
	if m.z.IsIdentity() || m.w.IsIdentity() || m.ww.IsIdentity() {
		return errors.New("the credential is zero")
	}
	u, q := classOf(&m.r, &m.q)
	if err := m.g.k.Owns(m.record, q.Append(u.Bytes())); err != nil {
		return err
	}
	if !m.g.signed(&u, &q, &m.z, &m.w, &m.ww) {
		return errors.New("the credential isn't valid for this member")
	}
	m.inverse.Inverse(&m.q)
	m.combZ, m.combW, m.combWW = bls12381.NewG1Comb(&m.z), bls12381.NewG1Comb(&m.w), bls12381.NewG2Comb(&m.ww)
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
	m.r.Wipe()
	m.q.Wipe()
	m.inverse.Wipe()
	m.z.Wipe()
	m.w.Wipe()
	m.ww.Wipe()
	if m.combZ != nil {
		m.combZ.Wipe()
		m.combW.Wipe()
		m.combWW.Wipe()
		m.combZ = nil
	}
}

func (m *MemberKey) wiped() bool { return m.combZ == nil }

// Equal reports whether x is the same key.
func (m *MemberKey) Equal(x *MemberKey) bool {
	return x != nil && !m.wiped() && !x.wiped() && m.g.Equal(x.g) &&
		m.r.Equal(&x.r) && m.q.Equal(&x.q) && m.z.Equal(&x.z) && m.w.Equal(&x.w)
}

// String shows nothing of the secrets, nor who the member is: it may end up beside a
// signature. The receiver is a value, so that printing a dereferenced key shows no
// more.
func (m MemberKey) String() string {
	if m.g == nil {
		return "ds18.MemberKey(empty)"
	}
	return fmt.Sprintf("ds18.MemberKey(%q)", m.g.Label())
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
	const size = 2*bls12381.ScalarSize + 2*bls12381.G1Size + bls12381.G2Size
	return tokens.EncodeMember(m.g.k, m.record, size, func(e *wire.Encoder) {
		codec.PutSecret(e, m.r.Bytes())
		codec.PutSecret(e, m.q.Bytes())
		e.Fixed(m.z.Bytes())
		e.Fixed(m.w.Bytes())
		e.Fixed(m.ww.Bytes())
	})
}

// UnmarshalBinary decodes a key, and checks the group key and the credential again.
func (m *MemberKey) UnmarshalBinary(data []byte) error {
	q := new(MemberKey)
	g, r, err := scheme.DecodeMember(data, func(d *wire.Decoder) {
		codec.ReadSecret(d, "r", &q.r)
		codec.ReadSecret(d, "q", &q.q)
		codec.ReadG1(d, "Z", &q.z)
		codec.ReadG1(d, "W", &q.w)
		codec.ReadG2(d, "WW", &q.ww)
	})
	if err != nil {
		return err
	}
	q.g, q.record = &GroupKey{g}, r
	if err := q.load(); err != nil {
		return fmt.Errorf("ds18: member key: %w", err)
	}
	*m = *q
	return nil
}

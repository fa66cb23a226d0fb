// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/wire"
)

// A MemberKey signs for one member. It may be used by several goroutines, but not while
// Wipe runs.
type MemberKey struct {
	gk     *GroupKey
	member string
	cred   credential
	y      []bls12381.Scalar

	update *Update // that gk is of, nil in the first version

	combA *bls12381.GTComb // of e(A, g2)
}

// maxUpdate bounds the encoding of an update.
const maxUpdate = 1 << 19

// load checks the credential, and precomputes.
func (m *MemberKey) load() error {
	if err := m.gk.check(&m.cred, m.gk.registered(m.y)); err != nil {
		return err
	}
	// The issuer knows A too.
	m.combA = bls12381.NewGTComb(new(bls12381.GT).PairingProductVarTime(bls12381.PairWith(&m.cred.a, m.gk.linesP2)))
	return nil
}

func (m *MemberKey) wiped() bool { return m == nil || m.combA == nil }

// Group returns the group's key, of the version that the member's is of.
func (m *MemberKey) Group() *GroupKey {
	if m == nil {
		return nil
	}
	return m.gk
}

// Member returns the member's identity.
func (m *MemberKey) Member() string {
	if m == nil {
		return ""
	}
	return m.member
}

// Wipe overwrites the key.
func (m *MemberKey) Wipe() {
	if m == nil {
		return
	}
	wipe(m.y)
	m.y = nil
	m.cred.a.Wipe()
	m.cred.x.Wipe()
	if m.combA != nil {
		m.combA.Wipe()
		m.combA = nil
	}
}

// MarshalBinary returns the canonical encoding, which is secret.
func (m *MemberKey) MarshalBinary() ([]byte, error) {
	if m.wiped() {
		return nil, errWiped
	}
	var update []byte
	if m.update != nil {
		var err error
		if update, err = m.update.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	var e wire.Encoder
	e.Grow(128 + len(update) + len(m.member) + bls12381.G1Size + (1+len(m.y))*bls12381.ScalarSize)
	e.U8(version)
	e.U8(suite)
	e.Fixed(m.gk.id[:])
	e.Bytes([]byte(m.member))
	a := m.cred.a.Bytes()
	e.Fixed(a)
	clear(a)
	codec.PutSecret(&e, m.cred.x.Bytes())
	for j := range m.y {
		codec.PutSecret(&e, m.y[j].Bytes())
	}
	if m.gk.Moves() {
		e.Bytes(update)
	}
	return e.Data(), nil
}

// ParseMemberKey decodes a key of the group and checks its credential.
func (k *GroupKey) ParseMemberKey(data []byte) (*MemberKey, error) {
	if k.empty() {
		return nil, errEmpty
	}
	k = k.first()
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	m := &MemberKey{gk: k, y: make([]bls12381.Scalar, len(k.s.Base))}
	k.readOwn(d)
	m.member = string(d.Bytes("member", join.MaxMember))
	codec.ReadG1(d, "A", &m.cred.a)
	codec.ReadSecret(d, "x", &m.cred.x)
	for j := range m.y {
		codec.ReadSecret(d, "y", &m.y[j])
	}
	var update []byte
	if k.Moves() {
		update = d.Bytes("update", maxUpdate)
	}
	err := d.Finish()
	if err == nil {
		err = join.CheckMember(m.member)
	}
	if err == nil && len(update) > 0 {
		if m.update, err = k.ParseUpdate(update); err == nil {
			m.gk = m.update.key()
		}
	}
	if err == nil {
		err = m.load()
	}
	if err != nil {
		m.Wipe()
		return nil, fmt.Errorf("groupsig: member key: %w", err)
	}
	return m, nil
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/wire"
)

var errNotStatic = errors.New("groupsig: the group isn't static: its members make their own secrets")

// MakeMember makes the whole key of a member of a static group, in one step. The
// registration is signed by a long-term key that judges will know: the issuer's own, which
// vouches for the name, or the member's if the issuer has it. The record is in the register,
// durably, before the key is returned.
func (k *RoleKeys) MakeMember(g *GroupKey, register *join.Register, member string, key ed25519.PrivateKey) (*MemberKey, error) {
	if err := k.asStatic(g); err != nil {
		return nil, err
	}
	if len(key) != ed25519.PrivateKeySize {
		return nil, errors.New("groupsig: the long-term key isn't an Ed25519 private key")
	}
	if register == nil {
		return nil, errors.New("groupsig: no register")
	}
	// Both parties of the join protocol, one after the other: no step takes any time.
	sessions := g.NewSessions()
	c, err := sessions.Open(member, key.Public().(ed25519.PublicKey), join.Fischlin, 0, 1)
	if err != nil {
		return nil, err
	}
	p, m2, err := g.NewJoin(g.id, c, member, key)
	if err != nil {
		return nil, err
	}
	defer p.Wipe()
	defer clear(m2)
	m3, err := k.Issue(g, sessions, register, m2, 0)
	if err != nil {
		return nil, err
	}
	defer clear(m3)
	return p.Finish(m3)
}

// MadeMember returns the key of a member of a static group again, which the issuer's
// register has.
func (k *RoleKeys) MadeMember(g *GroupKey, register *join.Register, member string) (*MemberKey, error) {
	if err := k.asStatic(g); err != nil {
		return nil, err
	}
	if register == nil {
		return nil, errors.New("groupsig: no register")
	}
	r := register.Member(member)
	if r == nil {
		return nil, fmt.Errorf("groupsig: %q isn't a member", member)
	}
	if r.GroupID != g.id || r.Scheme != g.s.Name {
		return nil, errors.New("groupsig: the register is of another group")
	}
	g = g.first()
	c, _, err := g.evidence(r)
	if err != nil {
		return nil, err
	}
	m := &MemberKey{gk: g, member: member, cred: *c}
	if err := m.load(); err != nil {
		m.Wipe()
		return nil, err
	}
	return m, nil
}

func (k *RoleKeys) asStatic(g *GroupKey) error {
	if err := k.as(issuerRole, g); err != nil {
		return err
	}
	if !g.s.Static {
		return errNotStatic
	}
	return nil
}

// OpenerRecord returns what an opener is given of a record of the issuer's register. In the
// static form that is A, without x and what it is made of: with both the opener could sign
// as the member. In other forms it is the whole record.
func (k *GroupKey) OpenerRecord(r *join.Record) (*join.Record, error) {
	if k.empty() {
		return nil, errEmpty
	}
	if r == nil || r.GroupID != k.id || r.Scheme != k.s.Name {
		return nil, errors.New("groupsig: the record is of another group")
	}
	if !k.s.Static {
		return r, nil
	}
	if len(r.Evidence) < bls12381.G1Size {
		return nil, errors.New("groupsig: the record lacks evidence")
	}
	own := *r
	own.Evidence = append([]byte(nil), r.Evidence[:bls12381.G1Size]...)
	return &own, nil
}

// checkOpenerRecord checks what [GroupKey.OpenerRecord] returns in the static form: that A
// and the x of the registered x·P2 are a credential.
func (k *GroupKey) checkOpenerRecord(r *join.Record, key ed25519.PublicKey) error {
	d := wire.NewDecoder(r.Evidence)
	var a bls12381.G1
	codec.ReadG1(d, "A", &a)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("groupsig: record: %w", err)
	}
	if err := k.checkStatic(&a, r.Point); err != nil {
		return err
	}
	return r.Verify(key)
}

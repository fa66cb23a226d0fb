// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/wire"
)

// A MemberKey signs for the group. It may be used by several goroutines, but not
// while Update or Wipe runs.
type MemberKey struct {
	gk   *GroupKey
	y    bls12381.Scalar
	cred credential
	a, b *bls12381.G1Comb // of A and B

	mu  *sync.Mutex // a pointer, so that printing a copy is safe
	seq seqKeys
}

// A credential is what the issuer made.
type credential struct {
	a     bls12381.G1
	x, s  bls12381.Scalar
	epoch uint64
}

func (m *MemberKey) wiped() bool { return m == nil || m.gk == nil }

// decodeCredential reads a credential for the group.
func (k *GroupKey) decodeCredential(d *wire.Decoder) *credential {
	c := new(credential)
	d.Header(version, suite)
	var id [32]byte
	d.Read("group", id[:])
	if d.Err() == nil && id != k.id {
		d.Fail("group", "another group")
	}
	codec.ReadG1(d, "A", &c.a)
	codec.ReadSecret(d, "x", &c.x)
	if k.draft.Features.Has(Plus) {
		codec.ReadSecret(d, "s", &c.s)
	}
	c.epoch = d.U64("epoch")
	if !k.draft.Features.Has(Epoch) && c.epoch != 0 {
		d.Fail("epoch", "in a group without epochs")
	}
	return c
}

// newMember checks a credential against the equation e(A, ipk + x·P2) = e(B, P2),
// with B computed here from the member's own y.
func (k *GroupKey) newMember(y *bls12381.Scalar, c *credential) (*MemberKey, error) {
	if c.a.IsIdentity() || y.IsZero() {
		return nil, errors.New("groupsig: empty credential")
	}
	b := new(bls12381.G1).CombMult(y, k.h1.comb())
	b.Add(b, &k.epochBase(c.epoch).p)
	if k.draft.Features.Has(Plus) {
		b.Add(b, new(bls12381.G1).CombMult(&c.s, k.h2.comb()))
	}
	// e(A, ipk)·e(x·A - B, P2) = 1: the pairing sees points that the issuer knows.
	t := new(bls12381.G1).ScalarMult(&c.x, &c.a)
	t.Sub(t, b)
	bls12381.NormalizeG1(t, b)
	if !bls12381.PairingCheckVarTime(bls12381.PairWith(&c.a, k.linesIPK), bls12381.PairWith(t, k.linesP2)) {
		return nil, errors.New("groupsig: the credential isn't the issuer's")
	}
	m := &MemberKey{mu: new(sync.Mutex), gk: k, cred: *c, a: bls12381.NewG1Comb(&c.a), b: bls12381.NewG1Comb(b)}
	m.y.Set(y)
	b.Wipe()
	return m, nil
}

// Finish checks the credential that came as M3 and returns the member's key. The
// epoch is the announced one, 0 in groups without: another one is a way to trace the
// member.
func (p *PendingMember) Finish(m3 []byte, epoch uint64) (*MemberKey, error) {
	if p == nil || p.gk == nil || p.y.IsZero() {
		return nil, errWiped
	}
	d := wire.NewDecoder(m3)
	c := p.gk.decodeCredential(d)
	if err := d.Finish(); err != nil {
		return nil, fmt.Errorf("groupsig: credential: %w", err)
	}
	if c.epoch != epoch {
		return nil, fmt.Errorf("groupsig: the credential is for epoch %d, and the announced one is %d", c.epoch, epoch)
	}
	m, err := p.gk.newMember(&p.y, c)
	if err != nil {
		return nil, err
	}
	m.seq = p.seq
	return m, nil
}

// Update takes a credential for another epoch, the announced one.
func (m *MemberKey) Update(cred []byte, epoch uint64) error {
	if m.wiped() {
		return errWiped
	}
	d := wire.NewDecoder(cred)
	c := m.gk.decodeCredential(d)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("groupsig: credential: %w", err)
	}
	if c.epoch != epoch {
		return fmt.Errorf("groupsig: the credential is for epoch %d, and the announced one is %d", c.epoch, epoch)
	}
	if c.x.Equal(&m.cred.x) {
		return errors.New("groupsig: the credential repeats x")
	}
	n, err := m.gk.newMember(&m.y, c)
	if err != nil {
		return err
	}
	m.cred.wipe()
	m.a.Wipe()
	m.b.Wipe()
	m.cred, m.a, m.b = n.cred, n.a, n.b
	n.y.Wipe()
	return nil
}

func (c *credential) wipe() {
	c.a.Wipe()
	c.x.Wipe()
	c.s.Wipe()
}

// GroupKey returns the group that the member signs for.
func (m *MemberKey) GroupKey() *GroupKey {
	if m == nil {
		return nil
	}
	return m.gk
}

// Epoch returns the epoch of the credential.
func (m *MemberKey) Epoch() uint64 {
	if m == nil {
		return 0
	}
	return m.cred.epoch
}

// Wipe overwrites the key.
func (m *MemberKey) Wipe() {
	if m == nil {
		return
	}
	m.y.Wipe()
	m.cred.wipe()
	if m.a != nil {
		m.a.Wipe()
		m.b.Wipe()
	}
	m.seq.wipe()
	m.gk = nil
}

// Wipe overwrites the secrets.
func (p *PendingMember) Wipe() {
	if p == nil {
		return
	}
	p.y.Wipe()
	p.seq.wipe()
	p.gk = nil
}

func (m MemberKey) String() string                 { return redacted }
func (m MemberKey) GoString() string               { return redacted }
func (m MemberKey) Format(f fmt.State, _ rune)     { fmt.Fprint(f, redacted) }
func (p PendingMember) String() string             { return redacted }
func (p PendingMember) GoString() string           { return redacted }
func (p PendingMember) Format(f fmt.State, _ rune) { fmt.Fprint(f, redacted) }

// MarshalBinary returns the canonical encoding, which is secret.
func (p *PendingMember) MarshalBinary() ([]byte, error) {
	if p == nil || p.gk == nil {
		return nil, errWiped
	}
	var e wire.Encoder
	e.Grow(256 + join.MaxMember)
	e.U8(version)
	e.U8(suite)
	e.U8(kindPending)
	e.Fixed(p.gk.id[:])
	e.Fixed(p.session[:])
	e.Bytes([]byte(p.member))
	codec.PutSecret(&e, p.y.Bytes())
	p.seq.encode(&e)
	return e.Data(), nil
}

// ParsePendingMember decodes a pending member of the group.
func (k *GroupKey) ParsePendingMember(data []byte) (*PendingMember, error) {
	if k.empty() {
		return nil, errEmpty
	}
	d := wire.NewDecoder(data)
	p := &PendingMember{gk: k}
	k.readHeader(d, kindPending)
	d.Read("session", p.session[:])
	p.member = string(d.Bytes("member", join.MaxMember))
	codec.ReadSecret(d, "y", &p.y)
	p.seq.decode(d, k.draft.Features)
	if err := d.Finish(); err != nil {
		p.Wipe()
		return nil, fmt.Errorf("groupsig: pending member: %w", err)
	}
	return p, nil
}

// readHeader reads what secret keys of members start with.
func (k *GroupKey) readHeader(d *wire.Decoder, kind uint8) {
	d.Header(version, suite)
	if v := d.U8("kind"); d.Err() == nil && v != kind {
		d.Fail("kind", "%d, want %d", v, kind)
	}
	if id := d.Fixed("group", len(k.id)); id != nil && !bytes.Equal(id, k.id[:]) {
		d.Fail("group", "another group")
	}
}

// MarshalBinary returns the canonical encoding, which is secret. With sequences it
// holds the index of the next signature: store it before a signature is released.
func (m *MemberKey) MarshalBinary() ([]byte, error) {
	if m.wiped() {
		return nil, errWiped
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var e wire.Encoder
	e.Grow(512)
	e.U8(version)
	e.U8(suite)
	e.U8(kindMember)
	e.Fixed(m.gk.id[:])
	codec.PutSecret(&e, m.y.Bytes())
	a := m.cred.a.Bytes()
	e.Fixed(a)
	clear(a)
	codec.PutSecret(&e, m.cred.x.Bytes())
	if m.gk.draft.Features.Has(Plus) {
		codec.PutSecret(&e, m.cred.s.Bytes())
	}
	e.U64(m.cred.epoch)
	m.seq.encode(&e)
	return e.Data(), nil
}

// ParseMemberKey decodes a member's key for the group and checks its credential.
func (k *GroupKey) ParseMemberKey(data []byte) (*MemberKey, error) {
	if k.empty() {
		return nil, errEmpty
	}
	d := wire.NewDecoder(data)
	k.readHeader(d, kindMember)
	var y bls12381.Scalar
	defer y.Wipe()
	c := new(credential)
	codec.ReadSecret(d, "y", &y)
	codec.ReadG1(d, "A", &c.a)
	codec.ReadSecret(d, "x", &c.x)
	if k.draft.Features.Has(Plus) {
		codec.ReadSecret(d, "s", &c.s)
	}
	c.epoch = d.U64("epoch")
	if !k.draft.Features.Has(Epoch) && c.epoch != 0 {
		d.Fail("epoch", "in a group without epochs")
	}
	var seq seqKeys
	seq.decode(d, k.draft.Features)
	if err := d.Finish(); err != nil {
		return nil, fmt.Errorf("groupsig: member key: %w", err)
	}
	m, err := k.newMember(&y, c)
	if err != nil {
		return nil, err
	}
	m.seq = seq
	return m, nil
}

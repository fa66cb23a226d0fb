// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// NewRegister returns an empty register for the group.
func (k *GroupKey) NewRegister() *join.Register {
	k = k.orEmpty()
	trace := 0
	if k.draft.Features.Has(Escrow) {
		trace = bls12381.G1Size // Yh of (H, Yh)
	}
	return join.NewRegister(k.draft.Scheme, k.id, trace)
}

// NewSessions returns an empty table of sessions for the group.
func (k *GroupKey) NewSessions() *join.Sessions { return join.NewSessions(k.Scheme(), k.ID()) }

// An application is what a member sends, M2, beside its signature: H = y·h1, with an
// opener Yh = y·h, with tokens ss = s·P2 and ff = y·P2 + s·tpk; and the proof.
type application struct {
	session join.SessionID
	nonce   [32]byte
	kind    join.Kind
	h, yh   bls12381.G1
	ss, ff  bls12381.G2
	proof   []byte
}

// statement is what the proof is about: one y in all of it.
func (k *GroupKey) statement(m *application) *sigma.Statement {
	st := &sigma.Statement{Secrets: 1, G1: []sigma.Relation{{Y: &m.h, Terms: []sigma.Term{k.h1.term(0)}}}}
	f := k.draft.Features
	if f.Has(Escrow) {
		st.G1 = append(st.G1, sigma.Relation{Y: &m.yh, Terms: []sigma.Term{k.h.term(0)}})
	}
	if f.Has(Token) {
		st.Secrets = 2
		p2 := bls12381.G2Generator()
		st.G2 = []sigma.RelationG2{
			{Y: &m.ss, Terms: []sigma.TermG2{{W: 1, P: p2}}},
			{Y: &m.ff, Terms: []sigma.TermG2{{W: 0, P: p2}, {W: 1, P: &k.tpk}}},
		}
	}
	return st
}

// point is T, what the member registers.
func (k *GroupKey) point(m *application) []byte {
	b := m.h.Bytes()
	if k.draft.Features.Has(Escrow) {
		b = m.yh.Append(b)
	}
	return b
}

// evidence is what a record keeps of M2 beside the point.
func (k *GroupKey) evidence(m *application) []byte {
	var e wire.Encoder
	e.Fixed(m.nonce[:])
	e.U8(uint8(m.kind))
	if k.draft.Features.Has(Token) {
		e.Fixed(m.ss.Bytes())
		e.Fixed(m.ff.Bytes())
	}
	e.Bytes(m.proof)
	return e.Data()
}

// readApplication puts point and evidence together again. All points are in the
// subgroup and none is the identity.
func (k *GroupKey) readApplication(session join.SessionID, point, evidence []byte) (*application, error) {
	m := &application{session: session}
	f := k.draft.Features
	d := wire.NewDecoder(point)
	codec.ReadG1(d, "H", &m.h)
	if f.Has(Escrow) {
		codec.ReadG1(d, "Yh", &m.yh)
	}
	if err := d.Finish(); err != nil {
		return nil, err
	}
	d = wire.NewDecoder(evidence)
	d.Read("nonce", m.nonce[:])
	m.kind = join.Kind(d.U8("kind"))
	if f.Has(Token) {
		codec.ReadG2(d, "ss", &m.ss)
		codec.ReadG2(d, "ff", &m.ff)
	}
	m.proof = d.Bytes("proof", join.MaxEvidence)
	return m, d.Finish()
}

// checkApplication checks the join proof for a member.
func (k *GroupKey) checkApplication(m *application, member string) error {
	c := &join.Challenge{Scheme: k.draft.Scheme, GroupID: k.id, Session: m.session, Nonce: m.nonce, Member: member}
	return join.VerifyVarTime(m.kind, k.dst("join"), c.Context(nil), k.statement(m), m.proof)
}

// A PendingMember is a member that has sent its application and waits for the
// credential. It is secret.
type PendingMember struct {
	gk      *GroupKey
	session join.SessionID
	member  string
	y       bls12381.Scalar
	seq     seqKeys
}

// NewJoin answers an issuer's challenge. The fingerprint is the group's ID as it is
// published: a group made for one member is a way to trace it. The key is the
// member's long-term key, which signs the registration.
func (k *GroupKey) NewJoin(fingerprint [32]byte, c *join.Challenge, member string, key ed25519.PrivateKey) (*PendingMember, []byte, error) {
	if k.empty() || k.id != fingerprint {
		return nil, nil, errors.New("groupsig: the group key isn't the published one")
	}
	if c.Scheme != k.draft.Scheme || c.GroupID != k.id {
		return nil, nil, errors.New("groupsig: the challenge is for another group")
	}
	if c.Member != member {
		return nil, nil, fmt.Errorf("groupsig: the challenge is for %q", c.Member)
	}
	p := &PendingMember{gk: k, session: c.Session, member: member}
	p.y.Random()
	p.seq.generate(k.draft.Features)
	f := k.draft.Features
	m := &application{session: c.Session, nonce: c.Nonce, kind: c.Kind}
	w := make([]bls12381.Scalar, 1, 2)
	w[0].Set(&p.y)
	m.h.CombMult(&p.y, k.h1.comb())
	if f.Has(Escrow) {
		m.yh.CombMult(&p.y, k.h.comb())
	}
	bls12381.NormalizeG1(&m.h, &m.yh)
	if f.Has(Token) {
		w = w[:2]
		w[1].Random()
		m.ss.ScalarBaseMult(&w[1])
		m.ff.ScalarMult(&w[1], &k.tpk)
		m.ff.Add(&m.ff, new(bls12381.G2).ScalarBaseMult(&p.y))
		bls12381.NormalizeG2(&m.ss, &m.ff)
	}
	defer wipeScalars(w)
	var err error
	if m.proof, err = join.Prove(c.Kind, k.dst("join"), c.Context(nil), k.statement(m), w); err != nil {
		return nil, nil, err
	}
	r := &join.Record{
		Scheme: k.draft.Scheme, GroupID: k.id, Session: c.Session, Member: member,
		Point: k.point(m), Evidence: k.evidence(m),
	}
	if err := r.Sign(key); err != nil {
		return nil, nil, err
	}
	b, err := r.MarshalBinary()
	if err != nil {
		return nil, nil, err
	}
	return p, b, nil
}

// Issue answers an application, M2, with a credential for an epoch, M3. In this
// order: the session; the application's form; points that aren't the identity; what
// is registered already; the join proof; the registration signature under the key
// that the session was opened for. The record is in the register, durably, before
// the credential is made.
func (k *IssuerKey) Issue(gk *GroupKey, sessions *join.Sessions, register *join.Register, m2 []byte, now int64, epoch uint64) ([]byte, error) {
	if err := k.matches(gk); err != nil {
		return nil, err
	}
	if !gk.draft.Features.Has(Epoch) && epoch != 0 {
		return nil, errNoEpochs
	}
	r := new(join.Record)
	if err := r.UnmarshalBinary(m2); err != nil {
		return nil, err
	}
	return sessions.Answer(r.Session, m2, now, func(c *join.Challenge, key ed25519.PublicKey) ([]byte, error) {
		if c.GroupID != gk.id || r.GroupID != gk.id || r.Scheme != gk.draft.Scheme || c.Scheme != gk.draft.Scheme {
			return nil, errors.New("groupsig: the application is for another group")
		}
		if r.Member != c.Member {
			return nil, errors.New("groupsig: the application is of another member")
		}
		m, err := gk.readApplication(r.Session, r.Point, r.Evidence)
		if err != nil {
			return nil, fmt.Errorf("groupsig: application: %w", err)
		}
		if m.nonce != c.Nonce || m.kind != c.Kind {
			return nil, errors.New("groupsig: the application doesn't answer the session's challenge")
		}
		if err := register.Check(r.Member, r.Point, epoch); err != nil {
			return nil, err
		}
		if err := gk.checkApplication(m, r.Member); err != nil {
			return nil, err
		}
		if err := r.Verify(key); err != nil {
			return nil, err
		}
		if err := register.Admit(r, epoch); err != nil {
			return nil, err
		}
		return k.credential(gk, &m.h, epoch), nil
	})
}

// credential makes a credential over a registered H, with x and s that are drawn
// afresh: two credentials with one x would give all others. So x is hedged, as nonces
// are: a generator that fails or was cloned doesn't give one x for two.
func (k *IssuerKey) credential(gk *GroupKey, h *bls12381.G1, epoch uint64) []byte {
	var secret transcript.Items
	secret.Grow(64).Scalar("isk", &k.isk[0])
	defer secret.Wipe()
	public := new(transcript.Items).Bytes("gid", gk.id[:]).G1("H", h).Uint64("epoch", epoch)
	var x, s, inv bls12381.Scalar
	for x.IsZero() || s.IsZero() || inv.IsZero() { // never twice
		n := transcript.NewNonces(gk.dst("issue"), &secret, public)
		n.Next(&x, &s)
		n.Wipe()
		inv.Add(&k.isk[0], &x)
	}
	inv.Inverse(&inv)
	var b, a bls12381.G1
	b.Add(&gk.epochBase(epoch).p, h)
	if gk.draft.Features.Has(Plus) {
		b.Add(&b, new(bls12381.G1).CombMult(&s, gk.h2.comb()))
	}
	a.ScalarMult(&inv, &b)
	bls12381.NormalizeG1(&a)
	inv.Wipe()

	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(gk.id[:])
	e.Fixed(a.Bytes())
	e.Fixed(x.Bytes())
	if gk.draft.Features.Has(Plus) {
		e.Fixed(s.Bytes())
	}
	e.U64(epoch)
	return e.Data()
}

// Reissue makes a member's credential for another epoch, without the member. It may
// be published: it is of no use without the member's secret. A member that is
// revoked in the register gets none. The register, which notes the epoch, is stored
// before the credential is released.
func (k *IssuerKey) Reissue(gk *GroupKey, register *join.Register, member string, epoch uint64) ([]byte, error) {
	if err := k.matches(gk); err != nil {
		return nil, err
	}
	if !gk.draft.Features.Has(Epoch) {
		return nil, errNoEpochs
	}
	r := register.Member(member)
	if r == nil {
		return nil, fmt.Errorf("groupsig: %q isn't a member", member)
	}
	m, err := gk.checkRecord(r)
	if err != nil {
		return nil, err
	}
	if err := register.Reissued(r, epoch); err != nil {
		return nil, err
	}
	return k.credential(gk, &m.h, epoch), nil
}

// checkRecord checks that a record belongs to the group, and its proof and
// signature, the latter under the key that the record names.
func (k *GroupKey) checkRecord(r *join.Record) (*application, error) {
	if r.GroupID != k.id || r.Scheme != k.draft.Scheme {
		return nil, errors.New("groupsig: the record is of another group")
	}
	m, err := k.readApplication(r.Session, r.Point, r.Evidence)
	if err != nil {
		return nil, fmt.Errorf("groupsig: record: %w", err)
	}
	if err := k.checkApplication(m, r.Member); err != nil {
		return nil, err
	}
	return m, r.Verify(r.Key)
}

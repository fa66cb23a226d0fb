// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// An application is what a member sends beside its signature: T, and the proof that it
// knows the y_j in it. In the static form there is neither: in place of the proof it has a
// random string, of which x is made, and the record's point is x·P2.
type application struct {
	session join.SessionID
	nonce   [32]byte
	kind    join.Kind
	t       bls12381.G1
	proof   []byte

	// Where signatures are traced, I, and what the record has in place of T.
	hidden *bls12381.G1
	point  []byte
}

// statement is T = Σ y_j·B_j.
func (k *GroupKey) statement(t *bls12381.G1) *sigma.Statement {
	k = k.first()
	r := sigma.Relation{Y: t}
	for j, b := range k.s.Base {
		r.Terms = append(r.Terms, sigma.Term{W: j, P: &k.consts[b].p, Table: k.consts[b].table})
	}
	return &sigma.Statement{Secrets: len(k.s.Base), G1: []sigma.Relation{r}}
}

func (m *application) append(e *wire.Encoder) {
	e.Fixed(m.nonce[:])
	e.U8(uint8(m.kind))
	if m.hidden != nil {
		e.Fixed(m.t.Bytes())
		e.Fixed(m.hidden.Bytes())
	}
	e.Bytes(m.proof)
}

func (k *GroupKey) readApplication(r *join.Record, d *wire.Decoder) (*application, error) {
	m := &application{session: r.Session, point: r.Point}
	if k.s.Trace == nil {
		t, err := k.pointOf(r)
		if err != nil {
			return nil, err
		}
		m.t = *t
	}
	d.Read("nonce", m.nonce[:])
	m.kind = join.Kind(d.U8("kind"))
	if k.s.Trace != nil {
		m.hidden = new(bls12381.G1)
		codec.ReadG1(d, "C", &m.t)
		codec.ReadG1(d, "I", m.hidden)
	}
	m.proof = d.Bytes("proof", join.MaxEvidence)
	if k.s.Static && len(m.proof) != staticSeed {
		d.Fail("proof", "there is nothing to prove")
	}
	return m, d.Finish()
}

// staticSeed is the length of what a member of the static form has in place of y.
const staticSeed = 32

// pointOf returns T of a record: the identity in the static form.
func (k *GroupKey) pointOf(r *join.Record) (*bls12381.G1, error) {
	p := wire.NewDecoder(r.Point)
	t := bls12381.NewG1()
	if k.s.Static {
		p.Fixed("point", bls12381.G2Size)
	} else {
		codec.ReadG1(p, "T", t)
	}
	return t, p.Finish()
}

// numberOf returns the x of a member in the static form, for the random string that it
// chose. There a credential is of a member because the member signed x·P2: else an opener
// could say that any of the members has it. An x is hashed, so that nobody can choose it
// by what it knows of others, and since no point is registered twice, none comes twice.
//
// With A and x anybody can sign. So who isn't the issuer sees x·P2 in place of x: openings
// show A, and openers are given A.
func (k *GroupKey) numberOf(session join.SessionID, member string, seed []byte) *bls12381.Scalar {
	return new(transcript.Items).Bytes("gid", k.id[:]).Bytes("sid", session[:]).
		Bytes("member", []byte(member)).Bytes("point", seed).Challenge(k.dst("static"))
}

// checkNumber checks x in the static form by what the member has registered.
func (k *GroupKey) checkNumber(x *bls12381.Scalar, point []byte) error {
	if k.s.Static && !bytes.Equal(new(bls12381.G2).ScalarBaseMult(x).Bytes(), point) {
		return errors.New("groupsig: the credential's number isn't that of the record")
	}
	return nil
}

// checkStatic is check in the static form for who doesn't know x, but x·P2:
//
//	e(A, w + x·P2) = e(g1, g2)
//
// with g1, w and P2 of the first version.
func (k *GroupKey) checkStatic(a *bls12381.G1, point []byte) error {
	f := k.first()
	var q bls12381.G2
	if err := q.SetBytes(point); err != nil {
		return err
	}
	if q.IsIdentity() || a.IsIdentity() {
		return errors.New("groupsig: the credential is zero")
	}
	q.Add(&q, &f.w)
	bls12381.NormalizeG2(&q)
	minus := new(bls12381.G1).Neg(&f.consts[0].p)
	if q.IsIdentity() || !bls12381.PairingCheckVarTime(bls12381.PairOf(a, &q), bls12381.PairWith(minus, k.linesP2)) {
		return errors.New("groupsig: the credential isn't valid for the registration")
	}
	return nil
}

// checkApplication checks the join proof of a member.
func (k *GroupKey) checkApplication(m *application, member string) error {
	if k.s.Static {
		return k.checkNumber(k.numberOf(m.session, member, m.proof), m.point)
	}
	c := &join.Challenge{Scheme: k.s.Name, GroupID: k.id, Session: m.session, Nonce: m.nonce, Member: member}
	if k.s.Trace != nil {
		return k.checkMixed(m, c)
	}
	return join.VerifyVarTime(m.kind, k.dst("join"), c.Context(nil), k.statement(&m.t), m.proof)
}

// A PendingMember has sent its application, and waits for the credential. It is secret.
type PendingMember struct {
	gk      *GroupKey
	session join.SessionID
	member  string
	y       []bls12381.Scalar
	seed    []byte // in the static form, in place of y
}

// NewJoin answers an issuer's challenge. The fingerprint is the group's ID as it is
// published: a group made for one member is a way to trace it. The key is the member's
// long-term key, which signs the registration.
func (k *GroupKey) NewJoin(fingerprint [32]byte, c *join.Challenge, member string, key ed25519.PrivateKey) (*PendingMember, []byte, error) {
	if k.empty() || k.id != fingerprint {
		return nil, nil, errors.New("groupsig: the group key isn't the published one")
	}
	if c == nil || c.Scheme != k.s.Name || c.GroupID != k.id {
		return nil, nil, errors.New("groupsig: the challenge is for another group")
	}
	if c.Member != member {
		return nil, nil, fmt.Errorf("groupsig: the challenge is for %q", c.Member)
	}
	if err := join.CheckMember(member); err != nil {
		return nil, nil, fmt.Errorf("groupsig: %w", err)
	}
	k = k.first()
	p := &PendingMember{gk: k, session: c.Session, member: member, y: make([]bls12381.Scalar, len(k.s.Base))}
	m := &application{session: c.Session, nonce: c.Nonce, kind: c.Kind}
	for j := range p.y {
		p.y[j].Random()
	}
	var point []byte
	if k.s.Static {
		p.seed = make([]byte, staticSeed)
		rand.Read(p.seed)
		m.proof = p.seed
		x := k.numberOf(c.Session, member, p.seed)
		point = new(bls12381.G2).ScalarBaseMult(x).Bytes()
		x.Wipe()
	} else if k.s.Trace != nil {
		y, err := k.applyMixed(m, c)
		if err != nil {
			p.Wipe()
			return nil, nil, err
		}
		p.y[0].Set(y)
		y.Wipe()
		point = m.point
	} else {
		m.t = *k.registered(p.y)
		point = m.t.Bytes()
		var err error
		if m.proof, err = join.Prove(c.Kind, k.dst("join"), c.Context(nil), k.statement(&m.t), p.y); err != nil {
			p.Wipe()
			return nil, nil, err
		}
	}
	var e wire.Encoder
	m.append(&e)
	r := &join.Record{Scheme: k.s.Name, GroupID: k.id, Session: c.Session, Member: member, Point: point, Evidence: e.Data()}
	if err := r.Sign(key); err != nil {
		p.Wipe()
		return nil, nil, err
	}
	b, err := r.MarshalBinary()
	return p, b, err
}

// registered returns T of a member's secrets.
func (k *GroupKey) registered(y []bls12381.Scalar) *bls12381.G1 {
	k = k.first()
	t := new(bls12381.G1)
	var p bls12381.G1
	for j, b := range k.s.Base {
		t.Add(t, p.CombMult(&y[j], k.consts[b].comb()))
	}
	p.Wipe()
	bls12381.NormalizeG1(t)
	return t
}

// A credential is A and x.
type credential struct {
	a bls12381.G1
	x bls12381.Scalar
}

// signed returns g1 ± T, which A is made of.
func (k *GroupKey) signed(t *bls12381.G1) *bls12381.G1 {
	k = k.first()
	b := new(bls12381.G1)
	if k.s.Minus {
		return b.Sub(&k.consts[0].p, t)
	}
	return b.Add(&k.consts[0].p, t)
}

// check checks the credential of T: e(A, w)·e(x·A - (g1 ± T), P2) = 1. T and x are public
// to the issuer, and to judges. In later versions, where all that A was made of and g2 have
// been divided by one number d, A is the old one divided by d, and with g1, T, w and P2 of
// the first version
//
//	e(A, w)·e(x·A, P2)·e(-(g1 ± T), g2) = 1
func (k *GroupKey) check(c *credential, t *bls12381.G1) error {
	if c.a.IsIdentity() || c.x.IsZero() {
		return errors.New("groupsig: the credential is zero")
	}
	f := k.first()
	var xa, minus bls12381.G1
	xa.ScalarMultVarTime(&c.x, &c.a)
	minus.Neg(k.signed(t))
	pairs := []bls12381.Pair{bls12381.PairWith(&c.a, f.linesW)}
	if k == f {
		xa.Add(&xa, &minus)
	} else {
		pairs = append(pairs, bls12381.PairWith(&minus, k.linesP2))
	}
	if !bls12381.PairingCheckVarTime(append(pairs, bls12381.PairWith(&xa, f.linesP2))...) {
		return errors.New("groupsig: the credential isn't valid for the registration")
	}
	return nil
}

// issue makes a credential over T, with an x that is drawn afresh: two credentials with
// one x would give all others. So x is hedged, as nonces are: a generator that fails or was
// cloned doesn't give one x for two. In the static form it is the application's, whose
// point never comes twice. It is nil for the x that nothing can be made of.
func (k *RoleKeys) issue(g *GroupKey, r *join.Record, m *application) *credential {
	secret := k.items()
	defer secret.Wipe()
	public := new(transcript.Items).Bytes("gid", g.id[:]).Bytes("sid", r.Session[:]).G1("T", &m.t)
	c := new(credential)
	var inv bls12381.Scalar
	if g.s.Static {
		c.x = *g.numberOf(r.Session, r.Member, m.proof)
		if inv.Add(&k.secrets[0], &c.x).IsZero() || c.x.IsZero() {
			return nil
		}
	}
	for c.x.IsZero() || inv.IsZero() { // never twice
		n := transcript.NewNonces(g.dst("issue"), secret, public)
		n.Next(&c.x)
		n.Wipe()
		inv.Add(&k.secrets[0], &c.x)
	}
	inv.Inverse(&inv)
	c.a.ScalarMult(&inv, g.signed(&m.t))
	bls12381.NormalizeG1(&c.a)
	inv.Wipe()
	return c
}

// Issue answers an application with a credential. In this order: the session; the
// application's form; what is registered already; the join proof; the registration
// signature under the key that the session was opened for. The record, with A and x for
// the opener, is in the register, durably, before the credential is released.
func (k *RoleKeys) Issue(g *GroupKey, sessions *join.Sessions, register *join.Register, m2 []byte, now int64) ([]byte, error) {
	if err := k.as(issuerRole, g); err != nil {
		return nil, err
	}
	g = g.first()
	r := new(join.Record)
	if err := r.UnmarshalBinary(m2); err != nil {
		return nil, err
	}
	return sessions.Answer(r.Session, m2, now, func(c *join.Challenge, key ed25519.PublicKey) ([]byte, error) {
		if c.GroupID != g.id || r.GroupID != g.id || r.Scheme != g.s.Name || c.Scheme != g.s.Name {
			return nil, errors.New("groupsig: the application is for another group")
		}
		if r.Member != c.Member {
			return nil, errors.New("groupsig: the application is of another member")
		}
		m, err := g.readApplication(r, wire.NewDecoder(r.Evidence))
		if err != nil {
			return nil, fmt.Errorf("groupsig: application: %w", err)
		}
		if m.nonce != c.Nonce || m.kind != c.Kind {
			return nil, errors.New("groupsig: the application doesn't answer the session's challenge")
		}
		if err := register.Check(r.Member, r.Point, 0); err != nil {
			return nil, err
		}
		if err := g.checkApplication(m, r.Member); err != nil {
			return nil, err
		}
		if g.signed(&m.t).IsIdentity() {
			return nil, errors.New("groupsig: the application cancels the group's generator")
		}
		if err := r.Verify(key); err != nil {
			return nil, err
		}
		cred := k.issue(g, r, m)
		if cred == nil {
			return nil, errors.New("groupsig: the application has the number that can't be issued")
		}
		var e wire.Encoder
		e.Fixed(cred.a.Bytes())
		e.Fixed(cred.x.Bytes())
		m.append(&e)
		full := *r
		full.Evidence = e.Data()
		if err := register.Admit(&full, 0); err != nil {
			return nil, err
		}
		var out wire.Encoder
		out.U8(version)
		out.U8(suite)
		out.Fixed(g.id[:])
		out.Fixed(r.Session[:])
		out.Fixed(cred.a.Bytes())
		out.Fixed(cred.x.Bytes())
		return out.Data(), nil
	})
}

// evidence returns what a record has beside what is signed: the credential and the
// application.
func (k *GroupKey) evidence(r *join.Record) (*credential, *application, error) {
	d := wire.NewDecoder(r.Evidence)
	c := new(credential)
	codec.ReadG1(d, "A", &c.a)
	codec.ReadSecret(d, "x", &c.x)
	m, err := k.readApplication(r, d)
	if err != nil {
		return nil, nil, fmt.Errorf("groupsig: record: %w", err)
	}
	return c, m, nil
}

// CheckRecord checks a record from the issuer's register for an opener, who relies on
// nothing: that the join proof is right, that A is the credential of T, and that the
// member signed, with the key that the opener knows. In the static form, where there is no
// proof, it takes what [GroupKey.OpenerRecord] returns as well as the whole record.
func (k *RoleKeys) CheckRecord(g *GroupKey, r *join.Record, key ed25519.PublicKey) error {
	if err := k.as(openerRole, g); err != nil {
		return err
	}
	if r == nil || r.GroupID != g.id || r.Scheme != g.s.Name {
		return errors.New("groupsig: the record is of another group")
	}
	g = g.first()
	if g.s.Static && len(r.Evidence) == bls12381.G1Size {
		return g.checkOpenerRecord(r, key)
	}
	c, m, err := g.evidence(r)
	if err != nil {
		return err
	}
	if err := g.checkApplication(m, r.Member); err != nil {
		return err
	}
	if err := g.checkNumber(&c.x, r.Point); err != nil {
		return err
	}
	if err := g.check(c, &m.t); err != nil {
		return err
	}
	return r.Verify(key)
}

// Finish checks the credential and returns the member's key.
func (p *PendingMember) Finish(m3 []byte) (*MemberKey, error) {
	if p.wiped() {
		return nil, errWiped
	}
	d := wire.NewDecoder(m3)
	d.Header(version, suite)
	var gid [32]byte
	var session join.SessionID
	d.Read("group", gid[:])
	d.Read("session", session[:])
	m := &MemberKey{gk: p.gk, member: p.member}
	codec.ReadG1(d, "A", &m.cred.a)
	codec.ReadSecret(d, "x", &m.cred.x)
	if d.Err() == nil && (gid != p.gk.id || session != p.session) {
		d.Fail("session", "the credential is for another one")
	}
	if err := d.Finish(); err != nil {
		return nil, fmt.Errorf("groupsig: credential: %w", err)
	}
	if p.seed != nil && !m.cred.x.Equal(p.gk.numberOf(p.session, p.member, p.seed)) {
		m.Wipe()
		return nil, errors.New("groupsig: the credential isn't for the application")
	}
	m.y = append([]bls12381.Scalar(nil), p.y...)
	if err := m.load(); err != nil {
		m.Wipe()
		return nil, err
	}
	return m, nil
}

func (p *PendingMember) wiped() bool { return p == nil || len(p.y) == 0 && p.seed == nil }

// Group returns the key of the group that is joined.
func (p *PendingMember) Group() *GroupKey {
	if p == nil {
		return nil
	}
	return p.gk
}

// Wipe overwrites the secrets.
func (p *PendingMember) Wipe() {
	if p == nil {
		return
	}
	wipe(p.y)
	clear(p.seed)
	p.y, p.seed = nil, nil
}

// MarshalBinary returns the canonical encoding, which is secret.
func (p *PendingMember) MarshalBinary() ([]byte, error) {
	if p.wiped() {
		return nil, errWiped
	}
	var e wire.Encoder
	e.Grow(192 + len(p.member) + len(p.y)*bls12381.ScalarSize)
	e.U8(version)
	e.U8(suite)
	e.Fixed(p.gk.id[:])
	e.Fixed(p.session[:])
	e.Bytes([]byte(p.member))
	for j := range p.y {
		codec.PutSecret(&e, p.y[j].Bytes())
	}
	e.Fixed(p.seed)
	return e.Data(), nil
}

// ParsePendingMember decodes a pending member of the group.
func (k *GroupKey) ParsePendingMember(data []byte) (*PendingMember, error) {
	if k.empty() {
		return nil, errEmpty
	}
	k = k.first()
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	p := &PendingMember{gk: k, y: make([]bls12381.Scalar, len(k.s.Base))}
	k.readOwn(d)
	d.Read("session", p.session[:])
	p.member = string(d.Bytes("member", join.MaxMember))
	for j := range p.y {
		codec.ReadSecret(d, "y", &p.y[j])
	}
	if k.s.Static {
		p.seed = d.Fixed("point", staticSeed)
	}
	if err := join.CheckMember(p.member); err != nil {
		d.Fail("member", "%v", err)
	}
	if err := d.Finish(); err != nil {
		p.Wipe()
		return nil, fmt.Errorf("groupsig: pending member: %w", err)
	}
	return p, nil
}

// readOwn reads the group's ID.
func (k *GroupKey) readOwn(d *wire.Decoder) {
	var gid [32]byte
	d.Read("group", gid[:])
	if d.Err() == nil && gid != k.id {
		d.Fail("group", "it is of another group")
	}
}

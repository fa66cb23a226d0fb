// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cl04

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// A Request is a member's message to the issuer.
type Request struct {
	session join.SessionID
	p       bls12381.G1 // k·P1, which is registered
	proof   []byte
	key     ed25519.PublicKey
	sig     []byte // of the record
}

func (g *GroupKey) record(c *join.Challenge, r *Request) *join.Record {
	return &join.Record{
		Scheme: scheme, GroupID: g.id, Session: c.Session, Member: c.Member,
		Point: r.p.Bytes(), Key: r.key, Signature: r.sig,
	}
}

// MarshalBinary returns the canonical encoding.
func (r *Request) MarshalBinary() ([]byte, error) {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(r.session[:])
	e.Fixed(r.p.Bytes())
	e.Bytes(r.proof)
	e.Bytes(r.key)
	e.Bytes(r.sig)
	return e.Data(), nil
}

// UnmarshalBinary decodes a request. The issuer checks it.
func (r *Request) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	var q Request
	d.Read("session", q.session[:])
	readG1(d, "P", &q.p)
	q.proof = d.Bytes("proof", 4096)
	q.key = d.Bytes("key", ed25519.PublicKeySize)
	q.sig = d.Bytes("signature", ed25519.SignatureSize)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("cl04: request: %w", err)
	}
	*r = q
	return nil
}

// A Join is a member's side between its request and the issuer's answer. It is secret.
type Join struct {
	g         *GroupKey
	challenge join.Challenge
	k         bls12381.Scalar
	request   Request
}

// NewJoin answers an issuer's challenge. The fingerprint is the group's as it is
// published.
func NewJoin(g *GroupKey, fingerprint [32]byte, c *join.Challenge, member string, key ed25519.PrivateKey) (*Join, error) {
	if g.id != fingerprint {
		return nil, errors.New("cl04: join: the group key isn't the published one")
	}
	if c.Scheme != scheme || c.GroupID != g.id {
		return nil, errors.New("cl04: join: the challenge is for another group")
	}
	if c.Member != member {
		return nil, fmt.Errorf("cl04: join: the challenge is for %q", c.Member)
	}
	j := &Join{g: g, challenge: *c}
	j.k.Random()
	r := &j.request
	r.session = c.Session
	r.p.ScalarBaseMult(&j.k)
	bls12381.NormalizeG1(&r.p)
	w := []bls12381.Scalar{j.k}
	defer w[0].Wipe()
	var err error
	if r.proof, err = join.Prove(c.Kind, dstJoin, c.Context(nil), sigma.Dlog(bls12381.G1Generator(), &r.p), w); err == nil {
		rec := g.record(c, r)
		err = rec.Sign(key)
		r.key, r.sig = rec.Key, rec.Signature
	}
	if err != nil {
		j.Wipe()
		return nil, fmt.Errorf("cl04: join: %w", err)
	}
	return j, nil
}

// Request returns the message to the issuer.
func (j *Join) Request() *Request {
	r := j.request
	return &r
}

// Wipe overwrites the secret. The Join is of no use afterwards.
func (j *Join) Wipe() { j.k.Wipe() }

// String shows nothing of the secret.
func (j Join) String() string { return fmt.Sprintf("cl04.Join(%q)", j.challenge.Member) }

// GoString is String.
func (j Join) GoString() string { return j.String() }

// Format writes String, whatever the verb.
func (j Join) Format(f fmt.State, _ rune) { fmt.Fprint(f, j.String()) }

// NewSessions returns a table of sessions.
func (g *GroupKey) NewSessions() *join.Sessions { return join.NewSessions(scheme, g.id) }

// NewRegister returns a register in which signers are found.
func (g *GroupKey) NewRegister() *join.Register { return join.NewRegister(scheme, g.id, 0) }

// Invite opens a session for a member whose long-term key the issuer knows.
func (k *IssuerKey) Invite(s *join.Sessions, member string, key ed25519.PublicKey, kind join.Kind, now, lifetime int64) (*join.Challenge, error) {
	if k.x.IsZero() {
		return nil, errWiped
	}
	c, err := s.Open(member, key, kind, now, lifetime)
	if err != nil {
		return nil, fmt.Errorf("cl04: invite: %w", err)
	}
	return c, nil
}

// Issue answers a request with a credential. The same request again gets the same
// answer.
func (k *IssuerKey) Issue(g *GroupKey, s *join.Sessions, register *join.Register, r *Request, now int64) (*Credential, error) {
	if k.x.IsZero() {
		return nil, errWiped
	}
	if !g.x.Equal(&k.pub[0]) || !g.y.Equal(&k.pub[1]) {
		return nil, errors.New("cl04: issue: the group has another issuer")
	}
	m2, err := r.MarshalBinary()
	if err != nil {
		return nil, err
	}
	m3, err := s.Answer(r.session, m2, now, func(c *join.Challenge, key ed25519.PublicKey) ([]byte, error) {
		if c.Scheme != scheme || c.GroupID != g.id || c.Session != r.session {
			return nil, errors.New("the request is for another group or session")
		}
		if r.p.IsIdentity() {
			return nil, errors.New("a point is zero")
		}
		rec := g.record(c, r)
		if err := register.Check(c.Member, rec.Point, 0); err != nil {
			return nil, err
		}
		if err := join.VerifyVarTime(c.Kind, dstJoin, c.Context(nil), sigma.Dlog(bls12381.G1Generator(), &r.p), r.proof); err != nil {
			return nil, err
		}
		if err := rec.Verify(key); err != nil {
			return nil, err
		}
		if err := register.Admit(rec, 0); err != nil {
			return nil, err
		}
		return k.credential(g, r).MarshalBinary()
	})
	if err != nil {
		return nil, fmt.Errorf("cl04: issue: %w", err)
	}
	out := new(Credential)
	return out, out.UnmarshalBinary(m3)
}

// A Credential is the issuer's answer, a Camenisch-Lysyanskaya signature (a, b, c).
type Credential struct {
	session join.SessionID
	p       [3]bls12381.G1
}

// credential returns a = r·P1, b = y·a, c = x·a + (r·x·y)·P for a fresh r, hedged.
func (k *IssuerKey) credential(g *GroupKey, r *Request) *Credential {
	c := &Credential{session: r.session}
	secret := new(transcript.Items).Grow(160).Scalar("x", &k.x).Scalar("y", &k.y)
	n := transcript.NewNonces(dstIssue, secret, g.items().Bytes("sid", r.session[:]).G1("P", &r.p))
	var t, v bls12381.Scalar
	n.Next(&t)
	n.Wipe()
	secret.Wipe()
	c.p[0].ScalarBaseMult(&t)
	t.Mul(&t, &k.y)
	c.p[1].ScalarBaseMult(&t)
	var q bls12381.G1
	c.p[2].ScalarMult(&k.x, &c.p[0])
	c.p[2].Add(&c.p[2], q.ScalarMult(v.Mul(&t, &k.x), &r.p))
	bls12381.NormalizeG1(&c.p[0], &c.p[1], &c.p[2])
	t.Wipe()
	v.Wipe()
	q.Wipe()
	return c
}

// MarshalBinary returns the canonical encoding.
func (c *Credential) MarshalBinary() ([]byte, error) {
	out := append([]byte{version, suite}, c.session[:]...)
	for i := range c.p {
		out = c.p[i].Append(out)
	}
	return out, nil
}

// UnmarshalBinary decodes a credential. The member checks it.
func (c *Credential) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	var q Credential
	d.Read("session", q.session[:])
	for i := range q.p {
		readG1(d, "credential", &q.p[i])
	}
	if err := d.Finish(); err != nil {
		return fmt.Errorf("cl04: credential: %w", err)
	}
	*c = q
	return nil
}

// A MemberKey signs. It is secret.
type MemberKey struct {
	g      *GroupKey
	k      bls12381.Scalar
	p      [3]bls12381.G1 // a, b, c
	member string

	pk     bls12381.G1 // k·P1
	bx, cp *bls12381.GTComb
}

// Finish checks the issuer's answer and returns the member's key. The Join may be
// wiped then.
func (j *Join) Finish(c *Credential) (*MemberKey, error) {
	if j.k.IsZero() {
		return nil, errWiped
	}
	if c.session != j.challenge.Session {
		return nil, errors.New("cl04: finish: the credential is for another session")
	}
	m := &MemberKey{g: j.g, p: c.p, member: j.challenge.Member}
	m.k.Set(&j.k)
	if err := m.load(); err != nil {
		m.Wipe()
		return nil, fmt.Errorf("cl04: finish: %w", err)
	}
	return m, nil
}

// load checks the credential, and prepares e(b, X) and e(c, P2). The pairings, which
// aren't said to be constant time, see multiples of the points by a random t.
func (m *MemberKey) load() error {
	for i := range m.p {
		if m.p[i].IsIdentity() {
			return errors.New("a point is zero")
		}
	}
	g := m.g
	var t bls12381.Scalar
	t.Random()
	var a, b, c, s bls12381.G1
	a.ScalarMult(&t, &m.p[0])
	b.ScalarMult(&t, &m.p[1])
	c.ScalarMult(&t, &m.p[2])
	s.ScalarMult(&m.k, &b)
	s.Add(&s, &a) // t·(a + k·b)
	m.pk.ScalarBaseMult(&m.k)
	var nb, nc bls12381.G1
	bls12381.NormalizeG1(&a, &b, &c, &s, &m.pk)
	nb.Neg(&b)
	nc.Neg(&c)
	if !bls12381.PairingCheckVarTime(bls12381.PairWith(&a, g.ly), bls12381.PairWith(&nb, g.lines)) ||
		!bls12381.PairingCheckVarTime(bls12381.PairWith(&s, g.lx), bls12381.PairWith(&nc, g.lines)) {
		return errors.New("the credential is wrong")
	}
	var bx, cp bls12381.GT
	bx.PairingProductVarTime(bls12381.PairWith(&b, g.lx))
	cp.PairingProductVarTime(bls12381.PairWith(&c, g.lines))
	t.Inverse(&t)
	bx.Exp(&bx, &t)
	cp.Exp(&cp, &t)
	m.bx, m.cp = bls12381.NewGTComb(&bx), bls12381.NewGTComb(&cp)
	bx.Wipe()
	cp.Wipe()
	t.Wipe()
	for _, x := range []*bls12381.G1{&a, &b, &c, &s, &nb, &nc} {
		x.Wipe()
	}
	return nil
}

// Group returns the group key.
func (m *MemberKey) Group() *GroupKey { return m.g }

// Wipe overwrites the key. It is of no use afterwards.
func (m *MemberKey) Wipe() {
	m.k.Wipe()
	m.pk.Wipe()
	for i := range m.p {
		m.p[i].Wipe()
	}
	if m.bx != nil {
		m.bx.Wipe()
		m.cp.Wipe()
	}
}

// String shows nothing of the secrets.
func (m MemberKey) String() string { return fmt.Sprintf("cl04.MemberKey(%q)", m.member) }

// GoString is String.
func (m MemberKey) GoString() string { return m.String() }

// Format writes String, whatever the verb.
func (m MemberKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, m.String()) }

// MarshalBinary returns the canonical encoding, which is secret; clear it after use.
func (m *MemberKey) MarshalBinary() ([]byte, error) {
	if m.k.IsZero() {
		return nil, errWiped
	}
	var e wire.Encoder
	e.Grow(512 + len(m.member))
	e.U8(version)
	e.U8(suite)
	e.Fixed(m.g.id[:])
	e.Bytes([]byte(m.member))
	b := m.k.Bytes()
	e.Fixed(b)
	clear(b)
	for i := range m.p {
		e.Fixed(m.p[i].Bytes())
	}
	return e.Data(), nil
}

// ParseMemberKey decodes a member's key of the group and checks it.
func (g *GroupKey) ParseMemberKey(data []byte) (*MemberKey, error) {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	id := d.Fixed("gid", 32)
	m := &MemberKey{g: g, member: string(d.Bytes("member", join.MaxMember))}
	k := d.Fixed("k", bls12381.ScalarSize)
	defer clear(k)
	for i := range m.p {
		readG1(d, "credential", &m.p[i])
	}
	err := d.Finish()
	if err == nil && !bytes.Equal(id, g.id[:]) {
		err = errors.New("it is of another group")
	}
	if err == nil {
		err = join.CheckMember(m.member)
	}
	if err == nil {
		err = m.k.SetBytesNonZero(k)
	}
	if err == nil {
		err = m.load()
	}
	if err != nil {
		m.Wipe()
		return nil, fmt.Errorf("cl04: member key: %w", err)
	}
	return m, nil
}

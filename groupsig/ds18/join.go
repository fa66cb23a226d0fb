// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ds18

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// A Join is a member's side of the join protocol, between its request and the
// issuer's answer. It is secret.
type Join struct {
	g         *GroupKey
	challenge Challenge
	r, q      bls12381.Scalar
	request   Request
}

// NewJoin answers an issuer's challenge. The fingerprint is the group's as it is
// published (see GroupKey.ID); member and key are the joining member's identity and
// long-term key.
func NewJoin(g *GroupKey, fingerprint [32]byte, c *Challenge, member string, key ed25519.PrivateKey) (*Join, error) {
	if g.x == nil || g.id != fingerprint {
		return nil, errors.New("ds18: join: the group key isn't the published one")
	}
	if c.Scheme != scheme || c.GroupID != g.id {
		return nil, errors.New("ds18: join: the challenge is for another group")
	}
	if c.Member != member {
		return nil, fmt.Errorf("ds18: join: the challenge is for %q", c.Member)
	}
	j := &Join{g: g, challenge: *c}
	j.r.Random()
	j.q.Random()
	if err := j.prepare(key); err != nil {
		j.Wipe()
		return nil, err
	}
	return j, nil
}

// prepare makes the request for r.
func (j *Join) prepare(key ed25519.PrivateKey) error {
	r := &j.request
	r.session = j.challenge.Session
	r.u, r.q = classOf(&j.r, &j.q)
	w := make([]bls12381.Scalar, 4)
	w[0].Set(&j.r)
	w[3].Set(&j.q)
	defer func() {
		for i := range w {
			w[i].Wipe()
		}
	}()
	var token bls12381.G2
	token.ScalarBaseMult(&j.r)
	for i := range r.s {
		w[1+i].Random()
		r.s[i].ScalarBaseMult(&w[1+i])
		r.f2[i].ScalarMult(&w[1+i], &j.g.opener.z[i])
		r.f2[i].Add(&r.f2[i], &token)
	}
	token.Wipe()
	bls12381.NormalizeG2(&r.s[0], &r.s[1], &r.f2[0], &r.f2[1])
	proof, err := r.statement(j.g).Prove(dstJoin, j.challenge.Context(nil), w)
	if err != nil {
		return fmt.Errorf("ds18: join: %w", err)
	}
	r.proof = proof.Append(nil)
	rec := r.record(&j.challenge)
	if err := rec.Sign(key); err != nil {
		return fmt.Errorf("ds18: join: %w", err)
	}
	r.key, r.sig = rec.Key, rec.Signature
	return nil
}

// Request returns the message to the issuer.
func (j *Join) Request() *Request {
	r := j.request
	return &r
}

// check tests a request against the challenge that it answers and the key of the
// member who was invited.
func (g *GroupKey) check(c *Challenge, r *Request, key ed25519.PublicKey) error {
	if c.Scheme != scheme || c.GroupID != g.id || c.Session != r.session {
		return errors.New("the request is for another group or session")
	}
	if r.hasZero() {
		return errors.New("a point is zero")
	}
	proof, err := sigma.Decode(r.proof, 4)
	if err != nil {
		return err
	}
	if err := r.statement(g).VerifyVarTime(dstJoin, c.Context(nil), proof); err != nil {
		return err
	}
	return r.record(c).Verify(key)
}

// Invite opens a session for a member whose long-term key the issuer knows. Times
// are in seconds since 1970, the lifetime in seconds. Any number of sessions may be
// open: in this scheme the security proof extracts nothing from the member's proof, but
// decrypts with the opener's key, and Schnorr's proof is enough.
func (k *IssuerKey) Invite(s *Sessions, member string, key ed25519.PublicKey, now, lifetime int64) (*Challenge, error) {
	if k.wiped() {
		return nil, errWiped
	}
	c, err := s.Open(member, key, 0, now, lifetime) // the kind that has no limit; here there is one kind only
	if err != nil {
		return nil, fmt.Errorf("ds18: invite: %w", err)
	}
	return c, nil
}

// Issue answers a request with a credential. The record is in the register, and
// durable if the register's function says so, before the credential is made. The same
// request again gets the same answer.
func (k *IssuerKey) Issue(g *GroupKey, s *Sessions, register *Register, r *Request, now int64) (*Credential, error) {
	if k.wiped() {
		return nil, errWiped
	}
	if !g.issuer.x.Equal(&k.pub.x) || !g.issuer.y.Equal(&k.pub.y) {
		return nil, errors.New("ds18: issue: the group has another issuer")
	}
	m2, err := r.MarshalBinary()
	if err != nil {
		return nil, err
	}
	m3, err := s.Answer(r.session, m2, now, func(c *Challenge, key ed25519.PublicKey) ([]byte, error) {
		rec := r.record(c)
		if err := register.Check(c.Member, rec.Point, 0); err != nil {
			return nil, err
		}
		if err := g.check(c, r, key); err != nil {
			return nil, err
		}
		if err := register.Admit(rec, 0); err != nil {
			return nil, err
		}
		return k.credential(r).MarshalBinary()
	})
	if err != nil {
		return nil, fmt.Errorf("ds18: issue: %w", err)
	}
	cred := new(Credential)
	return cred, cred.UnmarshalBinary(m3)
}

// credential returns Z = t·(x·U + y·Q), W = (1/t)·P1 and WW = (1/t)·P2 for a fresh t.
// Two members with one t could make credentials of their own, so that it is hedged, as
// nonces are: a generator that fails or was cloned doesn't give one t for two.
func (k *IssuerKey) credential(r *Request) *Credential {
	c := &Credential{session: r.session}
	secret := new(transcript.Items).Grow(128).Scalar("x", &k.x).Scalar("y", &k.y)
	public := new(transcript.Items).Bytes("sid", r.session[:]).G1("U", &r.u).G1("Q", &r.q)
	var t, v bls12381.Scalar
	n := transcript.NewNonces(dstIssue, secret, public)
	n.Next(&t)
	n.Wipe()
	secret.Wipe()
	var p bls12381.G1
	c.z.ScalarMult(v.Mul(&t, &k.x), &r.u)
	c.z.Add(&c.z, p.ScalarMult(v.Mul(&t, &k.y), &r.q))
	t.Inverse(&t)
	c.w.ScalarBaseMult(&t)
	c.ww.ScalarBaseMult(&t)
	bls12381.NormalizeG1(&c.z, &c.w)
	bls12381.NormalizeG2(&c.ww)
	t.Wipe()
	v.Wipe()
	p.Wipe()
	return c
}

// Finish checks the issuer's answer and returns the member's key. The Join may be
// wiped then.
func (j *Join) Finish(c *Credential) (*MemberKey, error) {
	if j.r.IsZero() {
		return nil, errWiped
	}
	if c.session != j.challenge.Session {
		return nil, errors.New("ds18: finish: the credential is for another session")
	}
	rec := j.request.record(&j.challenge)
	rec.Evidence = nil
	m := &MemberKey{g: j.g, z: c.z, w: c.w, ww: c.ww, record: rec}
	m.r.Set(&j.r)
	m.q.Set(&j.q)
	if err := m.load(); err != nil {
		m.Wipe()
		return nil, fmt.Errorf("ds18: finish: %w", err)
	}
	return m, nil
}

// Group returns the group key.
func (j *Join) Group() *GroupKey { return j.g }

// Wipe overwrites the secret. The Join is of no use afterwards.
func (j *Join) Wipe() {
	j.r.Wipe()
	j.q.Wipe()
}

// String shows nothing of the secret.
func (j Join) String() string {
	return fmt.Sprintf("ds18.Join(%q, session %x)", j.challenge.Member, j.challenge.Session[:4])
}

// GoString is String.
func (j Join) GoString() string { return j.String() }

// Format writes String, whatever the verb.
func (j Join) Format(f fmt.State, _ rune) { fmt.Fprint(f, j.String()) }

// MarshalBinary returns the canonical encoding, which is secret; clear it after use.
func (j *Join) MarshalBinary() ([]byte, error) {
	if j.r.IsZero() {
		return nil, errWiped
	}
	c, err := j.challenge.MarshalBinary()
	if err != nil {
		return nil, err
	}
	r, err := j.request.MarshalBinary()
	if err != nil {
		return nil, err
	}
	g := j.g.encode()
	var e wire.Encoder
	e.Grow(64 + len(g) + len(c) + len(r))
	e.U8(version)
	e.U8(suite)
	e.Bytes(g)
	e.Bytes(c)
	e.Bytes(r)
	tokens.PutSecret(&e, j.r.Bytes())
	tokens.PutSecret(&e, j.q.Bytes())
	return e.Data(), nil
}

// UnmarshalBinary decodes what MarshalBinary returned.
func (j *Join) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	g := d.Bytes("group key", maxGroupKey)
	c := d.Bytes("challenge", 1024)
	r := d.Bytes("request", 2048)
	var q Join
	tokens.ReadSecret(d, "r", &q.r)
	tokens.ReadSecret(d, "q", &q.q)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("ds18: join: %w", err)
	}
	q.g = new(GroupKey)
	if err := errors.Join(q.g.UnmarshalBinary(g), q.challenge.UnmarshalBinary(c), q.request.UnmarshalBinary(r)); err != nil {
		return err
	}
	if err := q.g.check(&q.challenge, &q.request, q.request.key); err != nil {
		return fmt.Errorf("ds18: join: %w", err)
	}
	if u, p := classOf(&q.r, &q.q); !u.Equal(&q.request.u) || !p.Equal(&q.request.q) {
		return errors.New("ds18: join: the secrets aren't those of the request")
	}
	*j = q
	return nil
}

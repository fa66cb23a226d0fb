// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/groupsig/internal/join"
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
	sk        bls12381.Scalar
	request   Request
}

// NewJoin answers an issuer's challenge. The fingerprint is the group's as it is
// published (see GroupKey.ID); member and key are the joining member's identity and
// long-term key.
func NewJoin(g *GroupKey, fingerprint [32]byte, c *Challenge, member string, key ed25519.PrivateKey) (*Join, error) {
	if err := scheme.CheckChallenge(g.k, fingerprint, c, member); err != nil {
		return nil, err
	}
	j := &Join{g: g, challenge: *c}
	j.sk.Random()
	if err := j.prepare(key); err != nil {
		j.Wipe()
		return nil, fmt.Errorf("ps16: join: %w", err)
	}
	return j, nil
}

// prepare makes the request for sk.
func (j *Join) prepare(key ed25519.PrivateKey) error {
	r := &j.request
	r.reg.Session = j.challenge.Session
	r.tau.ScalarBaseMult(&j.sk)
	r.ttau.ScalarMult(&j.sk, j.g.k.IssuerY())
	bls12381.NormalizeG1(&r.tau)
	bls12381.NormalizeG2(&r.ttau)
	w := []bls12381.Scalar{j.sk}
	defer w[0].Wipe()
	var err error
	if r.proof, err = join.Prove(j.challenge.Kind, dstJoin, r.context(&j.challenge), r.statement(), w); err != nil {
		return err
	}
	return r.reg.Sign(r.record(&j.challenge), key)
}

// context is what the proof absorbs beside its statement. The token is there with
// the public values: it is in the request.
func (r *Request) context(c *Challenge) *transcript.Items {
	return c.Context(nil).G2("ttau", &r.ttau)
}

// Request returns the message to the issuer.
func (j *Join) Request() *Request {
	r := j.request
	return &r
}

// check tests a request against the challenge that it answers and the key of the
// member who was invited.
func (g *GroupKey) check(c *Challenge, r *Request, key ed25519.PublicKey) error {
	if err := g.k.Answers(c, r.reg.Session); err != nil {
		return err
	}
	if r.tau.IsIdentity() || r.ttau.IsIdentity() {
		return errors.New("a point is zero")
	}
	if err := join.VerifyVarTime(c.Kind, dstJoin, r.context(c), r.statement(), r.proof); err != nil {
		return err
	}
	if !g.k.Tokens.Belongs(&r.ttau, &r.tau) {
		return errors.New("the token doesn't belong to tau")
	}
	return r.record(c).Verify(key)
}

// Invite opens a session for a member whose long-term key the issuer knows. Times
// are in seconds since 1970, the lifetime in seconds.
func (k *IssuerKey) Invite(s *Sessions, member string, key ed25519.PublicKey, kind ProofKind, now, lifetime int64) (*Challenge, error) {
	return k.k.Invite(s, member, key, kind, now, lifetime)
}

// Issue answers a request with a credential. The record is in the register, and
// durable if the register's function says so, before the credential is made. The same
// request again gets the same answer.
func (k *IssuerKey) Issue(g *GroupKey, s *Sessions, register *Register, r *Request, now int64) (*Credential, error) {
	m2, err := r.MarshalBinary()
	if err != nil {
		return nil, err
	}
	m3, err := k.k.Issue(g.k, s, register, &tokens.Application{
		Session: r.reg.Session, Message: m2, Record: r.record,
		Check:      func(c *Challenge, key ed25519.PublicKey) error { return g.check(c, r, key) },
		Credential: func() ([]byte, error) { return k.credential(r).MarshalBinary() },
	}, now)
	if err != nil {
		return nil, err
	}
	cred := new(Credential)
	return cred, cred.UnmarshalBinary(m3)
}

// credential returns sigma1 = u·P1 and sigma2 = u·x·P1 + u·y·tau for a fresh u. Two
// members with one u could make credentials of their own, so that it is hedged, as
// nonces are: a generator that fails or was cloned doesn't give one u for two.
func (k *IssuerKey) credential(r *Request) *Credential {
	c := &Credential{session: r.reg.Session}
	x, y := k.k.Secrets()
	var u, v bls12381.Scalar
	var p bls12381.G1
	secret := new(transcript.Items).Grow(128).Scalar("x", x).Scalar("y", y)
	public := new(transcript.Items).Bytes("sid", r.reg.Session[:]).G1("tau", &r.tau)
	for u.IsZero() { // never twice
		n := transcript.NewNonces(dstIssue, secret, public)
		n.Next(&u)
		n.Wipe()
	}
	secret.Wipe()
	c.s1.ScalarBaseMult(&u)
	c.s2.ScalarBaseMult(v.Mul(&u, x))
	c.s2.Add(&c.s2, p.ScalarMult(v.Mul(&u, y), &r.tau))
	bls12381.NormalizeG1(&c.s1, &c.s2)
	u.Wipe()
	v.Wipe()
	p.Wipe()
	return c
}

// Finish checks the issuer's answer and returns the member's key. The Join may be
// wiped then.
func (j *Join) Finish(c *Credential) (*MemberKey, error) {
	if j.sk.IsZero() {
		return nil, errWiped
	}
	if c.session != j.challenge.Session {
		return nil, errors.New("ps16: finish: the credential is for another session")
	}
	rec := j.request.record(&j.challenge)
	rec.Evidence = nil
	m := &MemberKey{g: j.g, s1: c.s1, s2: c.s2, record: rec}
	m.sk.Set(&j.sk)
	if err := m.load(); err != nil {
		m.Wipe()
		return nil, fmt.Errorf("ps16: finish: %w", err)
	}
	return m, nil
}

// Group returns the group key.
func (j *Join) Group() *GroupKey { return j.g }

// Wipe overwrites the secret. The Join is of no use afterwards.
func (j *Join) Wipe() { j.sk.Wipe() }

// String shows nothing of the secret.
func (j Join) String() string {
	return fmt.Sprintf("ps16.Join(%q, session %x)", j.challenge.Member, j.challenge.Session[:4])
}

// GoString is String.
func (j Join) GoString() string { return j.String() }

// Format writes String, whatever the verb.
func (j Join) Format(f fmt.State, _ rune) { fmt.Fprint(f, j.String()) }

// MarshalBinary returns the canonical encoding, which is secret; clear it after use.
func (j *Join) MarshalBinary() ([]byte, error) {
	if j.sk.IsZero() {
		return nil, errWiped
	}
	r, err := j.request.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return tokens.EncodeJoin(j.g.k, &j.challenge, r, bls12381.ScalarSize, func(e *wire.Encoder) {
		codec.PutSecret(e, j.sk.Bytes())
	})
}

// UnmarshalBinary decodes what MarshalBinary returned.
func (j *Join) UnmarshalBinary(data []byte) error {
	var q Join
	g, c, r, err := scheme.DecodeJoin(data, func(d *wire.Decoder) { codec.ReadSecret(d, "sk", &q.sk) })
	if err != nil {
		return err
	}
	q.g, q.challenge = &GroupKey{g}, *c
	if err := q.request.UnmarshalBinary(r); err != nil {
		return err
	}
	if err := q.g.check(c, &q.request, q.request.reg.Key); err != nil {
		return fmt.Errorf("ps16: join: %w", err)
	}
	var tau bls12381.G1
	if !tau.ScalarBaseMult(&q.sk).Equal(&q.request.tau) {
		return errors.New("ps16: join: sk isn't that of the request")
	}
	*j = q
	return nil
}

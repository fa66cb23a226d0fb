// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ds18

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/codec"
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
	if err := scheme.CheckChallenge(g.k, fingerprint, c, member); err != nil {
		return nil, err
	}
	j := &Join{g: g, challenge: *c}
	j.r.Random()
	j.q.Random()
	if err := j.prepare(key); err != nil {
		j.Wipe()
		return nil, fmt.Errorf("ds18: join: %w", err)
	}
	return j, nil
}

// prepare makes the request for r.
func (j *Join) prepare(key ed25519.PrivateKey) error {
	r := &j.request
	r.reg.Session = j.challenge.Session
	r.u, r.q = classOf(&j.r, &j.q)
	w := make([]bls12381.Scalar, 4)
	w[0].Set(&j.r)
	w[3].Set(&j.q)
	defer func() {
		for i := range w {
			w[i].Wipe()
		}
	}()
	r.token = j.g.k.Encrypt(&w[0], &w[1], &w[2])
	var err error
	if r.proof, err = r.statement(j.g).ProveBytes(dstJoin, j.challenge.Context(nil), w); err != nil {
		return err
	}
	return r.reg.Sign(r.record(&j.challenge), key)
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
	if r.hasZero() {
		return errors.New("a point is zero")
	}
	if err := r.statement(g).VerifyBytesVarTime(dstJoin, c.Context(nil), r.proof); err != nil {
		return err
	}
	return r.record(c).Verify(key)
}

// Invite opens a session for a member whose long-term key the issuer knows. Times
// are in seconds since 1970, the lifetime in seconds. Any number of sessions may be
// open: in this scheme the security proof extracts nothing from the member's proof, but
// decrypts with the opener's key, and Schnorr's proof is enough.
func (k *IssuerKey) Invite(s *Sessions, member string, key ed25519.PublicKey, now, lifetime int64) (*Challenge, error) {
	return k.k.Invite(s, member, key, 0, now, lifetime) // the kind that has no limit; here there is one kind only
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

// credential returns Z = t·(x·U + y·Q), W = (1/t)·P1 and WW = (1/t)·P2 for a fresh t.
// Two members with one t could make credentials of their own, so that it is hedged, as
// nonces are: a generator that fails or was cloned doesn't give one t for two.
func (k *IssuerKey) credential(r *Request) *Credential {
	c := &Credential{session: r.reg.Session}
	x, y := k.k.Secrets()
	secret := new(transcript.Items).Grow(128).Scalar("x", x).Scalar("y", y)
	public := new(transcript.Items).Bytes("sid", r.reg.Session[:]).G1("U", &r.u).G1("Q", &r.q)
	var t, v bls12381.Scalar
	n := transcript.NewNonces(dstIssue, secret, public)
	n.Next(&t)
	n.Wipe()
	secret.Wipe()
	var p bls12381.G1
	c.z.ScalarMult(v.Mul(&t, x), &r.u)
	c.z.Add(&c.z, p.ScalarMult(v.Mul(&t, y), &r.q))
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
	r, err := j.request.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return tokens.EncodeJoin(j.g.k, &j.challenge, r, 2*bls12381.ScalarSize, func(e *wire.Encoder) {
		codec.PutSecret(e, j.r.Bytes())
		codec.PutSecret(e, j.q.Bytes())
	})
}

// UnmarshalBinary decodes what MarshalBinary returned.
func (j *Join) UnmarshalBinary(data []byte) error {
	var q Join
	g, c, r, err := scheme.DecodeJoin(data, func(d *wire.Decoder) {
		codec.ReadSecret(d, "r", &q.r)
		codec.ReadSecret(d, "q", &q.q)
	})
	if err != nil {
		return err
	}
	q.g, q.challenge = &GroupKey{g}, *c
	if err := q.request.UnmarshalBinary(r); err != nil {
		return err
	}
	if err := q.g.check(c, &q.request, q.request.reg.Key); err != nil {
		return fmt.Errorf("ds18: join: %w", err)
	}
	if u, p := classOf(&q.r, &q.q); !u.Equal(&q.request.u) || !p.Equal(&q.request.q) {
		return errors.New("ds18: join: the secrets aren't those of the request")
	}
	*j = q
	return nil
}

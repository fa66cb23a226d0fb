// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ds18

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/codec"
	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/wire"
)

// What the issuer keeps, from the packages that all schemes share. See their methods.
type (
	// Sessions are the issuer's runs of the join protocol: each gives one credential
	// at most, to one identity, before it expires.
	Sessions = join.Sessions
	// A SessionID names a run.
	SessionID = join.SessionID
	// A Challenge is the issuer's first message to a member.
	Challenge = join.Challenge
	// A Register holds the records of all members. The issuer's has what the opener
	// needs to record them, and the opener's their tokens, sealed.
	//
	// One live record is for an identity. One that was revoked can't join again until a
	// list in force has its token: see [GroupKey.MarkListed].
	Register = join.Register
	// A Record is what a member signed when it joined.
	Record = join.Record
)

// NewSessions returns an empty table for the group's issuer.
func (g *GroupKey) NewSessions() *Sessions { return g.k.NewSessions() }

// NewRegister returns an empty register for the group's issuer or its opener, in whose
// no token is twice.
func (g *GroupKey) NewRegister() *Register { return g.k.NewRegister() }

// A Request is the member's message to the issuer: U = r·Q and Q = q·P1, two
// encryptions of the token r·P2 to the opener, the proof that all have one r, and the
// registration signature. It is public.
type Request struct {
	reg   tokens.Registration
	u, q  bls12381.G1
	token tokens.Encrypted
	proof []byte
}

// proofSize is the length of the proof of r, s0, s1 and q.
var proofSize = sigma.Size(4)

// Session returns the session that the request answers.
func (r *Request) Session() SessionID { return r.reg.Session }

// hasZero reports whether one of the points is zero.
func (r *Request) hasZero() bool { return r.u.IsIdentity() || r.q.IsIdentity() || r.token.HasZero() }

// MarshalBinary returns the canonical encoding.
func (r *Request) MarshalBinary() ([]byte, error) {
	if r.hasZero() || len(r.proof) != proofSize || !r.reg.Complete() {
		return nil, errors.New("ds18: incomplete request")
	}
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(r.reg.Session[:])
	e.Fixed(r.point())
	r.reg.AppendKey(&e)
	r.appendEvidence(&e)
	return e.Data(), nil
}

// UnmarshalBinary decodes a request.
func (r *Request) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	var q Request
	d.Read("session", q.reg.Session[:])
	readPoint(d, &q.u, &q.q)
	q.reg.ReadKey(d)
	q.readEvidence(d)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("ds18: request: %w", err)
	}
	*r = q
	return nil
}

// point is what is registered: U and Q.
func (r *Request) point() []byte { return r.q.Append(r.u.Bytes()) }

func readPoint(d *wire.Decoder, u, q *bls12381.G1) {
	codec.ReadG1(d, "U", u)
	codec.ReadG1(d, "Q", q)
}

// appendEvidence appends what the opener checks again.
func (r *Request) appendEvidence(e *wire.Encoder) {
	r.token.Append(e)
	e.Fixed(r.proof)
}

func (r *Request) readEvidence(d *wire.Decoder) {
	r.token.Read(d)
	r.proof = d.Fixed("proof", proofSize)
}

// statement is what the request proves, with r, s0, s1 and q in this order: U = r·Q,
// Q = q·P1, S_i = s_i·P2, F_i = r·P2 + s_i·Z_i. There is one response for r.
func (r *Request) statement(g *GroupKey) *sigma.Statement {
	st := &sigma.Statement{Secrets: 4, G1: []sigma.Relation{
		{Y: &r.u, Terms: []sigma.Term{{W: 0, P: &r.q}}},
		{Y: &r.q, Terms: []sigma.Term{{W: 3, P: bls12381.G1Generator()}}},
	}}
	r.token.AddTo(st, g.k)
	return st
}

// record returns what the member signed, with what an opener needs to check the
// request again.
func (r *Request) record(c *Challenge) *Record {
	var e wire.Encoder
	e.Fixed(c.Nonce[:])
	r.appendEvidence(&e)
	return r.reg.Record(c, r.point(), e.Data())
}

// requestOf is the inverse of record.
func requestOf(rec *Record) (*Request, *Challenge, error) {
	r := new(Request)
	var c *Challenge
	r.reg, c = tokens.RegistrationOf(rec)
	p := wire.NewDecoder(rec.Point)
	readPoint(p, &r.u, &r.q)
	if err := p.Finish(); err != nil {
		return nil, nil, err
	}
	d := wire.NewDecoder(rec.Evidence)
	d.Read("nonce", c.Nonce[:])
	r.readEvidence(d)
	if err := d.Finish(); err != nil {
		return nil, nil, fmt.Errorf("evidence: %w", err)
	}
	return r, c, nil
}

// pointsOf returns Q and U of a record, whose token r·P2 has e(U, P2) = e(Q, r·P2).
func pointsOf(rec *Record) (p tokens.Points, err error) {
	d := wire.NewDecoder(rec.Point)
	readPoint(d, &p.Multiple, &p.Base)
	return p, d.Finish()
}

// A Credential is the issuer's answer: Z = t·(x·U + y·Q), W = (1/t)·P1, WW = (1/t)·P2.
type Credential struct {
	session SessionID
	z, w    bls12381.G1
	ww      bls12381.G2
}

// MarshalBinary returns the canonical encoding.
func (c *Credential) MarshalBinary() ([]byte, error) {
	if c.z.IsIdentity() || c.w.IsIdentity() || c.ww.IsIdentity() {
		return nil, errors.New("ds18: incomplete credential")
	}
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(c.session[:])
	e.Fixed(c.z.Bytes())
	e.Fixed(c.w.Bytes())
	e.Fixed(c.ww.Bytes())
	return e.Data(), nil
}

// UnmarshalBinary decodes a credential.
func (c *Credential) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	var q Credential
	d.Read("session", q.session[:])
	codec.ReadG1(d, "Z", &q.z)
	codec.ReadG1(d, "W", &q.w)
	codec.ReadG2(d, "WW", &q.ww)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("ds18: credential: %w", err)
	}
	*c = q
	return nil
}

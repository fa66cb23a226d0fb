// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package klap20

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

// NewRegister returns an empty register for the group's issuer or its opener.
func (g *GroupKey) NewRegister() *Register { return g.k.NewRegister() }

// A Request is the member's message to the issuer: f = alpha·P1, w = alpha·u, two
// encryptions of the token alpha·P2 to the opener, the proof that all have one alpha,
// and the registration signature. It is public.
type Request struct {
	reg   tokens.Registration
	f, w  bls12381.G1
	token tokens.Encrypted
	proof []byte
}

// proofSize is the length of the proof of alpha, s0 and s1.
var proofSize = sigma.Size(3)

// Session returns the session that the request answers.
func (r *Request) Session() SessionID { return r.reg.Session }

// hasZero reports whether one of the points is zero.
func (r *Request) hasZero() bool { return r.f.IsIdentity() || r.w.IsIdentity() || r.token.HasZero() }

// MarshalBinary returns the canonical encoding.
func (r *Request) MarshalBinary() ([]byte, error) {
	if r.hasZero() || len(r.proof) != proofSize || !r.reg.Complete() {
		return nil, errors.New("klap20: incomplete request")
	}
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(r.reg.Session[:])
	e.Fixed(r.f.Bytes())
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
	codec.ReadG1(d, "f", &q.f)
	q.reg.ReadKey(d)
	q.readEvidence(d)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("klap20: request: %w", err)
	}
	*r = q
	return nil
}

// appendEvidence appends what the opener checks again.
func (r *Request) appendEvidence(e *wire.Encoder) {
	e.Fixed(r.w.Bytes())
	r.token.Append(e)
	e.Fixed(r.proof)
}

func (r *Request) readEvidence(d *wire.Decoder) {
	codec.ReadG1(d, "w", &r.w)
	r.token.Read(d)
	r.proof = d.Fixed("proof", proofSize)
}

// statement is what the request proves, with alpha, s0 and s1 in this order:
// f = alpha·P1, w = alpha·u, S_i = s_i·P2, F_i = alpha·P2 + s_i·Z_i. There is one
// response for alpha.
func (r *Request) statement(g *GroupKey, u *bls12381.G1) *sigma.Statement {
	st := &sigma.Statement{Secrets: 3, G1: []sigma.Relation{
		{Y: &r.f, Terms: []sigma.Term{{W: 0, P: bls12381.G1Generator()}}},
		{Y: &r.w, Terms: []sigma.Term{{W: 0, P: u}}},
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
	return r.reg.Record(c, r.f.Bytes(), e.Data())
}

// requestOf is the inverse of record.
func requestOf(rec *Record) (*Request, *Challenge, error) {
	r := new(Request)
	var c *Challenge
	r.reg, c = tokens.RegistrationOf(rec)
	p := wire.NewDecoder(rec.Point)
	codec.ReadG1(p, "f", &r.f)
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

// A Credential is the issuer's answer: v = x·u + y·w.
type Credential struct {
	session SessionID
	v       bls12381.G1
}

// MarshalBinary returns the canonical encoding.
func (c *Credential) MarshalBinary() ([]byte, error) {
	if c.v.IsIdentity() {
		return nil, errors.New("klap20: incomplete credential")
	}
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(c.session[:])
	e.Fixed(c.v.Bytes())
	return e.Data(), nil
}

// UnmarshalBinary decodes a credential.
func (c *Credential) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	var q Credential
	d.Read("session", q.session[:])
	codec.ReadG1(d, "v", &q.v)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("klap20: credential: %w", err)
	}
	*c = q
	return nil
}

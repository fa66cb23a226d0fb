// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

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
	// A Register holds the records of all members. The issuer's has their tokens in
	// the clear, and is secret; the opener's has them sealed.
	//
	// One live record is for an identity. One that was revoked can't join again until a
	// list in force has its token: see [GroupKey.MarkListed].
	Register = join.Register
	// A Record is what a member signed when it joined.
	Record = join.Record
	// A ProofKind is a way to make join proofs non-interactive.
	ProofKind = join.Kind
)

// Kinds of join proofs. With Fischlin, the default, any number of sessions may be
// open; the table of sessions keeps to one that is open with Schnorr.
const (
	Fischlin = join.Fischlin
	Schnorr  = join.Schnorr
)

// NewSessions returns an empty table for the group's issuer.
func (g *GroupKey) NewSessions() *Sessions { return g.k.NewSessions() }

// NewRegister returns an empty register for the group's issuer or its opener.
func (g *GroupKey) NewRegister() *Register { return g.k.NewRegister() }

// maxProof bounds the join proof: that of Fischlin's kind has 1312 bytes.
const maxProof = 2048

// A Request is the member's message to the issuer: tau = sk·P1, the token sk·Y, the
// proof of sk and the registration signature. The token is for the issuer and the
// opener only.
type Request struct {
	reg   tokens.Registration
	tau   bls12381.G1
	ttau  bls12381.G2
	proof []byte
}

// Session returns the session that the request answers.
func (r *Request) Session() SessionID { return r.reg.Session }

// MarshalBinary returns the canonical encoding.
func (r *Request) MarshalBinary() ([]byte, error) {
	if r.tau.IsIdentity() || r.ttau.IsIdentity() || !r.reg.Complete() {
		return nil, errors.New("ps16: incomplete request")
	}
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(r.reg.Session[:])
	e.Fixed(r.tau.Bytes())
	e.Fixed(r.ttau.Bytes())
	r.reg.AppendKey(&e)
	e.Bytes(r.proof)
	return e.Data(), nil
}

// UnmarshalBinary decodes a request.
func (r *Request) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	var q Request
	d.Read("session", q.reg.Session[:])
	codec.ReadG1(d, "tau", &q.tau)
	codec.ReadG2(d, "token", &q.ttau)
	q.reg.ReadKey(d)
	q.proof = d.Bytes("proof", maxProof)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("ps16: request: %w", err)
	}
	*r = q
	return nil
}

// statement is tau = sk·P1.
func (r *Request) statement() *sigma.Statement { return sigma.Dlog(bls12381.G1Generator(), &r.tau) }

// record returns what the member signed, with what an opener needs to check the
// request again.
func (r *Request) record(c *Challenge) *Record {
	var e wire.Encoder
	e.Fixed(c.Nonce[:])
	e.U8(uint8(c.Kind))
	e.Fixed(r.ttau.Bytes())
	e.Bytes(r.proof)
	return r.reg.Record(c, r.tau.Bytes(), e.Data())
}

// requestOf is the inverse of record.
func requestOf(rec *Record) (*Request, *Challenge, error) {
	r := new(Request)
	var c *Challenge
	r.reg, c = tokens.RegistrationOf(rec)
	p := wire.NewDecoder(rec.Point)
	codec.ReadG1(p, "tau", &r.tau)
	if err := p.Finish(); err != nil {
		return nil, nil, err
	}
	d := wire.NewDecoder(rec.Evidence)
	d.Read("nonce", c.Nonce[:])
	c.Kind = join.Kind(d.U8("kind"))
	codec.ReadG2(d, "token", &r.ttau)
	r.proof = d.Bytes("proof", maxProof)
	if err := d.Finish(); err != nil {
		return nil, nil, fmt.Errorf("evidence: %w", err)
	}
	return r, c, nil
}

// A Credential is the issuer's answer: sigma1 and sigma2 = (x + y·sk)·sigma1.
type Credential struct {
	session SessionID
	s1, s2  bls12381.G1
}

// MarshalBinary returns the canonical encoding.
func (c *Credential) MarshalBinary() ([]byte, error) {
	if c.s1.IsIdentity() || c.s2.IsIdentity() {
		return nil, errors.New("ps16: incomplete credential")
	}
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(c.session[:])
	e.Fixed(c.s1.Bytes())
	e.Fixed(c.s2.Bytes())
	return e.Data(), nil
}

// UnmarshalBinary decodes a credential.
func (c *Credential) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	var q Credential
	d.Read("session", q.session[:])
	codec.ReadG1(d, "sigma1", &q.s1)
	codec.ReadG1(d, "sigma2", &q.s2)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("ps16: credential: %w", err)
	}
	*c = q
	return nil
}

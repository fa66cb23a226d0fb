// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package strongrsa

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/legacy/internal/qrn"
	"github.com/undersign/undersign/internal/modexp"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// A Request is a member's message to the issuer.
type Request struct {
	session    join.SessionID
	point      []byte // what is registered
	commitment []byte // the product of b^u, if that isn't the point
	proof      []byte
	key        ed25519.PublicKey
	sig        []byte // of the record
}

// memberSecrets are the parts of secrets that a member draws, and where they are.
func (s *Scheme) memberSecrets() (ranges []qrn.Range, slots []int) {
	for j, x := range s.slots {
		if x.member > 0 {
			ranges, slots = append(ranges, qrn.Below(x.member)), append(slots, j)
		}
	}
	return ranges, slots
}

// joining says that commitment = prod b^u, and that point = y^u if it is another one.
func (g *GroupKey) joining(commitment, point *qrn.Base) *qrn.Statement {
	ranges, slots := g.s.memberSecrets()
	st := &qrn.Statement{P: g.s.p, Secrets: ranges}
	var terms []qrn.Term
	for i, j := range slots {
		terms = append(terms, pow(g.base[g.s.slots[j].base], i))
	}
	st.Rel = append(st.Rel, relation(terms, qrn.Factor{Base: commitment}))
	if point != nil {
		st.Rel = append(st.Rel, relation([]qrn.Term{pow(g.base["y"], g.s.point)}, qrn.Factor{Base: point}))
	}
	return st
}

// bases decodes the elements of a request.
func (g *GroupKey) bases(r *Request) (commitment, point *qrn.Base, err error) {
	if g.s.point < 0 {
		if len(r.commitment) != 0 {
			return nil, nil, errors.New("a commitment beside the point")
		}
		el, err := g.n.Decode(r.point)
		if err != nil {
			return nil, nil, err
		}
		return g.n.NewBase(el), nil, nil
	}
	el, err := g.n.Decode(r.commitment)
	if err != nil {
		return nil, nil, err
	}
	sub := g.base["y"].G
	p, err := sub.Decode(r.point)
	if err != nil {
		return nil, nil, err
	}
	return g.n.NewBase(el), sub.NewBase(p), nil
}

func (g *GroupKey) record(c *join.Challenge, r *Request) *join.Record {
	return &join.Record{
		Scheme: g.s.name, GroupID: g.id, Session: c.Session, Member: c.Member,
		Point: r.point, Key: r.key, Signature: r.sig,
	}
}

// MarshalBinary returns the canonical encoding.
func (r *Request) MarshalBinary() ([]byte, error) {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(r.session[:])
	e.Bytes(r.point)
	e.Bytes(r.commitment)
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
	q.point = d.Bytes("point", join.MaxPoint)
	q.commitment = d.Bytes("commitment", 1024)
	q.proof = d.Bytes("proof", 8192)
	q.key = d.Bytes("key", ed25519.PublicKeySize)
	q.sig = d.Bytes("signature", ed25519.SignatureSize)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("strongrsa: request: %w", err)
	}
	*r = q
	return nil
}

// A Join is a member's side between its request and the issuer's answer. It is secret.
type Join struct {
	g         *GroupKey
	challenge join.Challenge
	u         []modexp.Nat // by slot; nil where the member draws nothing
	request   Request
}

// NewJoin answers an issuer's challenge. The fingerprint is the group's as it is
// published.
func NewJoin(g *GroupKey, fingerprint [32]byte, c *join.Challenge, member string, key ed25519.PrivateKey) (*Join, error) {
	if g.id != fingerprint {
		return nil, errors.New("strongrsa: join: the group key isn't the published one")
	}
	if c.Scheme != g.s.name || c.GroupID != g.id || c.Kind != join.Schnorr {
		return nil, errors.New("strongrsa: join: the challenge is for another group")
	}
	if c.Member != member {
		return nil, fmt.Errorf("strongrsa: join: the challenge is for %q", c.Member)
	}
	j := &Join{g: g, challenge: *c, u: make([]modexp.Nat, len(g.s.slots))}
	_, slots := g.s.memberSecrets()
	var secrets []modexp.Nat
	z := g.n.M.One()
	for _, i := range slots {
		x := g.s.slots[i]
		j.u[i] = qrn.Random(func(b []byte) { rand.Read(b) }, x.member)
		secrets = append(secrets, j.u[i])
		g.n.M.Mul(z, z, g.base[x.base].Pow(j.u[i], x.member))
	}
	r := &j.request
	r.session = c.Session
	commitment := g.n.NewBase(z)
	var point *qrn.Base
	if r.point = commitment.Bytes(); g.s.point >= 0 {
		r.commitment = r.point
		y := g.base["y"]
		point = y.G.NewBase(y.Pow(j.u[g.s.point], g.s.slots[g.s.point].member))
		r.point = point.Bytes()
	}
	var err error
	if r.proof, err = g.joining(commitment, point).Prove(g.s.dst("join"), j.challenge.Context(nil), secrets); err == nil {
		rec := g.record(c, r)
		err = rec.Sign(key)
		r.key, r.sig = rec.Key, rec.Signature
	}
	if err != nil {
		j.Wipe()
		return nil, fmt.Errorf("strongrsa: join: %w", err)
	}
	return j, nil
}

// Request returns the message to the issuer.
func (j *Join) Request() *Request {
	r := j.request
	return &r
}

// Wipe overwrites the secrets. The Join is of no use afterwards.
func (j *Join) Wipe() {
	qrn.Wipe(j.u...)
	j.u = nil
}

// String shows nothing of the secrets.
func (j Join) String() string { return fmt.Sprintf("strongrsa.Join(%q)", j.challenge.Member) }

// GoString is String.
func (j Join) GoString() string { return j.String() }

// Format writes String, whatever the verb.
func (j Join) Format(f fmt.State, _ rune) { fmt.Fprint(f, j.String()) }

// NewSessions returns a table of sessions.
func (g *GroupKey) NewSessions() *join.Sessions { return join.NewSessions(g.s.name, g.id) }

// NewRegister returns a register in which signatures' signers are found.
func (g *GroupKey) NewRegister() *join.Register {
	return join.NewRegisterBy(g.s.name, g.id, func(r *join.Record) []byte {
		if g.s.point >= 0 {
			return r.Point
		}
		if len(r.Evidence) < g.n.Size() {
			return nil
		}
		return r.Evidence[:g.n.Size()]
	})
}

// Invite opens a session for a member whose long-term key the issuer knows.
func (k *IssuerKey) Invite(s *join.Sessions, member string, key ed25519.PublicKey, now, lifetime int64) (*join.Challenge, error) {
	if k.f == nil {
		return nil, errWiped
	}
	c, err := s.Open(member, key, join.Schnorr, now, lifetime)
	if err != nil {
		return nil, fmt.Errorf("strongrsa: invite: %w", err)
	}
	return c, nil
}

// Issue answers a request with a credential. The same request again gets the same
// answer.
func (k *IssuerKey) Issue(g *GroupKey, s *join.Sessions, register *join.Register, r *Request, now int64) (*Credential, error) {
	if k.f == nil {
		return nil, errWiped
	}
	if k.s != g.s || k.f.N().Cmp(g.n.N()) != 0 {
		return nil, errors.New("strongrsa: issue: the group has another issuer")
	}
	m2, err := r.MarshalBinary()
	if err != nil {
		return nil, err
	}
	m3, err := s.Answer(r.session, m2, now, func(c *join.Challenge, key ed25519.PublicKey) ([]byte, error) {
		if c.Scheme != g.s.name || c.GroupID != g.id || c.Session != r.session {
			return nil, errors.New("the request is for another group or session")
		}
		rec := g.record(c, r)
		if err := register.Check(c.Member, rec.Point, 0); err != nil {
			return nil, err
		}
		commitment, point, err := g.bases(r)
		if err != nil {
			return nil, err
		}
		if err := g.joining(commitment, point).VerifyVarTime(g.s.dst("join"), c.Context(nil), r.proof); err != nil {
			return nil, err
		}
		if err := rec.Verify(key); err != nil {
			return nil, err
		}
		cred, err := k.credential(g, r.session, commitment)
		if err != nil {
			return nil, err
		}
		rec.Evidence = cred.evidence(g)
		if err := register.Admit(rec, 0); err != nil {
			return nil, err
		}
		return cred.MarshalBinary()
	})
	if err != nil {
		return nil, fmt.Errorf("strongrsa: issue: %w", err)
	}
	out := new(Credential)
	return out, out.UnmarshalBinary(m3)
}

// credential draws e and the issuer's parts of secrets, hedged, and takes the root.
func (k *IssuerKey) credential(g *GroupKey, session join.SessionID, commitment *qrn.Base) (*Credential, error) {
	factor := k.f.Secret()
	secret := new(transcript.Items).Grow(len(factor)+64).Bytes("p", factor)
	clear(factor)
	n := transcript.NewNonces(g.s.dst("issue"), secret, g.items().Bytes("sid", session[:]).Bytes("C", commitment.Bytes()))
	defer n.Wipe()
	defer secret.Wipe()
	c := &Credential{session: session}
	e := qrn.Prime(g.s.e, n.Read)
	c.e = qrn.Fill(e, g.s.e.Bits)
	parts := make([]modexp.Nat, len(g.s.slots))
	for i, x := range g.s.slots {
		if x.issuer > 0 {
			parts[i] = qrn.Random(n.Read, x.issuer)
			c.parts = append(c.parts, qrn.Fill(parts[i], x.issuer))
		}
	}
	a, err := k.f.Root(g.n, g.n.Mul(commitment.X, g.issued(parts)), g.s.e.Full(e), g.s.e.FullBits())
	if err != nil {
		return nil, err
	}
	c.a = g.n.Encode(a)
	return c, nil
}

// issued returns c · prod b^(low + v), without the member's parts, in constant time.
func (g *GroupKey) issued(parts []modexp.Nat) *modexp.Element {
	z := g.base[g.s.constant].X
	for i, x := range g.s.slots {
		v := parts[i]
		if v == nil {
			if x.r.Low.Sign() == 0 {
				continue
			}
			v = modexp.NewNat(1)
		}
		full := x.r.Full(v)
		z = g.n.Mul(z, g.pow(x.base, full))
		full.Wipe()
	}
	return z
}

// A Credential is the issuer's answer. It is secret until the member has it, since
// with it signatures of the member can be told.
type Credential struct {
	session join.SessionID
	a, e    []byte
	parts   [][]byte // what the issuer has drawn
}

// evidence is what an opener needs of a credential.
func (c *Credential) evidence(g *GroupKey) []byte {
	if g.s.point >= 0 {
		return nil
	}
	return bytes.Join(append([][]byte{c.a, c.e}, c.parts...), nil)
}

// MarshalBinary returns the canonical encoding.
func (c *Credential) MarshalBinary() ([]byte, error) {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Fixed(c.session[:])
	e.Bytes(c.a)
	e.Bytes(c.e)
	e.U8(uint8(len(c.parts)))
	for _, b := range c.parts {
		e.Bytes(b)
	}
	return e.Data(), nil
}

// UnmarshalBinary decodes a credential. The member checks it.
func (c *Credential) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	var q Credential
	d.Read("session", q.session[:])
	q.a = d.Bytes("A", 1024)
	q.e = d.Bytes("e", 4096)
	n := int(d.U8("count"))
	for range min(n, 4) {
		q.parts = append(q.parts, d.Bytes("part", 4096))
	}
	if n > 4 {
		d.Fail("count", "too many parts")
	}
	if err := d.Finish(); err != nil {
		return fmt.Errorf("strongrsa: credential: %w", err)
	}
	*c = q
	return nil
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package legacy

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"sync"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/legacy/internal/qrn"
	"github.com/undersign/undersign/groupsig/legacy/internal/strongrsa"
)

// Joins are within a process, so that times don't matter.
const (
	now      = 1
	lifetime = 1
)

// rsaSchemes returns acjt00, kty04 and cg05, which are made when they are first wanted.
var rsaSchemes = sync.OnceValue(func() [3]*rsaScheme {
	return [...]*rsaScheme{newRSA(strongrsa.ACJT00), newRSA(strongrsa.KTY04), newRSA(strongrsa.CG05)}
})

type rsaScheme struct{ s *strongrsa.Scheme }

func newRSA(f func(qrn.Params) (*strongrsa.Scheme, error)) *rsaScheme {
	s, err := f(qrn.Standard)
	if err != nil {
		panic("legacy: " + err.Error())
	}
	return &rsaScheme{s}
}

func (s *rsaScheme) Name() string { return s.s.Name() }
func (s *rsaScheme) sealed()      {}

func (s *rsaScheme) Setup(ctx context.Context, label string) (Group, error) {
	issuer, err := s.s.GenerateIssuer(ctx)
	if err != nil {
		return nil, err
	}
	return s.group(issuer, label)
}

// group makes the group of an issuer.
func (s *rsaScheme) group(issuer *strongrsa.IssuerKey, label string) (Group, error) {
	gk, opener, err := s.s.Setup(label, issuer.N())
	if err != nil {
		return nil, err
	}
	g := &rsaGroup{
		rsaVerifier: rsaVerifier{gk}, issuer: issuer, opener: opener,
		sessions: gk.NewSessions(), issued: gk.NewRegister(), known: gk.NewRegister(),
	}
	if s.s.Traceable() {
		return &tracingGroup{g}, nil
	}
	return g, nil
}

func (s *rsaScheme) ParsePublicKey(data []byte) (Verifier, error) {
	gk, err := s.s.ParseGroupKey(data)
	if err != nil {
		return nil, err
	}
	if s.s.Traceable() {
		return claimVerifier{rsaVerifier{gk}}, nil
	}
	return rsaVerifier{gk}, nil
}

type rsaVerifier struct{ gk *strongrsa.GroupKey }

func (v rsaVerifier) PublicKey() []byte {
	b, _ := v.gk.MarshalBinary() // never fails
	return b
}

func (v rsaVerifier) ID() [32]byte       { return v.gk.ID() }
func (v rsaVerifier) SignatureSize() int { return v.gk.Scheme().SignatureSize() }

func (v rsaVerifier) Verify(msg, context, sig []byte) error { return v.gk.Verify(msg, context, sig) }

func (v rsaVerifier) VerifyOpening(msg, context, sig, opening []byte, key ed25519.PublicKey) (string, error) {
	var o strongrsa.Opening
	if err := o.UnmarshalBinary(opening); err != nil {
		return "", err
	}
	if err := v.gk.VerifyOpening(msg, context, sig, nil, &o, key); err != nil {
		return "", err
	}
	return o.Member(), nil
}

type claimVerifier struct{ rsaVerifier }

func (v claimVerifier) VerifyClaim(msg, context, sig, purpose, claim []byte) error {
	return v.verifyClaim(msg, context, sig, purpose, claim)
}

func (v rsaVerifier) verifyClaim(msg, context, sig, purpose, claim []byte) error {
	if err := v.gk.Verify(msg, context, sig); err != nil {
		return err
	}
	return v.gk.VerifyClaim(sig, purpose, claim)
}

type rsaGroup struct {
	rsaVerifier
	issuer        *strongrsa.IssuerKey
	opener        *strongrsa.OpenerKey
	mu            sync.Mutex // of sessions, of which one is open at a time
	sessions      *join.Sessions
	issued, known *join.Register // the issuer's and the opener's
}

func (g *rsaGroup) join(member string, key ed25519.PrivateKey) (*strongrsa.MemberKey, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	public, err := publicKey(key)
	if err != nil {
		return nil, err
	}
	c, err := g.issuer.Invite(g.sessions, member, public, now, lifetime)
	if err != nil {
		return nil, err
	}
	defer g.sessions.Cancel(c.Session)
	j, err := strongrsa.NewJoin(g.gk, g.gk.ID(), c, member, key)
	if err != nil {
		return nil, err
	}
	defer j.Wipe()
	cred, err := g.issuer.Issue(g.gk, g.sessions, g.issued, j.Request(), now)
	if err != nil {
		return nil, err
	}
	if err := g.opener.Record(g.known, g.issued.Member(member), public); err != nil {
		return nil, err
	}
	return j.Finish(cred)
}

// publicKey returns the public key of a long-term key.
func publicKey(key ed25519.PrivateKey) (ed25519.PublicKey, error) {
	if len(key) != ed25519.PrivateKeySize {
		return nil, fmt.Errorf("legacy: long-term key of %d bytes", len(key))
	}
	return key.Public().(ed25519.PublicKey), nil
}

func (g *rsaGroup) Join(member string, key ed25519.PrivateKey) (Member, error) {
	m, err := g.join(member, key)
	if err != nil {
		return nil, err
	}
	return plainMember{m}, nil
}

func (g *rsaGroup) Open(msg, context, sig []byte) (string, []byte, error) {
	o, err := g.opener.Open(g.known, msg, context, sig, nil)
	if err != nil {
		return "", nil, err
	}
	b, err := o.MarshalBinary()
	return o.Member(), b, err
}

// A plainMember hides the claims of MemberKey, which one scheme alone has.
type plainMember struct{ m *strongrsa.MemberKey }

func (m plainMember) Sign(msg, context []byte) ([]byte, error) { return m.m.Sign(msg, context) }
func (m plainMember) MarshalBinary() ([]byte, error)           { return m.m.MarshalBinary() }
func (m plainMember) Wipe()                                    { m.m.Wipe() }

// A tracingGroup is a group of KTY04.
type tracingGroup struct{ *rsaGroup }

func (g *tracingGroup) Join(member string, key ed25519.PrivateKey) (Member, error) {
	m, err := g.join(member, key)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (g *tracingGroup) VerifyClaim(msg, context, sig, purpose, claim []byte) error {
	return g.verifyClaim(msg, context, sig, purpose, claim)
}

func (g *tracingGroup) Trace(member string, msg, context, sig []byte) (bool, error) {
	if err := g.gk.Verify(msg, context, sig); err != nil {
		return false, err
	}
	r := g.known.Member(member)
	if r == nil {
		return false, errNoMember
	}
	d, err := g.gk.Reveal(r)
	if err != nil {
		return false, err
	}
	return d.Trace(sig)
}

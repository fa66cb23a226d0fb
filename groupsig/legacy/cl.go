// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package legacy

import (
	"context"
	"crypto/ed25519"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/legacy/internal/cl04"
)

type clScheme struct{}

func (clScheme) Name() string { return "cl04" }
func (clScheme) sealed()      {}

func (clScheme) Setup(_ context.Context, label string) (Group, error) {
	issuer := cl04.GenerateIssuerKey()
	gk, opener, err := cl04.Setup(label, issuer)
	if err != nil {
		return nil, err
	}
	return &clGroup{
		clVerifier: clVerifier{gk}, issuer: issuer, opener: opener,
		sessions: gk.NewSessions(), issued: gk.NewRegister(), known: gk.NewRegister(),
	}, nil
}

func (clScheme) ParsePublicKey(data []byte) (Verifier, error) {
	gk, err := cl04.ParseGroupKey(data)
	if err != nil {
		return nil, err
	}
	return clVerifier{gk}, nil
}

type clVerifier struct{ gk *cl04.GroupKey }

func (v clVerifier) PublicKey() []byte {
	b, _ := v.gk.MarshalBinary() // never fails
	return b
}

func (v clVerifier) ID() [32]byte       { return v.gk.ID() }
func (v clVerifier) SignatureSize() int { return cl04.SignatureSize }

func (v clVerifier) Verify(msg, context, sig []byte) error { return v.gk.Verify(msg, context, sig) }

func (v clVerifier) VerifyOpening(msg, context, sig, opening []byte, key ed25519.PublicKey) (string, error) {
	var o cl04.Opening
	if err := o.UnmarshalBinary(opening); err != nil {
		return "", err
	}
	if err := v.gk.VerifyOpening(msg, context, sig, nil, &o, key); err != nil {
		return "", err
	}
	return o.Member(), nil
}

type clGroup struct {
	clVerifier
	issuer        *cl04.IssuerKey
	opener        *cl04.OpenerKey
	sessions      *join.Sessions
	issued, known *join.Register // the issuer's and the opener's
}

func (g *clGroup) Join(member string, key ed25519.PrivateKey) (Member, error) {
	public, err := publicKey(key)
	if err != nil {
		return nil, err
	}
	c, err := g.issuer.Invite(g.sessions, member, public, join.Fischlin, now, lifetime)
	if err != nil {
		return nil, err
	}
	defer g.sessions.Cancel(c.Session)
	j, err := cl04.NewJoin(g.gk, g.gk.ID(), c, member, key)
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
	m, err := j.Finish(cred)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (g *clGroup) Open(msg, context, sig []byte) (string, []byte, error) {
	o, err := g.opener.Open(g.known, msg, context, sig, nil)
	if err != nil {
		return "", nil, err
	}
	b, err := o.MarshalBinary()
	return o.Member(), b, err
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"bytes"
	"crypto/ed25519"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// A GroupKey is the key of a group, or of one that is proposed: without proofs and lines.
// It is immutable.
type GroupKey struct {
	scheme      *Scheme
	label       string
	issuer      twoPoints // X, Y
	opener      openerPublic
	issuerProof []byte
	openerProof []byte
	id          [32]byte

	X, Y, P2 *bls12381.Lines
	Tokens   *Group
}

// Propose returns the key of a group that isn't agreed on, from the encodings of the public
// halves.
func (s *Scheme) Propose(label string, issuer, opener []byte) (*GroupKey, error) {
	g := &GroupKey{scheme: s, label: label}
	err := join.CheckLabel(label)
	if err != nil {
		return nil, s.errorf("%w", err)
	}
	if g.issuer, err = decodeIssuer(issuer); err != nil {
		return nil, s.errorf("issuer: %w", err)
	}
	if g.opener, err = decodeOpener(s, opener); err != nil {
		return nil, s.errorf("opener: %w", err)
	}
	g.id = g.opener.items(s, new(transcript.Items).Bytes("dst", []byte("undersign/groupsig/v1/gid")).
		Bytes("scheme", []byte(s.Name)).Bytes("label", []byte(label)).Uint64("features", 0).
		G2("X", &g.issuer[0]).G2("Y", &g.issuer[1])).Sum()
	return g, nil
}

// NewGroupKey makes the key of a proposed group that both have consented to: it checks the
// proofs of possession, and precomputes lines.
func (s *Scheme) NewGroupKey(label string, issuer, opener, issuerProof, openerProof []byte) (*GroupKey, error) {
	g, err := s.Propose(label, issuer, opener)
	if err != nil {
		return nil, err
	}
	g.issuerProof, g.openerProof = bytes.Clone(issuerProof), bytes.Clone(openerProof)
	if err := g.issuer.verify(g.pop(), g.Items(), g.issuerProof); err != nil {
		return nil, s.errorf("group key: issuer's proof: %w", err)
	}
	if err := g.verifyOpener(); err != nil {
		return nil, s.errorf("group key: opener's proof: %w", err)
	}
	g.X = bls12381.NewLinesVarTime(&g.issuer[0])
	g.Y = bls12381.NewLinesVarTime(&g.issuer[1])
	g.P2 = bls12381.NewLinesVarTime(bls12381.G2Generator())
	g.Tokens = &Group{Scheme: s.Name, ID: g.id, Q: g.P2, Opener: g.opener.list, Points: s.Points}
	if !s.Encrypted {
		g.Tokens.Q = g.Y
	}
	return g, nil
}

// Items are the items that every transcript begins with: gid, and no version.
func (g *GroupKey) Items() *transcript.Items {
	id := g.ID()
	return new(transcript.Items).Bytes("gid", id[:]).Bytes("ver", nil)
}

// IssuerY returns Y.
func (g *GroupKey) IssuerY() *bls12381.G2 { return &g.issuer[1] }

// pop is the tag of proofs of possession.
func (g *GroupKey) pop() []byte { return g.scheme.DST("pop") }

// consent is what the opener's Ed25519 key signs.
func (g *GroupKey) consent() []byte {
	return new(transcript.Items).Bytes("dst", g.pop()).Append(g.Items()).Data()
}

// ID returns the group's fingerprint, gid.
func (g *GroupKey) ID() [32]byte {
	if g == nil {
		return [32]byte{}
	}
	return g.id
}

// Label returns what the group is called.
func (g *GroupKey) Label() string {
	if g == nil {
		return ""
	}
	return g.label
}

// Equal reports whether x is the same key.
func (g *GroupKey) Equal(x *GroupKey) bool {
	return g != nil && x != nil && bytes.Equal(g.encode(), x.encode())
}

func (g *GroupKey) encode() []byte {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Bytes([]byte(g.label))
	g.issuer.append(&e)
	g.opener.append(g.scheme, &e)
	e.Fixed(g.issuerProof)
	e.Fixed(g.openerProof)
	return e.Data()
}

// MarshalBinary returns the canonical encoding.
func (g *GroupKey) MarshalBinary() ([]byte, error) {
	if g == nil {
		return nil, errNoGroup
	}
	return g.encode(), nil
}

// ParseGroupKey decodes a group key and checks its proofs of possession.
func (s *Scheme) ParseGroupKey(data []byte) (*GroupKey, error) {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	label := d.Bytes("label", join.MaxLabel)
	var issuer twoPoints
	issuer.read(d, issuerPoints)
	var opener openerPublic
	opener.read(s, d)
	a := d.Fixed("issuer's proof", twoProofSize)
	b := d.Fixed("opener's proof", s.openerProofSize())
	if err := d.Finish(); err != nil {
		return nil, s.errorf("group key: %w", err)
	}
	return s.NewGroupKey(string(label), encodeIssuer(&issuer), opener.encode(s), a, b)
}

// NewSessions returns an empty table for the group's issuer.
func (g *GroupKey) NewSessions() *join.Sessions {
	if g == nil {
		return join.NewSessions("", [32]byte{})
	}
	return join.NewSessions(g.scheme.Name, g.id)
}

// NewRegister returns an empty register for the group's issuer or its opener. Where points
// don't determine tokens, it has none twice.
func (g *GroupKey) NewRegister() *join.Register {
	switch {
	case g == nil:
		return join.NewRegister("", [32]byte{}, 0)
	case g.scheme.Points != nil:
		return join.NewRegisterBy(g.scheme.Name, g.id, Mark)
	}
	return join.NewRegister(g.scheme.Name, g.id, 0)
}

// Check returns the options, which may be nil, if the list in them is fresh.
func (g *GroupKey) Check(o *VerifyOptions) (VerifyOptions, error) {
	if g == nil {
		return o.Check(nil)
	}
	return o.Check(g.Tokens)
}

// VerifyOpening checks an opening of a signature that the caller has verified.
func (g *GroupKey) VerifyOpening(t *Target, o *Opening, key ed25519.PublicKey, context []byte) error {
	if err := g.Tokens.VerifyOpening(t, o, key, context); err != nil {
		return g.scheme.errorf("opening: %w", err)
	}
	return nil
}

// ParseRevocationList decodes a list and checks the opener's signature.
func (g *GroupKey) ParseRevocationList(data []byte) (*List, error) {
	if g == nil {
		return nil, errNoGroup
	}
	l, err := g.Tokens.ParseList(data)
	if err != nil {
		return nil, g.scheme.errorf("revocation list: %w", err)
	}
	return l, nil
}

// MarkListed marks those records in the issuer's register that are revoked there, and
// whose tokens a list in force has, and returns their number.
func (g *GroupKey) MarkListed(register *join.Register, l *List, now int64) (int, error) {
	if g == nil {
		return 0, errNoGroup
	}
	return g.Tokens.MarkListed(register, l, now)
}

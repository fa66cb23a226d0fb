// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package sdhtest tests once, on the types of each, what the packages around the SDH core
// have in common: BBS04, DP06, HLCCN11 and CPY06. The core has its own tests, and what
// distinguishes a scheme is in the tests of its package.
package sdhtest

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sdh"
)

// Now is when everything happens, in seconds since 1970.
const Now = 1_000_000

// Context is what all signatures are for.
var Context = []byte("context")

// What the types of all do.
type (
	codec interface {
		encoding.BinaryMarshaler
		encoding.BinaryUnmarshaler
	}
	secret interface {
		encoding.BinaryMarshaler
		Wipe()
	}
	draft interface {
		codec
		ID() [32]byte
	}
	// A Role has a key in a draft.
	Role[D any] interface {
		secret
		encoding.BinaryUnmarshaler
		Enroll(D) error
		Consent(D) error
	}
	groupKey[G, N, M any] interface {
		codec
		ID() [32]byte
		Label() string
		Equal(G) bool
		SignatureSize() int
		NewRegister() *join.Register
		NewSessions() *join.Sessions
		NewJoin(fingerprint [32]byte, c *join.Challenge, member string, key ed25519.PrivateKey) (N, []byte, error)
		ParsePending([]byte) (N, error)
		ParseMemberKey([]byte) (M, error)
		Verify(msg, sig, context []byte) error
		SignatureID(sig []byte) ([32]byte, error)
		FindRecord(register *join.Register, value []byte) *join.Record
		VerifyOpening(msg, sig, context []byte, o *sdh.Opening, key ed25519.PublicKey, reason []byte) error
	}
	issuerKey[D, G any] interface {
		Role[D]
		Issue(g G, sessions *join.Sessions, register *join.Register, application []byte, now int64) ([]byte, error)
	}
	openerKey[D, G any] interface {
		Role[D]
		Open(g G, register *join.Register, msg, sig, context, reason []byte) (*sdh.Opening, error)
		CheckRecord(g G, r *join.Record, key ed25519.PublicKey) error
	}
	pending[G, M any] interface {
		secret
		Group() G
		Finish(credential []byte) (M, error)
	}
	memberKey[G any] interface {
		secret
		Member() string
		GroupKey() G
		Sign(msg, context []byte) ([]byte, error)
	}
	// A Batch verifies many signatures.
	Batch interface {
		Add(msg, sig, context []byte)
		Len() int
		Verify() error
	}
)

// A Suite is what a package declares: its types are a draft, the keys of a group, an issuer
// and an opener, a pending member and its key.
type Suite[D draft, G groupKey[G, N, M], I issuerKey[D, G], O openerKey[D, G], N pending[G, M], M memberKey[G]] struct {
	SignatureSize int

	NewDraft    func(label string) (D, error)
	NewGroupKey func(D) (G, error)
	NewIssuer   func() I
	NewOpener   func() O
	Linker      func() Role[D] // nil if there is none
	Batch       func(G) Batch
	ZeroBatch   func() Batch
	Zero        func() (D, G, I, O, N, M)
	ZeroOthers  []any    // of what this package knows nothing of
	ZeroFine    []string // methods of those that return no error
}

// A Group is what the roles of a group have.
type Group[D draft, G groupKey[G, N, M], I issuerKey[D, G], O openerKey[D, G], N pending[G, M], M memberKey[G]] struct {
	T        testing.TB
	Key      G
	Issuer   I
	Opener   O
	Linker   Role[D]
	Sessions *join.Sessions
	Register *join.Register
}

// LongTerm returns a member's long-term key.
func LongTerm(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// Public returns its public half.
func Public(name string) ed25519.PublicKey { return LongTerm(name).Public().(ed25519.PublicKey) }

// Check fails the test if there is an error.
func (g *Group[D, G, I, O, N, M]) Check(err error) {
	g.T.Helper()
	if err != nil {
		g.T.Fatal(err)
	}
}

// Again passes a state through its encoding.
func Again[T encoding.BinaryMarshaler](t testing.TB, v T, parse func([]byte) (T, error)) T {
	t.Helper()
	b, err := v.MarshalBinary()
	if err == nil {
		v, err = parse(b)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// into is a parse function of what is decoded into a new one.
func into[T encoding.BinaryUnmarshaler](v T) func([]byte) (T, error) {
	return func(b []byte) (T, error) { return v, v.UnmarshalBinary(b) }
}

// New makes a group.
func (s *Suite[D, G, I, O, N, M]) New(t testing.TB) *Group[D, G, I, O, N, M] {
	t.Helper()
	return s.With(t, s.NewDraft)
}

// With makes a group of a draft by another function.
func (s *Suite[D, G, I, O, N, M]) With(t testing.TB, newDraft func(label string) (D, error)) *Group[D, G, I, O, N, M] {
	t.Helper()
	d, err := newDraft("test")
	if err != nil {
		t.Fatal(err)
	}
	g := &Group[D, G, I, O, N, M]{T: t, Issuer: s.NewIssuer(), Opener: s.NewOpener()}
	roles := []Role[D]{g.Issuer, g.Opener}
	if s.Linker != nil {
		g.Linker = s.Linker()
		roles = append(roles, g.Linker)
	}
	for _, r := range roles {
		g.Check(r.Enroll(d))
	}
	for _, r := range roles {
		if _, err := s.NewGroupKey(d); err == nil {
			t.Error("a group key without all consents")
		}
		g.Check(r.Consent(d))
		next, _, _, _, _, _ := s.Zero()
		d = Again(t, d, into(next))
	}
	k, err := s.NewGroupKey(d)
	g.Check(err)
	_, zero, _, _, _, _ := s.Zero()
	g.Key = Again(t, k, into(zero))
	if !k.Equal(g.Key) || k.ID() != d.ID() || k.Label() != "test" {
		t.Error("the group key isn't that of its draft")
	}
	g.Sessions, g.Register = g.Key.NewSessions(), g.Key.NewRegister()
	return g
}

// Join runs the protocol, with every message and state through its encoding.
func (g *Group[D, G, I, O, N, M]) Join(member string) M {
	g.T.Helper()
	c, err := g.Sessions.Open(member, Public(member), join.Fischlin, Now, 3600)
	g.Check(err)
	p, m2, err := g.Key.NewJoin(g.Key.ID(), Again(g.T, c, into(new(join.Challenge))), member, LongTerm(member))
	g.Check(err)
	p = Again(g.T, p, g.Key.ParsePending)
	g.Sessions = Again(g.T, g.Sessions, into(g.Key.NewSessions()))
	m3, err := g.Issuer.Issue(g.Key, g.Sessions, g.Register, m2, Now)
	g.Check(err)
	g.Register = Again(g.T, g.Register, into(g.Key.NewRegister()))
	g.Check(g.Opener.CheckRecord(g.Key, g.Register.Member(member), Public(member)))
	m, err := p.Finish(m3)
	g.Check(err)
	m = Again(g.T, m, g.Key.ParseMemberKey)
	if m.Member() != member || !m.GroupKey().Equal(g.Key) || !p.Group().Equal(g.Key) {
		g.T.Error("another member, or another group")
	}
	return m
}

// Sign signs for the context.
func (g *Group[D, G, I, O, N, M]) Sign(m M, msg string) []byte {
	g.T.Helper()
	sig, err := m.Sign([]byte(msg), Context)
	g.Check(err)
	return sig
}

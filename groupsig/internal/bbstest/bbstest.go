// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package bbstest tests once, on the types of each, what the packages around the BBS core
// have in common: GL19, DL21, DL21SEQ and BBS-GS. The core has its own tests, and what
// distinguishes a scheme is in the tests of its package.
package bbstest

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/bbs"
	"github.com/undersign/undersign/groupsig/internal/join"
)

// Now is when everything happens, in seconds since 1970.
const Now = 1_000_000

// Terms are those of lists and announcements.
var Terms = bbs.Terms{Number: 4, Issued: Now, Expires: Now + 10}

// What the types of all four do.
type (
	codec interface {
		encoding.BinaryMarshaler
		encoding.BinaryUnmarshaler
	}
	// A Role has a key in a draft.
	Role[D any] interface {
		Enroll(D)
		Consent(D) error
	}
	secret interface {
		encoding.BinaryMarshaler
		Wipe()
	}
	groupKey[G, N, M any] interface {
		codec
		ID() [32]byte
		Equal(G) bool
		SignatureSize() int
		NewRegister() *join.Register
		NewSessions() *join.Sessions
		NewJoin(fingerprint [32]byte, c *join.Challenge, member string, key ed25519.PrivateKey) (N, []byte, error)
		ParsePending([]byte) (N, error)
		ParseMemberKey([]byte) (M, error)
		ParseAnnouncement([]byte) (*bbs.Announcement, error)
		Verify(msg, sig []byte, opts bbs.VerifyOptions) error
		SignatureID(msg, scope, sig []byte) ([32]byte, error)
		Compact(msg, scope, sig []byte) ([]byte, error)
		ForBatch(scope, sig []byte) ([]byte, error)
		VerifyOpening(msg, sig []byte, opts bbs.VerifyOptions, o *bbs.Opening, key ed25519.PublicKey, context []byte) error
	}
	issuerKey[D, G any] interface {
		secret
		codec
		Role[D]
		Issue(g G, sessions *join.Sessions, register *join.Register, application []byte, now int64, epoch uint64) ([]byte, error)
		Reissue(g G, register *join.Register, member string, epoch uint64) ([]byte, error)
		Announce(g G, terms bbs.Terms, oldest, epoch uint64) (*bbs.Announcement, error)
	}
	openerKey[D, G any] interface {
		secret
		codec
		Role[D]
		Open(g G, register *join.Register, msg, sig []byte, opts bbs.VerifyOptions, context []byte) (*bbs.Opening, error)
		CheckRecord(g G, r *join.Record, key ed25519.PublicKey) error
	}
	pending[G, M any] interface {
		secret
		Finish(credential []byte, epoch uint64) (M, error)
	}
	memberKey interface {
		secret
		Epoch() uint64
		Update(credential []byte, epoch uint64) error
		Sign(msg []byte, opts bbs.SignOptions) ([]byte, error)
	}
	// A Batch verifies many signatures.
	Batch interface {
		Add(msg, sig []byte, opts bbs.VerifyOptions)
		Len() int
		Verify() error
	}

	// What those do that have it.
	revoker[G any] interface {
		RevocationList(g G, terms bbs.Terms, v bbs.Revoked) (*bbs.Revocation, error)
	}
	revocable interface {
		ParseRevocation([]byte) (*bbs.Revocation, error)
		MarkListed(register *join.Register, r *bbs.Revocation, now int64) (int, error)
		Pseudonym(sig []byte) ([]byte, error)
	}
)

// A Suite is what a package declares: its types are a draft, the keys of a group, an issuer
// and an opener, a pending member and its key.
type Suite[D codec, G groupKey[G, N, M], I issuerKey[D, G], O openerKey[D, G], N pending[G, M], M memberKey] struct {
	Features      bbs.Features // of the groups that are tested
	Epoch         uint64       // of their credentials
	Scope         []byte       // of signatures
	Known         bbs.Features // all that the scheme may have
	SizeFeatures  bbs.Features // of the group whose signatures have SignatureSize
	SignatureSize int

	NewDraft    func(label string, f bbs.Features) (D, error)
	NewGroupKey func(D) (G, error)
	NewIssuer   func() I
	NewOpener   func(f bbs.Features) (O, error)
	Converter   func() Role[D] // nil if there is none
	Batch       func(G) Batch
	ZeroBatch   func() Batch
	Zero        func() (D, G, I, O, N, M)
	ZeroOthers  []any // of what this package knows nothing of

	Links *Links[G, M] // nil if members don't link signatures
}

// Links are the claims and links of a package.
type Links[G, M any] struct {
	Identify    func(m M, s Signed) (bool, error)
	Claim       func(m M, s Signed, context []byte) ([]byte, error)
	VerifyClaim func(g G, s Signed, context, claim []byte) error
	Link        func(m M, set []Signed, context []byte) ([]byte, error)
	VerifyLink  func(g G, set []Signed, context, link []byte) error

	// Those of an order, or nil.
	SequenceIndex      func(m M) uint64
	SequenceLink       func(m M, set []Signed, context []byte, first bool) ([]byte, error)
	VerifySequenceLink func(g G, set []Signed, context, link []byte, first bool) error
}

// Signed is what the packages have a type of their own for.
type Signed struct {
	Message   []byte
	Signature []byte
	Options   bbs.VerifyOptions
}

// Set returns a set of signatures in a package's type.
func Set[T ~struct {
	Message   []byte
	Signature []byte
	Options   bbs.VerifyOptions
}](set []Signed) []T {
	out := make([]T, len(set))
	for i, s := range set {
		out[i] = T(s)
	}
	return out
}

// A Group is what the roles of a group have.
type Group[D codec, G groupKey[G, N, M], I issuerKey[D, G], O openerKey[D, G], N pending[G, M], M memberKey] struct {
	T         testing.TB
	s         *Suite[D, G, I, O, N, M]
	Key       G
	Issuer    I
	Opener    O
	Converter Role[D]
	Sessions  *join.Sessions
	Register  *join.Register
}

// LongTerm returns a member's long-term key.
func LongTerm(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// Public returns its public half.
func Public(name string) ed25519.PublicKey { return LongTerm(name).Public().(ed25519.PublicKey) }

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
func (s *Suite[D, G, I, O, N, M]) New(t testing.TB, label string, f bbs.Features) *Group[D, G, I, O, N, M] {
	t.Helper()
	d, err := s.NewDraft(label, f)
	if err != nil {
		t.Fatal(err)
	}
	g := &Group[D, G, I, O, N, M]{T: t, s: s, Issuer: s.NewIssuer()}
	g.Issuer.Enroll(d)
	roles := []Role[D]{g.Issuer}
	if f&bbs.Escrow != 0 {
		if g.Opener, err = s.NewOpener(f); err != nil {
			t.Fatal(err)
		}
		g.Opener.Enroll(d)
		roles = append(roles, g.Opener)
	}
	if s.Converter != nil {
		g.Converter = s.Converter()
		g.Converter.Enroll(d)
		roles = append(roles, g.Converter)
	}
	// The draft goes from role to role as a file.
	for _, r := range roles {
		if err := r.Consent(d); err != nil {
			t.Fatal(err)
		}
		d = Again(t, d, into(d))
	}
	if g.Key, err = s.NewGroupKey(d); err != nil {
		t.Fatal(err)
	}
	g.Sessions, g.Register = g.Key.NewSessions(), g.Key.NewRegister()
	return g
}

// Join runs the protocol, with every message and state through its encoding.
func (g *Group[D, G, I, O, N, M]) Join(member string) M {
	g.T.Helper()
	check := func(err error) {
		g.T.Helper()
		if err != nil {
			g.T.Fatal(err)
		}
	}
	c, err := g.Sessions.Open(member, Public(member), join.Fischlin, Now, 3600)
	check(err)
	c = Again(g.T, c, into(new(join.Challenge)))
	p, m2, err := g.Key.NewJoin(g.Key.ID(), c, member, LongTerm(member))
	check(err)
	p = Again(g.T, p, g.Key.ParsePending)
	g.Sessions = Again(g.T, g.Sessions, into(g.Key.NewSessions()))
	m3, err := g.Issuer.Issue(g.Key, g.Sessions, g.Register, m2, Now, g.s.Epoch)
	check(err)
	g.Register = Again(g.T, g.Register, into(g.Key.NewRegister()))
	m, err := p.Finish(m3, g.s.Epoch)
	check(err)
	return Again(g.T, m, g.Key.ParseMemberKey)
}

// Options are what a verifier of signatures by Sign demands.
func (s *Suite[D, G, I, O, N, M]) Options() bbs.VerifyOptions {
	return bbs.VerifyOptions{Scope: s.Scope, MinEpoch: s.Epoch, MaxEpoch: s.Epoch}
}

// Sign signs in the suite's scope.
func (g *Group[D, G, I, O, N, M]) Sign(m M, msg string) []byte {
	g.T.Helper()
	sig, err := m.Sign([]byte(msg), bbs.SignOptions{Scope: g.s.Scope})
	if err != nil {
		g.T.Fatal(err)
	}
	return sig
}

// Pseudonym returns that of a signature.
func (g *Group[D, G, I, O, N, M]) Pseudonym(sig []byte) []byte {
	g.T.Helper()
	nym, err := any(g.Key).(revocable).Pseudonym(sig)
	if err != nil {
		g.T.Fatal(err)
	}
	return nym
}

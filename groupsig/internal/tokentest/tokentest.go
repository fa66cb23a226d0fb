// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package tokentest tests once, on the types of each, what PS16, KLAP20 and DS18 have in
// common. What a forger makes with knowledge of a scheme's equations is in the tests of
// the scheme's package.
package tokentest

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding"
	"sync"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/internal/bls12381"
)

// Now is when everything happens, in seconds since 1970.
const Now = 1_800_000_000

// What the types of all three do.
type (
	// A Codec has an encoding.
	Codec interface {
		encoding.BinaryMarshaler
		encoding.BinaryUnmarshaler
	}
	// A Secret can be wiped.
	Secret interface {
		Codec
		Wipe()
	}
	// A Batch verifies many signatures.
	Batch[S any] interface {
		Add(msg []byte, sig S)
		Len() int
		Verify() error
	}

	proposal[G any] interface {
		ID() ([32]byte, error)
		GroupKey(issuer, opener []byte) (G, error)
	}
	groupKey[G, S any] interface {
		Codec
		ID() [32]byte
		Label() string
		Equal(G) bool
		NewSessions() *join.Sessions
		NewRegister() *join.Register
		Verify(msg []byte, sig S, o *tokens.VerifyOptions) error
		VerifyOpening(msg []byte, sig S, o *tokens.Opening, key ed25519.PublicKey, opts *tokens.OpenOptions) error
		ParseRevocationList(data []byte) (*tokens.List, error)
		MarkListed(register *join.Register, l *tokens.List, now int64) (int, error)
	}
	issuerKey[P, G, I, R, C any] interface {
		Secret
		Public() []byte
		Equal(I) bool
		Consent(P) ([]byte, error)
		Issue(g G, s *join.Sessions, register *join.Register, r R, now int64) (C, error)
	}
	openerKey[P, G, O, S any] interface {
		Secret
		Public() []byte
		Equal(O) bool
		Consent(P) ([]byte, error)
		Record(g G, register *join.Register, r *join.Record, key ed25519.PublicKey) error
		Open(g G, register *join.Register, msg []byte, sig S, opts *tokens.OpenOptions) (*tokens.Opening, error)
		RevocationList(g G, register *join.Register, terms tokens.Terms) (*tokens.List, error)
	}
	pending[G, M, R, C any] interface {
		Secret
		Group() G
		Request() R
		Finish(C) (M, error)
	}
	memberKey[G, M any] interface {
		Secret
		Group() G
		Member() string
		Equal(M) bool
	}
	request interface {
		Codec
		Session() join.SessionID
	}
	signature[S any] interface {
		Codec
		Bytes() []byte
		ID() [32]byte
		Equal(S) bool
	}
)

// A Suite is what a package declares: its types are a proposal, the keys of a group, an
// issuer and an opener, a join, a member's key, a signature, a request and a credential.
type Suite[P proposal[G], G groupKey[G, S], I issuerKey[P, G, I, R, C], O openerKey[P, G, O, S],
	J pending[G, M, R, C], M memberKey[G, M], S signature[S], R request, C Codec] struct {
	Scheme        string
	SignatureSize int
	ErrSignature  error
	Points        string // of a signature's encoding: see hostile
	TokenAt       int    // where a point of the token is in the evidence of a record

	NewIssuer func() I
	NewOpener func() O
	Propose   func(label string, issuer, opener []byte) P
	Setup     func(label string, issuer I, opener O) (G, error)
	Invite    func(i I, s *join.Sessions, member string, key ed25519.PublicKey, now, lifetime int64) (*join.Challenge, error)
	NewJoin   func(g G, fingerprint [32]byte, c *join.Challenge, member string, key ed25519.PrivateKey) (J, error)
	Sign      func(m M, msg, context []byte) (S, error)
	Batch     func(g G, o *tokens.VerifyOptions) Batch[S]
	ZeroBatch func() Batch[S]
	Parse     func(raw []byte) (S, error)
	Zero      func() Zero[P, G, I, O, J, M, S, R, C]

	// What only the package can do.
	Answer     func(j J, c *join.Challenge, key ed25519.PrivateKey) (R, error) // with the secrets of j
	Credential func(i I, g G, r R) C                                           // that nobody registered
	Record     func(j J) *join.Record
	Token      func(j J) *bls12381.G2
	Core       func(g G, i I, o O) (*tokens.GroupKey, *tokens.IssuerKey, *tokens.OpenerKey)
	Secrets    func(m M, j J) [][]byte

	group, other *Fixture[P, G, I, O, J, M, S, R, C] // which tests don't change
	once         sync.Once
}

// Zero is a zero value of each type.
type Zero[P, G, I, O, J, M, S, R, C any] struct {
	Proposal   P
	GroupKey   G
	Issuer     I
	Opener     O
	Join       J
	Member     M
	Signature  S
	Request    R
	Credential C
}

// A Fixture is a group with its roles and members.
type Fixture[P proposal[G], G groupKey[G, S], I issuerKey[P, G, I, R, C], O openerKey[P, G, O, S],
	J pending[G, M, R, C], M memberKey[G, M], S signature[S], R request, C Codec] struct {
	suite    *Suite[P, G, I, O, J, M, S, R, C]
	Issuer   I
	Opener   O
	G        G
	Sessions *join.Sessions
	Register *join.Register // the issuer's
	Opening  *join.Register // the opener's
	Members  map[string]M
}

// LongTerm returns the long-term key of a test's member.
func LongTerm(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("long-term key of " + name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// LongTermPublic returns its public half.
func LongTermPublic(name string) ed25519.PublicKey {
	return LongTerm(name).Public().(ed25519.PublicKey)
}

// Must returns v.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Edits returns functions that change a copy of the first, with the second at hand.
func Edits[T any](edits map[string]func(v, other *T)) map[string]func(v, other *T) *T {
	out := make(map[string]func(v, other *T) *T)
	for name, edit := range edits {
		out[name] = func(v, other *T) *T {
			c := *v
			edit(&c, other)
			return &c
		}
	}
	return out
}

// New returns a group with members.
func (s *Suite[P, G, I, O, J, M, S, R, C]) New(label string, names ...string) *Fixture[P, G, I, O, J, M, S, R, C] {
	f := &Fixture[P, G, I, O, J, M, S, R, C]{suite: s, Issuer: s.NewIssuer(), Opener: s.NewOpener(), Members: make(map[string]M)}
	f.G = Must(s.Setup(label, f.Issuer, f.Opener))
	f.Sessions, f.Register, f.Opening = f.G.NewSessions(), f.G.NewRegister(), f.G.NewRegister()
	for _, name := range names {
		f.Join(name)
	}
	return f
}

// groups makes the groups that tests don't change.
func (s *Suite[P, G, I, O, J, M, S, R, C]) groups() {
	s.once.Do(func() { s.group, s.other = s.New("test", "alice", "bob", "carol"), s.New("other", "alice") })
}

// Group returns a group of alice, bob and carol, which tests don't change.
func (s *Suite[P, G, I, O, J, M, S, R, C]) Group() *Fixture[P, G, I, O, J, M, S, R, C] {
	s.groups()
	return s.group
}

// Other returns another group, of alice.
func (s *Suite[P, G, I, O, J, M, S, R, C]) Other() *Fixture[P, G, I, O, J, M, S, R, C] {
	s.groups()
	return s.other
}

// Invite opens a session.
func (f *Fixture[P, G, I, O, J, M, S, R, C]) Invite(name string) *join.Challenge {
	return Must(f.suite.Invite(f.Issuer, f.Sessions, name, LongTermPublic(name), Now, 3600))
}

// NewJoin answers an invitation.
func (f *Fixture[P, G, I, O, J, M, S, R, C]) NewJoin(name string) J {
	return Must(f.suite.NewJoin(f.G, f.G.ID(), f.Invite(name), name, LongTerm(name)))
}

// Issue answers a request.
func (f *Fixture[P, G, I, O, J, M, S, R, C]) Issue(r R) (C, error) {
	return f.Issuer.Issue(f.G, f.Sessions, f.Register, r, Now)
}

// Join makes a member, and has the opener record it.
func (f *Fixture[P, G, I, O, J, M, S, R, C]) Join(name string) {
	j := f.NewJoin(name)
	f.Members[name] = Must(j.Finish(Must(f.Issue(j.Request()))))
	if err := f.Opener.Record(f.G, f.Opening, f.Register.Member(name), LongTermPublic(name)); err != nil {
		panic(err)
	}
}

// Sign signs for nothing in particular.
func (f *Fixture[P, G, I, O, J, M, S, R, C]) Sign(name, msg string) S {
	return Must(f.suite.Sign(f.Members[name], []byte(msg), nil))
}

// List lists who is revoked in the opener's register.
func (f *Fixture[P, G, I, O, J, M, S, R, C]) List(number uint64) *tokens.List {
	return Must(f.Opener.RevocationList(f.G, f.Opening, tokens.Terms{Number: number, Issued: Now, Expires: Now + 100}))
}

// Open opens a signature that is for nothing in particular.
func (f *Fixture[P, G, I, O, J, M, S, R, C]) Open(msg string, sig S) (*tokens.Opening, error) {
	return f.Opener.Open(f.G, f.Opening, []byte(msg), sig, nil)
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/tokens"
)

// PS16 and KLAP20 have packages that stand on their own, with the same methods on types
// of their own. What adapts them to this package is the same for both: it is here, with
// K for the group key and S for the signature.

// A tokenPackage is one of the packages.
type tokenPackage[K tokenKey[S], S tokenSignature] interface {
	Name() string
	Summary() string
	SignatureSize() int
	Invalid() error // what the package refuses signatures for

	ProposalID(p *proposal) ([32]byte, error)
	GroupKey(p *proposal) (K, error)
	ParseGroupKey(data []byte) (K, error)
	GenerateIssuer() tokenIssuerKey[K]
	ParseIssuer(data []byte) (tokenIssuerKey[K], error)
	GenerateOpener() tokenOpenerKey[K, S]
	ParseOpener(data []byte) (tokenOpenerKey[K, S], error)
	NewJoin(k K, fingerprint [32]byte, c *Challenge, member string, key ed25519.PrivateKey) (tokenJoin[K], []byte, error)
	ParseJoin(data []byte) (tokenJoin[K], error)
	ParseMember(data []byte) (tokenMemberKey[K], error)

	Decode(k K, msg, sig []byte, v *tokens.VerifyOptions) (S, error)
	ForBatch(s S) []byte
	NewBatch(k K, v *tokens.VerifyOptions) tokenBatchKey[S]
}

// The methods that both packages have.
type (
	tokenSignature interface {
		Bytes() []byte
		ID() [32]byte
	}
	tokenKey[S any] interface {
		ID() [32]byte
		Label() string
		MarshalBinary() ([]byte, error)
		NewSessions() *Sessions
		NewRegister() *Register
		Verify(msg []byte, sig S, o *tokens.VerifyOptions) error
		VerifyOpening(msg []byte, sig S, o *tokens.Opening, key ed25519.PublicKey, opts *tokens.OpenOptions) error
		ParseRevocationList(data []byte) (*tokens.List, error)
		MarkListed(register *Register, l *tokens.List, now int64) (int, error)
	}
	tokenSecret interface {
		MarshalBinary() ([]byte, error)
		Wipe()
	}
	tokenJoin[K any] interface {
		tokenSecret
		Group() K
		FinishWith(credential []byte) (tokenMemberKey[K], error)
	}
	tokenMemberKey[K any] interface {
		tokenSecret
		Group() K
		SignBytes(msg, context []byte, batch bool) ([]byte, error)
	}
	tokenBatchKey[S any] interface {
		Add(msg []byte, sig S)
		Len() int
		Verify() error
	}
)

// A tokenScheme makes a scheme of a package. It is a pointer's value that is compared.
type tokenScheme[K tokenKey[S], S tokenSignature] struct {
	p tokenPackage[K, S]
}

func (s *tokenScheme[K, S]) Name() string       { return s.p.Name() }
func (s *tokenScheme[K, S]) Summary() string    { return s.p.Summary() }
func (s *tokenScheme[K, S]) Required() Features { return Escrow | Token }
func (s *tokenScheme[K, S]) Optional() Features { return 0 }
func (s *tokenScheme[K, S]) sealed()            {}

func (s *tokenScheme[K, S]) draft(label string) *proposal {
	return &proposal{scheme: s, label: label, id: s.p.ProposalID, groupKey: func(p *proposal) (GroupKey, error) {
		k, err := s.p.GroupKey(p)
		return s.group(k, err)
	}}
}

func (s *tokenScheme[K, S]) group(k K, err error) (GroupKey, error) {
	if err != nil {
		return nil, err
	}
	return &tokenGroup[K, S]{s, k}, nil
}

func (s *tokenScheme[K, S]) NewDraft(label string, f Features) (Draft, error) {
	if _, err := checkFeatures(s, f); err != nil {
		return nil, err
	}
	if err := join.CheckLabel(label); err != nil {
		return nil, fmt.Errorf("groupsig: %w", err)
	}
	return s.draft(label), nil
}

func (s *tokenScheme[K, S]) ParseDraft(data []byte) (Draft, error) {
	p := s.draft("")
	if err := p.unmarshal(data); err != nil {
		return nil, err
	}
	return p, nil
}

func (s *tokenScheme[K, S]) ParseGroupKey(data []byte) (GroupKey, error) {
	k, err := s.p.ParseGroupKey(data)
	return s.group(k, err)
}

func (s *tokenScheme[K, S]) GenerateIssuerKey() IssuerKey {
	return &tokenIssuer[K, S]{s: s, k: s.p.GenerateIssuer()}
}

func (s *tokenScheme[K, S]) ParseIssuerKey(data []byte) (IssuerKey, error) {
	k, err := s.p.ParseIssuer(data)
	if err != nil {
		return nil, err
	}
	return &tokenIssuer[K, S]{s: s, k: k}, nil
}

func (s *tokenScheme[K, S]) GenerateOpenerKey(f Features) (Opener, error) {
	if _, err := checkFeatures(s, f); err != nil {
		return nil, err
	}
	return &tokenOpener[K, S]{s: s, k: s.p.GenerateOpener()}, nil
}

func (s *tokenScheme[K, S]) ParseOpenerKey(data []byte) (Opener, error) {
	k, err := s.p.ParseOpener(data)
	if err != nil {
		return nil, err
	}
	return &tokenOpener[K, S]{s: s, k: k}, nil
}

func (s *tokenScheme[K, S]) GenerateConverterKey() (Converter, error)    { return nil, errNoConverter }
func (s *tokenScheme[K, S]) ParseConverterKey([]byte) (Converter, error) { return nil, errNoConverter }

type tokenGroup[K tokenKey[S], S tokenSignature] struct {
	s *tokenScheme[K, S]
	k K
}

func (g *tokenGroup[K, S]) Scheme() Scheme                 { return g.s }
func (g *tokenGroup[K, S]) Label() string                  { return g.k.Label() }
func (g *tokenGroup[K, S]) Features() Features             { return Escrow | Token }
func (g *tokenGroup[K, S]) ID() [32]byte                   { return g.k.ID() }
func (g *tokenGroup[K, S]) MarshalBinary() ([]byte, error) { return g.k.MarshalBinary() }
func (g *tokenGroup[K, S]) NewSessions() *Sessions         { return g.k.NewSessions() }
func (g *tokenGroup[K, S]) NewRegister() *Register         { return g.k.NewRegister() }
func (g *tokenGroup[K, S]) SignatureSize() int             { return g.s.p.SignatureSize() }
func (g *tokenGroup[K, S]) sealed()                        {}

func (g *tokenGroup[K, S]) NewJoin(fingerprint [32]byte, c *Challenge, member string, key ed25519.PrivateKey) (Pending, []byte, error) {
	j, m2, err := g.s.p.NewJoin(g.k, fingerprint, c, member, key)
	if err != nil {
		return nil, nil, err
	}
	return &tokenPending[K, S]{g: g, j: j}, m2, nil
}

func (g *tokenGroup[K, S]) ParsePending(data []byte) (Pending, error) {
	j, err := g.s.p.ParseJoin(data)
	if err != nil {
		return nil, err
	}
	if j.Group().ID() != g.k.ID() {
		j.Wipe()
		return nil, errors.New("groupsig: the pending member is of another group")
	}
	return &tokenPending[K, S]{g: g, j: j}, nil
}

func (g *tokenGroup[K, S]) ParseMemberKey(data []byte) (MemberKey, error) {
	m, err := g.s.p.ParseMember(data)
	if err != nil {
		return nil, err
	}
	if m.Group().ID() != g.k.ID() {
		m.Wipe()
		return nil, errors.New("groupsig: the member's key is of another group")
	}
	return &tokenMember[K, S]{g: g, m: m}, nil
}

// options returns the package's options.
func (g *tokenGroup[K, S]) options(o VerifyOptions) (*tokens.VerifyOptions, error) {
	context, err := noScope(o.Scope, o.Context)
	if err != nil {
		return nil, err
	}
	if o.Announcement != nil {
		return nil, errEpoch
	}
	v := &tokens.VerifyOptions{Context: context, Now: o.Now, MinNumber: o.MinNumber}
	if o.Revocation != nil {
		if v.Revocation, err = tokenList(o.Revocation); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// parse returns the options and a signature in either layout.
func (g *tokenGroup[K, S]) parse(msg, sig []byte, o VerifyOptions) (*tokens.VerifyOptions, S, error) {
	v, err := g.options(o)
	if err != nil {
		var none S
		return nil, none, err
	}
	s, err := g.decode(msg, sig, v)
	return v, s, err
}

func (g *tokenGroup[K, S]) decode(msg, sig []byte, v *tokens.VerifyOptions) (S, error) {
	s, err := g.s.p.Decode(g.k, msg, sig, v)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return s, err
}

// verdict is an error of an opening or of its check.
func (g *tokenGroup[K, S]) verdict(err error) error {
	if errors.Is(err, g.s.p.Invalid()) {
		return ErrSignature
	}
	return err
}

func (g *tokenGroup[K, S]) Verify(msg, sig []byte, opts VerifyOptions) error {
	v, s, err := g.parse(msg, sig, opts)
	if err != nil {
		return err
	}
	return refused(g.k.Verify(msg, s, v))
}

func (g *tokenGroup[K, S]) SignatureID(msg, sig []byte, opts VerifyOptions) ([32]byte, error) {
	_, s, err := g.parse(msg, sig, opts)
	if err != nil {
		return [32]byte{}, err
	}
	return s.ID(), nil
}

func (g *tokenGroup[K, S]) ForBatch(msg, sig []byte, opts VerifyOptions) ([]byte, error) {
	_, s, err := g.parse(msg, sig, opts)
	if err != nil {
		return nil, err
	}
	return g.s.p.ForBatch(s), nil
}

func (g *tokenGroup[K, S]) Compact(msg, sig []byte, opts VerifyOptions) ([]byte, error) {
	_, s, err := g.parse(msg, sig, opts)
	if err != nil {
		return nil, err
	}
	return s.Bytes(), nil
}

func (g *tokenGroup[K, S]) ParseOpening(data []byte) (Opening, error) {
	o := new(tokens.Opening)
	if err := o.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	return o, nil
}

func (g *tokenGroup[K, S]) VerifyOpening(msg, sig []byte, opts VerifyOptions, x Opening, key ed25519.PublicKey, context []byte) error {
	opts.Revocation = nil
	v, s, err := g.parse(msg, sig, opts)
	if err != nil {
		return err
	}
	o, ok := x.(*tokens.Opening)
	if !ok {
		return errForeign
	}
	return g.verdict(g.k.VerifyOpening(msg, s, o, key, &tokens.OpenOptions{SignatureContext: v.Context, Context: context}))
}

func (g *tokenGroup[K, S]) ParseRevocation(data []byte) (Revocation, error) {
	l, err := g.k.ParseRevocationList(data)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (g *tokenGroup[K, S]) MarkListed(register *Register, x Revocation, now int64) (int, error) {
	l, err := tokenList(x)
	if err != nil {
		return 0, err
	}
	return g.k.MarkListed(register, l, now)
}

// A tokenBatch refuses all if its options are no good.
type tokenBatch[K tokenKey[S], S tokenSignature] struct {
	g    *tokenGroup[K, S]
	b    tokenBatchKey[S]
	opts *tokens.VerifyOptions
	err  error
}

func (g *tokenGroup[K, S]) Batch(opts VerifyOptions) Batch {
	v, err := g.options(opts)
	return &tokenBatch[K, S]{g, g.s.p.NewBatch(g.k, v), v, err}
}

// Add adds what can't be decoded as no signature, which is refused.
func (b *tokenBatch[K, S]) Add(msg, sig []byte) {
	s, err := b.g.decode(msg, sig, b.opts)
	if err != nil {
		var none S
		s = none
	}
	b.b.Add(msg, s)
}

func (b *tokenBatch[K, S]) Len() int { return b.b.Len() }

func (b *tokenBatch[K, S]) Verify() error {
	if b.err != nil {
		return b.err
	}
	return batchRefused(b.b.Verify())
}

type tokenPending[K tokenKey[S], S tokenSignature] struct {
	hidden
	g *tokenGroup[K, S]
	j tokenJoin[K]
}

func (p *tokenPending[K, S]) GroupKey() GroupKey             { return p.g }
func (p *tokenPending[K, S]) MarshalBinary() ([]byte, error) { return p.j.MarshalBinary() }
func (p *tokenPending[K, S]) Wipe()                          { p.j.Wipe() }

func (p *tokenPending[K, S]) Finish(credential []byte, epoch uint64) (MemberKey, error) {
	if epoch != 0 {
		return nil, errEpoch
	}
	m, err := p.j.FinishWith(credential)
	if err != nil {
		return nil, err
	}
	return &tokenMember[K, S]{g: p.g, m: m}, nil
}

type tokenMember[K tokenKey[S], S tokenSignature] struct {
	hidden
	g *tokenGroup[K, S]
	m tokenMemberKey[K]
}

func (m *tokenMember[K, S]) GroupKey() GroupKey             { return m.g }
func (m *tokenMember[K, S]) Features() Features             { return m.g.Features() }
func (m *tokenMember[K, S]) MarshalBinary() ([]byte, error) { return m.m.MarshalBinary() }
func (m *tokenMember[K, S]) Wipe()                          { m.m.Wipe() }

func (m *tokenMember[K, S]) Sign(msg []byte, opts SignOptions) ([]byte, error) {
	context, err := noScope(opts.Scope, opts.Context)
	if err != nil {
		return nil, err
	}
	return m.m.SignBytes(msg, context, opts.Batch)
}

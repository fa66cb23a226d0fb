// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/ps16"
)

type ps16Scheme struct{}

func (ps16Scheme) Name() string { return "ps16" }
func (ps16Scheme) Summary() string {
	return "the smallest; an opener, but the issuer can open too; small groups"
}
func (ps16Scheme) Required() Features { return Escrow | Token }
func (ps16Scheme) Optional() Features { return 0 }
func (ps16Scheme) sealed()            {}

func (s ps16Scheme) draft(label string) *proposal {
	return &proposal{
		scheme: s, label: label,
		id: func(p *proposal) ([32]byte, error) { return ps16Proposal(p).ID() },
		groupKey: func(p *proposal) (GroupKey, error) {
			k, err := ps16Proposal(p).GroupKey(p.consents[0], p.consents[1])
			if err != nil {
				return nil, err
			}
			return &ps16Group{k}, nil
		},
	}
}

func ps16Proposal(p *proposal) *ps16.Proposal {
	return &ps16.Proposal{Label: p.label, Issuer: p.issuer, Opener: p.opener}
}

func (s ps16Scheme) NewDraft(label string, f Features) (Draft, error) {
	if _, err := checkFeatures(s, f); err != nil {
		return nil, err
	}
	if err := join.CheckLabel(label); err != nil {
		return nil, fmt.Errorf("groupsig: %w", err)
	}
	return s.draft(label), nil
}

func (s ps16Scheme) ParseDraft(data []byte) (Draft, error) {
	p := s.draft("")
	if err := p.unmarshal(data); err != nil {
		return nil, err
	}
	return p, nil
}

func (s ps16Scheme) ParseGroupKey(data []byte) (GroupKey, error) {
	k := new(ps16.GroupKey)
	if err := k.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	return &ps16Group{k}, nil
}

func (s ps16Scheme) GenerateIssuerKey() IssuerKey {
	return &ps16Issuer{k: ps16.GenerateIssuerKey()}
}

func (s ps16Scheme) ParseIssuerKey(data []byte) (IssuerKey, error) {
	k := new(ps16.IssuerKey)
	if err := k.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	return &ps16Issuer{k: k}, nil
}

func (s ps16Scheme) GenerateOpenerKey(f Features) (Opener, error) {
	if _, err := checkFeatures(s, f); err != nil {
		return nil, err
	}
	return &ps16Opener{k: ps16.GenerateOpenerKey()}, nil
}

func (s ps16Scheme) ParseOpenerKey(data []byte) (Opener, error) {
	k := new(ps16.OpenerKey)
	if err := k.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	return &ps16Opener{k: k}, nil
}

func (s ps16Scheme) GenerateConverterKey() (Converter, error)    { return nil, errNoConverter }
func (s ps16Scheme) ParseConverterKey([]byte) (Converter, error) { return nil, errNoConverter }

func ps16Draft(x Draft) (*proposal, error) {
	p, ok := x.(*proposal)
	if !ok || p.scheme != (ps16Scheme{}) {
		return nil, errForeign
	}
	return p, nil
}

func ps16Key(x GroupKey) (*ps16.GroupKey, error) {
	g, ok := x.(*ps16Group)
	if !ok {
		return nil, errForeign
	}
	return g.k, nil
}

type ps16Issuer struct {
	hidden
	k *ps16.IssuerKey
}

func (i *ps16Issuer) MarshalBinary() ([]byte, error) { return i.k.MarshalBinary() }
func (i *ps16Issuer) Wipe()                          { i.k.Wipe() }

func (i *ps16Issuer) Enroll(x Draft) error {
	p, err := ps16Draft(x)
	if err != nil {
		return err
	}
	return p.enroll(&p.issuer, i.k.Public())
}

func (i *ps16Issuer) Consent(x Draft) error {
	p, err := ps16Draft(x)
	if err != nil {
		return err
	}
	c, err := i.k.Consent(ps16Proposal(p))
	if err == nil {
		p.consents[0] = c
	}
	return err
}

func (i *ps16Issuer) Invite(x GroupKey, s *Sessions, member string, key ed25519.PublicKey, now, lifetime int64) (*Challenge, error) {
	if _, err := ps16Key(x); err != nil {
		return nil, err
	}
	return i.k.Invite(s, member, key, ps16.Fischlin, now, lifetime)
}

func (i *ps16Issuer) Issue(x GroupKey, s *Sessions, register *Register, application []byte, now int64, epoch uint64) ([]byte, error) {
	k, err := ps16Key(x)
	if err != nil {
		return nil, err
	}
	if epoch != 0 {
		return nil, errEpoch
	}
	r := new(ps16.Request)
	if err := r.UnmarshalBinary(application); err != nil {
		return nil, err
	}
	c, err := i.k.Issue(k, s, register, r, now)
	if err != nil {
		return nil, err
	}
	return c.MarshalBinary()
}

type ps16Opener struct {
	hidden
	k *ps16.OpenerKey
}

func (o *ps16Opener) MarshalBinary() ([]byte, error) { return o.k.MarshalBinary() }
func (o *ps16Opener) Wipe()                          { o.k.Wipe() }

func (o *ps16Opener) Enroll(x Draft) error {
	p, err := ps16Draft(x)
	if err != nil {
		return err
	}
	return p.enroll(&p.opener, o.k.Public())
}

func (o *ps16Opener) Consent(x Draft) error {
	p, err := ps16Draft(x)
	if err != nil {
		return err
	}
	c, err := o.k.Consent(ps16Proposal(p))
	if err == nil {
		p.consents[1] = c
	}
	return err
}

func (o *ps16Opener) Record(x GroupKey, register *Register, r *Record, key ed25519.PublicKey) error {
	k, err := ps16Key(x)
	if err != nil {
		return err
	}
	if r == nil {
		return errors.New("groupsig: no record")
	}
	return o.k.Record(k, register, r, key)
}

func (o *ps16Opener) Open(x GroupKey, register *Register, msg, sig []byte, opts VerifyOptions, context []byte) (Opening, error) {
	g, ok := x.(*ps16Group)
	if !ok {
		return nil, errForeign
	}
	opts.Revocation = nil
	v, s, err := g.parse(sig, opts)
	if err != nil {
		return nil, err
	}
	out, err := o.k.Open(g.k, register, msg, s, &ps16.OpenOptions{SignatureContext: v.Context, Context: context})
	switch {
	case errors.Is(err, ps16.ErrSignature):
		return nil, ErrSignature
	case err != nil:
		return nil, err
	}
	return out, nil
}

func (o *ps16Opener) RevocationList(x GroupKey, register *Register, terms Terms, base Revocation) (Revocation, error) {
	k, err := ps16Key(x)
	if err != nil {
		return nil, err
	}
	if err := follows(terms, base); err != nil {
		return nil, err
	}
	l, err := o.k.RevocationList(k, register, terms)
	if err != nil {
		return nil, err
	}
	return l, nil
}

type ps16Group struct {
	k *ps16.GroupKey
}

func (g *ps16Group) Scheme() Scheme                 { return ps16Scheme{} }
func (g *ps16Group) Label() string                  { return g.k.Label() }
func (g *ps16Group) Features() Features             { return Escrow | Token }
func (g *ps16Group) ID() [32]byte                   { return g.k.ID() }
func (g *ps16Group) MarshalBinary() ([]byte, error) { return g.k.MarshalBinary() }
func (g *ps16Group) NewSessions() *Sessions         { return g.k.NewSessions() }
func (g *ps16Group) NewRegister() *Register         { return g.k.NewRegister() }
func (g *ps16Group) SignatureSize() int             { return ps16.SignatureSize }
func (g *ps16Group) sealed()                        {}

func (g *ps16Group) NewJoin(fingerprint [32]byte, c *Challenge, member string, key ed25519.PrivateKey) (Pending, []byte, error) {
	j, err := ps16.NewJoin(g.k, fingerprint, c, member, key)
	if err != nil {
		return nil, nil, err
	}
	m2, err := j.Request().MarshalBinary()
	if err != nil {
		return nil, nil, err
	}
	return &ps16Pending{g: g, j: j}, m2, nil
}

func (g *ps16Group) ParsePending(data []byte) (Pending, error) {
	j := new(ps16.Join)
	if err := j.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	if !j.Group().Equal(g.k) {
		j.Wipe()
		return nil, errors.New("groupsig: the pending member is of another group")
	}
	return &ps16Pending{g: g, j: j}, nil
}

func (g *ps16Group) ParseMemberKey(data []byte) (MemberKey, error) {
	m := new(ps16.MemberKey)
	if err := m.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	if !m.Group().Equal(g.k) {
		return nil, errors.New("groupsig: the member's key is of another group")
	}
	return &ps16Member{g: g, m: m}, nil
}

// options returns the scheme's options.
func (g *ps16Group) options(o VerifyOptions) (*ps16.VerifyOptions, error) {
	context, err := noScope(o.Scope, o.Context)
	if err != nil {
		return nil, err
	}
	v := &ps16.VerifyOptions{Context: context, Now: o.Now, MinNumber: o.MinNumber}
	if o.Announcement != nil {
		return nil, errEpoch
	}
	if o.Revocation != nil {
		if v.Revocation, err = tokenList(o.Revocation); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// parse returns the options and a signature.
func (g *ps16Group) parse(sig []byte, o VerifyOptions) (*ps16.VerifyOptions, *ps16.Signature, error) {
	v, err := g.options(o)
	if err != nil {
		return nil, nil, err
	}
	s, err := g.decode(sig)
	return v, s, err
}

func (g *ps16Group) decode(sig []byte) (*ps16.Signature, error) {
	s, err := ps16.ParseSignature(sig)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return s, nil
}

func (g *ps16Group) Verify(msg, sig []byte, opts VerifyOptions) error {
	v, s, err := g.parse(sig, opts)
	if err != nil {
		return err
	}
	return refused(g.k.Verify(msg, s, v))
}

func (g *ps16Group) SignatureID(_, sig []byte, opts VerifyOptions) ([32]byte, error) {
	_, s, err := g.parse(sig, opts)
	if err != nil {
		return [32]byte{}, err
	}
	return s.ID(), nil
}

// ForBatch is Compact: there is one layout.
func (g *ps16Group) ForBatch(msg, sig []byte, opts VerifyOptions) ([]byte, error) {
	return g.Compact(msg, sig, opts)
}

func (g *ps16Group) Compact(_, sig []byte, opts VerifyOptions) ([]byte, error) {
	_, s, err := g.parse(sig, opts)
	if err != nil {
		return nil, err
	}
	return s.Bytes(), nil
}

type ps16Batch struct {
	g   *ps16Group
	b   *ps16.Batch
	err error
}

func (g *ps16Group) Batch(opts VerifyOptions) Batch {
	v, err := g.options(opts)
	return &ps16Batch{g, g.k.Batch(v), err}
}

// Add adds what can't be decoded as no signature, which is refused.
func (b *ps16Batch) Add(msg, sig []byte) {
	s, err := b.g.decode(sig)
	if err != nil {
		s = nil
	}
	b.b.Add(msg, s)
}

func (b *ps16Batch) Len() int { return b.b.Len() }

func (b *ps16Batch) Verify() error {
	if b.err != nil {
		return b.err
	}
	return batchRefused(b.b.Verify())
}

func (g *ps16Group) ParseOpening(data []byte) (Opening, error) {
	o := new(ps16.Opening)
	if err := o.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	return o, nil
}

func (g *ps16Group) VerifyOpening(msg, sig []byte, opts VerifyOptions, x Opening, key ed25519.PublicKey, context []byte) error {
	opts.Revocation = nil
	v, s, err := g.parse(sig, opts)
	if err != nil {
		return err
	}
	o, ok := x.(*ps16.Opening)
	if !ok {
		return errForeign
	}
	err = g.k.VerifyOpening(msg, s, o, key, &ps16.OpenOptions{SignatureContext: v.Context, Context: context})
	if errors.Is(err, ps16.ErrSignature) {
		return ErrSignature
	}
	return err
}

func (g *ps16Group) ParseRevocation(data []byte) (Revocation, error) {
	l, err := g.k.ParseRevocationList(data)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (g *ps16Group) MarkListed(register *Register, x Revocation, now int64) (int, error) {
	l, err := tokenList(x)
	if err != nil {
		return 0, err
	}
	return g.k.MarkListed(register, l, now)
}

type ps16Pending struct {
	hidden
	g *ps16Group
	j *ps16.Join
}

func (p *ps16Pending) GroupKey() GroupKey             { return p.g }
func (p *ps16Pending) MarshalBinary() ([]byte, error) { return p.j.MarshalBinary() }
func (p *ps16Pending) Wipe()                          { p.j.Wipe() }

func (p *ps16Pending) Finish(credential []byte, epoch uint64) (MemberKey, error) {
	if epoch != 0 {
		return nil, errEpoch
	}
	c := new(ps16.Credential)
	if err := c.UnmarshalBinary(credential); err != nil {
		return nil, err
	}
	m, err := p.j.Finish(c)
	if err != nil {
		return nil, err
	}
	return &ps16Member{g: p.g, m: m}, nil
}

type ps16Member struct {
	hidden
	g *ps16Group
	m *ps16.MemberKey
}

func (m *ps16Member) GroupKey() GroupKey             { return m.g }
func (m *ps16Member) Features() Features             { return m.g.Features() }
func (m *ps16Member) MarshalBinary() ([]byte, error) { return m.m.MarshalBinary() }
func (m *ps16Member) Wipe()                          { m.m.Wipe() }

func (m *ps16Member) Sign(msg []byte, opts SignOptions) ([]byte, error) {
	context, err := noScope(opts.Scope, opts.Context)
	if err != nil {
		return nil, err
	}
	s, err := m.m.Sign(msg, &ps16.SignOptions{Context: context})
	if err != nil {
		return nil, err
	}
	return s.Bytes(), nil
}

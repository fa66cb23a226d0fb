// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/klap20"
)

type klap20Scheme struct{}

func (klap20Scheme) Name() string { return "klap20" }
func (klap20Scheme) Summary() string {
	return "small and fastest, in batches above all; an opener, small groups"
}
func (klap20Scheme) Required() Features { return Escrow | Token }
func (klap20Scheme) Optional() Features { return 0 }
func (klap20Scheme) sealed()            {}

func (s klap20Scheme) draft(label string) *proposal {
	return &proposal{
		scheme: s, label: label,
		id: func(p *proposal) ([32]byte, error) { return klap20Proposal(p).ID() },
		groupKey: func(p *proposal) (GroupKey, error) {
			k, err := klap20Proposal(p).GroupKey(p.consents[0], p.consents[1])
			if err != nil {
				return nil, err
			}
			return &klap20Group{k}, nil
		},
	}
}

func klap20Proposal(p *proposal) *klap20.Proposal {
	return &klap20.Proposal{Label: p.label, Issuer: p.issuer, Opener: p.opener}
}

func (s klap20Scheme) NewDraft(label string, f Features) (Draft, error) {
	if _, err := checkFeatures(s, f); err != nil {
		return nil, err
	}
	if err := join.CheckLabel(label); err != nil {
		return nil, fmt.Errorf("groupsig: %w", err)
	}
	return s.draft(label), nil
}

func (s klap20Scheme) ParseDraft(data []byte) (Draft, error) {
	p := s.draft("")
	if err := p.unmarshal(data); err != nil {
		return nil, err
	}
	return p, nil
}

func (s klap20Scheme) ParseGroupKey(data []byte) (GroupKey, error) {
	k := new(klap20.GroupKey)
	if err := k.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	return &klap20Group{k}, nil
}

func (s klap20Scheme) GenerateIssuerKey() IssuerKey {
	return &klap20Issuer{k: klap20.GenerateIssuerKey()}
}

func (s klap20Scheme) ParseIssuerKey(data []byte) (IssuerKey, error) {
	k := new(klap20.IssuerKey)
	if err := k.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	return &klap20Issuer{k: k}, nil
}

func (s klap20Scheme) GenerateOpenerKey(f Features) (Opener, error) {
	if _, err := checkFeatures(s, f); err != nil {
		return nil, err
	}
	return &klap20Opener{k: klap20.GenerateOpenerKey()}, nil
}

func (s klap20Scheme) ParseOpenerKey(data []byte) (Opener, error) {
	k := new(klap20.OpenerKey)
	if err := k.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	return &klap20Opener{k: k}, nil
}

func (s klap20Scheme) GenerateConverterKey() (Converter, error)    { return nil, errNoConverter }
func (s klap20Scheme) ParseConverterKey([]byte) (Converter, error) { return nil, errNoConverter }

func klap20Draft(x Draft) (*proposal, error) {
	p, ok := x.(*proposal)
	if !ok || p.scheme != (klap20Scheme{}) {
		return nil, errForeign
	}
	return p, nil
}

func klap20Key(x GroupKey) (*klap20.GroupKey, error) {
	g, ok := x.(*klap20Group)
	if !ok {
		return nil, errForeign
	}
	return g.k, nil
}

type klap20Issuer struct {
	hidden
	k *klap20.IssuerKey
}

func (i *klap20Issuer) MarshalBinary() ([]byte, error) { return i.k.MarshalBinary() }
func (i *klap20Issuer) Wipe()                          { i.k.Wipe() }

func (i *klap20Issuer) Enroll(x Draft) error {
	p, err := klap20Draft(x)
	if err != nil {
		return err
	}
	return p.enroll(&p.issuer, i.k.Public())
}

func (i *klap20Issuer) Consent(x Draft) error {
	p, err := klap20Draft(x)
	if err != nil {
		return err
	}
	c, err := i.k.Consent(klap20Proposal(p))
	if err == nil {
		p.consents[0] = c
	}
	return err
}

func (i *klap20Issuer) Invite(x GroupKey, s *Sessions, member string, key ed25519.PublicKey, now, lifetime int64) (*Challenge, error) {
	if _, err := klap20Key(x); err != nil {
		return nil, err
	}
	return i.k.Invite(s, member, key, now, lifetime)
}

func (i *klap20Issuer) Issue(x GroupKey, s *Sessions, register *Register, application []byte, now int64, epoch uint64) ([]byte, error) {
	k, err := klap20Key(x)
	if err != nil {
		return nil, err
	}
	if epoch != 0 {
		return nil, errEpoch
	}
	r := new(klap20.Request)
	if err := r.UnmarshalBinary(application); err != nil {
		return nil, err
	}
	c, err := i.k.Issue(k, s, register, r, now)
	if err != nil {
		return nil, err
	}
	return c.MarshalBinary()
}

type klap20Opener struct {
	hidden
	k *klap20.OpenerKey
}

func (o *klap20Opener) MarshalBinary() ([]byte, error) { return o.k.MarshalBinary() }
func (o *klap20Opener) Wipe()                          { o.k.Wipe() }

func (o *klap20Opener) Enroll(x Draft) error {
	p, err := klap20Draft(x)
	if err != nil {
		return err
	}
	return p.enroll(&p.opener, o.k.Public())
}

func (o *klap20Opener) Consent(x Draft) error {
	p, err := klap20Draft(x)
	if err != nil {
		return err
	}
	c, err := o.k.Consent(klap20Proposal(p))
	if err == nil {
		p.consents[1] = c
	}
	return err
}

func (o *klap20Opener) Record(x GroupKey, register *Register, r *Record, key ed25519.PublicKey) error {
	k, err := klap20Key(x)
	if err != nil {
		return err
	}
	if r == nil {
		return errors.New("groupsig: no record")
	}
	return o.k.Record(k, register, r, key)
}

func (o *klap20Opener) Open(x GroupKey, register *Register, msg, sig []byte, opts VerifyOptions, context []byte) (Opening, error) {
	g, ok := x.(*klap20Group)
	if !ok {
		return nil, errForeign
	}
	opts.Revocation = nil
	v, s, err := g.parse(msg, sig, opts)
	if err != nil {
		return nil, err
	}
	out, err := o.k.Open(g.k, register, msg, s, &klap20.OpenOptions{SignatureContext: v.Context, Context: context})
	switch {
	case errors.Is(err, klap20.ErrSignature):
		return nil, ErrSignature
	case err != nil:
		return nil, err
	}
	return out, nil
}

func (o *klap20Opener) RevocationList(x GroupKey, register *Register, terms Terms, base Revocation) (Revocation, error) {
	k, err := klap20Key(x)
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

type klap20Group struct {
	k *klap20.GroupKey
}

func (g *klap20Group) Scheme() Scheme                 { return klap20Scheme{} }
func (g *klap20Group) Label() string                  { return g.k.Label() }
func (g *klap20Group) Features() Features             { return Escrow | Token }
func (g *klap20Group) ID() [32]byte                   { return g.k.ID() }
func (g *klap20Group) MarshalBinary() ([]byte, error) { return g.k.MarshalBinary() }
func (g *klap20Group) NewSessions() *Sessions         { return g.k.NewSessions() }
func (g *klap20Group) NewRegister() *Register         { return g.k.NewRegister() }
func (g *klap20Group) SignatureSize() int             { return klap20.SignatureSize }
func (g *klap20Group) sealed()                        {}

func (g *klap20Group) NewJoin(fingerprint [32]byte, c *Challenge, member string, key ed25519.PrivateKey) (Pending, []byte, error) {
	j, err := klap20.NewJoin(g.k, fingerprint, c, member, key)
	if err != nil {
		return nil, nil, err
	}
	m2, err := j.Request().MarshalBinary()
	if err != nil {
		return nil, nil, err
	}
	return &klap20Pending{g: g, j: j}, m2, nil
}

func (g *klap20Group) ParsePending(data []byte) (Pending, error) {
	j := new(klap20.Join)
	if err := j.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	if !j.Group().Equal(g.k) {
		j.Wipe()
		return nil, errors.New("groupsig: the pending member is of another group")
	}
	return &klap20Pending{g: g, j: j}, nil
}

func (g *klap20Group) ParseMemberKey(data []byte) (MemberKey, error) {
	m := new(klap20.MemberKey)
	if err := m.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	if !m.Group().Equal(g.k) {
		return nil, errors.New("groupsig: the member's key is of another group")
	}
	return &klap20Member{g: g, m: m}, nil
}

// options returns the scheme's options.
func (g *klap20Group) options(o VerifyOptions) (*klap20.VerifyOptions, error) {
	context, err := noScope(o.Scope, o.Context)
	if err != nil {
		return nil, err
	}
	v := &klap20.VerifyOptions{Context: context, Now: o.Now, MinNumber: o.MinNumber}
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

// parse returns the options and a signature in either layout.
func (g *klap20Group) parse(msg, sig []byte, o VerifyOptions) (*klap20.VerifyOptions, *klap20.Signature, error) {
	v, err := g.options(o)
	if err != nil {
		return nil, nil, err
	}
	s, err := g.decode(msg, sig, v)
	return v, s, err
}

func (g *klap20Group) decode(msg, sig []byte, v *klap20.VerifyOptions) (s *klap20.Signature, err error) {
	if len(sig) == klap20.BatchSignatureSize {
		s, err = g.k.ParseBatchSignature(sig, msg, v)
	} else {
		s, err = klap20.ParseSignature(sig)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return s, nil
}

func (g *klap20Group) Verify(msg, sig []byte, opts VerifyOptions) error {
	v, s, err := g.parse(msg, sig, opts)
	if err != nil {
		return err
	}
	return refused(g.k.Verify(msg, s, v))
}

func (g *klap20Group) SignatureID(msg, sig []byte, opts VerifyOptions) ([32]byte, error) {
	_, s, err := g.parse(msg, sig, opts)
	if err != nil {
		return [32]byte{}, err
	}
	return s.ID(), nil
}

func (g *klap20Group) ForBatch(msg, sig []byte, opts VerifyOptions) ([]byte, error) {
	_, s, err := g.parse(msg, sig, opts)
	if err != nil {
		return nil, err
	}
	return s.BatchBytes(), nil
}

func (g *klap20Group) Compact(msg, sig []byte, opts VerifyOptions) ([]byte, error) {
	_, s, err := g.parse(msg, sig, opts)
	if err != nil {
		return nil, err
	}
	return s.Bytes(), nil
}

type klap20Batch struct {
	g    *klap20Group
	b    *klap20.Batch
	opts *klap20.VerifyOptions
	err  error
}

func (g *klap20Group) Batch(opts VerifyOptions) Batch {
	v, err := g.options(opts)
	return &klap20Batch{g, g.k.Batch(v), v, err}
}

// Add adds what can't be decoded as no signature, which is refused.
func (b *klap20Batch) Add(msg, sig []byte) {
	s, err := b.g.decode(msg, sig, b.opts)
	if err != nil {
		s = nil
	}
	b.b.Add(msg, s)
}

func (b *klap20Batch) Len() int { return b.b.Len() }

func (b *klap20Batch) Verify() error {
	if b.err != nil {
		return b.err
	}
	return batchRefused(b.b.Verify())
}

func (g *klap20Group) ParseOpening(data []byte) (Opening, error) {
	o := new(klap20.Opening)
	if err := o.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	return o, nil
}

func (g *klap20Group) VerifyOpening(msg, sig []byte, opts VerifyOptions, x Opening, key ed25519.PublicKey, context []byte) error {
	opts.Revocation = nil
	v, s, err := g.parse(msg, sig, opts)
	if err != nil {
		return err
	}
	o, ok := x.(*klap20.Opening)
	if !ok {
		return errForeign
	}
	err = g.k.VerifyOpening(msg, s, o, key, &klap20.OpenOptions{SignatureContext: v.Context, Context: context})
	if errors.Is(err, klap20.ErrSignature) {
		return ErrSignature
	}
	return err
}

func (g *klap20Group) ParseRevocation(data []byte) (Revocation, error) {
	l, err := g.k.ParseRevocationList(data)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (g *klap20Group) MarkListed(register *Register, x Revocation, now int64) (int, error) {
	l, err := tokenList(x)
	if err != nil {
		return 0, err
	}
	return g.k.MarkListed(register, l, now)
}

type klap20Pending struct {
	hidden
	g *klap20Group
	j *klap20.Join
}

func (p *klap20Pending) GroupKey() GroupKey             { return p.g }
func (p *klap20Pending) MarshalBinary() ([]byte, error) { return p.j.MarshalBinary() }
func (p *klap20Pending) Wipe()                          { p.j.Wipe() }

func (p *klap20Pending) Finish(credential []byte, epoch uint64) (MemberKey, error) {
	if epoch != 0 {
		return nil, errEpoch
	}
	c := new(klap20.Credential)
	if err := c.UnmarshalBinary(credential); err != nil {
		return nil, err
	}
	m, err := p.j.Finish(c)
	if err != nil {
		return nil, err
	}
	return &klap20Member{g: p.g, m: m}, nil
}

type klap20Member struct {
	hidden
	g *klap20Group
	m *klap20.MemberKey
}

func (m *klap20Member) GroupKey() GroupKey             { return m.g }
func (m *klap20Member) Features() Features             { return m.g.Features() }
func (m *klap20Member) MarshalBinary() ([]byte, error) { return m.m.MarshalBinary() }
func (m *klap20Member) Wipe()                          { m.m.Wipe() }

func (m *klap20Member) Sign(msg []byte, opts SignOptions) ([]byte, error) {
	context, err := noScope(opts.Scope, opts.Context)
	if err != nil {
		return nil, err
	}
	s, err := m.m.Sign(msg, &klap20.SignOptions{Context: context})
	if err != nil {
		return nil, err
	}
	if opts.Batch {
		return s.BatchBytes(), nil
	}
	return s.Bytes(), nil
}

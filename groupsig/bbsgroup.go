// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig

import (
	"crypto/ed25519"
	"errors"

	"github.com/undersign/undersign/groupsig/internal/bbs"
	"github.com/undersign/undersign/internal/transcript"
)

// A bbsGroup is a group key, with all interfaces that a scheme of the family may
// have. What the group lacks is refused below.
type bbsGroup struct {
	s *bbsScheme
	k *bbs.GroupKey
}

func (g *bbsGroup) Scheme() Scheme                 { return g.s }
func (g *bbsGroup) Label() string                  { return g.k.Label() }
func (g *bbsGroup) Features() Features             { return ofCore(g.k.Features()) }
func (g *bbsGroup) ID() [32]byte                   { return g.k.ID() }
func (g *bbsGroup) MarshalBinary() ([]byte, error) { return g.k.MarshalBinary() }
func (g *bbsGroup) NewSessions() *Sessions         { return g.k.NewSessions() }
func (g *bbsGroup) NewRegister() *Register         { return g.k.NewRegister() }
func (g *bbsGroup) SignatureSize() int             { return g.k.Features().SignatureSize() }
func (g *bbsGroup) sealed()                        {}

func (g *bbsGroup) NewJoin(fingerprint [32]byte, c *Challenge, member string, key ed25519.PrivateKey) (Pending, []byte, error) {
	p, m2, err := g.k.NewJoin(fingerprint, c, member, key)
	if err != nil {
		return nil, nil, err
	}
	return &bbsPending{g: g, p: p}, m2, nil
}

func (g *bbsGroup) ParsePending(data []byte) (Pending, error) {
	p, err := g.k.ParsePendingMember(data)
	if err != nil {
		return nil, err
	}
	return &bbsPending{g: g, p: p}, nil
}

func (g *bbsGroup) ParseMemberKey(data []byte) (MemberKey, error) {
	m, err := g.k.ParseMemberKey(data)
	if err != nil {
		return nil, err
	}
	return &bbsMember{g: g, m: m}, nil
}

// scope returns the scope to sign or verify for: none is the empty one.
func (g *bbsGroup) scope(scope, context []byte) ([]byte, error) {
	switch {
	case len(context) > 0:
		return nil, errContext
	case len(scope) == 0:
		return nil, nil
	case !g.Features().Has(Scope):
		return nil, errScope
	}
	return scope, nil
}

// options returns the core's options, if they fit the group, and the revocation
// state in them is in force.
func (g *bbsGroup) options(o VerifyOptions) (bbs.VerifyOptions, error) {
	scope, err := g.scope(o.Scope, o.Context)
	if err != nil {
		return bbs.VerifyOptions{}, err
	}
	v := bbs.VerifyOptions{
		Scope: scope, MinEpoch: o.MinEpoch, MaxEpoch: o.MaxEpoch,
		Now: o.Now, MinNumber: o.MinNumber, MinAnnouncement: o.MinAnnouncement,
	}
	if o.Announcement != nil {
		a, ok := o.Announcement.(*bbs.Announcement)
		switch {
		case !ok || a == nil:
			return v, errForeign
		case !g.Features().Has(Epoch):
			return v, errEpoch
		case o.MinEpoch != 0 || o.MaxEpoch != 0:
			return v, errors.New("groupsig: epochs and an announcement of epochs")
		}
		if err := a.Fresh(g.k.ID(), o.Now, o.MinAnnouncement); err != nil {
			return v, err
		}
		v.Announcement = a
	}
	if v.Revocation, err = bbsList(o.Revocation); err != nil {
		return v, err
	}
	if v.Revocation != nil {
		if err := v.Revocation.Fresh(g.k.ID(), o.Now, o.MinNumber); err != nil {
			return v, err
		}
	}
	return v, nil
}

func (g *bbsGroup) Verify(msg, sig []byte, opts VerifyOptions) error {
	v, err := g.options(opts)
	if err != nil {
		return err
	}
	return refused(g.k.Verify(transcript.MessageOf(msg), sig, v))
}

func (g *bbsGroup) SignatureID(msg, sig []byte, opts VerifyOptions) ([32]byte, error) {
	scope, err := g.scope(opts.Scope, opts.Context)
	if err != nil {
		return [32]byte{}, err
	}
	return g.k.SignatureID(transcript.MessageOf(msg), scope, sig)
}

func (g *bbsGroup) ForBatch(_, sig []byte, opts VerifyOptions) ([]byte, error) {
	scope, err := g.scope(opts.Scope, opts.Context)
	if err != nil {
		return nil, err
	}
	return g.k.ForBatch(scope, sig)
}

func (g *bbsGroup) Compact(msg, sig []byte, opts VerifyOptions) ([]byte, error) {
	scope, err := g.scope(opts.Scope, opts.Context)
	if err != nil {
		return nil, err
	}
	return g.k.Compact(transcript.MessageOf(msg), scope, sig)
}

// A bbsBatch refuses all if its options are no good.
type bbsBatch struct {
	b    *bbs.Batch
	opts bbs.VerifyOptions
	err  error
}

func (g *bbsGroup) Batch(opts VerifyOptions) Batch {
	v, err := g.options(opts)
	return &bbsBatch{g.k.Batch(), v, err}
}

func (b *bbsBatch) Add(msg, sig []byte) { b.b.Add(transcript.MessageOf(msg), sig, b.opts) }
func (b *bbsBatch) Len() int            { return b.b.Len() }

func (b *bbsBatch) Verify() error {
	if b.err != nil {
		return b.err
	}
	return batchRefused(b.b.Verify())
}

func (g *bbsGroup) ParseOpening(data []byte) (Opening, error) {
	o := new(bbs.Opening)
	if err := o.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	return o, nil
}

func (g *bbsGroup) VerifyOpening(msg, sig []byte, opts VerifyOptions, x Opening, key ed25519.PublicKey, context []byte) error {
	opts.Revocation = nil
	v, err := g.options(opts)
	if err != nil {
		return err
	}
	o, ok := x.(*bbs.Opening)
	if !ok {
		return errForeign
	}
	return g.k.VerifyOpening(transcript.MessageOf(msg), sig, v, o, key, context)
}

// signed returns a signature for the core.
func (g *bbsGroup) signed(s Signed) (bbs.Signed, error) {
	v, err := g.options(s.Options)
	return bbs.Signed{Message: transcript.MessageOf(s.Message), Signature: s.Signature, Options: v}, err
}

func (g *bbsGroup) set(set []Signed) ([]bbs.Signed, error) {
	out := make([]bbs.Signed, len(set))
	for i, s := range set {
		var err error
		if out[i], err = g.signed(s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (g *bbsGroup) Pseudonym(sig []byte) ([]byte, error) { return g.k.Pseudonym(sig) }

func (g *bbsGroup) VerifyLink(set []Signed, context, link []byte) error {
	s, err := g.set(set)
	if err != nil {
		return err
	}
	return g.k.VerifyLink(s, context, link)
}

func (g *bbsGroup) VerifyClaim(s Signed, context, claim []byte) error {
	q, err := g.signed(s)
	if err != nil {
		return err
	}
	return g.k.VerifyClaim(q, context, claim)
}

func (g *bbsGroup) VerifySequenceLink(set []Signed, context, link []byte, first bool) error {
	s, err := g.set(set)
	if err != nil {
		return err
	}
	return g.k.VerifySequenceLink(s, context, link, first)
}

func (g *bbsGroup) MessagePoint(msg []byte) []byte {
	return g.k.MessagePoint(transcript.MessageOf(msg))
}

func (g *bbsGroup) NewBlindingKey() (BlindingKey, error) {
	b, err := g.k.NewBlindingKey()
	if err != nil {
		return nil, err
	}
	return &bbsBlinding{g: g, b: b}, nil
}

func (g *bbsGroup) ParseBlindingKey(data []byte) (BlindingKey, error) {
	b, err := g.k.ParseBlindingKey(data)
	if err != nil {
		return nil, err
	}
	return &bbsBlinding{g: g, b: b}, nil
}

type bbsBlinding struct {
	hidden
	g *bbsGroup
	b *bbs.BlindingKey
}

func (b *bbsBlinding) Public() []byte                 { return b.b.Public() }
func (b *bbsBlinding) MarshalBinary() ([]byte, error) { return b.b.MarshalBinary() }
func (b *bbsBlinding) Wipe()                          { b.b.Wipe() }

func (b *bbsBlinding) Blind(msg, sig []byte, opts VerifyOptions) ([]byte, error) {
	v, err := b.g.options(opts)
	if err != nil {
		return nil, err
	}
	return b.b.Blind(transcript.MessageOf(msg), sig, v)
}

func (b *bbsBlinding) Unblind(converted []byte) (nym, message []byte, err error) {
	return b.b.Unblind(converted)
}

type bbsPending struct {
	hidden
	g *bbsGroup
	p *bbs.PendingMember
}

func (p *bbsPending) GroupKey() GroupKey             { return p.g }
func (p *bbsPending) MarshalBinary() ([]byte, error) { return p.p.MarshalBinary() }
func (p *bbsPending) Wipe()                          { p.p.Wipe() }

func (p *bbsPending) Finish(credential []byte, epoch uint64) (MemberKey, error) {
	m, err := p.p.Finish(credential, epoch)
	if err != nil {
		return nil, err
	}
	return &bbsMember{g: p.g, m: m}, nil
}

// A bbsMember is a member's key, as bbsGroup is a group's.
type bbsMember struct {
	hidden
	g *bbsGroup
	m *bbs.MemberKey
}

func (m *bbsMember) GroupKey() GroupKey             { return m.g }
func (m *bbsMember) Features() Features             { return m.g.Features() }
func (m *bbsMember) MarshalBinary() ([]byte, error) { return m.m.MarshalBinary() }
func (m *bbsMember) Wipe()                          { m.m.Wipe() }
func (m *bbsMember) Epoch() uint64                  { return m.m.Epoch() }
func (m *bbsMember) SequenceIndex() uint64          { return m.m.SequenceIndex() }

func (m *bbsMember) Sign(msg []byte, opts SignOptions) ([]byte, error) {
	scope, err := m.g.scope(opts.Scope, opts.Context)
	if err != nil {
		return nil, err
	}
	return m.m.Sign(transcript.MessageOf(msg), bbs.SignOptions{Scope: scope, Batch: opts.Batch})
}

func (m *bbsMember) Update(credential []byte, epoch uint64) error {
	if !m.Features().Has(Epoch) {
		return errEpoch
	}
	return m.m.Update(credential, epoch)
}

func (m *bbsMember) Identify(s Signed) (bool, error) {
	q, err := m.g.signed(s)
	if err != nil {
		return false, err
	}
	return m.m.Identify(q)
}

func (m *bbsMember) Link(set []Signed, context []byte) ([]byte, error) {
	s, err := m.g.set(set)
	if err != nil {
		return nil, err
	}
	return m.m.Link(s, context)
}

func (m *bbsMember) Claim(s Signed, context []byte) ([]byte, error) {
	q, err := m.g.signed(s)
	if err != nil {
		return nil, err
	}
	return m.m.Claim(q, context)
}

func (m *bbsMember) SequenceLink(set []Signed, context []byte, first bool) ([]byte, error) {
	s, err := m.g.set(set)
	if err != nil {
		return nil, err
	}
	return m.m.SequenceLink(s, context, first)
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig

import (
	"crypto/ed25519"
	"errors"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sdh"
	"github.com/undersign/undersign/internal/transcript"
)

// An sdhScheme is one of those whose credentials are Boneh and Boyen's: a table of the
// core that its package stands on.
type sdhScheme struct {
	table              *sdh.Scheme
	summary            string
	required, optional Features // the optional one is the table's variant
}

var (
	dp06Scheme = &sdhScheme{sdh.DP06, "a classic, anonymous even where others' signatures are opened; an opener",
		Escrow, Rekey}
	hlccn11Scheme = &linkingScheme{&sdhScheme{sdh.HLCCN11, "a linker sees which signatures are of one member, and not of which; an opener",
		Escrow | Link, Rekey}}
	bbs04Scheme = &sdhScheme{sdh.BBS04, "the classic of 2004; members are revoked by moving the key; with static the issuer can frame",
		Escrow | Rekey, Static}
)

func (s *sdhScheme) Name() string       { return s.table.Name }
func (s *sdhScheme) Summary() string    { return s.summary }
func (s *sdhScheme) Required() Features { return s.required }
func (s *sdhScheme) Optional() Features { return s.optional }
func (s *sdhScheme) sealed()            {}

func (s *sdhScheme) NewDraft(label string, f Features) (Draft, error) {
	f, err := checkFeatures(s, f)
	if err != nil {
		return nil, err
	}
	table := s.table
	if f&s.optional != 0 {
		table = table.Variant
	}
	if err := join.CheckLabel(label); err != nil {
		return nil, err
	}
	return &sdhDraft{s, &sdh.Draft{Scheme: table, Label: label}}, nil
}

func (s *sdhScheme) ParseDraft(data []byte) (Draft, error) {
	d, err := sdh.ParseDraft(s.table, data)
	if err != nil {
		return nil, err
	}
	return &sdhDraft{s, d}, nil
}

func (s *sdhScheme) ParseGroupKey(data []byte) (GroupKey, error) {
	k, err := sdh.ParseGroupKey(s.table, data)
	if err != nil {
		return nil, err
	}
	return &sdhGroup{s, k}, nil
}

func (s *sdhScheme) GenerateIssuerKey() IssuerKey {
	return &sdhIssuer{sdhRole{s: s, k: sdh.GenerateIssuerKey(s.table)}}
}

func (s *sdhScheme) ParseIssuerKey(data []byte) (IssuerKey, error) {
	k, err := sdh.ParseIssuerKey(s.table, data)
	if err != nil {
		return nil, err
	}
	return &sdhIssuer{sdhRole{s: s, k: k}}, nil
}

func (s *sdhScheme) GenerateOpenerKey(f Features) (Opener, error) {
	if _, err := checkFeatures(s, f); err != nil {
		return nil, err
	}
	return &sdhOpener{sdhRole{s: s, k: sdh.GenerateOpenerKey(s.table)}}, nil
}

func (s *sdhScheme) ParseOpenerKey(data []byte) (Opener, error) {
	k, err := sdh.ParseOpenerKey(s.table, data)
	if err != nil {
		return nil, err
	}
	return &sdhOpener{sdhRole{s: s, k: k}}, nil
}

func (s *sdhScheme) GenerateConverterKey() (Converter, error)    { return nil, errNoConverter }
func (s *sdhScheme) ParseConverterKey([]byte) (Converter, error) { return nil, errNoConverter }

// A linkingScheme is one with a linker.
type linkingScheme struct{ *sdhScheme }

func (s *sdhScheme) scheme() Scheme {
	if s == hlccn11Scheme.sdhScheme {
		return hlccn11Scheme
	}
	return s
}

// features of a group of a table.
func (s *sdhScheme) features(variant bool) Features {
	if variant {
		return s.required | s.optional
	}
	return s.required
}

type sdhDraft struct {
	s *sdhScheme
	d *sdh.Draft
}

func (d *sdhDraft) Scheme() Scheme                 { return d.s.scheme() }
func (d *sdhDraft) Label() string                  { return d.d.Label }
func (d *sdhDraft) Features() Features             { return d.s.features(d.d.Scheme != d.s.table) }
func (d *sdhDraft) ID() ([32]byte, error)          { return d.d.ID(), nil }
func (d *sdhDraft) MarshalBinary() ([]byte, error) { return d.d.MarshalBinary() }
func (d *sdhDraft) sealed()                        {}

func (d *sdhDraft) GroupKey() (GroupKey, error) {
	k, err := sdh.NewGroupKey(d.d)
	if err != nil {
		return nil, err
	}
	return &sdhGroup{d.s, k}, nil
}

// An sdhRole is what issuer and opener have in common.
type sdhRole struct {
	hidden
	s *sdhScheme
	k *sdh.RoleKeys
}

func (r *sdhRole) MarshalBinary() ([]byte, error) { return r.k.MarshalBinary() }
func (r *sdhRole) Wipe()                          { r.k.Wipe() }

func (r *sdhRole) draft(x Draft) (*sdh.Draft, error) {
	d, ok := x.(*sdhDraft)
	if !ok || d.s != r.s {
		return nil, errForeign
	}
	return d.d, nil
}

func (r *sdhRole) Enroll(x Draft) error {
	d, err := r.draft(x)
	if err != nil {
		return err
	}
	return r.k.Enroll(d)
}

func (r *sdhRole) Consent(x Draft) error {
	d, err := r.draft(x)
	if err != nil {
		return err
	}
	return r.k.Consent(d)
}

func (r *sdhRole) group(x GroupKey) (*sdhGroup, error) {
	g, ok := x.(*sdhGroup)
	if !ok || g == nil || g.s != r.s {
		return nil, errForeign
	}
	return g, nil
}

type sdhIssuer struct{ sdhRole }

func (i *sdhIssuer) Invite(x GroupKey, s *Sessions, member string, key ed25519.PublicKey, now, lifetime int64) (*Challenge, error) {
	if _, err := i.group(x); err != nil {
		return nil, err
	}
	return s.Open(member, key, join.Fischlin, now, lifetime)
}

func (i *sdhIssuer) Issue(x GroupKey, s *Sessions, register *Register, application []byte, now int64, epoch uint64) ([]byte, error) {
	g, err := i.group(x)
	if err != nil {
		return nil, err
	}
	if epoch != 0 {
		return nil, errEpoch
	}
	return i.k.Issue(g.k, s, register, application, now)
}

func (i *sdhIssuer) MakeMember(x GroupKey, register *Register, member string, key ed25519.PrivateKey) (MemberKey, error) {
	g, err := i.group(x)
	if err != nil {
		return nil, err
	}
	m, err := i.k.MakeMember(g.k, register, member, key)
	if err != nil {
		return nil, err
	}
	return &sdhMember{g: g, m: m}, nil
}

func (i *sdhIssuer) MadeMember(x GroupKey, register *Register, member string) (MemberKey, error) {
	g, err := i.group(x)
	if err != nil {
		return nil, err
	}
	m, err := i.k.MadeMember(g.k, register, member)
	if err != nil {
		return nil, err
	}
	return &sdhMember{g: g, m: m}, nil
}

func (i *sdhIssuer) OpenerRecord(x GroupKey, r *Record) (*Record, error) {
	g, err := i.group(x)
	if err != nil {
		return nil, err
	}
	return g.k.OpenerRecord(r)
}

type sdhOpener struct{ sdhRole }

func (o *sdhOpener) Record(x GroupKey, register *Register, r *Record, key ed25519.PublicKey) error {
	g, err := o.group(x)
	if err != nil {
		return err
	}
	if err := o.k.CheckRecord(g.k, r, key); err != nil {
		return err
	}
	own, err := g.k.OpenerRecord(r) // what isn't kept isn't lost
	if err != nil {
		return err
	}
	return register.Add(own)
}

func (o *sdhOpener) Open(x GroupKey, register *Register, msg, sig []byte, opts VerifyOptions, context []byte) (Opening, error) {
	g, err := o.group(x)
	if err != nil {
		return nil, err
	}
	sigContext, k, err := g.old(opts, msg, sig)
	if err != nil {
		return nil, err
	}
	out, err := o.k.Open(k, register, transcript.MessageOf(msg), sigContext, sig, context)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// An sdhGroup is a group key.
type sdhGroup struct {
	s *sdhScheme
	k *sdh.GroupKey
}

func (g *sdhGroup) Scheme() Scheme                 { return g.s.scheme() }
func (g *sdhGroup) Label() string                  { return g.k.Label() }
func (g *sdhGroup) Features() Features             { return g.s.features(g.k.Variant()) }
func (g *sdhGroup) ID() [32]byte                   { return g.k.ID() }
func (g *sdhGroup) MarshalBinary() ([]byte, error) { return g.k.MarshalBinary() }
func (g *sdhGroup) NewSessions() *Sessions         { return g.k.NewSessions() }
func (g *sdhGroup) NewRegister() *Register         { return g.k.NewRegister() }
func (g *sdhGroup) SignatureSize() int             { return g.k.SignatureSize() }
func (g *sdhGroup) sealed()                        {}

func (g *sdhGroup) NewJoin(fingerprint [32]byte, c *Challenge, member string, key ed25519.PrivateKey) (Pending, []byte, error) {
	p, m2, err := g.k.NewJoin(fingerprint, c, member, key)
	if err != nil {
		return nil, nil, err
	}
	return &sdhPending{g: g, p: p}, m2, nil
}

func (g *sdhGroup) ParsePending(data []byte) (Pending, error) {
	p, err := g.k.ParsePendingMember(data)
	if err != nil {
		return nil, err
	}
	return &sdhPending{g: g, p: p}, nil
}

func (g *sdhGroup) ParseMemberKey(data []byte) (MemberKey, error) {
	m, err := g.k.ParseMemberKey(data)
	if err != nil {
		return nil, err
	}
	return &sdhMember{g: g, m: m}, nil
}

var errNoList = errors.New("groupsig: the scheme has no lists of revoked members")

// options returns the context, if what is demanded fits the group, and the key that
// signatures are verified by: the newest.
func (g *sdhGroup) options(o VerifyOptions) ([]byte, *sdh.GroupKey, error) {
	context, err := g.context(o)
	if err != nil {
		return nil, nil, err
	}
	if o.Revocation == nil {
		if g.k.Moves() { // once somebody is revoked anybody can sign under the first key
			return nil, nil, &StaleError{What: "revocation list", Reason: "none is given, and the group rekeys"}
		}
		return context, g.k, nil
	}
	u, err := g.update(o.Revocation)
	if err != nil {
		return nil, nil, err
	}
	k, err := g.k.Fresh(u, o.Now, o.MinNumber)
	return context, k, err
}

// context is options without revocation.
func (g *sdhGroup) context(o VerifyOptions) ([]byte, error) {
	if o.Announcement != nil {
		return nil, errEpoch
	}
	return noScope(o.Scope, o.Context)
}

// update returns what is behind a list.
func (g *sdhGroup) update(r Revocation) (*sdh.Update, error) {
	if !g.k.Moves() {
		return nil, errNoList
	}
	u, ok := r.(*sdh.Update)
	if !ok || u == nil {
		return nil, &StaleError{What: "revocation list", Reason: "it is of another scheme"}
	}
	return u, nil
}

// old is options for what may have been signed under an older key.
func (g *sdhGroup) old(o VerifyOptions, msg, sig []byte) ([]byte, *sdh.GroupKey, error) {
	context, err := g.context(o)
	if err != nil || o.Revocation == nil || g.k.Traces() {
		return context, g.k, err
	}
	u, err := g.update(o.Revocation)
	if err != nil {
		return nil, nil, err
	}
	k, err := g.k.KeyOf(u, transcript.MessageOf(msg), context, sig)
	return context, k, refused(err)
}

func (g *sdhGroup) ParseRevocation(data []byte) (Revocation, error) {
	if g.k.Traces() {
		l, err := g.k.ParseList(data)
		if err != nil {
			return nil, err
		}
		return l, nil
	}
	u, err := g.k.ParseUpdate(data)
	if err != nil {
		return nil, err
	}
	return u, nil
}

func (g *sdhGroup) MarkListed(register *Register, r Revocation, now int64) (int, error) {
	if g.k.Traces() {
		l, err := sdhList(r)
		if err != nil {
			return 0, err
		}
		return g.k.MarkTraced(register, l, now)
	}
	u, err := g.update(r)
	if err != nil {
		return 0, err
	}
	return g.k.MarkListed(register, u, now)
}

// RevocationList moves the key.
func (i *sdhIssuer) RevocationList(x GroupKey, register *Register, terms Terms, base Revocation) (Revocation, error) {
	g, err := i.group(x)
	if err != nil {
		return nil, err
	}
	var b *sdh.Update
	if base != nil {
		if b, err = g.update(base); err != nil {
			return nil, err
		}
	}
	u, err := i.k.Update(g.k, register, terms, b)
	if err != nil {
		return nil, err
	}
	return u, nil
}

func (m *sdhMember) Version() uint64 { return m.m.Version() }

func (m *sdhMember) Rekey(r Revocation) error {
	u, err := m.g.update(r)
	if err != nil {
		return err
	}
	return m.m.Update(u)
}

func (g *sdhGroup) Verify(msg, sig []byte, opts VerifyOptions) error {
	if g.k.Traces() {
		return g.verifyTraced(msg, sig, opts)
	}
	context, k, err := g.options(opts)
	if err != nil {
		return err
	}
	return refused(k.Verify(transcript.MessageOf(msg), context, sig))
}

func (g *sdhGroup) SignatureID(_, sig []byte, opts VerifyOptions) ([32]byte, error) {
	if _, err := g.context(opts); err != nil {
		return [32]byte{}, err
	}
	return g.k.SignatureID(sig)
}

// There is one layout.

func (g *sdhGroup) ForBatch(msg, sig []byte, opts VerifyOptions) ([]byte, error) {
	_, err := g.SignatureID(msg, sig, opts)
	return sig, err
}

func (g *sdhGroup) Compact(msg, sig []byte, opts VerifyOptions) ([]byte, error) {
	return g.ForBatch(msg, sig, opts)
}

// An sdhBatch refuses all if its options are no good.
type sdhBatch struct {
	b       *sdh.Batch
	context []byte
	err     error
}

func (g *sdhGroup) Batch(opts VerifyOptions) Batch {
	if g.k.Traces() {
		return g.tracedBatch(opts)
	}
	context, k, err := g.options(opts)
	return &sdhBatch{k.Batch(), context, err}
}

func (b *sdhBatch) Add(msg, sig []byte) { b.b.Add(transcript.MessageOf(msg), b.context, sig) }
func (b *sdhBatch) Len() int            { return b.b.Len() }

func (b *sdhBatch) Verify() error {
	if b.err != nil {
		return b.err
	}
	return batchRefused(b.b.Verify())
}

func (g *sdhGroup) ParseOpening(data []byte) (Opening, error) {
	o := new(sdh.Opening)
	if err := o.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	return o, nil
}

func (g *sdhGroup) VerifyOpening(msg, sig []byte, opts VerifyOptions, x Opening, key ed25519.PublicKey, context []byte) error {
	sigContext, k, err := g.old(opts, msg, sig)
	if err != nil {
		return err
	}
	o, ok := x.(*sdh.Opening)
	if !ok {
		return errForeign
	}
	return k.VerifyOpening(transcript.MessageOf(msg), sigContext, sig, o, key, context)
}

type sdhPending struct {
	hidden
	g *sdhGroup
	p *sdh.PendingMember
}

func (p *sdhPending) GroupKey() GroupKey             { return p.g }
func (p *sdhPending) MarshalBinary() ([]byte, error) { return p.p.MarshalBinary() }
func (p *sdhPending) Wipe()                          { p.p.Wipe() }

func (p *sdhPending) Finish(credential []byte, epoch uint64) (MemberKey, error) {
	if epoch != 0 {
		return nil, errEpoch
	}
	m, err := p.p.Finish(credential)
	if err != nil {
		return nil, err
	}
	return &sdhMember{g: p.g, m: m}, nil
}

type sdhMember struct {
	hidden
	g *sdhGroup
	m *sdh.MemberKey
}

func (m *sdhMember) GroupKey() GroupKey             { return m.g }
func (m *sdhMember) Features() Features             { return m.g.Features() }
func (m *sdhMember) MarshalBinary() ([]byte, error) { return m.m.MarshalBinary() }
func (m *sdhMember) Wipe()                          { m.m.Wipe() }

func (m *sdhMember) Sign(msg []byte, opts SignOptions) ([]byte, error) {
	context, err := noScope(opts.Scope, opts.Context)
	if err != nil {
		return nil, err
	}
	return m.m.Sign(transcript.MessageOf(msg), context)
}

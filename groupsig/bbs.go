// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/bbs"
	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/transcript"
)

// A bbsScheme is one of those that are made of a BBS credential and features. It
// stands on the core that its package stands on.
type bbsScheme struct {
	name, summary string
	form          bbs.Features // that have no name here
	escrow        bbs.Features
	required      Features
	optional      Features
}

var (
	bbsgsScheme = &bbsScheme{"bbsgs", "for new groups: pseudonyms, opener, sequences, epochs, each as wanted",
		0, bbs.Escrow, 0, Scope | Escrow | Sequence | Epoch | Token}
	dl21Scheme = &bbsScheme{"dl21", "pseudonyms within a scope, which the member can link",
		bbs.Plus, bbs.Escrow, Scope, Escrow | Epoch | Token}
	dl21seqScheme = &bbsScheme{"dl21seq", "as dl21, and the member can prove that no signature is left out",
		bbs.Plus, bbs.Escrow, Scope | Sequence, Escrow | Epoch | Token}
	gl19Scheme = &bbsScheme{"gl19", "a converter makes the signatures of a query linkable",
		bbs.Plus, bbs.Escrow | bbs.SingleOpener, Convert | Epoch, Escrow}
)

var bbsFeatures = []struct {
	f Features
	b bbs.Features
}{{Scope, bbs.Scope}, {Escrow, bbs.Escrow}, {Sequence, bbs.Sequence}, {Epoch, bbs.Epoch}, {Token, bbs.Token}, {Convert, bbs.Convert}}

// core returns the core's name of features.
func (s *bbsScheme) core(f Features) bbs.Features {
	b := s.form
	for _, x := range bbsFeatures {
		if f.Has(x.f) {
			b |= x.b
		}
	}
	if f.Has(Escrow) {
		b |= s.escrow
	}
	return b
}

// ofCore is the inverse of core.
func ofCore(b bbs.Features) (f Features) {
	for _, x := range bbsFeatures {
		if b.Has(x.b) {
			f |= x.f
		}
	}
	return f
}

func (s *bbsScheme) Name() string       { return s.name }
func (s *bbsScheme) Summary() string    { return s.summary }
func (s *bbsScheme) Required() Features { return s.required }
func (s *bbsScheme) Optional() Features { return s.optional }
func (s *bbsScheme) sealed()            {}

func (s *bbsScheme) check(d *bbs.Draft) error {
	return d.Check(s.name, s.core(s.required), s.core(s.required|s.optional))
}

func (s *bbsScheme) NewDraft(label string, f Features) (Draft, error) {
	f, err := checkFeatures(s, f)
	if err != nil {
		return nil, err
	}
	d := &bbsDraft{s: s, d: bbs.Draft{Scheme: s.name, Label: label, Features: s.core(f)}}
	if err := s.check(&d.d); err != nil {
		return nil, err
	}
	return d, nil
}

func (s *bbsScheme) ParseDraft(data []byte) (Draft, error) {
	d := &bbsDraft{s: s}
	if err := d.d.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	if err := s.check(&d.d); err != nil {
		return nil, err
	}
	return d, nil
}

func (s *bbsScheme) ParseGroupKey(data []byte) (GroupKey, error) {
	d, err := s.ParseDraft(data)
	if err != nil {
		return nil, err
	}
	return d.GroupKey()
}

func (s *bbsScheme) GenerateIssuerKey() IssuerKey { return &bbsIssuer{k: bbs.GenerateIssuerKey()} }

func (s *bbsScheme) ParseIssuerKey(data []byte) (IssuerKey, error) {
	k := new(bbs.IssuerKey)
	if err := k.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	return &bbsIssuer{k: k}, nil
}

func (s *bbsScheme) GenerateOpenerKey(f Features) (Opener, error) {
	f, err := checkFeatures(s, f)
	if err != nil {
		return nil, err
	}
	if !f.Has(Escrow) {
		return nil, errors.New("groupsig: there is no opener without escrow")
	}
	k, err := bbs.GenerateOpenerKey(s.core(f))
	if err != nil {
		return nil, err
	}
	return &bbsOpener{k: k}, nil
}

func (s *bbsScheme) ParseOpenerKey(data []byte) (Opener, error) {
	k := new(bbs.OpenerKey)
	if err := k.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	return &bbsOpener{k: k}, nil
}

var errNoConverter = errors.New("groupsig: the scheme has no converter")

func (s *bbsScheme) GenerateConverterKey() (Converter, error) {
	if !(s.required | s.optional).Has(Convert) {
		return nil, errNoConverter
	}
	return &bbsConverter{k: bbs.GenerateConverterKey()}, nil
}

func (s *bbsScheme) ParseConverterKey(data []byte) (Converter, error) {
	if !(s.required | s.optional).Has(Convert) {
		return nil, errNoConverter
	}
	k := new(bbs.ConverterKey)
	if err := k.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	return &bbsConverter{k: k}, nil
}

type bbsDraft struct {
	s *bbsScheme
	d bbs.Draft
}

func (d *bbsDraft) Scheme() Scheme                 { return d.s }
func (d *bbsDraft) Label() string                  { return d.d.Label }
func (d *bbsDraft) Features() Features             { return ofCore(d.d.Features) }
func (d *bbsDraft) ID() ([32]byte, error)          { return d.d.ID(), nil }
func (d *bbsDraft) MarshalBinary() ([]byte, error) { return d.d.MarshalBinary() }
func (d *bbsDraft) sealed()                        {}

func (d *bbsDraft) GroupKey() (GroupKey, error) {
	k, err := bbs.NewGroupKey(&d.d)
	if err != nil {
		return nil, err
	}
	return &bbsGroup{s: d.s, k: k}, nil
}

// draft returns what is behind the interface, and whether it has a feature.
func bbsDraftOf(x Draft, f Features) (*bbs.Draft, error) {
	d, ok := x.(*bbsDraft)
	if !ok {
		return nil, errForeign
	}
	if !d.Features().Has(f) {
		return nil, fmt.Errorf("groupsig: the draft has no %s", f)
	}
	return &d.d, nil
}

// group returns what is behind the interface.
func bbsGroupOf(x GroupKey) (*bbs.GroupKey, error) {
	g, ok := x.(*bbsGroup)
	if !ok {
		return nil, errForeign
	}
	return g.k, nil
}

// A hidden value shows nothing of itself.
type hidden struct{}

func (hidden) String() string               { return "groupsig: secret key" }
func (h hidden) GoString() string           { return h.String() }
func (h hidden) Format(f fmt.State, _ rune) { fmt.Fprint(f, h.String()) }
func (hidden) sealed()                      {}

type bbsIssuer struct {
	hidden
	k *bbs.IssuerKey
}

func (i *bbsIssuer) MarshalBinary() ([]byte, error) { return i.k.MarshalBinary() }
func (i *bbsIssuer) Wipe()                          { i.k.Wipe() }

func (i *bbsIssuer) Enroll(x Draft) error {
	d, err := bbsDraftOf(x, 0)
	if err == nil {
		d.Issuer = i.k.Public()
	}
	return err
}

func (i *bbsIssuer) Consent(x Draft) error {
	d, err := bbsDraftOf(x, 0)
	if err != nil {
		return err
	}
	return i.k.Consent(d)
}

func (i *bbsIssuer) Invite(x GroupKey, s *Sessions, member string, key ed25519.PublicKey, now, lifetime int64) (*Challenge, error) {
	if _, err := bbsGroupOf(x); err != nil {
		return nil, err
	}
	return s.Open(member, key, join.Fischlin, now, lifetime)
}

func (i *bbsIssuer) Issue(x GroupKey, s *Sessions, register *Register, application []byte, now int64, epoch uint64) ([]byte, error) {
	k, err := bbsGroupOf(x)
	if err != nil {
		return nil, err
	}
	return i.k.Issue(k, s, register, application, now, epoch)
}

func (i *bbsIssuer) Reissue(x GroupKey, register *Register, member string, epoch uint64) ([]byte, error) {
	k, err := bbsGroupOf(x)
	if err != nil {
		return nil, err
	}
	if !x.Features().Has(Epoch) {
		return nil, errEpoch
	}
	return i.k.Reissue(k, register, member, epoch)
}

type bbsOpener struct {
	hidden
	k *bbs.OpenerKey
}

func (o *bbsOpener) MarshalBinary() ([]byte, error) { return o.k.MarshalBinary() }
func (o *bbsOpener) Wipe()                          { o.k.Wipe() }

func (o *bbsOpener) Enroll(x Draft) error {
	d, err := bbsDraftOf(x, Escrow)
	if err == nil {
		d.Opener = o.k.Public(d)
	}
	return err
}

func (o *bbsOpener) Consent(x Draft) error {
	d, err := bbsDraftOf(x, Escrow)
	if err != nil {
		return err
	}
	return o.k.Consent(d)
}

func (o *bbsOpener) Record(x GroupKey, register *Register, r *Record, key ed25519.PublicKey) error {
	k, err := bbsGroupOf(x)
	if err != nil {
		return err
	}
	if r == nil {
		return errors.New("groupsig: no record")
	}
	if err := o.k.CheckRecord(k, r, key); err != nil {
		return err
	}
	return register.Add(r)
}

func (o *bbsOpener) Open(x GroupKey, register *Register, msg, sig []byte, opts VerifyOptions, context []byte) (Opening, error) {
	g, ok := x.(*bbsGroup)
	if !ok {
		return nil, errForeign
	}
	opts.Revocation = nil
	v, err := g.options(opts)
	if err != nil {
		return nil, err
	}
	if err := refused(g.k.Verify(transcript.MessageOf(msg), sig, v)); err != nil {
		return nil, err
	}
	out, err := o.k.Open(g.k, register, transcript.MessageOf(msg), sig, v, context)
	if err != nil {
		return nil, err
	}
	return out, nil
}

type bbsConverter struct {
	hidden
	k *bbs.ConverterKey
}

func (c *bbsConverter) MarshalBinary() ([]byte, error) { return c.k.MarshalBinary() }
func (c *bbsConverter) Wipe()                          { c.k.Wipe() }

func (c *bbsConverter) Enroll(x Draft) error {
	d, err := bbsDraftOf(x, Convert)
	if err == nil {
		d.Converter = c.k.Public(d)
	}
	return err
}

func (c *bbsConverter) Consent(x Draft) error {
	d, err := bbsDraftOf(x, Convert)
	if err != nil {
		return err
	}
	return c.k.Consent(d)
}

func (c *bbsConverter) Convert(x GroupKey, public []byte, query [][]byte) ([][]byte, error) {
	k, err := bbsGroupOf(x)
	if err != nil {
		return nil, err
	}
	return c.k.Convert(k, public, query)
}

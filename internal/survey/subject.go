// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/groupsig/legacy"
)

// A subject is a scheme, or one of its forms, that is measured.
type subject struct {
	name     string
	features string
	legacy   bool // and slow to set up
	new      func(ctx context.Context) (instance, error)
}

// An instance is a group with one member.
type instance interface {
	join(name string) error
	sign(msg []byte) ([]byte, error)
	verify(msg, sig []byte) error
	// decode decodes a signature, or takes it apart, and does nothing else.
	decode(msg, sig []byte) error
	groupKey() ([]byte, error)
	parseGroupKey(data []byte) error
	// secrets are the sizes of encoded keys, 0 for those that aren't to be had.
	secrets() (issuer, opener, member int, err error)
}

// subjects returns the forms of all schemes, in the order in which they are listed.
func subjects() []subject {
	var out []subject
	for _, s := range groupsig.Schemes() {
		for _, f := range forms(s) {
			out = append(out, subject{s.Name(), (s.Required() | f).String(), false, func(context.Context) (instance, error) { return newGroup(s, f) }})
		}
	}
	for _, s := range legacy.Schemes() {
		out = append(out, subject{s.Name(), groupsig.Escrow.String(), true, func(ctx context.Context) (instance, error) { return newLegacy(ctx, s) }})
	}
	return out
}

// forms are the features that a scheme is measured with: none but the required ones; with
// an opener, if that can be had; with scopes and epochs besides, if those can; and static.
func forms(s groupsig.Scheme) []groupsig.Features {
	out := []groupsig.Features{0}
	for _, f := range []groupsig.Features{groupsig.Escrow, groupsig.Scope | groupsig.Escrow | groupsig.Epoch, groupsig.Static} {
		if s.Optional().Has(f) {
			out = append(out, f)
		}
	}
	return out
}

// Terms of the measured groups.
const (
	now   = 1_800_000_000
	hour  = 3600
	epoch = 1
)

var scope = []byte("2026-11")

// A group is an instance of a scheme of package groupsig.
type group struct {
	scheme   groupsig.Scheme
	gk       groupsig.GroupKey
	issuer   groupsig.IssuerKey
	opener   groupsig.Opener // or nil
	sessions *groupsig.Sessions
	register *groupsig.Register
	epoch    uint64
	member   groupsig.MemberKey // who joined last
	sop      groupsig.SignOptions
	vop      groupsig.VerifyOptions
}

func newGroup(s groupsig.Scheme, f groupsig.Features) (*group, error) {
	draft, err := s.NewDraft("survey", f)
	if err != nil {
		return nil, err
	}
	f = draft.Features()
	g := &group{scheme: s, issuer: s.GenerateIssuerKey()}
	roles := []groupsig.Role{g.issuer}
	if f.Has(groupsig.Escrow) {
		if g.opener, err = s.GenerateOpenerKey(f); err != nil {
			return nil, err
		}
		roles = append(roles, g.opener)
	}
	if f.Has(groupsig.Convert) {
		r, err := s.GenerateConverterKey()
		if err != nil {
			return nil, err
		}
		roles = append(roles, r)
	}
	if l, ok := s.(groupsig.LinkingScheme); ok {
		roles = append(roles, l.GenerateLinkerKey())
	}
	for _, r := range roles {
		if err := r.Enroll(draft); err != nil {
			return nil, err
		}
	}
	for _, r := range roles {
		if err := r.Consent(draft); err != nil {
			return nil, err
		}
	}
	if g.gk, err = draft.GroupKey(); err != nil {
		return nil, err
	}
	g.sessions, g.register = g.gk.NewSessions(), g.gk.NewRegister()
	g.vop.Now = now
	if f.Has(groupsig.Scope) {
		g.sop.Scope, g.vop.Scope = scope, scope
	}
	if f.Has(groupsig.Epoch) {
		g.epoch, g.vop.MinEpoch, g.vop.MaxEpoch = epoch, epoch, epoch
	}
	if f.Has(groupsig.Rekey) {
		terms := groupsig.Terms{Number: 1, Issued: now, Expires: now + hour}
		if g.vop.Revocation, err = g.issuer.(groupsig.Revoker).RevocationList(g.gk, g.register, terms, nil); err != nil {
			return nil, err
		}
	}
	return g, nil
}

func (g *group) join(name string) error {
	seed := sha256.Sum256([]byte(name))
	key := ed25519.NewKeyFromSeed(seed[:])
	c, err := g.issuer.Invite(g.gk, g.sessions, name, key.Public().(ed25519.PublicKey), now, hour)
	if err != nil {
		return err
	}
	p, application, err := g.gk.NewJoin(g.gk.ID(), c, name, key)
	if err != nil {
		return err
	}
	credential, err := g.issuer.Issue(g.gk, g.sessions, g.register, application, now, g.epoch)
	if err != nil {
		return err
	}
	g.member, err = p.Finish(credential, g.epoch)
	return err
}

func (g *group) sign(msg []byte) ([]byte, error) { return g.member.Sign(msg, g.sop) }

func (g *group) verify(msg, sig []byte) error { return g.gk.Verify(msg, sig, g.vop) }

func (g *group) decode(msg, sig []byte) error {
	_, err := g.gk.SignatureID(msg, sig, g.vop)
	return err
}

func (g *group) groupKey() ([]byte, error) { return g.gk.MarshalBinary() }

func (g *group) parseGroupKey(data []byte) error {
	k, err := g.scheme.ParseGroupKey(data)
	if err == nil && k.ID() != g.gk.ID() {
		err = fmt.Errorf("survey: another group key of %s", g.scheme.Name())
	}
	return err
}

func (g *group) secrets() (issuer, opener, member int, err error) {
	size := func(k interface{ MarshalBinary() ([]byte, error) }) (n int) {
		b, e := k.MarshalBinary()
		if e != nil {
			err = e
		}
		n = len(b)
		clear(b)
		return n
	}
	if g.opener != nil {
		opener = size(g.opener)
	}
	return size(g.issuer), opener, size(g.member), err
}

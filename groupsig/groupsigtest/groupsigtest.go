// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package groupsigtest runs a scheme of group signatures through a group's life, with
// good and hostile parties, using nothing but package groupsig.
//
// What a forger makes with knowledge of a scheme's equations is in the tests of the
// scheme's package. Here is what can be done to any: every field replaced, messages
// replayed, proofs used for something else, states that are old.
package groupsigtest

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/undersign/undersign/groupsig"
)

const (
	now   = 1_800_000_000
	hour  = 3600
	epoch = 7 // of groups that have epochs
)

// Options are how a run is made.
type Options struct {
	// Thorough changes every byte and every field, which takes minutes. Otherwise
	// some are picked, and fewer of them in short tests.
	Thorough bool
}

// Run runs the tests of a scheme, for groups with some features.
func Run(t *testing.T, scheme groupsig.Scheme, f groupsig.Features, opts Options) {
	g := newGroup(t, scheme, f, "conformance")
	g.thorough = opts.Thorough
	g.joinAll("ada", "bob", "carol")
	defer func() { t.Logf("%d changed signatures, messages, proofs and keys tried", g.tried.Load()) }()
	for _, part := range []struct {
		name string
		run  func(*group)
	}{
		{"setup", testSetup},
		{"join", testJoin},
		{"verify", testVerify},
		{"forgeries", testForgeries},
		{"batch", testBatch},
		{"open", testOpen},
		{"link", testLink},
		{"sequence", testSequence},
		{"convert", testConvert},
		{"linker", testLinker},
		{"rekey", testRekey},
		{"trace", testTrace},
		{"static", testStatic},
		{"revoke/list", testRevokeList},
		{"revoke/pseudonyms", testRevokePseudonyms},
		{"revoke/epoch", testRevokeEpoch},
		{"revoke/rejoin", testRejoin},
		{"announce", testAnnounce},
		{"secrets", testSecrets},
		{"goroutines", testGoroutines},
	} {
		t.Run(part.name, func(t *testing.T) {
			h := *g
			h.t = t
			part.run(&h)
		})
	}
}

// A group is all that the parties have.
type group struct {
	t         *testing.T
	scheme    groupsig.Scheme
	f         groupsig.Features
	gk        groupsig.GroupKey
	issuer    groupsig.IssuerKey
	opener    groupsig.Opener    // nil in groups without
	converter groupsig.Converter // nil in groups without
	linker    groupsig.LinkingAuthority
	list      groupsig.Revocation // of groups that rekey, which revokes nobody
	sessions  *groupsig.Sessions
	register  *groupsig.Register // the issuer's
	opening   *groupsig.Register // the opener's
	members   map[string]groupsig.MemberKey
	epoch     uint64
	thorough  bool
	tried     *atomic.Int64 // what was changed, and refused
}

func longTerm(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("long-term key of " + name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func public(name string) ed25519.PublicKey { return longTerm(name).Public().(ed25519.PublicKey) }

func (g *group) check(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

// must returns v, and ends the test on an error.
func must[T any](v T, err error) func(*group) T {
	return func(g *group) T {
		g.t.Helper()
		g.check(err)
		return v
	}
}

type marshaler interface{ MarshalBinary() ([]byte, error) }

// encoded returns an object's encoding.
func (g *group) encoded(v marshaler) []byte {
	g.t.Helper()
	return must(v.MarshalBinary())(g)
}

// again passes an object through its encoding, which must be canonical: nothing
// shorter or longer, or of another version, is decoded.
func again[T marshaler](g *group, v T, parse func([]byte) (T, error)) T {
	g.t.Helper()
	data := g.encoded(v)
	out, err := parse(data)
	g.check(err)
	if !bytes.Equal(g.encoded(out), data) {
		g.t.Errorf("%T: another encoding the second time", v)
	}
	version, suite := bytes.Clone(data), bytes.Clone(data)
	version[0]++
	suite[1]++
	for what, b := range map[string][]byte{
		"nothing": nil, "two bytes": data[:2], "half": data[:len(data)/2], "truncated": data[:len(data)-1],
		"trailing": append(bytes.Clone(data), 0), "version": version, "suite": suite,
	} {
		if _, err := parse(b); err == nil {
			g.t.Errorf("%T: %s: decoded", v, what)
		}
	}
	return out
}

// into makes a parse function of an object that is decoded into an empty one.
func into[T interface{ UnmarshalBinary([]byte) error }](empty func() T) func([]byte) (T, error) {
	return func(b []byte) (T, error) {
		v := empty()
		return v, v.UnmarshalBinary(b)
	}
}

// newGroup sets a group up. Drafts and keys pass through their encodings.
func newGroup(t *testing.T, scheme groupsig.Scheme, f groupsig.Features, label string) *group {
	t.Helper()
	g := &group{t: t, scheme: scheme, members: map[string]groupsig.MemberKey{}, tried: new(atomic.Int64)}
	draft := must(scheme.NewDraft(label, f))(g)
	g.f = draft.Features()
	g.issuer = again(g, scheme.GenerateIssuerKey(), scheme.ParseIssuerKey)
	roles := []groupsig.Role{g.issuer}
	if g.f.Has(groupsig.Escrow) {
		g.opener = again(g, must(scheme.GenerateOpenerKey(f))(g), scheme.ParseOpenerKey)
		roles = append(roles, g.opener)
	}
	if g.f.Has(groupsig.Convert) {
		g.converter = again(g, must(scheme.GenerateConverterKey())(g), scheme.ParseConverterKey)
		roles = append(roles, g.converter)
	}
	if g.f.Has(groupsig.Link) {
		s := scheme.(groupsig.LinkingScheme)
		g.linker = again(g, s.GenerateLinkerKey(), s.ParseLinkerKey)
		roles = append(roles, g.linker)
	}
	for _, r := range roles {
		g.check(r.Enroll(draft))
	}
	id := must(draft.ID())(g)
	for _, r := range roles {
		if _, err := draft.GroupKey(); err == nil {
			t.Error("a group key without all consents")
		}
		g.check(r.Consent(draft))
		draft = again(g, draft, scheme.ParseDraft)
	}
	g.gk = again(g, must(draft.GroupKey())(g), scheme.ParseGroupKey)
	if g.gk.ID() != id || g.gk.Label() != label || g.gk.Features() != g.f || g.gk.Scheme() != scheme {
		t.Error("the group key isn't that of its draft")
	}
	if g.f.Has(groupsig.Epoch) {
		g.epoch = epoch
	}
	g.sessions, g.register, g.opening = g.gk.NewSessions(), g.gk.NewRegister(), g.gk.NewRegister()
	if g.f.Has(groupsig.Rekey) {
		terms := groupsig.Terms{Number: 1, Issued: now, Expires: now + hour}
		g.list = must(g.issuer.(groupsig.Revoker).RevocationList(g.gk, g.register, terms, nil))(g)
	}
	return g
}

func (g *group) invite(name string) *groupsig.Challenge {
	g.t.Helper()
	return must(g.issuer.Invite(g.gk, g.sessions, name, public(name), now, hour))(g)
}

func (g *group) apply(name string) (groupsig.Pending, []byte) {
	g.t.Helper()
	p, m2, err := g.gk.NewJoin(g.gk.ID(), g.invite(name), name, longTerm(name))
	g.check(err)
	return p, m2
}

func (g *group) issue(m2 []byte, at int64) ([]byte, error) {
	return g.issuer.Issue(g.gk, g.sessions, g.register, m2, at, g.epoch)
}

// joinAll lets several members join at once: all sessions are open before the first
// application is answered. Every message and state passes through its encoding.
func (g *group) joinAll(names ...string) {
	g.t.Helper()
	challenges := map[string]*groupsig.Challenge{}
	for _, name := range names {
		challenges[name] = again(g, g.invite(name), into(func() *groupsig.Challenge { return new(groupsig.Challenge) }))
	}
	pending, applications := map[string]groupsig.Pending{}, map[string][]byte{}
	for _, name := range names {
		p, m2, err := g.gk.NewJoin(g.gk.ID(), challenges[name], name, longTerm(name))
		g.check(err)
		pending[name], applications[name] = again(g, p, g.gk.ParsePending), m2
	}
	g.sessions = again(g, g.sessions, into(g.gk.NewSessions))
	answers := map[string][]byte{}
	for i := range names {
		name := names[len(names)-1-i]
		answers[name] = must(g.issue(applications[name], now))(g)
	}
	g.sessions = again(g, g.sessions, into(g.gk.NewSessions))
	g.register = again(g, g.register, into(g.gk.NewRegister))
	for _, name := range names {
		m := must(pending[name].Finish(answers[name], g.epoch))(g)
		g.members[name] = again(g, m, g.gk.ParseMemberKey)
		if g.opener != nil {
			g.check(g.opener.Record(g.gk, g.opening, g.register.Member(name), public(name)))
		}
	}
	g.opening = again(g, g.opening, into(g.gk.NewRegister))
}

// signOptions are what members of the group sign with. What is a scope in some groups
// is a context in others, and nothing in a third kind.
func (g *group) signOptions(scope string) (o groupsig.SignOptions) {
	switch {
	case g.f.Has(groupsig.Scope):
		o.Scope = []byte(scope)
	case g.contexts():
		o.Context = []byte(scope)
	}
	return o
}

// contexts reports whether the scheme has contexts.
func (g *group) contexts() bool {
	switch g.scheme {
	case groupsig.PS16(), groupsig.KLAP20(), groupsig.DS18(), groupsig.DP06(), groupsig.HLCCN11(), groupsig.BBS04(), groupsig.CPY06():
		return true
	}
	return false
}

// scoped reports whether signatures are bound to what signOptions is given.
func (g *group) scoped() bool { return g.f.Has(groupsig.Scope) || g.contexts() }

func (g *group) options(scope string) groupsig.VerifyOptions {
	o := g.signOptions(scope)
	v := groupsig.VerifyOptions{Scope: o.Scope, Context: o.Context, MinEpoch: g.epoch, MaxEpoch: g.epoch}
	if g.list != nil {
		v.Revocation, v.Now = g.list, now
	}
	return v
}

func (g *group) sign(name, msg, scope string) []byte {
	g.t.Helper()
	return must(g.members[name].Sign([]byte(msg), g.signOptions(scope)))(g)
}

func (g *group) signed(name, msg, scope string) groupsig.Signed {
	g.t.Helper()
	return groupsig.Signed{Message: []byte(msg), Signature: g.sign(name, msg, scope), Options: g.options(scope)}
}

func (g *group) verify(s groupsig.Signed) error {
	return g.gk.Verify(s.Message, s.Signature, s.Options)
}

// refuses demands the verdict that a signature is wrong.
func (g *group) refuses(what string, msg, sig []byte, opts groupsig.VerifyOptions) {
	g.t.Helper()
	g.tried.Add(1)
	g.invalid(what, msg, sig, opts)
}

func (g *group) invalid(what string, msg, sig []byte, opts groupsig.VerifyOptions) {
	g.t.Helper()
	if err := g.gk.Verify(msg, sig, opts); !errors.Is(err, groupsig.ErrSignature) {
		g.t.Errorf("%s: %v, want %v", what, err, groupsig.ErrSignature)
	}
}

// flips calls f with copies of data in which one byte has one bit changed: one of
// every step bytes, and fewer unless tests are thorough.
func (g *group) flips(data []byte, step int, f func(i int, b []byte)) {
	switch {
	case testing.Short():
		step *= 61
	case !g.thorough:
		step *= 31
	}
	for i := 0; i < len(data); i += step {
		b := bytes.Clone(data)
		b[i] ^= 1 << (i % 8)
		g.tried.Add(1)
		f(i, b)
	}
}

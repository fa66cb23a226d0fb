// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs04

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/undersign/undersign/groupsig"
)

const now = 1_000_000

func key(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func public(name string) ed25519.PublicKey { return key(name).Public().(ed25519.PublicKey) }

// A group is what the roles have.
type group struct {
	t        testing.TB
	gk       *GroupKey
	issuer   *IssuerKey
	opener   *OpenerKey
	sessions *Sessions
	register *Register
}

func (g *group) check(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

type marshaler interface{ MarshalBinary() ([]byte, error) }

// again passes an object through its encoding.
func (g *group) again(v marshaler, into interface{ UnmarshalBinary([]byte) error }) {
	g.t.Helper()
	b, err := v.MarshalBinary()
	g.check(err)
	g.check(into.UnmarshalBinary(b))
}

func newGroup(t testing.TB, features Features) *group {
	t.Helper()
	d, err := NewDraft("test", features)
	if err != nil {
		t.Fatal(err)
	}
	g := &group{t: t, issuer: GenerateIssuerKey(), opener: GenerateOpenerKey()}
	type role interface {
		Enroll(*Draft) error
		Consent(*Draft) error
	}
	for _, r := range []role{g.issuer, g.opener} {
		g.check(r.Enroll(d))
	}
	for _, r := range []role{g.issuer, g.opener} {
		if _, err := NewGroupKey(d); err == nil {
			t.Error("a group key without all consents")
		}
		g.check(r.Consent(d))
		next := new(Draft)
		g.again(d, next)
		d = next
	}
	k, err := NewGroupKey(d)
	g.check(err)
	g.gk = new(GroupKey)
	g.again(k, g.gk)
	if !k.Equal(g.gk) || k.ID() != d.ID() || k.Label() != "test" {
		t.Error("the group key isn't that of its draft")
	}
	g.sessions, g.register = g.gk.NewSessions(), g.gk.NewRegister()
	return g
}

// join runs the protocol, with every message and state through its encoding.
func (g *group) join(member string) *MemberKey {
	g.t.Helper()
	c, err := g.sessions.Open(member, public(member), Fischlin, now, 3600)
	g.check(err)
	answer := new(Challenge)
	g.again(c, answer)
	p, m2, err := g.gk.NewJoin(g.gk.ID(), answer, member, key(member))
	g.check(err)
	b, err := p.MarshalBinary()
	g.check(err)
	p, err = g.gk.ParsePending(b)
	g.check(err)
	sessions := g.gk.NewSessions()
	g.again(g.sessions, sessions)
	g.sessions = sessions
	m3, err := g.issuer.Issue(g.gk, g.sessions, g.register, m2, now)
	g.check(err)
	register := g.gk.NewRegister()
	g.again(g.register, register)
	g.register = register
	g.check(g.opener.CheckRecord(g.gk, g.register.Member(member), public(member)))
	m, err := p.Finish(m3)
	g.check(err)
	b, err = m.MarshalBinary()
	g.check(err)
	m, err = g.gk.ParseMemberKey(b)
	g.check(err)
	if m.Member() != member || !m.GroupKey().Equal(g.gk) || !p.Group().Equal(g.gk) {
		g.t.Error("another member, or another group")
	}
	return m
}

var context = []byte("context")

func (g *group) sign(m *MemberKey, msg string) []byte {
	g.t.Helper()
	sig, err := m.Sign([]byte(msg), context)
	g.check(err)
	return sig
}

func TestLifeCycle(t *testing.T) {
	g := newGroup(t, 0)
	ada, bob := g.join("ada"), g.join("bob")
	sig := g.sign(ada, "yes")
	if len(sig) != 368 || g.gk.SignatureSize() != 368 {
		t.Errorf("%d bytes", len(sig))
	}
	g.check(g.gk.Verify([]byte("yes"), sig, context))
	for what, err := range map[string]error{
		"message":   g.gk.Verify([]byte("no"), sig, context),
		"context":   g.gk.Verify([]byte("yes"), sig, nil),
		"group":     newGroup(t, 0).gk.Verify([]byte("yes"), sig, context),
		"truncated": g.gk.Verify([]byte("yes"), sig[:len(sig)-1], context),
	} {
		if !errors.Is(err, ErrSignature) {
			t.Errorf("another %s: %v", what, err)
		}
	}
	batch := g.gk.Batch()
	for i := range 4 {
		m := "yes"
		if i == 2 {
			m = "no"
		}
		batch.Add([]byte(m), sig, context)
	}
	if err, ok := batch.Verify().(*BatchError); !ok || fmt.Sprint(err.Bad) != "[2]" || batch.Len() != 4 {
		t.Errorf("batch says %v", err)
	}
	id, err := g.gk.SignatureID(sig)
	g.check(err)
	if other, err := g.gk.SignatureID(g.sign(ada, "yes")); err != nil || other == id {
		t.Error("two signatures have one name")
	}
	o, err := g.opener.Open(g.gk, g.register, []byte("yes"), sig, context, []byte("why"))
	g.check(err)
	if o.Member() != "ada" || g.gk.FindRecord(g.register, o.Value()).Member != "ada" {
		t.Errorf("opened to %q", o.Member())
	}
	g.check(g.gk.VerifyOpening([]byte("yes"), sig, context, o, public("ada"), []byte("why")))
	for what, err := range map[string]error{
		"reason":    g.gk.VerifyOpening([]byte("yes"), sig, context, o, public("ada"), nil),
		"key":       g.gk.VerifyOpening([]byte("yes"), sig, context, o, public("bob"), []byte("why")),
		"signature": g.gk.VerifyOpening([]byte("yes"), g.sign(bob, "yes"), context, o, public("ada"), []byte("why")),
	} {
		if err == nil {
			t.Errorf("an opening for another %s is accepted", what)
		}
	}
	if _, err := g.opener.Open(g.gk, g.register, []byte("no"), sig, context, nil); err == nil {
		t.Error("opens what isn't a signature")
	}
	for _, s := range []any{ada, *ada, g.issuer, *g.issuer, g.opener, *g.opener} {
		if out := fmt.Sprintf("%v %+v %#v", s, s, s); strings.Count(out, "secret key") != 3 {
			t.Errorf("prints %s", out)
		}
	}
	ada.Wipe()
	if _, err := ada.Sign(nil, nil); err == nil {
		t.Error("a wiped key signs")
	}
}

// Keys decode as what they are, and as nothing else.
func TestKeys(t *testing.T) {
	g := newGroup(t, 0)
	b, err := g.issuer.MarshalBinary()
	g.check(err)
	k := new(IssuerKey)
	g.check(k.UnmarshalBinary(b))
	if c, err := k.MarshalBinary(); err != nil || !bytes.Equal(b, c) {
		t.Error("another issuer's key", err)
	}
	if new(OpenerKey).UnmarshalBinary(b) == nil || new(Draft).UnmarshalBinary(b) == nil || new(GroupKey).UnmarshalBinary(b) == nil {
		t.Error("an issuer's key is something else")
	}
	b, err = g.opener.MarshalBinary()
	g.check(err)
	o := new(OpenerKey)
	g.check(o.UnmarshalBinary(b))
	if k.UnmarshalBinary(b) == nil {
		t.Error("an opener's key is an issuer's")
	}
	o.Wipe()
	if o.Enroll(new(Draft)) == nil || GenerateIssuerKey().Enroll(new(Draft)) == nil {
		t.Error("enrolled with nothing")
	}
	if _, err := NewDraft("", 0); err == nil {
		t.Error("a group without a label")
	}
	b, err = g.gk.MarshalBinary()
	g.check(err)
	// The sealed layer reads the same.
	s, err := groupsig.ByName("bbs04")
	g.check(err)
	sealed, err := s.ParseGroupKey(b)
	g.check(err)
	sig := g.sign(g.join("ada"), "m")
	u, err := g.issuer.Update(g.gk, g.register, Terms{Number: 1, Issued: now, Expires: now + 10}, nil)
	g.check(err)
	b, err = u.MarshalBinary()
	g.check(err)
	list, err := sealed.(groupsig.RevocationReader).ParseRevocation(b)
	g.check(err)
	g.check(sealed.Verify([]byte("m"), sig, groupsig.VerifyOptions{Context: context, Revocation: list, Now: now}))
	if err := sealed.Verify([]byte("m"), sig, groupsig.VerifyOptions{Context: context}); !errors.As(err, new(*StaleError)) {
		t.Errorf("without a list: %v", err)
	}
}

func TestRevocation(t *testing.T) {
	for _, f := range []Features{0, Static} {
		g := newGroup(t, f)
		if g.gk.Features() != f {
			t.Error("other features")
		}
		ada, bob := g.join("ada"), g.join("bob")
		old := g.sign(ada, "m")
		terms := func(n uint64) Terms { return Terms{Number: n, Issued: now, Expires: now + 10} }
		none, err := g.issuer.Update(g.gk, g.register, terms(1), nil)
		g.check(err)
		g.check(g.register.Revoke("bob"))
		u, err := g.issuer.Update(g.gk, g.register, terms(2), none)
		g.check(err)
		b, err := u.MarshalBinary()
		g.check(err)
		u, err = g.gk.ParseUpdate(b)
		g.check(err)
		if u.Len() != 1 || u.Number() != 2 || u.Issued() != now || u.Expires() != now+10 || u.Replaces(none) != nil || none.Replaces(u) == nil {
			t.Error("another update")
		}
		g.check(ada.Update(u))
		if err := bob.Update(u); !errors.Is(err, ErrRevoked) {
			t.Errorf("bob: %v", err)
		}
		if ada.Version() != 1 || bob.Version() != 0 {
			t.Error("versions")
		}
		k, err := g.gk.Current(u, now, 2)
		g.check(err)
		if _, err := g.gk.Current(u, now, 3); !errors.As(err, new(*StaleError)) {
			t.Errorf("an older update: %v", err)
		}
		sig := g.sign(ada, "m")
		g.check(k.Verify([]byte("m"), sig, context))
		for what, err := range map[string]error{
			"the first key": g.gk.Verify([]byte("m"), sig, context), "an old signature": k.Verify([]byte("m"), old, context),
			"bob": k.Verify([]byte("m"), g.sign(bob, "m"), context),
		} {
			if !errors.Is(err, ErrSignature) {
				t.Errorf("%s: %v", what, err)
			}
		}
		first, err := u.KeyAt(0)
		g.check(err)
		if !first.Equal(g.gk) || first.Equal(k) || k.Version() != 1 {
			t.Error("keys of versions")
		}
		o, err := g.opener.Open(k, g.register, []byte("m"), sig, context, nil)
		g.check(err)
		if o.Member() != "ada" {
			t.Errorf("opened to %q", o.Member())
		}
		g.check(k.VerifyOpening([]byte("m"), sig, context, o, public("ada"), nil))
		if n, err := g.gk.MarkListed(g.register, u, now); err != nil || n != 1 {
			t.Errorf("%d are marked: %v", n, err)
		}
		g.check(g.join("bob").Update(u))
	}
	if _, err := NewDraft("test", 2); err == nil {
		t.Error("another feature")
	}
}

// In a static group the issuer makes keys, and what the opener gets is none.
func TestStatic(t *testing.T) {
	g := newGroup(t, Static)
	ada, err := g.issuer.MakeMember(g.gk, g.register, "ada", key("issuer"))
	g.check(err)
	sig := g.sign(ada, "m")
	if len(sig) != 336 || ada.Member() != "ada" {
		t.Errorf("%d bytes", len(sig))
	}
	g.check(g.gk.Verify([]byte("m"), sig, context))
	again, err := g.issuer.MadeMember(g.gk, g.register, "ada")
	g.check(err)
	g.check(g.gk.Verify([]byte("m"), g.sign(again, "m"), context))
	r, err := g.gk.OpenerRecord(g.register.Member("ada"))
	g.check(err)
	g.check(g.opener.CheckRecord(g.gk, r, public("issuer")))
	if g.opener.CheckRecord(g.gk, r, public("ada")) == nil {
		t.Error("a record under another key")
	}
	register := g.gk.NewRegister()
	g.check(register.Add(r))
	o, err := g.opener.Open(g.gk, register, []byte("m"), sig, context, nil)
	g.check(err)
	if o.Member() != "ada" {
		t.Errorf("opened to %q", o.Member())
	}
	g.check(g.gk.VerifyOpening([]byte("m"), sig, context, o, public("issuer"), nil))
	if _, err := g.issuer.MakeMember(g.gk, g.register, "ada", key("issuer")); err == nil {
		t.Error("made twice")
	}
	if _, err := g.issuer.MadeMember(g.gk, register, "ada"); err == nil {
		t.Error("made of the opener's record")
	}
	d := newGroup(t, 0)
	if _, err := d.issuer.MakeMember(d.gk, d.register, "ada", key("issuer")); err == nil {
		t.Error("made in a group that isn't static")
	}
	if _, err := d.issuer.MadeMember(d.gk, d.register, "ada"); err == nil {
		t.Error("made again in a group that isn't static")
	}
	if _, err := g.gk.OpenerRecord(nil); err == nil {
		t.Error("a record of nobody")
	}
}

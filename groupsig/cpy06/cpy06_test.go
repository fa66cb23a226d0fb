// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cpy06

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

func newGroup(t testing.TB) *group {
	t.Helper()
	d, err := NewDraft("test")
	if err != nil {
		t.Fatal(err)
	}
	g := &group{t: t, issuer: GenerateIssuerKey(), opener: GenerateOpenerKey()}
	g.check(g.issuer.Enroll(d))
	g.check(g.opener.Enroll(d))
	g.check(g.issuer.Consent(d))
	if _, err := NewGroupKey(d); err == nil {
		t.Error("a group key without all consents")
	}
	g.check(g.opener.Consent(d))
	next := new(Draft)
	g.again(d, next)
	k, err := NewGroupKey(next)
	g.check(err)
	g.gk = new(GroupKey)
	g.again(k, g.gk)
	if !k.Equal(g.gk) || k.ID() != d.ID() || k.Label() != "test" {
		t.Error("the group key isn't that of its draft")
	}
	g.sessions, g.register = g.gk.NewSessions(), g.gk.NewRegister()
	return g
}

// join runs the protocol, with states through their encodings.
func (g *group) join(member string) *MemberKey {
	g.t.Helper()
	c, err := g.sessions.Open(member, public(member), Fischlin, now, 3600)
	g.check(err)
	p, m2, err := g.gk.NewJoin(g.gk.ID(), c, member, key(member))
	g.check(err)
	b, err := p.MarshalBinary()
	g.check(err)
	p, err = g.gk.ParsePending(b)
	g.check(err)
	m3, err := g.issuer.Issue(g.gk, g.sessions, g.register, m2, now)
	g.check(err)
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

func (g *group) signed(m *MemberKey, msg string) Signed {
	return Signed{[]byte(msg), g.sign(m, msg), context}
}

func TestLifeCycle(t *testing.T) {
	g := newGroup(t)
	ada, bob := g.join("ada"), g.join("bob")
	sig := g.sign(ada, "yes")
	if len(sig) != 752 || g.gk.SignatureSize() != 752 {
		t.Errorf("%d bytes", len(sig))
	}
	g.check(g.gk.Verify([]byte("yes"), sig, context))
	for what, err := range map[string]error{
		"message":   g.gk.Verify([]byte("no"), sig, context),
		"context":   g.gk.Verify([]byte("yes"), sig, nil),
		"group":     newGroup(t).gk.Verify([]byte("yes"), sig, context),
		"truncated": g.gk.Verify([]byte("yes"), sig[:len(sig)-1], context),
	} {
		if !errors.Is(err, ErrSignature) {
			t.Errorf("another %s: %v", what, err)
		}
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
	// An opening doesn't say what traces the member.
	e, err := o.MarshalBinary()
	g.check(err)
	v, err := g.opener.Reveal(g.gk, g.register, "ada", nil)
	g.check(err)
	r, err := v.MarshalBinary()
	g.check(err)
	c := r[len(r)-4-96-48:][:48] // before the proof of two secrets and its length
	if c[0]&0x80 == 0 || bytes.Contains(e, c) {
		t.Error("the opening has the member's trapdoor")
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

// Lists, revelations and claims.
func TestTracing(t *testing.T) {
	g := newGroup(t)
	ada, bob := g.join("ada"), g.join("bob")
	a, b := g.signed(ada, "1"), g.signed(bob, "1")
	v, err := g.opener.Reveal(g.gk, g.register, "ada", []byte("why"))
	g.check(err)
	g.check(g.gk.CheckRevealed(v, public("ada"), []byte("why")))
	if g.gk.CheckRevealed(v, public("ada"), nil) == nil || g.gk.CheckRevealed(v, public("bob"), []byte("why")) == nil {
		t.Error("a revelation for another reason, or member")
	}
	for s, want := range map[*Signed]bool{&a: true, &b: false} {
		if is, err := g.gk.Trace(v, *s); is != want || err != nil {
			t.Errorf("traced %v, %v", is, err)
		}
		if is, err := ada.Identify(*s); is != want || err != nil {
			t.Errorf("own %v, %v", is, err)
		}
	}
	claim, err := ada.Claim(a, []byte("why"))
	g.check(err)
	g.check(g.gk.VerifyClaim(a, []byte("why"), claim))
	set := []Signed{a, g.signed(ada, "2")}
	proof, err := ada.ProveEquality(set, []byte("why"))
	g.check(err)
	g.check(g.gk.VerifyEquality(set, []byte("why"), proof))
	if g.gk.VerifyClaim(b, []byte("why"), claim) == nil || g.gk.VerifyEquality([]Signed{a, b}, []byte("why"), proof) == nil {
		t.Error("a proof for another signature")
	}
	if _, err := bob.Claim(a, nil); err == nil {
		t.Error("bob claims what ada signed")
	}

	g.check(g.register.Revoke("ada"))
	l, err := g.opener.List(g.gk, g.register, Terms{Number: 2, Issued: now, Expires: now + 9}, nil)
	g.check(err)
	e, err := l.MarshalBinary()
	g.check(err)
	l, err = g.gk.ParseList(e)
	g.check(err)
	if l.Len() != 1 || l.Number() != 2 || l.Issued() != now || l.Expires() != now+9 {
		t.Error("another list")
	}
	g.check(g.gk.VerifyListed(b.Message, b.Signature, context, l, now, 2))
	if err := g.gk.VerifyListed(a.Message, a.Signature, context, l, now, 2); !errors.Is(err, ErrRevoked) {
		t.Errorf("%v, want %v", err, ErrRevoked)
	}
	for _, err := range []error{
		g.gk.VerifyListed(b.Message, b.Signature, context, l, now+10, 2), g.gk.VerifyListed(b.Message, b.Signature, context, l, now, 3),
		g.gk.VerifyListed(b.Message, b.Signature, context, nil, now, 0),
	} {
		if !errors.As(err, new(*StaleError)) {
			t.Errorf("%v, want that the list is stale", err)
		}
	}
	batch := g.gk.Batch()
	for _, s := range []Signed{b, a, b} {
		batch.Add(s.Message, s.Signature, s.Context)
	}
	g.check(batch.Verify())
	batch.CheckListed(l, now, 2)
	if err, ok := batch.Verify().(*BatchError); !ok || fmt.Sprint(err.Bad) != "[1]" || batch.Len() != 3 {
		t.Errorf("batch says %v", err)
	}
	next, err := g.opener.List(g.gk, g.register, Terms{Number: 3, Issued: now, Expires: now + 9}, l)
	g.check(err)
	g.check(next.Replaces(l))
	g.check(next.Replaces(nil))
	if l.Replaces(next) == nil {
		t.Error("an old list replaces a new one")
	}
	if _, err := g.opener.List(g.gk, g.register, Terms{Number: 3, Issued: now, Expires: now + 9}, next); err == nil {
		t.Error("two lists with one number")
	}
	if n, err := g.gk.MarkListed(g.register, l, now); n != 1 || err != nil {
		t.Errorf("%d marked, %v", n, err)
	}
	g.join("ada")
}

// Keys decode as what they are, and as nothing else.
func TestKeys(t *testing.T) {
	g := newGroup(t)
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
	if _, err := NewDraft(""); err == nil {
		t.Error("a group without a label")
	}
	b, err = g.gk.MarshalBinary()
	g.check(err)
	// The sealed layer reads the same.
	s, err := groupsig.ByName("cpy06")
	g.check(err)
	sealed, err := s.ParseGroupKey(b)
	g.check(err)
	g.check(sealed.Verify([]byte("m"), g.sign(g.join("ada"), "m"), groupsig.VerifyOptions{Context: context}))
}

func ExampleGroupKey_Trace() {
	gk, members, opener, register := exampleGroup("ada", "bob")
	leak, _ := members["ada"].Sign([]byte("the plans"), nil)
	other, _ := members["bob"].Sign([]byte("lunch?"), nil)

	// A court has the opener reveal Ada, whose long-term key everybody knows.
	revealed, err := opener.Reveal(gk, register, "ada", []byte("order 7"))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := gk.CheckRevealed(revealed, public("ada"), []byte("order 7")); err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range []Signed{{Message: []byte("the plans"), Signature: leak}, {Message: []byte("lunch?"), Signature: other}} {
		is, err := gk.Trace(revealed, s)
		fmt.Printf("%s: by %s: %v %v\n", s.Message, revealed.Member(), is, err)
	}
	// Output:
	// the plans: by ada: true <nil>
	// lunch?: by ada: false <nil>
}

// exampleGroup sets a group up in one place.
func exampleGroup(names ...string) (*GroupKey, map[string]*MemberKey, *OpenerKey, *Register) {
	g := newGroup(new(testing.T))
	members := map[string]*MemberKey{}
	for _, name := range names {
		members[name] = g.join(name)
	}
	return g.gk, members, g.opener, g.register
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cpy06

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/sdhtest"
)

func made(g *group, m *MemberKey, msg string) Signed {
	return Signed{[]byte(msg), g.Sign(m, msg), sdhtest.Context}
}

var public = sdhtest.Public

// An opening doesn't say what traces the member.
func TestOpening(t *testing.T) {
	g := common.New(t)
	ada := g.Join("ada")
	o, err := g.Opener.Open(g.Key, g.Register, []byte("yes"), g.Sign(ada, "yes"), sdhtest.Context, nil)
	g.Check(err)
	e, err := o.MarshalBinary()
	g.Check(err)
	v, err := g.Opener.Reveal(g.Key, g.Register, "ada", nil)
	g.Check(err)
	r, err := v.MarshalBinary()
	g.Check(err)
	c := r[len(r)-4-96-48:][:48] // before the proof of two secrets and its length
	if c[0]&0x80 == 0 || bytes.Contains(e, c) {
		t.Error("the opening has the member's trapdoor")
	}
}

// Lists, revelations and claims.
func TestTracing(t *testing.T) {
	g := common.New(t)
	ada, bob := g.Join("ada"), g.Join("bob")
	a, b := made(g, ada, "1"), made(g, bob, "1")
	v, err := g.Opener.Reveal(g.Key, g.Register, "ada", []byte("why"))
	g.Check(err)
	g.Check(g.Key.CheckRevealed(v, sdhtest.Public("ada"), []byte("why")))
	if g.Key.CheckRevealed(v, sdhtest.Public("ada"), nil) == nil || g.Key.CheckRevealed(v, sdhtest.Public("bob"), []byte("why")) == nil {
		t.Error("a revelation for another reason, or member")
	}
	for s, want := range map[*Signed]bool{&a: true, &b: false} {
		if is, err := g.Key.Trace(v, *s); is != want || err != nil {
			t.Errorf("traced %v, %v", is, err)
		}
		if is, err := ada.Identify(*s); is != want || err != nil {
			t.Errorf("own %v, %v", is, err)
		}
	}
	claim, err := ada.Claim(a, []byte("why"))
	g.Check(err)
	g.Check(g.Key.VerifyClaim(a, []byte("why"), claim))
	set := []Signed{a, made(g, ada, "2")}
	proof, err := ada.ProveEquality(set, []byte("why"))
	g.Check(err)
	g.Check(g.Key.VerifyEquality(set, []byte("why"), proof))
	if g.Key.VerifyClaim(b, []byte("why"), claim) == nil || g.Key.VerifyEquality([]Signed{a, b}, []byte("why"), proof) == nil {
		t.Error("a proof for another signature")
	}
	if _, err := bob.Claim(a, nil); err == nil {
		t.Error("bob claims what ada signed")
	}

	g.Check(g.Register.Revoke("ada"))
	l, err := g.Opener.List(g.Key, g.Register, Terms{Number: 2, Issued: sdhtest.Now, Expires: sdhtest.Now + 9}, nil)
	g.Check(err)
	e, err := l.MarshalBinary()
	g.Check(err)
	l, err = g.Key.ParseList(e)
	g.Check(err)
	if l.Len() != 1 || l.Number() != 2 || l.Issued() != sdhtest.Now || l.Expires() != sdhtest.Now+9 {
		t.Error("another list")
	}
	g.Check(g.Key.VerifyListed(b.Message, b.Signature, sdhtest.Context, l, sdhtest.Now, 2))
	if err := g.Key.VerifyListed(a.Message, a.Signature, sdhtest.Context, l, sdhtest.Now, 2); !errors.Is(err, ErrRevoked) {
		t.Errorf("%v, want %v", err, ErrRevoked)
	}
	for _, err := range []error{
		g.Key.VerifyListed(b.Message, b.Signature, sdhtest.Context, l, sdhtest.Now+10, 2), g.Key.VerifyListed(b.Message, b.Signature, sdhtest.Context, l, sdhtest.Now, 3),
		g.Key.VerifyListed(b.Message, b.Signature, sdhtest.Context, nil, sdhtest.Now, 0),
	} {
		if !errors.As(err, new(*StaleError)) {
			t.Errorf("%v, want that the list is stale", err)
		}
	}
	batch := g.Key.Batch()
	for _, s := range []Signed{b, a, b} {
		batch.Add(s.Message, s.Signature, s.Context)
	}
	g.Check(batch.Verify())
	batch.CheckListed(l, sdhtest.Now, 2)
	if err, ok := batch.Verify().(*BatchError); !ok || fmt.Sprint(err.Bad) != "[1]" || batch.Len() != 3 {
		t.Errorf("batch says %v", err)
	}
	next, err := g.Opener.List(g.Key, g.Register, Terms{Number: 3, Issued: sdhtest.Now, Expires: sdhtest.Now + 9}, l)
	g.Check(err)
	g.Check(next.Replaces(l))
	g.Check(next.Replaces(nil))
	if l.Replaces(next) == nil {
		t.Error("an old list replaces a new one")
	}
	if _, err := g.Opener.List(g.Key, g.Register, Terms{Number: 3, Issued: sdhtest.Now, Expires: sdhtest.Now + 9}, next); err == nil {
		t.Error("two lists with one number")
	}
	if n, err := g.Key.MarkListed(g.Register, l, sdhtest.Now); n != 1 || err != nil {
		t.Errorf("%d marked, %v", n, err)
	}
	g.Join("ada")
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
	g := common.New(new(testing.T))
	members := map[string]*MemberKey{}
	for _, name := range names {
		members[name] = g.Join(name)
	}
	return g.Key, members, g.Opener, g.Register
}

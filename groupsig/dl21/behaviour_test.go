// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package dl21

import (
	"bytes"
	"errors"
	"testing"
)

func (g *group) in(m *MemberKey, msg, scope string) Signed {
	g.t.Helper()
	sig, err := m.Sign([]byte(msg), SignOptions{Scope: []byte(scope)})
	if err != nil {
		g.t.Fatal(err)
	}
	return Signed{[]byte(msg), sig, VerifyOptions{Scope: []byte(scope)}}
}

func (g *group) nym(s Signed) []byte {
	g.t.Helper()
	nym, err := g.gk.Pseudonym(s.Signature)
	if err != nil {
		g.t.Fatal(err)
	}
	return nym
}

// What distinguishes the scheme: the member decides what is linked.
func TestLinkability(t *testing.T) {
	g := newGroup(t, "test", 0)
	ada, bob := g.join("ada"), g.join("bob")
	monday, tuesday := g.in(ada, "a", "monday"), g.in(ada, "b", "tuesday")
	if bytes.Equal(g.nym(monday), g.nym(tuesday)) {
		t.Error("scopes are linked")
	}
	if !bytes.Equal(g.nym(monday), g.nym(g.in(ada, "c", "monday"))) {
		t.Error("signatures of one scope aren't linked")
	}
	if bytes.Equal(g.nym(monday), g.nym(g.in(bob, "a", "monday"))) {
		t.Error("two members have one pseudonym")
	}
	// The same person under the same scope in another group.
	other := newGroup(t, "other", 0)
	if bytes.Equal(g.nym(monday), other.nym(other.in(other.join("ada"), "a", "monday"))) {
		t.Error("groups are linked")
	}
	// A signature isn't for another scope, nor for none.
	for _, scope := range [][]byte{[]byte("tuesday"), nil} {
		if g.gk.Verify(monday.Message, monday.Signature, VerifyOptions{Scope: scope}) == nil {
			t.Errorf("verified in the scope %q", scope)
		}
	}
	set := []Signed{monday, tuesday, g.in(ada, "c", "monday")}
	link, err := ada.Link(set, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.gk.VerifyLink(set, nil, link); err != nil {
		t.Error(err)
	}
	for what, bad := range map[string][]Signed{
		"another's":       {monday, g.in(bob, "b", "tuesday"), set[2]},
		"a fresh one":     {monday, tuesday, g.in(ada, "c", "monday")},
		"fewer":           set[:2],
		"twice":           {monday, tuesday, set[2], set[2]},
		"another order":   {tuesday, monday, set[2]},
		"another message": {monday, {[]byte("x"), tuesday.Signature, tuesday.Options}, set[2]},
	} {
		if g.gk.VerifyLink(bad, nil, link) == nil {
			t.Errorf("link of %s: accepted", what)
		}
	}
	if _, err := bob.Link(set, nil); err == nil {
		t.Error("bob links ada's signatures")
	}
}

// In a group without an opener the issuer revokes pseudonyms.
func TestPseudonymList(t *testing.T) {
	g := newGroup(t, "test", 0)
	ada, bob := g.join("ada"), g.join("bob")
	here, there := g.in(ada, "a", "here"), g.in(ada, "a", "there")
	list, err := g.issuer.RevocationList(g.gk, terms, Revoked{Pseudonyms: [][]byte{g.nym(here)}})
	if err != nil {
		t.Fatal(err)
	}
	list = again(t, list, g.gk.ParseRevocation)
	for what, c := range map[string]struct {
		s    Signed
		want error
	}{"here": {here, ErrRevoked}, "there": {there, nil}, "bob": {g.in(bob, "a", "here"), nil}} {
		c.s.Options.Revocation, c.s.Options.Now = list, now
		if err := g.gk.Verify(c.s.Message, c.s.Signature, c.s.Options); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
	escrow := newGroup(t, "test", Escrow)
	if _, err := escrow.issuer.RevocationList(escrow.gk, terms, Revoked{}); err == nil {
		t.Error("the issuer revokes where there is an opener")
	}
}

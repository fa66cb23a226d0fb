// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package dl21

import (
	"bytes"
	"errors"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/bbstest"
)

func in(g *group, m *MemberKey, msg, scope string) Signed {
	g.T.Helper()
	sig, err := m.Sign([]byte(msg), SignOptions{Scope: []byte(scope)})
	if err != nil {
		g.T.Fatal(err)
	}
	return Signed{[]byte(msg), sig, VerifyOptions{Scope: []byte(scope)}}
}

func nym(g *group, s Signed) []byte {
	g.T.Helper()
	nym, err := g.Key.Pseudonym(s.Signature)
	if err != nil {
		g.T.Fatal(err)
	}
	return nym
}

// What distinguishes the scheme: the member decides what is linked.
func TestLinkability(t *testing.T) {
	g := common.New(t, "test", 0)
	ada, bob := g.Join("ada"), g.Join("bob")
	monday, tuesday := in(g, ada, "a", "monday"), in(g, ada, "b", "tuesday")
	if bytes.Equal(nym(g, monday), nym(g, tuesday)) {
		t.Error("scopes are linked")
	}
	if !bytes.Equal(nym(g, monday), nym(g, in(g, ada, "c", "monday"))) {
		t.Error("signatures of one scope aren't linked")
	}
	if bytes.Equal(nym(g, monday), nym(g, in(g, bob, "a", "monday"))) {
		t.Error("two members have one pseudonym")
	}
	// The same person under the same scope in another group.
	other := common.New(t, "other", 0)
	if bytes.Equal(nym(g, monday), nym(other, in(other, other.Join("ada"), "a", "monday"))) {
		t.Error("groups are linked")
	}
	// A signature isn't for another scope, nor for none.
	for _, scope := range [][]byte{[]byte("tuesday"), nil} {
		if g.Key.Verify(monday.Message, monday.Signature, VerifyOptions{Scope: scope}) == nil {
			t.Errorf("verified in the scope %q", scope)
		}
	}
	set := []Signed{monday, tuesday, in(g, ada, "c", "monday")}
	link, err := ada.Link(set, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Key.VerifyLink(set, nil, link); err != nil {
		t.Error(err)
	}
	for what, bad := range map[string][]Signed{
		"another's":       {monday, in(g, bob, "b", "tuesday"), set[2]},
		"a fresh one":     {monday, tuesday, in(g, ada, "c", "monday")},
		"fewer":           set[:2],
		"twice":           {monday, tuesday, set[2], set[2]},
		"another order":   {tuesday, monday, set[2]},
		"another message": {monday, {[]byte("x"), tuesday.Signature, tuesday.Options}, set[2]},
	} {
		if g.Key.VerifyLink(bad, nil, link) == nil {
			t.Errorf("link of %s: accepted", what)
		}
	}
	if _, err := bob.Link(set, nil); err == nil {
		t.Error("bob links ada's signatures")
	}
}

// In a group without an opener the issuer revokes pseudonyms.
func TestPseudonymList(t *testing.T) {
	g := common.New(t, "test", 0)
	ada, bob := g.Join("ada"), g.Join("bob")
	here, there := in(g, ada, "a", "here"), in(g, ada, "a", "there")
	list, err := g.Issuer.RevocationList(g.Key, bbstest.Terms, Revoked{Pseudonyms: [][]byte{nym(g, here)}})
	if err != nil {
		t.Fatal(err)
	}
	list = bbstest.Again(t, list, g.Key.ParseRevocation)
	for what, c := range map[string]struct {
		s    Signed
		want error
	}{"here": {here, ErrRevoked}, "there": {there, nil}, "bob": {in(g, bob, "a", "here"), nil}} {
		c.s.Options.Revocation, c.s.Options.Now = list, bbstest.Now
		if err := g.Key.Verify(c.s.Message, c.s.Signature, c.s.Options); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
	escrow := common.New(t, "test", Escrow)
	if _, err := escrow.Issuer.RevocationList(escrow.Key, bbstest.Terms, Revoked{}); err == nil {
		t.Error("the issuer revokes where there is an opener")
	}
}

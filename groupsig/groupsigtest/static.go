// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsigtest

import (
	"bytes"
	"errors"

	"github.com/undersign/undersign/groupsig"
)

// Members whose keys the issuer makes are as others are.
func testStatic(g *group) {
	s, ok := g.issuer.(groupsig.StaticIssuer)
	if !g.f.Has(groupsig.Static) {
		if !ok {
			return
		}
		n := g.register.Len()
		if _, err := s.MakeMember(g.gk, g.register, "max", longTerm("issuer")); err == nil || g.register.Len() != n {
			g.t.Error("the issuer makes the key of a member that has secrets of its own")
		}
		if _, err := s.MadeMember(g.gk, g.register, "ada"); err == nil {
			g.t.Error("the issuer has a member's key")
		}
		if r, err := s.OpenerRecord(g.gk, g.register.Member("ada")); err != nil || r != g.register.Member("ada") {
			g.t.Error("the opener gets another record", err)
		}
		return
	}
	h := *g
	h.register = must(into(g.gk.NewRegister)(g.encoded(g.register)))(g)
	h.opening = must(into(g.gk.NewRegister)(g.encoded(g.opening)))(g)
	h.members = map[string]groupsig.MemberKey{}
	m := must(s.MakeMember(g.gk, h.register, "max", longTerm("issuer")))(g)
	h.members["max"] = again(g, m, g.gk.ParseMemberKey)
	again := must(s.MadeMember(g.gk, must(into(g.gk.NewRegister)(g.encoded(h.register)))(g), "max"))(g)
	if !bytes.Equal(g.encoded(m), g.encoded(again)) {
		g.t.Error("another key the second time")
	}
	whole := h.register.Member("max")
	r := must(s.OpenerRecord(g.gk, whole))(g)
	key := g.encoded(m)
	secret := key[len(key)-40 : len(key)-8] // of the end of A and of x
	if !bytes.Contains(g.encoded(whole), secret) || bytes.Contains(g.encoded(r), secret) {
		g.t.Error("the opener gets the member's secret")
	}
	g.check(g.opener.Record(g.gk, h.opening, r, public("issuer")))
	signed := h.signed("max", "m", "s")
	g.check(h.verify(signed))
	o := must(g.opener.Open(g.gk, h.opening, signed.Message, signed.Signature, signed.Options, nil))(g)
	v := g.gk.(groupsig.OpeningVerifier)
	if o.Member() != "max" {
		g.t.Errorf("opened to %q", o.Member())
	}
	g.check(v.VerifyOpening(signed.Message, signed.Signature, signed.Options, o, public("issuer"), nil))
	if v.VerifyOpening(signed.Message, signed.Signature, signed.Options, o, public("max"), nil) == nil {
		g.t.Error("opened under a key that signed no registration")
	}
	if _, err := g.opener.Open(g.gk, g.opening, signed.Message, signed.Signature, signed.Options, nil); !errors.Is(err, groupsig.ErrUnknown) {
		g.t.Errorf("opened without a record: %v", err)
	}

	n := h.register.Len()
	other := newGroup(g.t, g.scheme, g.f, "conformance")
	for what, make := range map[string]func() (groupsig.MemberKey, error){
		"one name twice": func() (groupsig.MemberKey, error) { return s.MakeMember(g.gk, h.register, "max", longTerm("issuer")) },
		"who has joined": func() (groupsig.MemberKey, error) { return s.MakeMember(g.gk, h.register, "ada", longTerm("issuer")) },
		"no name":        func() (groupsig.MemberKey, error) { return s.MakeMember(g.gk, h.register, "", longTerm("issuer")) },
		"no key":         func() (groupsig.MemberKey, error) { return s.MakeMember(g.gk, h.register, "mia", nil) },
		"another group": func() (groupsig.MemberKey, error) {
			return s.MakeMember(other.gk, other.register, "mia", longTerm("issuer"))
		},
		"another's register": func() (groupsig.MemberKey, error) {
			return s.MakeMember(g.gk, other.register, "mia", longTerm("issuer"))
		},
		"again, of nobody": func() (groupsig.MemberKey, error) { return s.MadeMember(g.gk, h.register, "mia") },
		"again, elsewhere": func() (groupsig.MemberKey, error) { return s.MadeMember(other.gk, h.register, "max") },
		"the opener's":     func() (groupsig.MemberKey, error) { return s.MadeMember(g.gk, h.opening, "max") },
	} {
		if m, err := make(); err == nil || m != nil {
			g.t.Errorf("%s: made", what)
		}
	}
	if h.register.Len() != n || other.register.Len() != 0 {
		g.t.Error("what wasn't made is registered")
	}
	if _, err := s.OpenerRecord(other.gk, whole); err == nil {
		g.t.Error("another group's record")
	}
	g.check(h.register.Revoke("max"))
	if _, err := s.MadeMember(g.gk, h.register, "max"); err == nil {
		g.t.Error("made again, of who is revoked")
	}
	if _, err := s.MakeMember(g.gk, h.register, "max", longTerm("issuer")); !errors.As(err, new(*groupsig.RejoinError)) {
		g.t.Errorf("made anew before the list: %v", err)
	}
}

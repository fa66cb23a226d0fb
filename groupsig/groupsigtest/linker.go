// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsigtest

import (
	"bytes"
	"errors"

	"github.com/undersign/undersign/groupsig"
)

// testLinker has the linker link, and others try.
func testLinker(g *group) {
	v, ok := groupsig.As[groupsig.LinkingVerifier](g.gk)
	if ok != g.f.Has(groupsig.Link) {
		g.t.Fatal("As doesn't go by the features")
	}
	if !ok {
		return
	}
	ada := []groupsig.Signed{g.signed("ada", "1", "s"), g.signed("ada", "2", "t"), g.signed("ada", "1", "s")}
	bob := g.signed("bob", "1", "s")
	tag := func(s groupsig.Signed) string { return string(must(g.linker.Tag(g.gk, s))(g)) }
	if tag(ada[0]) != tag(ada[1]) || tag(ada[0]) != tag(ada[2]) || tag(ada[0]) == tag(bob) {
		g.t.Error("tags don't go by members")
	}
	other := newGroup(g.t, g.scheme, g.f, "conformance")
	altered := ada[0]
	altered.Message = []byte("n")
	if _, err := g.linker.Tag(g.gk, altered); !errors.Is(err, groupsig.ErrSignature) {
		g.t.Errorf("what isn't a signature has a tag: %v", err)
	}
	if _, err := other.linker.Tag(g.gk, ada[0]); err == nil {
		g.t.Error("another linker links")
	}
	if _, err := g.linker.Tag(other.gk, ada[0]); err == nil {
		g.t.Error("the linker of another group")
	}

	because := []byte("audit")
	proof := must(g.linker.ProveLink(g.gk, ada, because))(g)
	g.check(v.VerifyLink(ada, because, proof))
	if _, err := g.linker.ProveLink(g.gk, append(ada[:2:2], bob), because); err == nil {
		g.t.Error("two members are linked")
	}
	for what, set := range map[string][]groupsig.Signed{
		"nothing": nil, "one": ada[:1], "fewer": ada[:2], "another order": {ada[1], ada[0], ada[2]},
		"another member's": {ada[0], ada[1], bob}, "one twice": {ada[0], ada[1], ada[1]}, "not signed": {altered, ada[1], ada[2]},
		"another of hers": {ada[0], ada[1], g.signed("ada", "3", "s")},
	} {
		if v.VerifyLink(set, because, proof) == nil {
			g.t.Errorf("link: %s: accepted", what)
		}
		if len(set) < 2 {
			if _, err := g.linker.ProveLink(g.gk, set, because); err == nil {
				g.t.Errorf("link: %s: proved", what)
			}
		}
	}
	if v.VerifyLink(ada, nil, proof) == nil || other.gk.(groupsig.LinkingVerifier).VerifyLink(ada, because, proof) == nil {
		g.t.Error("linked for another reason, or in another group")
	}
	g.flips(proof, 1, func(i int, b []byte) {
		if v.VerifyLink(ada, because, b) == nil {
			g.t.Errorf("byte %d of the link changed, and accepted", i)
		}
	})
	for what, b := range map[string][]byte{"nothing": nil, "truncated": proof[:len(proof)-1], "trailing": append(bytes.Clone(proof), 0)} {
		if v.VerifyLink(ada, because, b) == nil {
			g.t.Errorf("link: %s: accepted", what)
		}
	}
}

// testRekey revokes by moving the key.
func testRekey(g *group) {
	_, ok := groupsig.As[groupsig.Rekeyer](g.members["ada"])
	if ok != g.f.Has(groupsig.Rekey) {
		g.t.Fatal("As doesn't go by the features")
	}
	if !ok {
		if r, ok := g.issuer.(groupsig.Revoker); ok {
			if _, err := r.RevocationList(g.gk, g.register, terms, nil); err == nil {
				g.t.Error("a list of a group that doesn't rekey")
			}
		}
		return
	}
	h := *g
	h.register = must(into(g.gk.NewRegister)(g.encoded(g.register)))(g)
	h.members = map[string]groupsig.MemberKey{}
	for _, name := range []string{"ada", "bob", "carol"} {
		h.members[name] = must(g.gk.ParseMemberKey(g.encoded(g.members[name])))(g)
	}
	reader := g.gk.(groupsig.RevocationReader)
	list := func(t groupsig.Terms, base groupsig.Revocation) (groupsig.Revocation, error) {
		return g.issuer.(groupsig.Revoker).RevocationList(g.gk, h.register, t, base)
	}
	rekey := func(name string, r groupsig.Revocation) error { return h.members[name].(groupsig.Rekeyer).Rekey(r) }
	before := g.signed("ada", "m", "s")
	bobs := g.signed("bob", "m", "s")
	none := again(g, must(list(groupsig.Terms{Number: 4, Issued: now, Expires: now + hour}, nil))(g), reader.ParseRevocation)
	g.check(g.verify(with(before, none, now)))
	g.check(h.register.Revoke("bob"))
	one := again(g, must(list(terms, none))(g), reader.ParseRevocation)
	if none.Len() != 0 || one.Len() != 1 {
		g.t.Errorf("%d and %d are revoked", none.Len(), one.Len())
	}
	g.check(rekey("ada", one))
	g.check(rekey("carol", one))
	h.members["ada"] = again(g, h.members["ada"], g.gk.ParseMemberKey)
	if err := rekey("bob", one); !errors.Is(err, groupsig.ErrRevoked) {
		g.t.Errorf("bob takes the new key: %v", err)
	}
	after := h.signed("ada", "m", "s")
	g.staleStates(after, one)
	for what, s := range map[string]groupsig.Signed{
		"signed before": with(before, one, now), "revoked": with(bobs, one, now), "revoked, and signed after": with(h.signed("bob", "m", "s"), one, now),
		"under the first list": after, "under an older list": with(after, none, now),
	} {
		g.refuses(what, s.Message, s.Signature, s.Options)
	}
	g.stale("without a list", with(before, nil, now))
	g.stale("without a list", with(after, nil, now))
	b := g.gk.(groupsig.BatchVerifier).Batch(with(after, one, now).Options)
	for _, s := range []groupsig.Signed{after, h.signed("carol", "m", "s"), bobs} {
		b.Add(s.Message, s.Signature)
	}
	g.bad(b, []int{2})
	// Openings take what was signed under any of the lists.
	v := g.gk.(groupsig.OpeningVerifier)
	for i, s := range []groupsig.Signed{with(after, one, now+2*hour), with(before, one, 0), with(bobs, one, now)} {
		name := []string{"ada", "ada", "bob"}[i]
		o := must(g.opener.Open(g.gk, g.opening, s.Message, s.Signature, s.Options, nil))(g)
		if o.Member() != name {
			g.t.Errorf("opened to %q, want %q", o.Member(), name)
		}
		g.check(v.VerifyOpening(s.Message, s.Signature, s.Options, o, public(name), nil))
	}
	if _, err := g.opener.Open(g.gk, g.opening, after.Message, after.Signature, after.Options, nil); err == nil {
		g.t.Error("opened under a key that it isn't signed under")
	}

	next := terms
	next.Number++
	g.check(h.register.Revoke("carol"))
	two := again(g, must(list(next, one))(g), reader.ParseRevocation)
	g.check(rekey("ada", two))
	last := h.signed("ada", "m", "s")
	g.check(g.verify(with(last, two, now)))
	if rekey("ada", one) == nil || h.members["ada"].(groupsig.Rekeyer).Version() != 2 {
		g.t.Error("an older list is taken")
	}
	if err := rekey("carol", two); !errors.Is(err, groupsig.ErrRevoked) {
		g.t.Errorf("carol takes the new key: %v", err)
	}
	g.check(groupsig.Replaces(two, one))
	if groupsig.Replaces(one, two) == nil {
		g.t.Error("an older list takes the place of a newer")
	}
	if _, err := list(terms, one); err == nil {
		g.t.Error("two lists with one number")
	}
	other := newGroup(g.t, g.scheme, g.f, "conformance")
	if _, err := other.issuer.(groupsig.Revoker).RevocationList(g.gk, h.register, next, one); err == nil {
		g.t.Error("another issuer makes a list")
	}
	if rekey("ada", nil) == nil || other.gk.(groupsig.BatchVerifier).Batch(with(last, two, now).Options).Verify() == nil {
		g.t.Error("no list, or another group's, is taken")
	}
	g.flips(g.encoded(two), 1, func(i int, data []byte) {
		if _, err := reader.ParseRevocation(data); err == nil {
			g.t.Errorf("byte %d of the list changed, and decoded", i)
		}
	})
	// Who is on a list may join again, and takes all steps.
	if n := must(reader.MarkListed(h.register, one, now))(g); n != 1 {
		g.t.Errorf("%d marked", n)
	}
	h.sessions = g.gk.NewSessions()
	p, m2 := h.apply("bob")
	m := must(p.Finish(must(g.issuer.Issue(g.gk, h.sessions, h.register, m2, now, g.epoch))(g), g.epoch))(g)
	g.check(m.(groupsig.Rekeyer).Rekey(two))
	h.members["bob"] = m
	g.check(g.verify(with(h.signed("bob", "m", "s"), two, now)))
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsigtest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/undersign/undersign/groupsig"
)

func testLink(g *group) {
	v, ok := groupsig.As[groupsig.LinkVerifier](g.gk)
	ada, can := groupsig.As[groupsig.Linker](g.members["ada"])
	if ok != g.f.Has(groupsig.Scope) || can != ok {
		g.t.Fatal("As doesn't go by the features")
	}
	if !ok {
		return
	}
	bob, _ := groupsig.As[groupsig.Linker](g.members["bob"])
	set := []groupsig.Signed{g.signed("ada", "1", "a"), g.signed("ada", "2", "b"), g.signed("ada", "3", "a")}
	foreign := g.signed("bob", "1", "a")

	// One pseudonym for a member and a scope.
	nym := func(s groupsig.Signed) []byte { return must(v.Pseudonym(s.Signature))(g) }
	if !bytes.Equal(nym(set[0]), nym(set[2])) {
		g.t.Error("two pseudonyms in one scope")
	}
	if bytes.Equal(nym(set[0]), nym(set[1])) || bytes.Equal(nym(set[0]), nym(foreign)) {
		g.t.Error("one pseudonym for two scopes, or two members")
	}
	for i, s := range append(slices.Clone(set), foreign) {
		if own, err := ada.Identify(s); err != nil || own != (i < 3) {
			g.t.Errorf("signature %d: own %v, %v", i, own, err)
		}
	}

	context := []byte("audit")
	link := must(ada.Link(set, context))(g)
	g.check(v.VerifyLink(set, context, link))
	refused := func(what string, set []groupsig.Signed, context string, link []byte) {
		g.t.Helper()
		if v.VerifyLink(set, []byte(context), link) == nil {
			g.t.Errorf("link: %s: accepted", what)
		}
	}
	refused("another context", set, "other", link)
	refused("a part", set[:2], "audit", link)
	refused("none", nil, "audit", link)
	refused("another order", []groupsig.Signed{set[1], set[0], set[2]}, "audit", link)
	refused("somebody else's signature", []groupsig.Signed{set[0], set[1], foreign}, "audit", link)
	refused("one more", append(slices.Clone(set), foreign), "audit", link)
	refused("no proof", set, "audit", nil)
	refused("a proof of zeros", set, "audit", make([]byte, len(link)))
	g.flips(link, 1, func(i int, b []byte) { refused(fmt.Sprintf("byte %d changed", i), set, "audit", b) })

	// Two colluders over one scope, and who links what isn't its own.
	mixed := []groupsig.Signed{set[0], foreign}
	for _, m := range []groupsig.Linker{ada, bob} {
		if l, err := m.Link(mixed, context); err == nil && v.VerifyLink(mixed, context, l) == nil {
			g.t.Error("signatures of two members are linked")
		}
		if l, err := m.Link([]groupsig.Signed{foreign, set[0]}, context); err == nil && v.VerifyLink(mixed, context, l) == nil {
			g.t.Error("signatures of two members are linked")
		}
	}
	bad := slices.Clone(set)
	bad[1].Message = []byte("x")
	if _, err := ada.Link(bad, context); err == nil {
		g.t.Error("links what isn't a signature")
	}

	// Claims.
	claimer, _ := groupsig.As[groupsig.Claimer](g.members["ada"])
	claim := must(claimer.Claim(set[0], context))(g)
	g.check(v.VerifyClaim(set[0], context, claim))
	for what, err := range map[string]error{
		"another signature": v.VerifyClaim(set[1], context, claim),
		"another context":   v.VerifyClaim(set[0], nil, claim),
		"another's":         v.VerifyClaim(foreign, context, claim),
		"a link as a claim": v.VerifyClaim(set[0], context, must(ada.Link(set[:1], context))(g)),
		"no claim":          v.VerifyClaim(set[0], context, nil),
	} {
		if err == nil {
			g.t.Errorf("claim: %s: accepted", what)
		}
	}
	if _, err := claimer.Claim(foreign, context); err == nil {
		g.t.Error("claims another's signature")
	}
	g.flips(claim, 1, func(i int, b []byte) {
		if v.VerifyClaim(set[0], context, b) == nil {
			g.t.Errorf("claim: byte %d changed: accepted", i)
		}
	})
}

func testSequence(g *group) {
	v, ok := groupsig.As[groupsig.SequenceVerifier](g.gk)
	if ok != g.f.Has(groupsig.Sequence) {
		g.t.Fatal("As doesn't go by the features")
	}
	if !ok {
		return
	}
	h := *g
	h.members = map[string]groupsig.MemberKey{}
	h.joinAll("jan")
	start := h.encoded(h.members["jan"])
	jan, _ := groupsig.As[groupsig.SequenceLinker](h.members["jan"])
	if jan.SequenceIndex() != 1 {
		g.t.Errorf("starts at %d", jan.SequenceIndex())
	}
	var set []groupsig.Signed
	for i := range 4 {
		set = append(set, h.signed("jan", fmt.Sprint(i), fmt.Sprint("scope", i%2)))
	}
	context := []byte("audit")
	link := must(jan.SequenceLink(set, context, true))(&h)
	h.check(v.VerifySequenceLink(set, context, link, true))
	later := must(jan.SequenceLink(set[1:], context, false))(&h)
	h.check(v.VerifySequenceLink(set[1:], context, later, false))
	if v.VerifySequenceLink(set[1:], context, later, true) == nil {
		g.t.Error("a later range passes as the first")
	}
	for what, s := range map[string][]groupsig.Signed{
		"a gap":            {set[0], set[2]},
		"another order":    {set[1], set[0]},
		"one twice":        {set[0], set[0]},
		"two ranges":       {set[0], set[1], set[3]},
		"another's":        {set[0], g.signed("ada", "x", "scope1")},
		"a gap at the end": {set[0], set[1], set[2], set[0]},
	} {
		if l, err := jan.SequenceLink(s, context, false); err == nil && v.VerifySequenceLink(s, context, l, false) == nil {
			g.t.Errorf("%s: linked", what)
		}
		if v.VerifySequenceLink(s, context, link, true) == nil || v.VerifySequenceLink(s, context, link, false) == nil {
			g.t.Errorf("%s: accepted", what)
		}
	}
	for what, err := range map[string]error{
		"another context": v.VerifySequenceLink(set, nil, link, true),
		"a part":          v.VerifySequenceLink(set[:3], context, link, true),
		"a shorter proof": v.VerifySequenceLink(set, context, link[:len(link)-32], true),
		"a longer proof":  v.VerifySequenceLink(set, context, append(bytes.Clone(link), make([]byte, 32)...), true),
		"no proof":        v.VerifySequenceLink(set, context, nil, true),
	} {
		if err == nil {
			g.t.Errorf("%s: accepted", what)
		}
	}
	g.flips(link, 3, func(i int, b []byte) {
		if v.VerifySequenceLink(set, context, b, true) == nil {
			g.t.Errorf("byte %d changed: accepted", i)
		}
	})

	// The state survives its encoding, and an old state is no way to a second branch
	// that both signatures can be proved in.
	back := must(g.gk.ParseMemberKey(h.encoded(h.members["jan"])))(&h)
	if i := back.(groupsig.SequenceLinker).SequenceIndex(); i != 5 {
		g.t.Errorf("goes on at %d", i)
	}
	h.members["jan"] = must(g.gk.ParseMemberKey(start))(&h)
	fork := h.signed("jan", "fork", "scope0")
	both := []groupsig.Signed{set[0], fork}
	if l, err := jan.SequenceLink(both, context, false); err == nil && v.VerifySequenceLink(both, context, l, false) == nil {
		g.t.Error("two signatures at one place are linked")
	}
}

func testConvert(g *group) {
	b, ok := groupsig.As[groupsig.Blinder](g.gk)
	if ok != g.f.Has(groupsig.Convert) {
		g.t.Fatal("As doesn't go by the features")
	}
	if !ok {
		return
	}
	signers := []string{"ada", "bob", "ada", "carol"}
	query := func() (groupsig.BlindingKey, [][]byte) {
		k := again(g, must(b.NewBlindingKey())(g), b.ParseBlindingKey)
		var q [][]byte
		for i, name := range signers {
			s := g.signed(name, fmt.Sprint(i), "s")
			q = append(q, must(k.Blind(s.Message, s.Signature, s.Options))(g))
		}
		return k, q
	}
	results := func(k groupsig.BlindingKey, q [][]byte) map[string]string {
		out := must(g.converter.Convert(g.gk, k.Public(), q))(g)
		nyms := map[string]string{}
		for _, c := range out {
			nym, m, err := k.Unblind(c)
			g.check(err)
			for i := range signers {
				if bytes.Equal(m, b.MessagePoint([]byte(fmt.Sprint(i)))) {
					nyms[fmt.Sprint(i)] = string(nym)
				}
			}
		}
		if len(nyms) != len(signers) {
			g.t.Fatalf("%d of %d messages found", len(nyms), len(signers))
		}
		return nyms
	}
	k, q := query()
	first := results(k, q)
	if first["0"] != first["2"] || first["0"] == first["1"] || first["0"] == first["3"] || first["1"] == first["3"] {
		g.t.Error("converted pseudonyms don't go by members")
	}
	if second := results(query()); second["0"] == first["0"] {
		g.t.Error("two queries are linked")
	}

	s := g.signed("ada", "m", "s")
	if _, err := k.Blind([]byte("n"), s.Signature, s.Options); err == nil {
		g.t.Error("blinds what isn't a signature")
	}
	for what, query := range map[string][][]byte{
		"none": nil, "one": q[:1], "truncated": {q[0], q[1][:len(q[1])-1]}, "empty": {q[0], nil},
	} {
		if _, err := g.converter.Convert(g.gk, k.Public(), query); err == nil {
			g.t.Errorf("query with %s: answered", what)
		}
	}
	if _, err := g.converter.Convert(g.gk, point(0xc0, 0), q); err == nil {
		g.t.Error("query under the key 0: answered")
	}
	if _, err := must(g.scheme.GenerateConverterKey())(g).Convert(g.gk, k.Public(), q); err == nil {
		g.t.Error("another converter answers")
	}
	k.Wipe()
	if _, err := k.Blind(s.Message, s.Signature, s.Options); err == nil {
		g.t.Error("a wiped key blinds")
	}
}

// stale demands that a state is refused, not used and not passed over.
func (g *group) stale(what string, s groupsig.Signed) {
	g.t.Helper()
	var se *groupsig.StaleError
	if err := g.verify(s); !errors.As(err, &se) {
		g.t.Errorf("%s: %v, want that the state is stale", what, err)
	}
	b := g.gk.(groupsig.BatchVerifier).Batch(s.Options)
	b.Add(s.Message, s.Signature)
	if err := b.Verify(); !errors.As(err, &se) {
		g.t.Errorf("%s: batch: %v, want that the state is stale", what, err)
	}
}

// with returns a signature to verify under a state.
func with(s groupsig.Signed, r groupsig.Revocation, at int64) groupsig.Signed {
	s.Options.Revocation, s.Options.Now = r, at
	return s
}

var terms = groupsig.Terms{Number: 5, Issued: now, Expires: now + hour}

// staleStates tries a good signature under states that aren't in force.
func (g *group) staleStates(s groupsig.Signed, r groupsig.Revocation) {
	g.t.Helper()
	if r.Number() != 5 || r.Issued() != now || r.Expires() != now+hour {
		g.t.Error("another state than what was asked for")
	}
	g.check(g.verify(with(s, r, now)))
	g.check(g.verify(with(s, r, now+hour)))
	g.stale("expired", with(s, r, now+hour+1))
	g.stale("not in force", with(s, r, now-1))
	g.stale("at no time", with(s, r, 0))
	old := with(s, r, now)
	old.Options.MinNumber = 5
	g.check(g.verify(old))
	old.Options.MinNumber = 6
	g.stale("an older one", old)

	other := newGroup(g.t, g.scheme, g.f, "conformance")
	if _, err := other.gk.(groupsig.RevocationReader).ParseRevocation(g.encoded(r)); err == nil {
		g.t.Error("another group takes the state")
	}
	if other.opener != nil && g.f.Has(groupsig.Token) {
		foreign := must(other.opener.(groupsig.Revoker).RevocationList(other.gk, other.opening, terms))(g)
		g.stale("another group's", with(s, foreign, now))
	}
}

func testRevokeList(g *group) {
	if !g.f.Has(groupsig.Token) {
		if g.opener != nil {
			if _, err := g.opener.(groupsig.Revoker).RevocationList(g.gk, g.opening, terms); err == nil {
				g.t.Error("a list without tokens")
			}
		}
		return
	}
	revoker, parse := g.opener.(groupsig.Revoker), g.gk.(groupsig.RevocationReader).ParseRevocation
	ada, bob := g.signed("ada", "m", "s"), g.signed("bob", "m", "s")
	elsewhere := g.signed("ada", "m", "elsewhere")
	empty := again(g, must(revoker.RevocationList(g.gk, g.opening, terms))(g), parse)
	if empty.Len() != 0 {
		g.t.Errorf("%d are revoked", empty.Len())
	}
	g.check(g.verify(with(ada, empty, now)))

	opening := must(into(g.gk.NewRegister)(g.encoded(g.opening)))(g)
	g.check(opening.Revoke("ada"))
	opening = again(g, opening, into(g.gk.NewRegister))
	list := again(g, must(revoker.RevocationList(g.gk, opening, terms))(g), parse)
	if list.Len() != 1 {
		g.t.Errorf("%d are revoked", list.Len())
	}
	for _, s := range []groupsig.Signed{ada, elsewhere} {
		if err := g.verify(with(s, list, now)); !errors.Is(err, groupsig.ErrRevoked) {
			g.t.Errorf("%v, want %v", err, groupsig.ErrRevoked)
		}
		s.Message = []byte("n")
		if err := g.verify(with(s, list, now)); !errors.Is(err, groupsig.ErrSignature) {
			g.t.Errorf("%v, want %v", err, groupsig.ErrSignature)
		}
	}
	g.staleStates(bob, list)
	b := g.gk.(groupsig.BatchVerifier).Batch(with(bob, list, now).Options)
	for i := range 8 {
		s := bob
		if i == 6 {
			s = ada
		}
		b.Add(s.Message, s.Signature)
	}
	g.bad(b, []int{6})
	// Who is revoked can still be opened.
	if o, err := g.opener.Open(g.gk, opening, ada.Message, ada.Signature, ada.Options); err != nil || o.Member() != "ada" {
		g.t.Error("opening a revoked member's signature", err)
	}
	// A list that somebody else makes, or changes.
	if _, err := must(g.scheme.GenerateOpenerKey(g.f))(g).(groupsig.Revoker).RevocationList(g.gk, opening, terms); err == nil {
		g.t.Error("another opener makes a list")
	}
	if g.contexts() { // those schemes sign it
		g.flips(g.encoded(list), 1, func(i int, data []byte) {
			if _, err := parse(data); err == nil {
				g.t.Errorf("byte %d of the list changed, and decoded", i)
			}
		})
	}
	if _, err := revoker.RevocationList(g.gk, opening, groupsig.Terms{Issued: now, Expires: now - 1}); err == nil {
		g.t.Error("a list that expires before it is issued")
	}
}

func testRevokePseudonyms(g *group) {
	r, ok := groupsig.As[groupsig.PseudonymRevoker](g.gk)
	if ok != g.f.Has(groupsig.Scope) {
		g.t.Fatal("As doesn't go by the features")
	}
	if !ok {
		return
	}
	parse := g.gk.(groupsig.RevocationReader).ParseRevocation
	nyms := g.gk.(groupsig.LinkVerifier)
	ada, elsewhere, bob := g.signed("ada", "m", "s"), g.signed("ada", "m", "elsewhere"), g.signed("bob", "m", "s")
	nym := func(s groupsig.Signed) []byte { return must(nyms.Pseudonym(s.Signature))(g) }
	state := again(g, must(r.RevokePseudonyms(terms, nil, nym(ada)))(g), parse)
	if err := g.verify(with(g.signed("ada", "x", "s"), state, now)); !errors.Is(err, groupsig.ErrRevoked) {
		g.t.Errorf("%v, want %v", err, groupsig.ErrRevoked)
	}
	g.check(g.verify(with(elsewhere, state, now)))
	g.staleStates(bob, state)
	more := again(g, must(r.RevokePseudonyms(terms, state, nym(bob), nym(bob)))(g), parse)
	if more.Len() != 2 {
		g.t.Errorf("%d are revoked", more.Len())
	}
	for _, s := range []groupsig.Signed{ada, bob} {
		if err := g.verify(with(s, more, now)); !errors.Is(err, groupsig.ErrRevoked) {
			g.t.Errorf("%v, want %v", err, groupsig.ErrRevoked)
		}
	}
	for _, bad := range [][]byte{nil, point(0xc0, 0), point(0x80, 0), nym(ada)[:47]} {
		if _, err := r.RevokePseudonyms(terms, nil, bad); err == nil {
			g.t.Errorf("%x is a pseudonym", bad)
		}
	}
}

func testRevokeEpoch(g *group) {
	_, ok := groupsig.As[groupsig.Updater](g.members["carol"])
	if ok != g.f.Has(groupsig.Epoch) {
		g.t.Fatal("As doesn't go by the features")
	}
	if !ok {
		if r, ok := g.issuer.(groupsig.Reissuer); ok {
			if _, err := r.Reissue(g.gk, g.register, "carol", 1); err == nil {
				g.t.Error("a credential for an epoch")
			}
		}
		return
	}
	h := *g
	h.members = map[string]groupsig.MemberKey{"carol": must(g.gk.ParseMemberKey(g.encoded(g.members["carol"])))(g)}
	m, _ := groupsig.As[groupsig.Updater](h.members["carol"])
	register := must(into(g.gk.NewRegister)(g.encoded(g.register)))(g)
	issuer := g.issuer.(groupsig.Reissuer)
	next := must(issuer.Reissue(g.gk, register, "carol", epoch+1))(g)
	for what, err := range map[string]error{
		"another epoch than the announced one": m.Update(next, epoch+2),
		"another member's":                     m.Update(must(issuer.Reissue(g.gk, register, "ada", epoch+1))(g), epoch+1),
		"none":                                 m.Update(nil, epoch+1),
	} {
		if err == nil {
			g.t.Errorf("credential: %s: taken", what)
		}
	}
	g.flips(next, 1, func(i int, b []byte) {
		if m.Update(b, epoch+1) == nil {
			g.t.Errorf("byte %d of the credential changed, and taken", i)
		}
	})
	if m.Epoch() != epoch {
		g.t.Errorf("in epoch %d", m.Epoch())
	}
	g.check(m.Update(next, epoch+1))
	s := h.signed("carol", "m", "s")
	g.refuses("the next epoch's", s.Message, s.Signature, g.options("s"))
	h.epoch++
	g.check(g.gk.Verify(s.Message, s.Signature, h.options("s")))
	old := g.signed("ada", "m", "s")
	g.refuses("the last epoch's", old.Message, old.Signature, h.options("s"))

	g.check(register.Revoke("carol"))
	if _, err := issuer.Reissue(g.gk, register, "carol", epoch+2); err == nil {
		g.t.Error("a revoked member gets a credential")
	}
	if _, err := issuer.Reissue(g.gk, register, "nobody", epoch+2); err == nil {
		g.t.Error("nobody gets a credential")
	}
}

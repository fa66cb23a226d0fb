// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsigtest

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/undersign/undersign/groupsig"
)

func testLink(g *group) {
	v, ok := groupsig.As[groupsig.LinkVerifier](g.gk)
	ada, can := groupsig.As[groupsig.Linker](g.members["ada"])
	if ok != g.f.Has(groupsig.Scope) || can != (ok || g.f.Has(groupsig.Trace)) {
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
	g.claims(ada, bob, v, set, foreign)
}

// claims has members link and claim what is their own: a set of Ada's, and one of Bob's.
func (g *group) claims(ada, bob groupsig.Linker, v groupsig.ClaimVerifier, set []groupsig.Signed, foreign groupsig.Signed) {
	g.t.Helper()
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

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsigtest

import (
	"errors"

	"github.com/undersign/undersign/groupsig"
)

// testTrace has members claim what they signed, and the opener reveal what traces one.
func testTrace(g *group) {
	v, ok := groupsig.As[groupsig.Tracer](g.gk)
	claims, can := groupsig.As[groupsig.ClaimVerifier](g.gk)
	if ok != g.f.Has(groupsig.Trace) || can != (ok || g.f.Has(groupsig.Scope)) {
		g.t.Fatal("As doesn't go by the features")
	}
	revealer, _ := g.opener.(groupsig.Revealer)
	if !ok {
		if revealer != nil {
			if _, err := revealer.Reveal(g.gk, g.opening, "ada", nil); err == nil {
				g.t.Error("reveals what doesn't trace")
			}
		}
		return
	}
	ada, _ := groupsig.As[groupsig.Linker](g.members["ada"])
	bob, _ := groupsig.As[groupsig.Linker](g.members["bob"])
	set := []groupsig.Signed{g.signed("ada", "1", "a"), g.signed("ada", "2", "b"), g.signed("ada", "3", "a")}
	foreign := g.signed("bob", "1", "a")
	g.claims(ada, bob, claims, set, foreign)

	why := []byte("case 7")
	r := again(g, must(revealer.Reveal(g.gk, g.opening, "ada", why))(g), v.ParseRevelation)
	g.check(v.CheckRevelation(r, public("ada"), why))
	if r.Member() != "ada" {
		g.t.Errorf("of %q", r.Member())
	}
	for i, s := range append(set, foreign) {
		if is, err := v.Trace(r, s); err != nil || is != (i < 3) {
			g.t.Errorf("signature %d: traced %v, %v", i, is, err)
		}
	}
	altered := set[0]
	altered.Message = []byte("n")
	if _, err := v.Trace(r, altered); !errors.Is(err, groupsig.ErrSignature) {
		g.t.Errorf("traces what isn't a signature: %v", err)
	}
	other := newGroup(g.t, g.scheme, g.f, "conformance")
	tracer := other.gk.(groupsig.Tracer)
	_, err1 := revealer.Reveal(g.gk, g.opening, "nobody", why)
	_, err2 := other.opener.(groupsig.Revealer).Reveal(g.gk, g.opening, "ada", why)
	_, err3 := revealer.Reveal(other.gk, g.opening, "ada", why)
	_, err4 := tracer.Trace(r, set[0])
	for what, err := range map[string]error{
		"nobody":          err1,
		"another opener":  err2,
		"another's group": err3,
		"another group":   err4,
		"for no reason":   v.CheckRevelation(r, public("ada"), nil),
		"another member":  v.CheckRevelation(r, public("bob"), why),
		"elsewhere":       tracer.CheckRevelation(r, public("ada"), why),
		"none":            v.CheckRevelation(nil, public("ada"), why),
	} {
		if err == nil {
			g.t.Errorf("revelation: %s: accepted", what)
		}
	}
	g.flips(g.encoded(r), 1, func(i int, b []byte) {
		if r, err := v.ParseRevelation(b); err == nil && v.CheckRevelation(r, public("ada"), why) == nil {
			g.t.Errorf("byte %d of the revelation changed, and accepted", i)
		}
	})
}

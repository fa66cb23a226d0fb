// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"bytes"
	"errors"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/bls12381"
)

// What the opener gets of a static group is enough to open, and isn't a key.
func TestOpenerRecord(t *testing.T) {
	g := newGroup(t, bbs04Static, "opener's records")
	keep := g.gk.NewRegister()
	keys := map[string]*MemberKey{}
	for _, name := range []string{"alice", "bob"} {
		m, err := g.issuer.MakeMember(g.gk, g.register, name, longTerm("issuer"))
		g.check(err)
		keys[name] = m
		whole := g.register.Member(name)
		_, app, err := g.gk.evidence(whole)
		g.check(err)
		r, err := g.gk.OpenerRecord(whole)
		g.check(err)
		if len(whole.Evidence) <= len(r.Evidence) || !bytes.Equal(r.Evidence, m.cred.a.Bytes()) {
			t.Errorf("%d bytes of evidence", len(r.Evidence))
		}
		b, err := r.MarshalBinary()
		g.check(err)
		if bytes.Contains(b, m.cred.x.Bytes()) || bytes.Contains(b, app.proof) {
			t.Errorf("the opener gets the key of %s", name)
		}
		again, err := g.gk.OpenerRecord(r)
		g.check(err)
		if !bytes.Equal(again.Evidence, r.Evidence) {
			t.Error("another record the second time")
		}
		g.check(g.opener.CheckRecord(g.gk, r, public("issuer")))
		g.check(g.opener.CheckRecord(g.gk, whole, public("issuer")))
		g.check(keep.Add(r))
	}
	for name, m := range keys {
		sig := g.sign(m, "motion")
		o, err := g.opener.Open(g.gk, keep, message("motion"), []byte("context"), sig, nil)
		g.check(err)
		if o.Member() != name {
			t.Errorf("opened to %s, and not %s", o.Member(), name)
		}
		g.check(g.gk.VerifyOpening(message("motion"), []byte("context"), sig, o, public("issuer"), nil))
		if g.gk.VerifyOpening(message("motion"), []byte("context"), sig, o, public(name), nil) == nil {
			t.Error("the member is said to have signed the registration")
		}
	}
	alice, err := g.gk.OpenerRecord(g.register.Member("alice"))
	g.check(err)
	bob := g.register.Member("bob")
	for what, change := range map[string]func(r *join.Record){
		"bob's A":     func(r *join.Record) { r.Evidence = bob.Evidence[:bls12381.G1Size] },
		"bob's point": func(r *join.Record) { r.Point = bob.Point },
		"no point":    func(r *join.Record) { r.Point = new(bls12381.G2).Bytes() },
		"short point": func(r *join.Record) { r.Point = r.Point[:len(r.Point)-1] },
		"long point":  func(r *join.Record) { r.Point = append(bytes.Clone(r.Point), 0) },
		"no A":        func(r *join.Record) { r.Evidence = nil },
		"the identity as A": func(r *join.Record) {
			r.Evidence = new(bls12381.G1).Bytes()
		},
		"a byte less": func(r *join.Record) { r.Evidence = r.Evidence[:len(r.Evidence)-1] },
		"a byte more": func(r *join.Record) { r.Evidence = append(bytes.Clone(r.Evidence), 0) },
		"A and no seed": func(r *join.Record) {
			r.Evidence = append(bytes.Clone(r.Evidence), keys["alice"].cred.x.Bytes()...)
		},
		"another name":  func(r *join.Record) { r.Member = "bob" },
		"another group": func(r *join.Record) { r.GroupID[0]++ },
	} {
		r := *alice
		change(&r)
		if g.opener.CheckRecord(g.gk, &r, public("issuer")) == nil {
			t.Errorf("%s: accepted", what)
		}
		g.check(r.Sign(longTerm("issuer")))
		if err := g.opener.CheckRecord(g.gk, &r, public("issuer")); (err == nil) != (what == "another name") {
			t.Errorf("%s, signed: %v", what, err) // a name is the registrar's word
		}
	}
	if g.opener.CheckRecord(g.gk, alice, public("alice")) == nil {
		t.Error("another key")
	}
	for what, r := range map[string]*join.Record{"none": nil, "another group's": {Scheme: "bbs04", Evidence: alice.Evidence}, "without evidence": {Scheme: "bbs04", GroupID: g.gk.id}} {
		if _, err := g.gk.OpenerRecord(r); err == nil {
			t.Errorf("%s: a record for the opener", what)
		}
	}
	// Where members have secrets of their own openers need all of the record.
	d := newGroup(t, BBS04, "opener's records")
	d.join("alice")
	r, err := d.gk.OpenerRecord(d.register.Member("alice"))
	g.check(err)
	if r != d.register.Member("alice") {
		t.Error("another record")
	}
	short := *r
	short.Evidence = short.Evidence[:bls12381.G1Size]
	if d.opener.CheckRecord(d.gk, &short, public("alice")) == nil {
		t.Error("a record without the join proof")
	}
}

// The issuer makes keys in one step, in groups that are static.
func TestMakeMember(t *testing.T) {
	g := newGroup(t, bbs04Static, "made")
	make := func(name string) (*MemberKey, error) {
		return g.issuer.MakeMember(g.gk, g.register, name, longTerm("issuer"))
	}
	alice, err := make("alice")
	g.check(err)
	g.check(g.verify("m", g.sign(alice, "m")))
	if alice.Member() != "alice" || alice.Group().ID() != g.gk.ID() {
		t.Error("another member, or another group")
	}
	// As it was made, from the register as it is kept.
	b, err := g.register.MarshalBinary()
	g.check(err)
	kept := g.gk.NewRegister()
	g.check(kept.UnmarshalBinary(b))
	again, err := g.issuer.MadeMember(g.gk, kept, "alice")
	g.check(err)
	x, err := alice.MarshalBinary()
	g.check(err)
	y, err := again.MarshalBinary()
	g.check(err)
	if !bytes.Equal(x, y) {
		t.Error("another key the second time")
	}
	n := g.register.Len()
	other := newGroup(t, bbs04Static, "made")
	dynamic := newGroup(t, BBS04, "made")
	dynamic.join("alice")
	failing := g.gk.NewRegister()
	failing.Durable = func([]byte) error { return errors.New("disk full") }
	for what, f := range map[string]func() (*MemberKey, error){
		"one name twice": func() (*MemberKey, error) { return make("alice") },
		"no name":        func() (*MemberKey, error) { return make("") },
		"another issuer": func() (*MemberKey, error) {
			return other.issuer.MakeMember(g.gk, g.register, "bob", longTerm("issuer"))
		},
		"the opener": func() (*MemberKey, error) { return g.opener.MakeMember(g.gk, g.register, "bob", longTerm("issuer")) },
		"no key":     func() (*MemberKey, error) { return g.issuer.MakeMember(g.gk, g.register, "bob", nil) },
		"half a key": func() (*MemberKey, error) {
			return g.issuer.MakeMember(g.gk, g.register, "bob", longTerm("issuer")[:32])
		},
		"no register": func() (*MemberKey, error) { return g.issuer.MakeMember(g.gk, nil, "bob", longTerm("issuer")) },
		"another's register": func() (*MemberKey, error) {
			return g.issuer.MakeMember(g.gk, other.register, "bob", longTerm("issuer"))
		},
		"not durable": func() (*MemberKey, error) { return g.issuer.MakeMember(g.gk, failing, "bob", longTerm("issuer")) },
		"not static": func() (*MemberKey, error) {
			return dynamic.issuer.MakeMember(dynamic.gk, dynamic.register, "bob", longTerm("issuer"))
		},
		"no group":            func() (*MemberKey, error) { return g.issuer.MakeMember(nil, g.register, "bob", longTerm("issuer")) },
		"again, nobody":       func() (*MemberKey, error) { return g.issuer.MadeMember(g.gk, g.register, "bob") },
		"again, other group":  func() (*MemberKey, error) { return g.issuer.MadeMember(g.gk, dynamic.register, "alice") },
		"again, other issuer": func() (*MemberKey, error) { return other.issuer.MadeMember(g.gk, g.register, "alice") },
		"again, the opener":   func() (*MemberKey, error) { return g.opener.MadeMember(g.gk, g.register, "alice") },
		"again, not static":   func() (*MemberKey, error) { return dynamic.issuer.MadeMember(dynamic.gk, dynamic.register, "alice") },
		"again, no register":  func() (*MemberKey, error) { return g.issuer.MadeMember(g.gk, nil, "alice") },
	} {
		if m, err := f(); err == nil || m != nil {
			t.Errorf("%s: made", what)
		}
	}
	if g.register.Len() != n || other.register.Len() != 0 || failing.Len() != 0 {
		t.Error("what wasn't made is registered")
	}
	// The opener's register has no keys to make again.
	own := g.gk.NewRegister()
	r, err := g.gk.OpenerRecord(g.register.Member("alice"))
	g.check(err)
	g.check(own.Add(r))
	if m, err := g.issuer.MadeMember(g.gk, own, "alice"); err == nil || m != nil {
		t.Error("made again of an opener's record")
	}

	// Revoked by moving the key; who comes later takes the steps, and the name is free once
	// the old key is of no use.
	bob, err := make("bob")
	g.check(err)
	g.check(g.register.Revoke("alice"))
	if _, err := g.issuer.MadeMember(g.gk, g.register, "alice"); err == nil {
		t.Error("made again, of who is revoked")
	}
	if _, err := make("alice"); !errors.As(err, new(*join.RejoinError)) {
		t.Errorf("made anew before the list: %v", err)
	}
	u, err := g.issuer.Update(g.gk, g.register, termsOf(1), nil)
	g.check(err)
	g.check(bob.Update(u))
	if alice.Update(u) == nil {
		t.Error("alice follows")
	}
	if n, err := g.gk.MarkListed(g.register, u, now); n != 1 || err != nil {
		t.Errorf("%d listed: %v", n, err)
	}
	anew, err := make("alice")
	g.check(err)
	if anew.cred.x.Equal(&alice.cred.x) {
		t.Error("the revoked number again")
	}
	g.check(anew.Update(u))
	for _, m := range []*MemberKey{bob, anew} {
		g.check(u.Key().Verify(message("m"), []byte("context"), g.sign(m, "m")))
	}
}

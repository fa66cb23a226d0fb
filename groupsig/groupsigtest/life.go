// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsigtest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/undersign/undersign/groupsig"
)

// Group keys that aren't what their roles have agreed to.
func testSetup(g *group) {
	for _, s := range groupsig.Schemes() {
		if s == g.scheme {
			continue
		}
		if _, err := s.ParseGroupKey(g.encoded(g.gk)); err == nil {
			g.t.Errorf("%s takes the group key", s.Name())
		}
		d := must(s.NewDraft("x", 0))(g)
		if (s == groupsig.PS16() || s == groupsig.KLAP20() || g.contexts()) && g.issuer.Enroll(d) == nil {
			g.t.Errorf("the issuer enrolls in a draft of %s", s.Name())
		}
	}
	g.flips(g.encoded(g.gk), 5, func(i int, b []byte) {
		if k, err := g.scheme.ParseGroupKey(b); err == nil {
			g.t.Errorf("byte %d of the group key changed: %x", i, k.ID())
		}
	})
	for bit := range 16 {
		f := groupsig.Features(1) << bit
		if (g.scheme.Required()|g.scheme.Optional())&f == 0 {
			if _, err := g.scheme.NewDraft("x", f); err == nil {
				g.t.Errorf("a draft with the feature %s", f)
			}
		}
	}
	// Who isn't enrolled can't agree.
	d := must(g.scheme.NewDraft("x", g.f))(g)
	g.check(g.issuer.Enroll(d))
	if g.scheme.GenerateIssuerKey().Consent(d) == nil {
		g.t.Error("another issuer agrees")
	}
	if _, err := g.scheme.NewDraft("", g.f); err == nil {
		if d, err := g.scheme.NewDraft("", g.f); err == nil {
			if _, err := d.GroupKey(); err == nil {
				g.t.Error("a group of nobody")
			}
		}
	}
}

// Applications and credentials that aren't what they should be.
func testJoin(g *group) {
	p, m2 := g.apply("dora")
	g.flips(m2, 7, func(i int, b []byte) {
		if _, err := g.issue(b, now); err == nil {
			g.t.Errorf("byte %d of the application changed, and answered", i)
		}
	})
	if _, err := g.issue(m2, now+hour); err == nil {
		g.t.Error("an expired session is answered")
	}
	if _, err := g.scheme.GenerateIssuerKey().Issue(g.gk, g.sessions, g.register, m2, now, g.epoch); err == nil {
		g.t.Error("another issuer answers")
	}
	if _, err := g.issuer.Issue(g.gk, g.gk.NewSessions(), g.register, m2, now, g.epoch); err == nil {
		g.t.Error("a session that isn't open is answered")
	}
	failing := g.gk.NewRegister()
	failing.Durable = func([]byte) error { return errors.New("disk full") }
	if _, err := g.issuer.Issue(g.gk, g.sessions, failing, m2, now, g.epoch); err == nil {
		g.t.Error("a credential without a durable record")
	}
	n := g.register.Len()
	m3 := must(g.issue(m2, now))(g)
	if again, err := g.issue(m2, now); err != nil || !bytes.Equal(m3, again) || g.register.Len() != n+1 {
		g.t.Error("the same application gets another answer", err)
	}
	if _, m2 := g.apply("dora"); m2 != nil {
		if _, err := g.issue(m2, now); err == nil {
			g.t.Error("one identity gets two credentials")
		}
	}

	// A malicious issuer's credential, and one for somebody else.
	g.flips(m3, 1, func(i int, b []byte) {
		if _, err := p.Finish(b, g.epoch); err == nil {
			g.t.Errorf("byte %d of the credential changed, and taken", i)
		}
	})
	if _, err := p.Finish(m3, g.epoch+1); err == nil {
		g.t.Error("another epoch than the announced one")
	}
	q, m2 := g.apply("eve")
	other := must(g.issue(m2, now))(g)
	if _, err := p.Finish(other, g.epoch); err == nil {
		g.t.Error("a credential of somebody else")
	}
	if _, err := q.Finish(m3, g.epoch); err == nil {
		g.t.Error("a credential of somebody else")
	}
	m := must(p.Finish(m3, g.epoch))(g)
	g.flips(g.encoded(m), 11, func(i int, b []byte) {
		if k, err := g.gk.ParseMemberKey(b); err == nil && !g.f.Has(groupsig.Sequence) {
			if sig, err := k.Sign([]byte("m"), g.signOptions("s")); err == nil && g.gk.Verify([]byte("m"), sig, g.options("s")) == nil {
				return // something that isn't the credential: an identity, for instance
			}
			g.t.Errorf("byte %d of the member's key changed, and decoded", i)
		}
	})

	// Invitations of somebody else, and of another group.
	if _, _, err := g.gk.NewJoin(g.gk.ID(), g.invite("gus"), "fay", longTerm("fay")); err == nil {
		g.t.Error("another member's invitation")
	}
	// A group key that isn't the published one marks who joins by it.
	for _, id := range [][32]byte{{}, newGroup(g.t, g.scheme, g.f, "conformance").gk.ID()} {
		if _, _, err := g.gk.NewJoin(id, g.invite("fay"), "fay", longTerm("fay")); err == nil {
			g.t.Error("joins a group whose key isn't the published one")
		}
	}
	c := g.invite("fay")
	c.GroupID[0]++
	if _, _, err := g.gk.NewJoin(g.gk.ID(), c, "fay", longTerm("fay")); err == nil {
		g.t.Error("another group's invitation")
	}
	// A registration signed by another key than the invitation is for.
	_, stolen, err := g.gk.NewJoin(g.gk.ID(), g.invite("hal"), "hal", longTerm("eve"))
	if err == nil {
		if _, err = g.issue(stolen, now); err == nil {
			g.t.Error("a registration by another key")
		}
	}
	if g.opener != nil {
		r := g.register.Member("dora")
		register := g.gk.NewRegister()
		if g.opener.Record(g.gk, register, r, public("ada")) == nil || g.opener.Record(g.gk, register, nil, public("dora")) == nil {
			g.t.Error("the opener takes a record under another key")
		}
		bad := *r
		bad.Member = "ada"
		if g.opener.Record(g.gk, register, &bad, public("dora")) == nil {
			g.t.Error("the opener takes a record with another name")
		}
		if register.Len() != 0 {
			g.t.Error("a record that is refused is kept")
		}
		g.check(g.opener.Record(g.gk, register, r, public("dora")))
		if g.opener.Record(g.gk, register, r, public("dora")) == nil {
			g.t.Error("the opener takes a record twice")
		}
	}
}

func testVerify(g *group) {
	seen := map[[32]byte]bool{}
	for name := range g.members {
		s := g.signed(name, "hello", "s")
		g.check(g.verify(s))
		if len(s.Signature) != g.gk.SignatureSize() {
			g.t.Errorf("%d bytes, want %d", len(s.Signature), g.gk.SignatureSize())
		}
		id := must(g.gk.SignatureID(s.Message, s.Signature, s.Options))(g)
		if seen[id] {
			g.t.Error("two signatures with one name")
		}
		seen[id] = true

		// Both layouts are one signature.
		layouts := g.gk.(groupsig.BatchVerifier)
		fast := must(layouts.ForBatch(s.Message, s.Signature, s.Options))(g)
		g.check(g.gk.Verify(s.Message, fast, s.Options))
		if again := must(g.gk.SignatureID(s.Message, fast, s.Options))(g); again != id {
			g.t.Error("a name for each layout")
		}
		if back := must(layouts.Compact(s.Message, fast, s.Options))(g); !bytes.Equal(back, s.Signature) {
			g.t.Error("another signature after changing layouts")
		}
	}
	o := g.signOptions("s")
	o.Batch = true
	sig := must(g.members["ada"].Sign([]byte("hello"), o))(g)
	g.check(g.gk.Verify([]byte("hello"), sig, g.options("s")))
	g.refuses("another message", []byte("bye"), sig, g.options("s"))

	// What the group doesn't have is refused, not passed over.
	if !g.f.Has(groupsig.Scope) {
		if _, err := g.members["ada"].Sign(nil, groupsig.SignOptions{Scope: []byte("s")}); err == nil {
			g.t.Error("signed for a scope")
		}
		if g.gk.Verify([]byte("hello"), sig, groupsig.VerifyOptions{Scope: []byte("s"), MinEpoch: g.epoch, MaxEpoch: g.epoch}) == nil {
			g.t.Error("verified for a scope")
		}
	}
	if !g.contexts() {
		if _, err := g.members["ada"].Sign(nil, groupsig.SignOptions{Context: []byte("s")}); err == nil {
			g.t.Error("signed for a context")
		}
	}
}

func testBatch(g *group) {
	names := []string{"ada", "bob", "carol"}
	v := g.gk.(groupsig.BatchVerifier)
	n := 24
	want := []int{3, 17}
	b, hostile := v.Batch(g.options("s")), v.Batch(g.options("s"))
	for i := range n {
		msg := []byte(fmt.Sprint(i))
		o := g.signOptions("s")
		o.Batch = i%2 == 0
		sig := must(g.members[names[i%3]].Sign(msg, o))(g)
		b.Add(msg, sig)
		switch i {
		case 3:
			msg = []byte("another")
		case 17:
			sig = bytes.Clone(sig)
			sig[len(sig)-20] ^= 1
		}
		hostile.Add(msg, sig)
	}
	if b.Len() != n {
		g.t.Errorf("%d signatures", b.Len())
	}
	g.check(b.Verify())
	g.check(v.Batch(g.options("s")).Verify())
	g.bad(hostile, want)

	// One bad one, then nothing but bad ones, of no length or of a wrong one.
	one := v.Batch(g.options("s"))
	for i := range 9 {
		s := g.signed("ada", "m", "s")
		if i == 5 {
			s.Signature = nil
		}
		one.Add(s.Message, s.Signature)
	}
	g.bad(one, []int{5})
	all := v.Batch(g.options("s"))
	for i := range 3 {
		all.Add([]byte("m"), make([]byte, i*g.gk.SignatureSize()))
	}
	g.bad(all, []int{0, 1, 2})

	// Errors that would cancel: two signatures with their scalars exchanged.
	x, y := g.signed("ada", "m", "s").Signature, g.signed("bob", "m", "s").Signature
	at := len(x) - 32
	swapped := v.Batch(g.options("s"))
	swapped.Add([]byte("m"), append(bytes.Clone(x[:at]), y[at:]...))
	swapped.Add([]byte("m"), append(bytes.Clone(y[:at]), x[at:]...))
	g.bad(swapped, []int{0, 1})
}

// bad demands that a batch refuses exactly some.
func (g *group) bad(b groupsig.Batch, want []int) {
	g.t.Helper()
	var be *groupsig.BatchError
	if err := b.Verify(); !errors.As(err, &be) || !slices.Equal(be.Bad, want) || len(be.Errs) != len(want) {
		g.t.Errorf("%v, want %d", err, want)
	} else if !errors.Is(err, groupsig.ErrSignature) && !errors.Is(err, groupsig.ErrRevoked) {
		g.t.Errorf("%v has no reason", be.Errs)
	}
}

func testOpen(g *group) {
	v, ok := groupsig.As[groupsig.OpeningVerifier](g.gk)
	if ok != g.f.Has(groupsig.Escrow) {
		g.t.Error("As doesn't go by the features")
	}
	if !ok {
		if _, err := g.scheme.GenerateOpenerKey(g.f); err == nil {
			g.t.Error("an opener's key for a group without")
		}
		return
	}
	because := []byte("complaint 12")
	var openings []groupsig.Opening
	var signed []groupsig.Signed
	for _, name := range []string{"ada", "bob"} {
		s := g.signed(name, "m", "s")
		o := must(g.opener.Open(g.gk, g.opening, s.Message, s.Signature, s.Options, because))(g)
		if o.Member() != name {
			g.t.Fatalf("opened to %q, want %q", o.Member(), name)
		}
		o = again(g, o, v.ParseOpening)
		g.check(v.VerifyOpening(s.Message, s.Signature, s.Options, o, public(name), because))
		for _, context := range [][]byte{nil, []byte("complaint 13")} {
			if v.VerifyOpening(s.Message, s.Signature, s.Options, o, public(name), context) == nil {
				g.t.Errorf("opened for another reason, %q: accepted", context)
			}
		}
		openings, signed = append(openings, o), append(signed, s)
	}
	ada, bob := signed[0], signed[1]
	refused := func(what string, s groupsig.Signed, o groupsig.Opening, name string) {
		g.t.Helper()
		if v.VerifyOpening(s.Message, s.Signature, s.Options, o, public(name), because) == nil {
			g.t.Errorf("%s: accepted", what)
		}
	}
	refused("another member's key", ada, openings[0], "bob")
	refused("another's signature", bob, openings[0], "ada")
	refused("another's opening", ada, openings[1], "bob")
	refused("another signature of hers", g.signed("ada", "m", "s"), openings[0], "ada")
	refused("another message", groupsig.Signed{Message: []byte("n"), Signature: ada.Signature, Options: ada.Options}, openings[0], "ada")
	refused("no opening", ada, nil, "ada")
	data := g.encoded(openings[0])
	name := bytes.Index(data, []byte("ada"))
	g.flips(data, 3, func(i int, b []byte) {
		o, err := v.ParseOpening(b)
		if err == nil && (i < 150 || name <= i && i < name+3 || i >= len(data)-100) &&
			v.VerifyOpening(ada.Message, ada.Signature, ada.Options, o, public("ada"), because) == nil && o.Member() != "ada" {
			g.t.Errorf("byte %d of the opening changed, and it names %q", i, o.Member())
		}
	})

	// An opener doesn't decrypt what isn't a signature, and knows its group.
	open := func(o groupsig.Opener, msg, sig []byte) error {
		_, err := o.Open(g.gk, g.opening, msg, sig, g.options("s"), nil)
		return err
	}
	if !errors.Is(open(g.opener, []byte("n"), ada.Signature), groupsig.ErrSignature) {
		g.t.Error("another message is opened")
	}
	g.flips(ada.Signature, 29, func(i int, b []byte) {
		if !errors.Is(open(g.opener, ada.Message, b), groupsig.ErrSignature) {
			g.t.Errorf("byte %d changed, and opened", i)
		}
	})
	if open(must(g.scheme.GenerateOpenerKey(g.f))(g), ada.Message, ada.Signature) == nil {
		g.t.Error("another opener opens")
	}
	// Who isn't registered.
	o, err := g.opener.Open(g.gk, g.gk.NewRegister(), ada.Message, ada.Signature, ada.Options, nil)
	if err == nil && (o.Member() != "" || v.VerifyOpening(ada.Message, ada.Signature, ada.Options, o, nil, nil) != nil) ||
		err != nil && !errors.Is(err, groupsig.ErrUnknown) {
		g.t.Error("an unregistered member", err)
	}
}

// Secrets aren't printed, and wiped ones aren't of use.
func testSecrets(g *group) {
	m := must(g.gk.ParseMemberKey(g.encoded(g.members["carol"])))(g)
	p, _ := g.apply("ivy")
	keys := []interface {
		marshaler
		Wipe()
	}{m, p, must(g.scheme.ParseIssuerKey(g.encoded(g.issuer)))(g)}
	if g.opener != nil {
		keys = append(keys, must(g.scheme.ParseOpenerKey(g.encoded(g.opener)))(g))
	}
	if g.converter != nil {
		keys = append(keys, must(g.scheme.ParseConverterKey(g.encoded(g.converter)))(g))
	}
	if g.linker != nil {
		keys = append(keys, must(g.scheme.(groupsig.LinkingScheme).ParseLinkerKey(g.encoded(g.linker)))(g))
	}
	for _, k := range keys {
		if out := fmt.Sprintf("%v %+v %#v %s %x", k, k, k, k, k); strings.Count(out, "secret key") != 5 {
			g.t.Errorf("%T prints %s", k, out)
		}
		k.Wipe()
		if _, err := k.MarshalBinary(); err == nil {
			g.t.Errorf("%T: wiped, and encoded", k)
		}
	}
	if _, err := m.Sign([]byte("m"), g.signOptions("s")); err == nil {
		g.t.Error("a wiped key signs")
	}
}

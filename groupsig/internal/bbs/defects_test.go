// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"crypto/ed25519"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// These are defects of other implementations, and traps in designs that looked right,
// which aren't in the other tests.

// Somebody who never joined makes up a credential. All relations hold; the pairing
// equation doesn't, and is what notices.
func TestNeverJoined(t *testing.T) {
	each(t, func(t *testing.T, g *group) {
		good := g.sign(g.join("ada"), "m", "s", false)
		eve := &MemberKey{gk: g.k}
		eve.y.Random()
		eve.cred.x.Random()
		eve.cred.s.Random()
		eve.cred.epoch = g.epoch
		eve.cred.a.ScalarBaseMult(new(bls12381.Scalar).Random())
		for _, batch := range []bool{false, true} {
			s, w := g.cheat(eve)
			if g.k.Features().Has(Sequence) {
				s.seq = make([]byte, seqSize)
			}
			forged := g.forge(s, w, msg("m"), "s", batch)
			parsed, err := g.k.parse(forged)
			if err == nil {
				err = g.k.checkProof(parsed, g.scope("s"), msg("m"))
			}
			if err != nil {
				t.Fatal("the forgery is no good:", err)
			}
			g.refused("made up", good, forged, "s")
		}
	})
}

// With known logarithms of g1, h1 and h2 the BBS+ form has a forgery with AA = 0, whose
// relations and pairing equation hold. Generators are hashed from the label, so that
// nobody knows any, and AA is checked all the same.
func TestKnownLogarithms(t *testing.T) {
	g := newGroup(t, Plus|Scope)
	k := g.k
	var a, b, c bls12381.Scalar
	known := func(s *bls12381.Scalar) *base { return newBase(new(bls12381.G1).ScalarBaseMult(s.Random())) }
	k.g1, k.h1, k.h2 = known(&a), known(&b), known(&c)
	k.negH1, k.negH2 = k.h1.neg(), k.h2.neg()

	// -D = r2·h2, and g1 = r3·D - s'·h2 - y·h1, so that s' = -(a + y·b)/c - r3·r2.
	var y, r2, r3, s, u bls12381.Scalar
	y.Random()
	r2.Random()
	r3.Random()
	s.MulAdd(&y, &b, &a)
	s.Mul(&s, u.Inverse(&c))
	s.MulAdd(&r3, &r2, &s)
	s.Neg(&s)
	w := make([]bls12381.Scalar, k.l.secrets)
	w[k.l.x].Random()
	w[k.l.y], w[k.l.r2], w[k.l.r3], w[k.l.s] = y, r2, r3, s
	for _, batch := range []bool{false, true} {
		p := &signature{p: make([]bls12381.G1, k.l.points)}
		p.p[ptD].ScalarMult(u.Neg(&r2), &k.h2.p)
		p.p[ptNym].ScalarMult(&y, &k.scope([]byte("s")).p)
		bad := g.forge(p, w, msg("m"), "s", batch)
		q := &signature{p: p.p, s: p.s, c: p.c}
		if err := k.checkProof(q, []byte("s"), msg("m")); err != nil {
			t.Fatal("the forgery is no good:", err)
		}
		if !k.pairing(&p.p[ptAA], &p.p[ptABar]) {
			t.Fatal("the forgery is no good")
		}
		if k.Verify(msg("m"), bad, g.opts("s")) == nil {
			t.Error("AA = 0 is accepted")
		}
		batched := k.Batch()
		for range 6 {
			batched.Add(msg("m"), bad, g.opts("s"))
		}
		if batched.Verify() == nil {
			t.Error("AA = 0 is accepted in a batch")
		}
	}
}

// What is behind the rule that no x comes twice: two credentials with one x, for two
// epochs, give the credential of every other epoch.
func TestExtrapolation(t *testing.T) {
	g := newGroup(t, Scope|Epoch)
	ada := g.join("ada") // of epoch 7
	// A_e = 1/(isk + x)·(B + e·h3) with the x that ada has, as a careless issuer
	// would make it.
	careless := func(epoch uint64) *bls12381.G1 {
		var inv bls12381.Scalar
		inv.Inverse(inv.Add(&g.issuer.isk[0], &ada.cred.x))
		b := new(bls12381.G1).ScalarMult(&ada.y, &g.k.h1.p)
		b.Add(b, &g.k.epochBase(epoch).p)
		return b.ScalarMult(&inv, b)
	}
	a := careless(9)
	a.Double(careless(8)).Sub(a, careless(7)) // 2·A_8 - A_7
	bls12381.NormalizeG1(a)
	if _, err := g.k.newMember(&ada.y, &credential{a: *a, x: ada.cred.x, epoch: 9}); err != nil {
		t.Fatal("the trap is none:", err)
	}
	// The issuer here draws x anew, and who gets one with the same x refuses it.
	c1, err := g.issuer.Reissue(g.k, g.register, "ada", 8)
	if err != nil {
		t.Fatal(err)
	}
	m := &MemberKey{gk: g.k, mu: ada.mu, cred: ada.cred, a: ada.a, b: ada.b}
	m.y.Set(&ada.y)
	if err := m.Update(c1, 8); err != nil {
		t.Fatal(err)
	}
	var b bls12381.G1
	b.Double(&m.cred.a).Sub(&b, &ada.cred.a)
	bls12381.NormalizeG1(&b)
	for _, x := range []bls12381.Scalar{ada.cred.x, m.cred.x} {
		if _, err := g.k.newMember(&ada.y, &credential{a: b, x: x, epoch: 9}); err == nil {
			t.Error("an extrapolated credential is one")
		}
	}
}

// An issuer that makes a member of its own, in somebody's name, has nobody's
// registration: openers and judges refuse it. Members sign no point that the issuer
// chose, so that it can't get one either.
func TestFraming(t *testing.T) {
	g := newGroup(t, Scope|Escrow)
	g.join("ada")
	honest := g.register.Member("ada")

	// The issuer joins as bob, by a long-term key of its own.
	_, own, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := g.sessions.Open("bob", own.Public().(ed25519.PublicKey), join.Fischlin, now, 60)
	if err != nil {
		t.Fatal(err)
	}
	p, m2, err := g.k.NewJoin(g.k.ID(), c, "bob", own)
	if err != nil {
		t.Fatal(err)
	}
	m3, err := g.issuer.Issue(g.k, g.sessions, g.register, m2, now, 0)
	if err != nil {
		t.Fatal(err)
	}
	fake, err := p.Finish(m3, 0)
	if err != nil {
		t.Fatal(err)
	}
	r := g.register.Member("bob")
	if g.opener.CheckRecord(g.k, r, g.public("bob")) == nil {
		t.Error("the opener takes the issuer's record for bob's")
	}
	sig := g.sign(fake, "m", "s", false)
	o, err := g.opener.Open(g.k, g.register, msg("m"), sig, g.opts("s"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if o.Member() != "bob" || g.k.VerifyOpening(msg("m"), sig, g.opts("s"), o, g.public("bob"), nil) == nil {
		t.Error("bob is framed")
	}
	// Nor with ada's honest record for a signature of the fake member, nor with bob's
	// name on it.
	for _, member := range []string{"ada", "bob"} {
		q := *honest
		q.Member = member
		o.record = &q
		for _, key := range []ed25519.PublicKey{g.public("ada"), g.public("bob")} {
			if g.k.VerifyOpening(msg("m"), sig, g.opts("s"), o, key, nil) == nil {
				t.Errorf("%s is framed", member)
			}
		}
	}
	// A member's registration has nothing that the issuer chose but the session.
	a, b := *honest, *honest
	b.Evidence = nil
	if a.Verify(g.public("ada")) != nil || b.Verify(g.public("ada")) != nil {
		t.Error("the signature depends on more than the point")
	}
}

// If an issuer uses its key in two groups with one label, a credential of one is none of
// the other: its generators depend on the group's ID, which has all roles' keys in it.
func TestSharedIssuer(t *testing.T) {
	g := newGroup(t, Scope|Escrow)
	ada := g.join("ada")
	d := g.k.draft
	d.Consents = [3][]byte{}
	opener, err := GenerateOpenerKey(d.Features)
	if err != nil {
		t.Fatal(err)
	}
	d.Opener = opener.Public(&d)
	for _, err := range []error{g.issuer.Consent(&d), opener.Consent(&d)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	other, err := NewGroupKey(&d)
	if err != nil {
		t.Fatal(err)
	}
	if !other.ipk.Equal(&g.k.ipk) || !other.g.p.Equal(&g.k.g.p) || other.id == g.k.id {
		t.Fatal("not the groups that are meant")
	}
	if _, err := other.newMember(&ada.y, &ada.cred); err == nil {
		t.Error("a credential of one group is one of another")
	}
	for _, batch := range []bool{false, true} {
		if other.Verify(msg("m"), g.sign(ada, "m", "s", batch), g.opts("s")) == nil {
			t.Error("a signature of one group is accepted in another")
		}
	}
	data, err := ada.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.ParseMemberKey(data); err == nil {
		t.Error("a member's key of one group is taken in another")
	}
	// Consents are for one group, too.
	e := d
	e.Consents = g.k.draft.Consents
	if _, err := NewGroupKey(&e); err == nil {
		t.Error("consents to one group are taken for another")
	}
}

// One signature in both layouts is one signature: it can't be counted twice.
func TestOneName(t *testing.T) {
	each(t, func(t *testing.T, g *group) {
		ada := g.join("ada")
		sig := g.sign(ada, "m", "s", false)
		fast, err := g.k.ForBatch(g.scope("s"), sig)
		if err != nil {
			t.Fatal(err)
		}
		a, err := g.k.SignatureID(msg("m"), g.scope("s"), sig)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := g.k.SignatureID(msg("m"), g.scope("s"), fast); err != nil || a != b {
			t.Error("two names", err)
		}
		if !g.k.Features().Has(Scope) {
			return
		}
		set := []Signed{{msg("m"), sig, g.opts("s")}, {msg("m"), fast, g.opts("s")}}
		if _, err := ada.Link(set, nil); err == nil {
			t.Error("one signature is linked with itself")
		}
		if l, err := ada.Link(set[:1], nil); err != nil || g.k.VerifyLink(set[1:], nil, l) != nil {
			t.Error("a link depends on the layout", err)
		}
	})
}

// Messages are hashed as a whole: long ones with the same beginning, or the same end,
// have nothing in common.
func TestLongMessages(t *testing.T) {
	g := newGroup(t, Scope)
	ada := g.join("ada")
	long := make([]byte, 200)
	sig, err := ada.Sign(transcript.MessageOf(long), SignOptions{Scope: []byte("s")})
	if err != nil {
		t.Fatal(err)
	}
	for i := range long {
		bad := make([]byte, len(long))
		bad[i] = 1
		if g.k.Verify(transcript.MessageOf(bad), sig, g.opts("s")) == nil {
			t.Errorf("byte %d makes no difference", i)
		}
	}
	for _, n := range []int{0, 1, 31, 32, 60, 63, 64, 65, 199, 201} {
		if g.k.Verify(transcript.MessageOf(make([]byte, n)), sig, g.opts("s")) == nil {
			t.Errorf("%d bytes are as good as 200", n)
		}
	}
	// What is scope, and what is message, can't be shifted.
	shifted, err := ada.Sign(msg("ab"), SignOptions{Scope: []byte("c")})
	if err != nil {
		t.Fatal(err)
	}
	if g.k.Verify(msg("b"), shifted, g.opts("ca")) == nil || g.k.Verify(msg("abc"), shifted, g.opts("")) == nil {
		t.Error("scope and message run into each other")
	}
}

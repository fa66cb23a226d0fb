// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/groupsig/internal/state"
	"github.com/undersign/undersign/groupsig/internal/zerotest"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/wire"
)

func (g *group) signed(m *MemberKey, msg string) Signed {
	return Signed{Message: message(msg), Context: []byte("context"), Signature: g.sign(m, msg)}
}

// random returns w and nonces for a signature.
func (m *MemberKey) random() (w, nonces []bls12381.Scalar) {
	w, nonces = make([]bls12381.Scalar, m.gk.s.Secrets), make([]bls12381.Scalar, m.gk.s.nonces())
	for _, list := range [][]bls12381.Scalar{w, nonces} {
		for i := range list {
			list[i].Random()
		}
	}
	return w, nonces
}

// forge signs with T4, T5 and the relation's commitment as a function makes them.
func (m *MemberKey) forgeTraced(change func(t *traced, nonces []bls12381.Scalar)) []byte {
	w, nonces := m.random()
	p := m.commit(w, nonces)
	change(p.traced[0], nonces)
	sig := &signature{points: p.points, traced: p.traced}
	sig.c.Set(m.gk.challenge(message("motion"), []byte("context"), p.points, p.commitments, p.gt, p.traced...))
	sig.s = sigma.Respond(&sig.c, nonces[:m.gk.s.Secrets], w)
	return sig.bytes(0)
}

// A member can't make T4 and T5 that trace another member, or none.
func TestTraceForgeries(t *testing.T) {
	t.Parallel()
	g := newGroup(t, CPY06, "traces")
	alice, bob := g.join("alice"), g.join("bob")
	h := &g.gk.consts[CPY06.Trace.Const].p
	if err := g.verify("motion", alice.forgeTraced(func(*traced, []bls12381.Scalar) {})); err != nil {
		t.Fatal("the control isn't valid", err)
	}
	exponent := func(y *bls12381.Scalar) func(*traced, []bls12381.Scalar) {
		return func(x *traced, nonces []bls12381.Scalar) {
			e := g.gk.base(x)
			x.t5.Exp(e, y)
			x.r.Exp(e, &nonces[CPY06.Trace.Secret])
		}
	}
	if err := g.verify("motion", alice.forgeTraced(exponent(&alice.y[0]))); err != nil {
		t.Fatal("the control isn't valid", err)
	}
	for name, change := range map[string]func(*traced, []bls12381.Scalar){
		"bob's y":     exponent(&bob.y[0]),
		"nobody's y":  exponent(new(bls12381.Scalar).Random()),
		"the other y": exponent(new(bls12381.Scalar).Neg(&alice.y[0])),
		"T4 moved":    func(x *traced, _ []bls12381.Scalar) { x.t4.Add(&x.t4, bls12381.G2Generator()) },
		"T5 inverted": func(x *traced, _ []bls12381.Scalar) { x.t5.Inverse(&x.t5) },
		"T5 squared":  func(x *traced, _ []bls12381.Scalar) { x.t5.Mul(&x.t5, &x.t5) },
		// T4 = 0 and T5 = 1 fit every y, and every C.
		"nothing": func(x *traced, _ []bls12381.Scalar) {
			x.t4.SetIdentity()
			x.t5.SetIdentity()
			x.r.SetIdentity()
		},
		"T5 one": func(x *traced, nonces []bls12381.Scalar) { x.t5.SetIdentity() },
		"T4 zero": func(x *traced, nonces []bls12381.Scalar) {
			x.t4.SetIdentity()
			x.r.SetIdentity()
		},
		// A commitment that a combination of both equations would let pass: what is missing
		// in one is put into the other.
		"R moved": func(x *traced, _ []bls12381.Scalar) {
			x.r.Mul(&x.r, new(bls12381.GT).PairVarTime(h, bls12381.G2Generator()))
		},
	} {
		if err := g.verify("motion", alice.forgeTraced(change)); !errors.Is(err, ErrSignature) {
			t.Errorf("%s: %v, want %v", name, err, ErrSignature)
		}
	}

	// The flaw of libgroupsig, whose signers and verifiers both have a constant in place of the
	// commitment to the pairing equation: who never joined signs with numbers of its own.
	w, nonces := g.stranger().random()
	p := g.stranger().commit(w, nonces)
	bls12381.NormalizeG2(&p.traced[0].t4)
	for name, gt := range map[string]*bls12381.GT{"as computed": p.gt, "one": new(bls12381.GT)} {
		x := &signature{points: p.points, traced: p.traced}
		x.c.Set(g.gk.challenge(message("motion"), []byte("context"), p.points, p.commitments, gt, p.traced...))
		x.s = sigma.Respond(&x.c, nonces[:CPY06.Secrets], w)
		if err := g.verify("motion", x.bytes(0)); !errors.Is(err, ErrSignature) {
			t.Errorf("nobody's credential, commitment %s: %v", name, err)
		}
	}

	// The parts that aren't of the right groups.
	sig := g.sign(alice, "motion")
	at := len(CPY06.Points) * bls12381.G1Size
	replace := func(i int, b []byte) []byte { return slices.Concat(sig[:i], b, sig[i+len(b):]) }
	outside := func() []byte { // a point of the curve with another order
		b := make([]byte, bls12381.G2Size)
		for b[0] = 0x80; ; b[95]++ {
			var p bls12381.G2
			if p.SetBytesUnsafe(b) == nil && !p.InSubgroupVarTime() {
				return b
			}
		}
	}()
	torus := make([]byte, bls12381.GTSizeCompressed) // of norm 1, and another order
	torus[len(torus)-1] = 5
	identity := append([]byte{0xc0}, make([]byte, bls12381.G2Size-1)...)
	for name, b := range map[string][]byte{
		"T4 outside the subgroup": replace(at, outside),
		"T4 identity":             replace(at, identity),
		"T5 outside the subgroup": replace(at+bls12381.G2Size, torus),
		"T5 one":                  replace(at+bls12381.G2Size, make([]byte, bls12381.GTSizeCompressed)),
		"T5 not canonical":        replace(at+bls12381.G2Size, bytes.Repeat([]byte{0xff}, bls12381.GTSizeCompressed)),
		"T4 of another signature": replace(at, g.sign(alice, "motion")[at:at+bls12381.G2Size]),
	} {
		if err := g.verify("motion", b); !errors.Is(err, ErrSignature) {
			t.Errorf("%s: %v, want %v", name, err, ErrSignature)
		}
	}
}

// A member doesn't choose its y, and registers what traces it.
func TestTraceApplications(t *testing.T) {
	t.Parallel()
	g := newGroup(t, CPY06, "mixed")
	b, h := g.gk.consts[CPY06.Trace.Const], g.gk.consts[CPY06.Trace.Hide]
	// apply makes an application by hand. From I and C on, it is as the member wants it.
	apply := func(member string, change func(m *application, c *join.Challenge, u, v *bls12381.Scalar, w []bls12381.Scalar)) error {
		g.sessions = g.gk.NewSessions() // one is open at a time
		c, err := g.sessions.Open(member, public(member), join.Schnorr, now, 3600)
		g.check(err)
		m := &application{session: c.Session, nonce: c.Nonce, kind: c.Kind, hidden: new(bls12381.G1)}
		w := make([]bls12381.Scalar, 2)
		w[0].Random()
		w[1].Random()
		m.hidden.Add(new(bls12381.G1).ScalarMult(&w[0], &b.p), new(bls12381.G1).ScalarMult(&w[1], &h.p))
		bls12381.NormalizeG1(m.hidden)
		u, v := g.gk.mix(c, m.hidden)
		w[0].MulAdd(u, &w[0], v)
		w[1].Mul(u, &w[1])
		m.t.ScalarMult(&w[0], &b.p)
		bls12381.NormalizeG1(&m.t)
		m.point = g.gk.registration(new(bls12381.GT).PairVarTime(&m.t, bls12381.G2Generator()))
		change(m, c, u, v, w)
		if m.proof == nil {
			p, err := g.gk.mixed(m, u, v).Prove(g.gk.dst("join"), c.Context(nil).G1("I", m.hidden), w)
			g.check(err)
			m.proof = p.Append(nil)
		}
		var e wire.Encoder
		m.append(&e)
		r := &join.Record{Scheme: "cpy06", GroupID: g.gk.id, Session: c.Session, Member: member, Point: m.point, Evidence: e.Data()}
		g.check(r.Sign(longTerm(member)))
		m2, err := r.MarshalBinary()
		g.check(err)
		_, err = g.issuer.Issue(g.gk, g.sessions, g.register, m2, now)
		return err
	}
	g.check(apply("alice", func(*application, *join.Challenge, *bls12381.Scalar, *bls12381.Scalar, []bls12381.Scalar) {}))
	alice, _, err := g.gk.evidence(g.register.Member("alice"))
	g.check(err)
	if alice.a.IsIdentity() {
		t.Fatal("no credential")
	}
	for name, change := range map[string]func(m *application, c *join.Challenge, u, v *bls12381.Scalar, w []bls12381.Scalar){
		// The flaw of libgroupsig: with u and v of one's own choice y is too.
		"own u and v": func(_ *application, _ *join.Challenge, u, v *bls12381.Scalar, w []bls12381.Scalar) {
			var inv, own bls12381.Scalar
			inv.Inverse(u)
			own.Mul(own.Sub(&w[0], v), &inv) // y'
			w[1].Mul(&w[1], &inv)
			u.SetOne()
			v.Sub(&w[0], &own)
		},
		"a chosen y": func(m *application, _ *join.Challenge, _, _ *bls12381.Scalar, w []bls12381.Scalar) {
			w[0].SetUint64(7)
			m.t.ScalarMult(&w[0], &b.p)
			bls12381.NormalizeG1(&m.t)
			m.point = g.gk.registration(new(bls12381.GT).PairVarTime(&m.t, bls12381.G2Generator()))
		},
		"another I": func(m *application, _ *join.Challenge, _, _ *bls12381.Scalar, _ []bls12381.Scalar) {
			m.hidden.Add(m.hidden, &b.p)
			bls12381.NormalizeG1(m.hidden)
		},
		"another registration": func(m *application, _ *join.Challenge, _, _ *bls12381.Scalar, _ []bls12381.Scalar) {
			m.point = g.gk.registration(new(bls12381.GT).PairVarTime(&b.p, bls12381.G2Generator()))
		},
		"alice's registration": func(m *application, _ *join.Challenge, _, _ *bls12381.Scalar, _ []bls12381.Scalar) {
			m.point = g.register.Member("alice").Point
		},
		"no proof": func(m *application, _ *join.Challenge, _, _ *bls12381.Scalar, _ []bls12381.Scalar) {
			m.proof = []byte{}
		},
		"C zero": func(m *application, _ *join.Challenge, _, _ *bls12381.Scalar, _ []bls12381.Scalar) { m.t.SetIdentity() },
		"I zero": func(m *application, _ *join.Challenge, _, _ *bls12381.Scalar, _ []bls12381.Scalar) {
			m.hidden.SetIdentity()
		},
	} {
		if apply("mallory", change) == nil {
			t.Errorf("%s: issued", name)
		}
	}
	// What the judge computes instead of C is what was registered, for alice's credential
	// alone.
	r := g.register.Member("alice")
	g.check(g.gk.checkTraced(alice, r.Point))
	for name, c := range map[string]credential{
		"another A": {*bls12381.G1Generator(), alice.x}, "another x": {alice.a, *new(bls12381.Scalar).SetOne()},
		"A zero": {*bls12381.NewG1(), alice.x}, "x zero": {alice.a, bls12381.Scalar{}},
	} {
		if g.gk.checkTraced(&c, r.Point) == nil {
			t.Errorf("%s: is alice's", name)
		}
	}
}

func TestTraceList(t *testing.T) {
	t.Parallel()
	g := newGroup(t, CPY06, "lists")
	alice, bob, carol := g.join("alice"), g.join("bob"), g.join("carol")
	verify := func(m *MemberKey, l *List, at int64, number uint64) error {
		return g.gk.VerifyListed(message("motion"), []byte("context"), g.sign(m, "motion"), Check{l, at, number})
	}
	list := func(n uint64, base *List) *List {
		l, err := g.opener.List(g.gk, g.register, termsOf(n), base)
		g.check(err)
		b, err := l.MarshalBinary()
		g.check(err)
		l, err = g.gk.ParseList(b)
		g.check(err)
		return l
	}
	old := sign3(g, alice)
	empty := list(1, nil)
	g.check(verify(alice, empty, now, 1))
	g.check(g.register.Revoke("alice"))
	one := list(2, empty)
	g.check(g.register.Revoke("bob"))
	two := list(3, one)
	if empty.Len() != 0 || one.Len() != 1 || two.Len() != 2 {
		t.Errorf("%d, %d, %d are revoked", empty.Len(), one.Len(), two.Len())
	}
	for name, c := range map[string]struct {
		m    *MemberKey
		l    *List
		want error
	}{
		"alice": {alice, one, state.ErrRevoked}, "bob": {bob, one, nil}, "alice on two": {alice, two, state.ErrRevoked},
		"bob on two": {bob, two, state.ErrRevoked}, "carol": {carol, two, nil}, "nobody": {alice, empty, nil},
	} {
		if err := verify(c.m, c.l, now, 0); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for _, sig := range old { // what was signed before
		if err := g.gk.VerifyListed(message("motion"), []byte("context"), sig, Check{one, now, 0}); !errors.Is(err, state.ErrRevoked) {
			t.Errorf("%v, want %v", err, state.ErrRevoked)
		}
		bad := bytes.Clone(sig)
		bad[len(bad)-1] ^= 1
		if err := g.gk.VerifyListed(message("motion"), []byte("context"), bad, Check{one, now, 0}); !errors.Is(err, ErrSignature) {
			t.Errorf("%v, want %v", err, ErrSignature)
		}
	}
	for name, err := range map[string]error{
		"too early": verify(carol, one, now-1, 0), "expired": verify(carol, one, now+101, 0), "old": verify(carol, one, now, 3),
		"none": verify(carol, nil, now, 0), "zero": verify(carol, new(List), now, 0),
	} {
		if !errors.As(err, new(*state.StaleError)) {
			t.Errorf("%s: %v, want that the list is stale", name, err)
		}
	}
	batch := g.gk.Batch()
	for _, m := range []*MemberKey{carol, alice, bob} {
		batch.Add(message("motion"), []byte("context"), g.sign(m, "motion"))
	}
	batch.Check = &Check{one, now, 0}
	var be *state.BatchError
	if err := batch.Verify(); !errors.As(err, &be) || !slices.Equal(be.Bad, []int{1}) || !errors.Is(be.Errs[0], state.ErrRevoked) {
		t.Error(err)
	}
	batch.Check.Now += 1000
	if err := batch.Verify(); !errors.As(err, new(*state.StaleError)) {
		t.Error(err)
	}

	if _, err := g.issuer.List(g.gk, g.register, termsOf(4), nil); err == nil {
		t.Error("the issuer makes a list")
	}
	if _, err := g.opener.List(g.gk, g.register, termsOf(2), two); err == nil {
		t.Error("a list follows one with a higher number")
	}
	other := newGroup(t, CPY06, "other")
	if _, err := other.opener.List(g.gk, g.register, termsOf(4), nil); err == nil {
		t.Error("another group's opener makes a list")
	}
	if _, err := other.opener.List(other.gk, other.register, termsOf(4), two); err == nil {
		t.Error("a list follows another group's")
	}
	b, err := two.MarshalBinary()
	g.check(err)
	if _, err := other.gk.ParseList(b); err == nil {
		t.Error("another group takes the list")
	}
	for i := 0; i < len(b); i += 5 {
		x := bytes.Clone(b)
		x[i] ^= 1
		if _, err := g.gk.ParseList(x); err == nil {
			t.Errorf("byte %d of the list was changed", i)
		}
	}
	if n, err := g.gk.MarkTraced(g.register, one, now); n != 1 || err != nil {
		t.Errorf("%d marked, %v", n, err)
	}
	if _, err := g.gk.MarkTraced(g.register, one, now+1000); err == nil {
		t.Error("a list that has expired marks members")
	}
	g.join("alice")
}

func sign3(g *group, m *MemberKey) [][]byte {
	return [][]byte{g.sign(m, "motion"), g.sign(m, "motion"), g.sign(m, "motion")}
}

func TestReveal(t *testing.T) {
	t.Parallel()
	g := newGroup(t, CPY06, "reveal")
	alice, bob := g.join("alice"), g.join("bob")
	why := []byte("court order 7")
	v, err := g.opener.Reveal(g.gk, g.register, "alice", why)
	g.check(err)
	b, err := v.MarshalBinary()
	g.check(err)
	v = new(Revealed)
	g.check(v.UnmarshalBinary(b))
	g.check(g.gk.CheckRevealed(v, public("alice"), why))
	if v.Member() != "alice" {
		t.Errorf("of %q", v.Member())
	}
	for m, want := range map[*MemberKey]bool{alice: true, bob: false} {
		for range 2 {
			if is, err := g.gk.Trace(v, g.signed(m, "motion")); is != want || err != nil {
				t.Errorf("%s: %v, %v", m.Member(), is, err)
			}
		}
	}
	bad := g.signed(alice, "motion")
	bad.Message = message("another")
	if _, err := g.gk.Trace(v, bad); !errors.Is(err, ErrSignature) {
		t.Errorf("%v, want %v", err, ErrSignature)
	}
	w, err := g.opener.Reveal(g.gk, g.register, "bob", why)
	g.check(err)
	mixed, moved, unsigned := *v, *v, *v
	mixed.record = w.record
	moved.c = w.c
	unsigned.proof = w.proof
	renamed := *v
	r := *v.record
	r.Member = "mallory"
	g.check(r.Sign(longTerm("mallory")))
	renamed.record = &r
	// The opener, who has C, reveals it as somebody else's.
	framed := Revealed{record: w.record, c: v.c}
	items, err := g.gk.revealContext(&framed, why)
	g.check(err)
	framed.proof, err = g.gk.consent(openerRole).Prove(g.gk.dst(revealOp), items, g.opener.secrets)
	g.check(err)
	other := newGroup(t, CPY06, "other")
	for name, err := range map[string]error{
		"another context": g.gk.CheckRevealed(v, public("alice"), nil),
		"another key":     g.gk.CheckRevealed(v, public("bob"), why),
		"bob's record":    g.gk.CheckRevealed(&mixed, public("bob"), why),
		"bob's C":         g.gk.CheckRevealed(&moved, public("alice"), why),
		"bob's proof":     g.gk.CheckRevealed(&unsigned, public("alice"), why),
		"mallory's":       g.gk.CheckRevealed(&renamed, public("mallory"), why),
		"framing bob":     g.gk.CheckRevealed(&framed, public("bob"), why),
		"another group":   other.gk.CheckRevealed(v, public("alice"), why),
		"nothing":         g.gk.CheckRevealed(nil, public("alice"), why),
		"zero":            g.gk.CheckRevealed(new(Revealed), public("alice"), why),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for i := 0; i < len(b); i += 3 {
		x := bytes.Clone(b)
		x[i] ^= 4
		q := new(Revealed)
		if q.UnmarshalBinary(x) == nil && g.gk.CheckRevealed(q, public("alice"), why) == nil {
			t.Errorf("byte %d was changed", i)
		}
	}
	// Who is revoked can be revealed too.
	g.check(g.register.Revoke("alice"))
	v, err = g.opener.Reveal(g.gk, g.register, "alice", why)
	g.check(err)
	g.check(g.gk.CheckRevealed(v, public("alice"), why))
	if is, err := g.gk.Trace(v, g.signed(alice, "motion")); !is || err != nil {
		t.Error("a revoked member isn't traced", err)
	}
	if _, err := g.issuer.Reveal(g.gk, g.register, "alice", why); err == nil {
		t.Error("the issuer reveals")
	}
	if _, err := g.opener.Reveal(g.gk, g.register, "carol", why); err == nil {
		t.Error("nobody is revealed")
	}
	if _, err := other.gk.Trace(v, g.signed(alice, "motion")); err == nil {
		t.Error("another group traces")
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	g := newGroup(t, CPY06, "claims")
	alice, bob := g.join("alice"), g.join("bob")
	set := []Signed{g.signed(alice, "1"), g.signed(alice, "2"), g.signed(alice, "1")}
	foreign := g.signed(bob, "1")
	why := []byte("audit")
	for i, s := range append(slices.Clone(set), foreign) {
		if own, err := alice.Identify(s); own != (i < 3) || err != nil {
			t.Errorf("signature %d: %v, %v", i, own, err)
		}
	}
	proof, err := alice.ProveEquality(set, why)
	g.check(err)
	g.check(g.gk.VerifyEquality(set, why, proof))
	single, err := alice.ProveEquality(set[:1], why)
	g.check(err)
	claim, err := alice.Claim(set[0], why)
	g.check(err)
	g.check(g.gk.VerifyClaim(set[0], why, claim))
	changed := set[0]
	changed.Message = message("3")
	for name, err := range map[string]error{
		"another context":     g.gk.VerifyEquality(set, nil, proof),
		"a part":              g.gk.VerifyEquality(set[:2], why, proof),
		"another order":       g.gk.VerifyEquality([]Signed{set[1], set[0], set[2]}, why, proof),
		"one of bob":          g.gk.VerifyEquality([]Signed{set[0], set[1], foreign}, why, proof),
		"one twice":           g.gk.VerifyEquality([]Signed{set[0], set[1], set[1]}, why, proof),
		"none":                g.gk.VerifyEquality(nil, why, proof),
		"no proof":            g.gk.VerifyEquality(set, why, nil),
		"zeros":               g.gk.VerifyEquality(set, why, make([]byte, len(proof))),
		"a claim as a link":   g.gk.VerifyEquality(set[:1], why, claim),
		"a link as a claim":   g.gk.VerifyClaim(set[0], why, single),
		"replayed":            g.gk.VerifyClaim(set[2], why, claim),
		"for another":         g.gk.VerifyClaim(set[0], []byte("mallory"), claim),
		"bob's":               g.gk.VerifyClaim(foreign, why, claim),
		"an invalid one":      g.gk.VerifyClaim(changed, why, claim),
		"with something more": g.gk.VerifyClaim(set[0], why, append(bytes.Clone(claim), 0)),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for i := range claim {
		x := bytes.Clone(claim)
		x[i] ^= 1
		if i%5 == 0 && g.gk.VerifyClaim(set[0], why, x) == nil {
			t.Errorf("byte %d was changed", i)
		}
	}
	if _, err := bob.Claim(set[0], why); err == nil {
		t.Error("bob claims what alice signed")
	}
	if _, err := alice.ProveEquality([]Signed{set[0], set[1], set[0]}, why); err == nil {
		t.Error("one signature counts twice")
	}
	// Colluders can't show that one member signed for both.
	mixed := []Signed{set[0], foreign}
	for _, m := range []*MemberKey{alice, bob} {
		if _, err := m.ProveEquality(mixed, why); err == nil {
			t.Error("signatures of two are one member's")
		}
	}
	x, err := g.gk.newClaims(equalOp, mixed, why)
	g.check(err)
	k := new(bls12381.Scalar).Random()
	for _, t := range x.t {
		t.r.Exp(g.gk.base(t), k)
	}
	p := &sigma.Proof{C: *x.challenge(g.gk)}
	p.S = sigma.Respond(&p.C, []bls12381.Scalar{*k}, alice.y)
	if g.gk.VerifyEquality(mixed, why, p.Append([]byte{version, suite})) == nil {
		t.Error("a proof with one of the secrets was accepted")
	}
	alice.Wipe()
	if _, err := alice.Claim(set[0], why); err == nil {
		t.Error("a wiped key claims")
	}
}

// TestKeptTraces verifies what was made before, which is random: it has to be good for ever.
func TestKeptTraces(t *testing.T) {
	t.Parallel()
	const file = "testdata/cpy06.txt"
	g, m := frozen(t, CPY06)
	data, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	old := map[string][]byte{}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if old[name], err = hex.DecodeString(value); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	kept := func(name string, make func() ([]byte, error), check func([]byte) error) {
		t.Helper()
		b := old[name]
		if *update {
			b, err = make()
			g.check(err)
			fmt.Fprintf(&out, "%s: %x\n", name, b)
		}
		if err := check(b); err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		bad := bytes.Clone(b)
		bad[len(bad)-1] ^= 1
		if check(bad) == nil {
			t.Errorf("%s: accepted with a bit changed", name)
		}
	}
	c := &join.Challenge{Scheme: "cpy06", GroupID: g.gk.id, Session: join.SessionID{7}, Nonce: [32]byte{8}, Member: "ada", Kind: join.Fischlin, Expiry: 1 << 40}
	kept("application", func() ([]byte, error) {
		_, b, err := g.gk.NewJoin(g.gk.id, c, "ada", longTerm("ada"))
		return b, err
	}, func(b []byte) error {
		r := new(join.Record)
		if err := r.UnmarshalBinary(b); err != nil {
			return err
		}
		m, err := g.gk.readApplication(r, wire.NewDecoder(r.Evidence))
		if err != nil {
			return err
		}
		return errors.Join(g.gk.checkApplication(m, r.Member), r.Verify(public("ada")))
	})
	if *update {
		g.join("ada")
		g.check(g.register.Revoke("ada"))
	}
	why := []byte("why")
	kept("list", func() ([]byte, error) {
		l, err := g.opener.List(g.gk, g.register, termsOf(1), nil)
		g.check(err)
		return l.MarshalBinary()
	}, func(b []byte) error { _, err := g.gk.ParseList(b); return err })
	kept("revelation", func() ([]byte, error) {
		v, err := g.opener.Reveal(g.gk, g.register, "ada", why)
		g.check(err)
		return v.MarshalBinary()
	}, func(b []byte) error {
		v := new(Revealed)
		return errors.Join(v.UnmarshalBinary(b), g.gk.CheckRevealed(v, public("ada"), why))
	})
	s := Signed{Message: message("message"), Context: []byte("context"), Signature: frozenSignature(m)}
	kept("claim", func() ([]byte, error) { return m.Claim(s, why) }, func(b []byte) error { return g.gk.VerifyClaim(s, why, b) })
	kept("equality", func() ([]byte, error) { return m.ProveEquality([]Signed{s}, why) },
		func(b []byte) error { return g.gk.VerifyEquality([]Signed{s}, why, b) })
	if *update {
		g.check(os.WriteFile(file, []byte(out.String()), 0o666))
	}
}

// Other schemes have nothing of it.
func TestNoTraces(t *testing.T) {
	t.Parallel()
	g := newGroup(t, BBS04, "none")
	m := g.join("alice")
	s := g.signed(m, "motion")
	_, err1 := g.opener.List(g.gk, g.register, termsOf(1), nil)
	_, err2 := g.opener.Reveal(g.gk, g.register, "alice", nil)
	_, err3 := m.Claim(s, nil)
	_, err4 := m.Identify(s)
	_, err5 := g.gk.ParseList(nil)
	_, err6 := g.gk.MarkTraced(g.register, nil, now)
	_, err7 := g.gk.Trace(nil, s)
	for i, err := range []error{err1, err2, err3, err4, err5, err6, err7, g.gk.VerifyClaim(s, nil, nil), g.gk.CheckRevealed(nil, public("alice"), nil)} {
		if !errors.Is(err, errNoTrace) {
			t.Errorf("number %d: %v", i+1, err)
		}
	}
	for _, k := range []*GroupKey{nil, new(GroupKey)} {
		if !errors.Is(k.VerifyClaim(s, nil, nil), errEmpty) {
			t.Error("an empty key verifies")
		}
	}
	zerotest.Test(t, []any{new(List), new(Revealed)}, "List.Replaces", "List.Follows")
}

func FuzzTraced(f *testing.F) {
	g := newGroup(f, CPY06, "fuzz")
	sig := g.sign(g.join("alice"), "motion")
	at := len(CPY06.Points) * bls12381.G1Size
	f.Add(sig[at : at+tracedSize])
	f.Add(make([]byte, tracedSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := wire.NewDecoder(b)
		x := readTraced(d)
		if d.Finish() != nil {
			return
		}
		if !bytes.Equal(x.append(nil), b) || x.t4.IsIdentity() || x.t5.IsIdentity() {
			t.Fatalf("%x", b)
		}
	})
}

func FuzzRevealed(f *testing.F) {
	g := newGroup(f, CPY06, "fuzz")
	g.join("alice")
	v, err := g.opener.Reveal(g.gk, g.register, "alice", nil)
	g.check(err)
	b, err := v.MarshalBinary()
	g.check(err)
	f.Add(b)
	f.Fuzz(func(t *testing.T, data []byte) {
		v := new(Revealed)
		if v.UnmarshalBinary(data) != nil {
			return
		}
		if again, err := v.MarshalBinary(); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%x", data)
		}
	})
}

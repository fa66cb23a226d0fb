// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// forge is a signer who may cheat: it makes a proof for whatever points and secrets
// it is given, of the relations that hold, and lets the others be wrong.
func (g *group) forge(s *signature, w []bls12381.Scalar, m transcript.Message, scope string, batch bool) []byte {
	st := g.k.relations(s, g.scope(scope))
	kk := make([]bls12381.Scalar, len(w))
	for i := range kk {
		kk[i].Random()
	}
	s.t = st.Commit(kk)
	s.c = *s.t.AppendTo(g.k.items(s, g.scope(scope), m)).Challenge(g.k.dst("sig"))
	s.s = sigma.Respond(&s.c, kk, w)
	s.batch = batch
	return g.k.encode(s)
}

// refused checks that a signature is refused alone and in a batch with good ones.
func (g *group) refused(what string, good, bad []byte, scope string) {
	g.t.Helper()
	if g.k.Verify(msg("m"), bad, g.opts(scope)) == nil {
		g.t.Errorf("%s: accepted", what)
	}
	b := g.k.Batch()
	for i := range 5 {
		if i == 3 {
			b.Add(msg("m"), bad, g.opts(scope))
		} else {
			b.Add(msg("m"), good, g.opts(scope))
		}
	}
	var be *BatchError
	if err := b.Verify(); !errors.As(err, &be) || len(be.Bad) != 1 || be.Bad[0] != 3 {
		g.t.Errorf("%s: batch says %v", what, err)
	}
}

// With AA = A_ = 0 and r1 = 0 every relation holds, for any y: a universal forgery,
// if AA isn't checked. The same in the BBS+ form, where D must still be made to fit.
func TestIdentityForgery(t *testing.T) {
	for _, f := range []Features{Scope | Escrow, Plus | Scope} {
		g := newGroup(t, f)
		good := g.sign(g.join("ada"), "m", "s", false)
		for _, batch := range []bool{false, true} {
			var y, r2, s bls12381.Scalar
			y.Random()
			r2.Random()
			k := g.k
			p := &signature{p: make([]bls12381.G1, k.l.points)}
			w := make([]bls12381.Scalar, k.l.secrets)
			w[k.l.y] = y
			// g1 = r3·D - y·h1, with D = r2·(g1 + y·h1).
			b := new(bls12381.G1).ScalarMult(&y, &k.h1.p)
			b.Add(b, &k.g1.p)
			p.p[ptD].ScalarMult(&r2, b)
			w[k.l.r3].Inverse(&r2)
			if f.Has(Plus) {
				w[k.l.s] = s
			}
			p.p[ptNym].ScalarMult(&y, &k.scope([]byte("s")).p)
			if f.Has(Escrow) {
				var a bls12381.Scalar
				a.Random()
				w[k.l.a] = a
				e := f.ptE()
				yh := new(bls12381.G1).ScalarMult(&y, &k.h.p)
				p.p[e].ScalarMult(&a, &k.g.p)
				for j, o := range k.opk {
					p.p[e+1+j].ScalarMult(&a, &o.p)
					p.p[e+1+j].Add(&p.p[e+1+j], yh)
				}
			}
			bad := g.forge(p, w, msg("m"), "s", batch)
			if !f.Has(Plus) { // the forger has satisfied everything but AA != 0
				q := &signature{p: p.p, s: p.s, c: p.c}
				if err := k.checkProof(q, []byte("s"), msg("m")); err != nil {
					t.Fatal("the forgery is no good")
				}
				if !k.pairing(&p.p[ptAA], &p.p[ptABar]) {
					t.Fatal("the forgery is no good")
				}
			}
			g.refused("identity", good, bad, "s")
		}
	}
}

// offPoint is (0, 2), of order 3: on the curve, and invisible to pairings.
var offPoint, _ = hex.DecodeString("80" + string(bytes.Repeat([]byte("00"), 47)))

// The identity, points outside the subgroup and bad encodings in every field.
func TestPoints(t *testing.T) {
	each(t, func(t *testing.T, g *group) {
		ada := g.join("ada")
		identity := make([]byte, 48)
		identity[0] = 0xc0
		big := bytes.Repeat([]byte{0xff}, 48) // x >= p
		big[0] = 0x9f
		for _, batch := range []bool{false, true} {
			good := g.sign(ada, "m", "s", batch)
			n := g.k.l.points
			if batch {
				n += g.k.l.relations
			}
			for i := range n {
				for _, enc := range [][]byte{identity, offPoint, big, make([]byte, 48)} {
					bad := bytes.Clone(good)
					copy(bad[48*i:], enc)
					if g.k.Verify(msg("m"), bad, g.opts("s")) == nil {
						t.Errorf("point %d = %x…: accepted", i, enc[:2])
					}
				}
			}
			// Scalars that aren't canonical: s + r.
			for i := 48 * n; i+32 <= 48*n+32*g.k.l.secrets; i += 32 {
				bad := bytes.Clone(good)
				copy(bad[i:], bytes.Repeat([]byte{0xff}, 32))
				if g.k.Verify(msg("m"), bad, g.opts("s")) == nil {
					t.Errorf("scalar at %d isn't canonical: accepted", i)
				}
			}
		}
	})
}

// member returns what a cheating member knows: its secrets for a signature.
func (g *group) cheat(m *MemberKey) (*signature, []bls12381.Scalar) {
	k := g.k
	f := k.draft.Features
	s := &signature{p: make([]bls12381.G1, k.l.points), epoch: m.cred.epoch}
	w := make([]bls12381.Scalar, k.l.secrets)
	b := new(bls12381.G1).ScalarMult(&m.y, &k.h1.p)
	b.Add(b, &k.epochBase(m.cred.epoch).p)
	var r1, r2, t bls12381.Scalar
	r1.Random()
	r2.Random()
	w[k.l.x], w[k.l.y] = m.cred.x, m.y
	var p bls12381.G1
	if f.Has(Plus) {
		b.Add(b, p.ScalarMult(&m.cred.s, &k.h2.p))
		w[k.l.r2] = r2
		w[k.l.r3].Inverse(&r1)
		w[k.l.s].Mul(&r2, &w[k.l.r3])
		w[k.l.s].Sub(&m.cred.s, &w[k.l.s])
		s.p[ptAA].ScalarMult(&r1, &m.cred.a)
		s.p[ptABar].ScalarMult(&r1, b)
		s.p[ptD].Sub(&s.p[ptABar], p.ScalarMult(&r2, &k.h2.p))
	} else {
		w[k.l.r1] = r1
		w[k.l.r3].Inverse(&r2)
		s.p[ptAA].ScalarMult(t.Mul(&r1, &r2), &m.cred.a)
		s.p[ptD].ScalarMult(&r2, b)
		s.p[ptABar].ScalarMult(&r1, &s.p[ptD])
	}
	s.p[ptABar].Sub(&s.p[ptABar], p.ScalarMult(&m.cred.x, &s.p[ptAA]))
	if f.Has(Scope) {
		s.p[ptNym].ScalarMult(&m.y, &k.scope([]byte("s")).p)
	}
	hide := func(i int, w, y *bls12381.Scalar, h *base, keys ...*base) {
		s.p[i].ScalarMult(w, &k.g.p)
		for j, o := range keys {
			s.p[i+1+j].ScalarMult(w, &o.p)
			s.p[i+1+j].Add(&s.p[i+1+j], p.ScalarMult(y, &h.p))
		}
	}
	if f.Has(Convert) {
		w[k.l.aConvert].Random()
		hide(f.ptConvert(), &w[k.l.aConvert], &m.y, k.hc, k.cpk)
	}
	if f.Has(Escrow) {
		w[k.l.a].Random()
		hide(f.ptE(), &w[k.l.a], &m.y, k.h, k.opk...)
	}
	return s, w
}

// A member with a second pseudonym, or with somebody else's y in what converters and
// openers see: one y goes through all relations.
func TestOneSecretInAll(t *testing.T) {
	for _, name := range []string{"scope", "open", "dl21", "gl19", "noscope"} {
		g := newGroup(t, featureSets[name])
		ada := g.join("ada")
		good := g.sign(ada, "m", "s", true)
		s, w := g.cheat(ada)
		if err := g.k.Verify(msg("m"), g.forge(s, w, msg("m"), "s", false), g.opts("s")); err != nil {
			t.Fatal("the forger can't even sign honestly:", err)
		}
		var y, neg bls12381.Scalar
		y.Random()
		neg.Neg(&ada.y)
		f := g.k.Features()
		for _, other := range []*bls12381.Scalar{&y, &neg} {
			for i := ptNym; i < g.k.l.points; i++ {
				for _, batch := range []bool{false, true} {
					s, w := g.cheat(ada)
					diff := new(bls12381.Scalar).Sub(other, &ada.y)
					h := &g.k.h.p
					switch {
					case f.Has(Scope) && i == ptNym:
						h = &g.k.scope([]byte("s")).p
					case f.Has(Convert) && i < f.ptE():
						h = &g.k.hc.p
					}
					s.p[i].Add(&s.p[i], new(bls12381.G1).ScalarMult(diff, h))
					g.refused(name, good, g.forge(s, w, msg("m"), "s", batch), "s")
				}
			}
		}
	}
}

// Errors of two relations that cancel each other under one weight a signature, and of
// two signatures under equal weights.
func TestCancellation(t *testing.T) {
	g := newGroup(t, Scope|Escrow)
	ada := g.join("ada")
	e := new(bls12381.G1).HashVarTime([]byte("e"), []byte("test"))

	// One signature: a nym for another y, whose error E1 takes up. The commitments
	// are chosen before the challenge, the points after nothing.
	s, w := g.cheat(ada)
	k := make([]bls12381.Scalar, len(w))
	for i := range k {
		k[i].Random()
	}
	// nym' = nym + e and E1' = E1 - e: the sum of both relations is right.
	s.p[ptNym].Add(&s.p[ptNym], e)
	s.p[ptNym+1].Sub(&s.p[ptNym+1], e)
	s.t = g.k.relations(s, []byte("s")).Commit(k)
	s.c = *s.t.AppendTo(g.k.items(s, []byte("s"), msg("m"))).Challenge(g.k.dst("sig"))
	s.s = sigma.Respond(&s.c, k, w)
	s.batch = true
	good := g.sign(ada, "m", "s", true)
	g.refused("two relations", good, g.k.encode(s), "s")

	// Two signatures, with commitments off by e and by -e: each is wrong.
	var sigs [2][]byte
	for j := range sigs {
		s, w := g.cheat(ada)
		for i := range k {
			k[i].Random()
		}
		s.t = g.k.relations(s, []byte("s")).Commit(k)
		if j == 0 {
			s.t.G1[0].Add(&s.t.G1[0], e)
		} else {
			s.t.G1[0].Sub(&s.t.G1[0], e)
		}
		s.c = *s.t.AppendTo(g.k.items(s, []byte("s"), msg("m"))).Challenge(g.k.dst("sig"))
		s.s = sigma.Respond(&s.c, k, w)
		s.batch = true
		sigs[j] = g.k.encode(s)
	}
	b := g.k.Batch()
	for i := range 8 {
		switch i {
		case 2, 5:
			b.Add(msg("m"), sigs[i/4], g.opts("s"))
		default:
			b.Add(msg("m"), good, g.opts("s"))
		}
	}
	var be *BatchError
	if err := b.Verify(); !errors.As(err, &be) || len(be.Bad) != 2 || be.Bad[0] != 2 || be.Bad[1] != 5 {
		t.Errorf("batch says %v", err)
	}
}

// Two credentials with one x give all others, so that x is drawn for each.
func TestFreshX(t *testing.T) {
	g := newGroup(t, Scope|Epoch)
	ada := g.join("ada")
	seen := map[string]bool{string(ada.cred.x.Bytes()): true}
	for e := range uint64(4) {
		for range 2 {
			cred, err := g.issuer.Reissue(g.k, g.register, "ada", e)
			if err != nil {
				t.Fatal(err)
			}
			if err := ada.Update(cred, e); err != nil {
				t.Fatal(err)
			}
			x := string(ada.cred.x.Bytes())
			if seen[x] {
				t.Fatal("x came twice")
			}
			seen[x] = true
		}
	}
	// A credential extrapolated from two with different x is none.
	c1, _ := g.issuer.Reissue(g.k, g.register, "ada", 1)
	c2, _ := g.issuer.Reissue(g.k, g.register, "ada", 2)
	var a1, a2 bls12381.G1
	a1.SetBytes(c1[34:82])
	a2.SetBytes(c2[34:82])
	a2.Double(&a2).Sub(&a2, &a1) // 2·A_2 - A_1 would be A_3, with one x
	bad := bytes.Clone(c2)
	copy(bad[34:], a2.Bytes())
	bad[len(bad)-1] = 3
	if ada.Update(bad, 3) == nil {
		t.Error("an extrapolated credential is taken")
	}
}

func TestMaliciousIssuer(t *testing.T) {
	each(t, func(t *testing.T, g *group) {
		p, m2 := g.apply("ada")
		m3, err := g.issuer.Issue(g.k, g.sessions, g.register, m2, now, g.epoch)
		if err != nil {
			t.Fatal(err)
		}
		for i := range m3 {
			bad := bytes.Clone(m3)
			bad[i] ^= 1
			if _, err := p.Finish(bad, g.epoch); err == nil {
				t.Errorf("credential: byte %d changed", i)
			}
		}
		bad := bytes.Clone(m3)
		copy(bad[34:], append([]byte{0xc0}, make([]byte, 47)...))
		if _, err := p.Finish(bad, g.epoch); err == nil {
			t.Error("A = 0 is taken")
		}
		if _, err := p.Finish(m3, g.epoch+1); err == nil {
			t.Error("another epoch than the announced one is taken")
		}
		if _, err := p.Finish(m3[:len(m3)-1], g.epoch); err == nil {
			t.Error("truncated credential")
		}
		other := &IssuerKey{}
		*other = *GenerateIssuerKey()
		if _, err := other.Issue(g.k, g.sessions, g.register, m2, now, g.epoch); err == nil {
			t.Error("another issuer issues")
		}
	})
}

func TestJoinReplay(t *testing.T) {
	g := newGroup(t, Scope|Escrow|Token)
	issue := func(m2 []byte, at int64) error {
		_, err := g.issuer.Issue(g.k, g.sessions, g.register, m2, at, g.epoch)
		return err
	}
	_, m2 := g.apply("ada")
	for i := 0; i < len(m2); i += 37 {
		bad := bytes.Clone(m2)
		bad[i] ^= 1
		if issue(bad, now) == nil {
			t.Fatalf("application: byte %d changed", i)
		}
	}
	if issue(m2, now+60) == nil {
		t.Error("an expired session is answered")
	}
	m3, err := g.issuer.Issue(g.k, g.sessions, g.register, m2, now, 0)
	if err != nil {
		t.Fatal(err)
	}
	again, err := g.issuer.Issue(g.k, g.sessions, g.register, m2, now, 0)
	if err != nil || !bytes.Equal(m3, again) {
		t.Error("the same message gets another credential", err)
	}
	if g.register.Len() != 1 {
		t.Error("registered twice")
	}

	// The same application in another session, by another member, and a second
	// credential for one identity.
	c, _ := g.sessions.Open("bob", g.public("bob"), join.Fischlin, now, 60)
	var r join.Record
	r.UnmarshalBinary(m2)
	r.Session, r.Member = c.Session, "bob"
	r.Sign(g.key("bob"))
	b, _ := r.MarshalBinary()
	if issue(b, now) == nil {
		t.Error("a replayed application is answered")
	}
	_, m2 = g.apply("ada")
	if issue(m2, now) == nil {
		t.Error("one identity gets two credentials")
	}

	// A registration signed by another key than the session is for.
	p, m2 := g.apply("carl")
	r = join.Record{}
	r.UnmarshalBinary(m2)
	r.Sign(g.key("eve"))
	b, _ = r.MarshalBinary()
	if issue(b, now) == nil {
		t.Error("a registration by another key is answered")
	}
	p.Wipe()

	// Challenges for others.
	c, _ = g.sessions.Open("dora", g.public("dora"), join.Fischlin, now, 60)
	if _, _, err := g.k.NewJoin(g.k.ID(), c, "eve", g.key("eve")); err == nil {
		t.Error("another identity")
	}
	c.GroupID[0]++
	if _, _, err := g.k.NewJoin(g.k.ID(), c, "dora", g.key("dora")); err == nil {
		t.Error("another group")
	}

	// A record that can't be stored gives no credential.
	g.register.Durable = func([]byte) error { return errors.New("disk full") }
	_, m2 = g.apply("fred")
	if issue(m2, now) == nil {
		t.Error("a credential without a durable record")
	}
}

func TestGroupKeys(t *testing.T) {
	f := Scope | Escrow | Convert
	mk := func() (*Draft, *IssuerKey, *OpenerKey, *ConverterKey) {
		i, c := GenerateIssuerKey(), GenerateConverterKey()
		o, _ := GenerateOpenerKey(f)
		d := &Draft{Scheme: "test", Label: "l", Features: f, Issuer: i.Public()}
		d.Opener, d.Converter = o.Public(d), c.Public(d)
		return d, i, o, c
	}
	d, i, o, c := mk()
	consent := func(d *Draft) error { return errors.Join(i.Consent(d), o.Consent(d), c.Consent(d)) }
	if err := consent(d); err != nil {
		t.Fatal(err)
	}
	if _, err := NewGroupKey(d); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(d *Draft){
		"no issuer's consent":    func(d *Draft) { d.Consents[0] = nil },
		"no opener's consent":    func(d *Draft) { d.Consents[1] = nil },
		"no converter's consent": func(d *Draft) { d.Consents[2] = nil },
		"another label":          func(d *Draft) { d.Label = "m" },
		"another scheme":         func(d *Draft) { d.Scheme = "tess" },
		"other features":         func(d *Draft) { d.Features |= Epoch },
		"unknown features":       func(d *Draft) { d.Features |= 1 << 15 },
		"another issuer":         func(d *Draft) { d.Issuer = GenerateIssuerKey().Public() },
		"an issuer's key 0":      func(d *Draft) { d.Issuer = append([]byte{0xc0}, make([]byte, 95)...) },
		"equal opener's keys":    func(d *Draft) { copy(d.Opener[48:], d.Opener[:48]) },
		"the opener converts":    func(d *Draft) { copy(d.Converter, d.Opener) },
		"a short opener's key":   func(d *Draft) { d.Opener = d.Opener[:48] },
	} {
		x := *d
		x.Opener, x.Converter = bytes.Clone(d.Opener), bytes.Clone(d.Converter)
		change(&x)
		if _, err := NewGroupKey(&x); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	x := *d
	x.Issuer = GenerateIssuerKey().Public()
	if i.Consent(&x) == nil {
		t.Error("an issuer agrees to another's key")
	}
	for _, bad := range []Features{Token, Token | Scope, SingleOpener, 1 << 12} {
		if bad.check() == nil {
			t.Errorf("features %#x", uint16(bad))
		}
	}
}

func TestForgedOpenings(t *testing.T) {
	for _, f := range []Features{Scope | Escrow, Plus | Convert | Epoch | Escrow | SingleOpener} {
		g := newGroup(t, f)
		ada, bob := g.join("ada"), g.join("bob")
		sig, other := g.sign(ada, "m", "s", false), g.sign(bob, "m", "s", false)
		o, err := g.opener.Open(g.k, g.register, msg("m"), sig, g.opts("s"), nil)
		if err != nil {
			t.Fatal(err)
		}
		p, err := g.opener.Open(g.k, g.register, msg("m"), other, g.opts("s"), nil)
		if err != nil {
			t.Fatal(err)
		}
		refused := func(what string, m string, sig []byte, o *Opening, key ed25519.PublicKey) {
			t.Helper()
			if g.k.VerifyOpening(msg(m), sig, g.opts("s"), o, key, nil) == nil {
				t.Errorf("%s: accepted", what)
			}
		}
		b, _ := o.MarshalBinary()
		var decoded Opening
		if err := decoded.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
		if err := g.k.VerifyOpening(msg("m"), sig, g.opts("s"), &decoded, g.public("ada"), nil); err != nil {
			t.Fatal(err)
		}
		refused("another member's key", "m", sig, o, g.public("bob"))
		refused("another signature", "m", other, o, g.public("ada"))
		refused("another message", "n", sig, o, g.public("ada"))
		refused("bob's record", "m", sig, &Opening{o.yh, p.record, o.proof}, g.public("bob"))
		refused("bob's value", "m", sig, &Opening{p.yh, p.record, o.proof}, g.public("bob"))
		refused("bob's opening", "m", sig, p, g.public("bob"))
		refused("no opening", "m", sig, nil, g.public("ada"))
		refused("an empty opening", "m", sig, new(Opening), g.public("ada"))
		refused("the identity", "m", sig, &Opening{bls12381.G1{}, o.record, o.proof}, g.public("ada"))
		for i := 0; i < len(b); i += 29 {
			c := bytes.Clone(b)
			c[i] ^= 1
			var q Opening
			if q.UnmarshalBinary(c) == nil && g.k.VerifyOpening(msg("m"), sig, g.opts("s"), &q, g.public("ada"), nil) == nil &&
				bytes.Equal(q.record.Evidence, o.record.Evidence) {
				t.Errorf("byte %d changed, and accepted", i)
			}
		}
		// A dishonest opener proves the value of somebody else's.
		h, err := g.k.verify(msg("m"), sig, &VerifyOptions{Scope: g.scope("s"), MinEpoch: g.epoch, MaxEpoch: g.epoch})
		if err != nil {
			t.Fatal(err)
		}
		q := &Opening{yh: p.yh, record: p.record}
		items, err := g.k.openContext(h, nil, q)
		if err != nil {
			t.Fatal(err)
		}
		if q.proof, err = g.k.openStatement(h, &q.yh).Prove(g.k.dst("open"), items, g.opener.z[:1]); err != nil {
			t.Fatal(err)
		}
		refused("a wrong proof", "m", sig, q, g.public("bob"))
		// Nothing is decrypted that isn't a signature.
		if _, err := g.opener.Open(g.k, g.register, msg("n"), sig, g.opts("s"), nil); err == nil {
			t.Error("opened for another message")
		}
		// The issuer's own member, which isn't registered: the value convicts it.
		if o, err := g.opener.Open(g.k, g.k.NewRegister(), msg("m"), sig, g.opts("s"), nil); err != nil || o.Member() != "" ||
			g.k.VerifyOpening(msg("m"), sig, g.opts("s"), o, nil, nil) != nil {
			t.Error("an unregistered member", err)
		} else if g.k.VerifyOpening(msg("m"), sig, g.opts("s"), o, g.public("ada"), nil) == nil {
			t.Error("an opening that names nobody is accepted against ada")
		}
		if o, _ := GenerateOpenerKey(f); o.matches(g.k) == nil {
			t.Error("another opener")
		}
	}
}

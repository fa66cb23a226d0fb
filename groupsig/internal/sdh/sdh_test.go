// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

var schemes = []*Scheme{DP06, HLCCN11, BBS04, bbs04Static, dp06Rekey, hlccn11Rekey, CPY06}

const now = 1_000_000

func each(t *testing.T, f func(t *testing.T, s *Scheme)) {
	for _, s := range schemes {
		name := s.Name
		switch {
		case s.Static:
			name += "/static"
		case s.Rekey:
			name += "/rekey"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, s)
		})
	}
}

func longTerm(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func public(name string) ed25519.PublicKey { return longTerm(name).Public().(ed25519.PublicKey) }

// A group is what the roles have.
type group struct {
	t                      testing.TB
	gk                     *GroupKey
	issuer, opener, linker *RoleKeys
	sessions               *join.Sessions
	register               *join.Register
}

func newGroup(t testing.TB, s *Scheme, label string) *group {
	t.Helper()
	return groupOf(t, s, label, GenerateIssuerKey(s), GenerateOpenerKey(s), GenerateLinkerKey(s))
}

func groupOf(t testing.TB, s *Scheme, label string, issuer, opener, linker *RoleKeys) *group {
	t.Helper()
	g := &group{t: t, issuer: issuer, opener: opener, linker: linker}
	d := &Draft{Scheme: s, Label: label}
	for _, step := range []func(*RoleKeys) error{
		func(k *RoleKeys) error { return k.Enroll(d) },
		func(k *RoleKeys) error { return k.Consent(d) },
	} {
		for _, k := range []*RoleKeys{issuer, opener, linker} {
			if k == nil {
				continue
			}
			if err := step(k); err != nil {
				t.Fatal(err)
			}
			// The draft goes from role to role as a file.
			b, err := d.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			if d, err = ParseDraft(s, b); err != nil {
				t.Fatal(err)
			}
		}
	}
	var err error
	if g.gk, err = NewGroupKey(d); err != nil {
		t.Fatal(err)
	}
	g.sessions, g.register = g.gk.NewSessions(), g.gk.NewRegister()
	return g
}

func (g *group) check(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

// apply runs the member's half of the protocol.
func (g *group) apply(member string) (*PendingMember, []byte) {
	g.t.Helper()
	c, err := g.sessions.Open(member, public(member), join.Fischlin, now, 3600)
	g.check(err)
	p, m2, err := g.gk.NewJoin(g.gk.ID(), c, member, longTerm(member))
	g.check(err)
	b, err := p.MarshalBinary()
	g.check(err)
	p, err = g.gk.ParsePendingMember(b)
	g.check(err)
	return p, m2
}

func (g *group) join(member string) *MemberKey {
	g.t.Helper()
	p, m2 := g.apply(member)
	m3, err := g.issuer.Issue(g.gk, g.sessions, g.register, m2, now)
	g.check(err)
	again, err := g.issuer.Issue(g.gk, g.sessions, g.register, m2, now)
	g.check(err)
	if !bytes.Equal(m3, again) {
		g.t.Error("the same application gets two credentials")
	}
	m, err := p.Finish(m3)
	g.check(err)
	b, err := m.MarshalBinary()
	g.check(err)
	m, err = g.gk.ParseMemberKey(b)
	g.check(err)
	return m
}

func (g *group) sign(m *MemberKey, msg string) []byte {
	g.t.Helper()
	sig, err := m.Sign(message(msg), []byte("context"))
	g.check(err)
	return sig
}

func message(s string) transcript.Message { return transcript.MessageOf([]byte(s)) }

func (g *group) verify(msg string, sig []byte) error {
	return g.gk.Verify(message(msg), []byte("context"), sig)
}

// What the tables must be for the code to be right.
func TestTables(t *testing.T) {
	for _, s := range schemes {
		if s.Consts[0].Name != "g1" || s.Consts[0].From != OfGroup {
			t.Errorf("%s: the first constant isn't g1", s.Name)
		}
		constant := func(what string, list Terms) {
			for _, x := range list {
				if x.Of < 1 || x.Of >= len(s.Consts) || x.Secret >= s.Secrets {
					t.Errorf("%s: %s has %+v", s.Name, what, x)
				}
			}
		}
		for _, p := range s.Points {
			constant("a point", p)
		}
		constant("w's slot", s.W)
		carrier := 0
		for _, x := range s.P2 {
			if x.Of >= 0 {
				constant("P2's slot", Terms{x})
			} else if x.Of != Point(s.carrier()) || x.Minus {
				t.Errorf("%s: P2's slot has a point that doesn't carry A", s.Name)
			} else {
				carrier++
			}
		}
		if carrier != 1 {
			t.Errorf("%s: A is in P2's slot %d times", s.Name, carrier)
		}
		for _, r := range s.Relations {
			if slices.Contains(s.Carriers, r.Left) != slices.Contains(s.Carriers, r.Right) {
				t.Errorf("%s: a relation has A left over", s.Name)
			}
			for _, x := range r.Terms {
				if x.Of < 0 && slices.Contains(s.Carriers, ^x.Of) {
					t.Errorf("%s: a relation has the point of A", s.Name)
				}
			}
		}
		for i := range s.Points {
			in := func(r Relation) bool { return r.Left == i || r.Right == i }
			if slices.Contains(s.Carriers[1:], i) && !slices.ContainsFunc(s.Relations, in) {
				t.Errorf("%s: nothing says what is in point %d", s.Name, i)
			}
		}
		// Steps of updates have what credentials are made of, in order.
		if len(s.Moves) > 0 && !slices.Equal(s.Moves, append([]int{0}, s.Base...)) {
			t.Errorf("%s: %v moves, and credentials are made of %v", s.Name, s.Moves, s.Base)
		}
		// Each secret is bound by something, and every role's constant has a key.
		bound := make([]bool, s.Secrets)
		for _, list := range append(slices.Clone(s.Points), s.P2, s.W) {
			for _, x := range list {
				bound[x.Secret] = true
			}
		}
		if slices.Contains(bound, false) {
			t.Errorf("%s: secrets %v are free", s.Name, bound)
		}
		keys := map[int]Origin{}
		for _, k := range s.Opener {
			keys[k.Const] = OfOpener
		}
		for _, k := range s.Linker {
			keys[k.Const] = OfLinker
		}
		for i, c := range s.Consts {
			if (c.From >= OfOpener) != (keys[i] >= OfOpener) || keys[i] != 0 && keys[i] != c.From {
				t.Errorf("%s: constant %s", s.Name, c.Name)
			}
		}
	}
}

func TestSizes(t *testing.T) {
	for s, want := range map[*Scheme]int{DP06: 352, HLCCN11: 304, BBS04: 368, bbs04Static: 336, dp06Rekey: 384, hlccn11Rekey: 336, CPY06: 752} {
		if got := s.SignatureSize(); got != want {
			t.Errorf("%s: %d bytes, not %d", s.Name, got, want)
		}
	}
}

func TestLife(t *testing.T) {
	each(t, func(t *testing.T, s *Scheme) {
		g := newGroup(t, s, "life")
		b, err := g.gk.MarshalBinary()
		g.check(err)
		gk, err := ParseGroupKey(s, b)
		g.check(err)
		members := map[string]*MemberKey{"alice": g.join("alice"), "bob": g.join("bob"), "carol": g.join("carol")}
		// The opener checks the records, and keeps its own register.
		own := g.gk.NewRegister()
		for r := range g.register.All() {
			g.check(g.opener.CheckRecord(g.gk, r, public(r.Member)))
			if g.opener.CheckRecord(g.gk, r, public("mallory")) == nil {
				t.Error("a record was accepted under another key")
			}
			g.check(own.Add(r))
		}
		b, err = own.MarshalBinary()
		g.check(err)
		own = g.gk.NewRegister()
		g.check(own.UnmarshalBinary(b))
		for name, m := range members {
			sig := g.sign(m, "motion")
			if len(sig) != s.SignatureSize() {
				t.Errorf("%d bytes", len(sig))
			}
			g.check(gk.Verify(message("motion"), []byte("context"), sig))
			if bytes.Equal(sig, g.sign(m, "motion")) {
				t.Error("two signatures are the same")
			}
			o, err := g.opener.Open(g.gk, own, message("motion"), []byte("context"), sig, []byte("why"))
			g.check(err)
			if o.Member() != name {
				t.Errorf("%s was opened as %q", name, o.Member())
			}
			b, err := o.MarshalBinary()
			g.check(err)
			o = new(Opening)
			g.check(o.UnmarshalBinary(b))
			g.check(gk.VerifyOpening(message("motion"), []byte("context"), sig, o, public(name), []byte("why")))
		}
	})
}

func TestBinding(t *testing.T) {
	each(t, func(t *testing.T, s *Scheme) {
		g, other := newGroup(t, s, "binding"), newGroup(t, s, "other")
		sig := g.sign(g.join("alice"), "motion")
		for name, err := range map[string]error{
			"message": g.verify("notion", sig),
			"context": g.gk.Verify(message("motion"), nil, sig),
			"group":   other.verify("motion", sig),
			"empty":   g.verify("motion", nil),
			"long":    g.verify("motion", append(bytes.Clone(sig), 0)),
		} {
			if !errors.Is(err, ErrSignature) {
				t.Errorf("another %s: %v", name, err)
			}
		}
		for i := 0; i < len(sig); i += 7 {
			x := bytes.Clone(sig)
			x[i] ^= 1 << (i % 8)
			if err := g.verify("motion", x); !errors.Is(err, ErrSignature) {
				t.Errorf("byte %d: %v", i, err)
			}
		}
		// The identity and a point outside the subgroup as each point, and r as each scalar.
		identity := append([]byte{0xc0}, make([]byte, 47)...)
		outside := append([]byte{0x80}, make([]byte, 47)...) // (0, 2), of order 3
		for i := range s.Points {
			for _, p := range [][]byte{identity, outside} {
				x := bytes.Clone(sig)
				copy(x[48*i:], p)
				if err := g.verify("motion", x); !errors.Is(err, ErrSignature) {
					t.Errorf("point %d: %v", i, err)
				}
			}
		}
		for i := range s.Secrets + 1 {
			x := bytes.Clone(sig)
			copy(x[48*len(s.Points)+32*i:], bytes.Repeat([]byte{0xff}, 32))
			if err := g.verify("motion", x); !errors.Is(err, ErrSignature) {
				t.Errorf("scalar %d: %v", i, err)
			}
		}
	})
}

// stranger returns a key that nobody issued.
func (g *group) stranger() *MemberKey {
	m := &MemberKey{gk: g.gk, member: "nobody", y: make([]bls12381.Scalar, len(g.gk.s.Base))}
	for j := range m.y {
		m.y[j].Random()
	}
	m.cred.x.Random()
	m.cred.a = *new(bls12381.G1).ScalarBaseMult(new(bls12381.Scalar).Random())
	bls12381.NormalizeG1(&m.cred.a)
	m.combA = bls12381.NewGTComb(new(bls12381.GT).PairingProductVarTime(bls12381.PairWith(&m.cred.a, g.gk.linesP2)))
	return m
}

// Who never joined can't sign: a random credential, the identity, one with another
// secret, and one of the same issuer key in another group.
func TestForgeries(t *testing.T) {
	each(t, func(t *testing.T, s *Scheme) {
		g := newGroup(t, s, "forgeries")
		if g.verify("motion", g.sign(g.stranger(), "motion")) == nil {
			t.Error("a random credential signs")
		}
		m := g.stranger()
		m.cred.a.SetIdentity()
		if g.verify("motion", g.sign(m, "motion")) == nil {
			t.Error("a credential of zero signs")
		}
		alice := g.join("alice")
		for j := range alice.y {
			m := *alice
			m.y = slices.Clone(alice.y)
			m.y[j].Random()
			if g.verify("motion", g.sign(&m, "motion")) == nil {
				t.Errorf("alice signs with another y_%d", j)
			}
		}
		m = new(MemberKey)
		*m = *alice
		m.cred.x.Random()
		if g.verify("motion", g.sign(m, "motion")) == nil {
			t.Error("alice signs with another x")
		}
		same := groupOf(t, s, "another group", g.issuer, g.opener, g.linker)
		m = new(MemberKey)
		*m = *alice
		m.gk = same.gk
		if same.verify("motion", same.sign(m, "motion")) == nil {
			t.Error("a credential is good in another group of the issuer")
		}
		// The proof's points must carry what the opener finds: A blinded by one secret and
		// proved with another.
		for i := range s.Blinds {
			w, nonces := make([]bls12381.Scalar, s.Secrets), make([]bls12381.Scalar, s.nonces())
			for j := range w {
				w[j].Random()
			}
			for j := range nonces {
				nonces[j].Random()
			}
			sig := alice.prove(message("motion"), []byte("context"), w, nonces)
			if g.verify("motion", sig.bytes(0)) != nil {
				t.Fatal("the control isn't valid")
			}
			for p := range sig.points {
				x := *sig
				x.points = slices.Clone(sig.points)
				x.points[p].Add(&x.points[p], bls12381.G1Generator())
				bls12381.NormalizeG1(&x.points[p])
				if g.verify("motion", x.bytes(0)) == nil {
					t.Errorf("point %d was moved, blind %d", p, i)
				}
			}
		}
	})
}

// A credential that isn't one is refused by the member: of another T, of another issuer,
// of another session, changed.
func TestBadCredentials(t *testing.T) {
	each(t, func(t *testing.T, s *Scheme) {
		g := newGroup(t, s, "credentials")
		p, m2 := g.apply("alice")
		q, m2q := g.apply("bob")
		m3, err := g.issuer.Issue(g.gk, g.sessions, g.register, m2, now)
		g.check(err)
		m3q, err := g.issuer.Issue(g.gk, g.sessions, g.register, m2q, now)
		g.check(err)
		for name, b := range map[string][]byte{
			"bob's": m3q, "empty": nil, "short": m3[:len(m3)-1], "long": append(bytes.Clone(m3), 0),
		} {
			if _, err := p.Finish(b); err == nil {
				t.Errorf("alice takes the credential: %s", name)
			}
		}
		for i := 0; i < len(m3); i += 3 {
			b := bytes.Clone(m3)
			b[i] ^= 4
			if _, err := p.Finish(b); err == nil {
				t.Errorf("alice takes a credential with byte %d changed", i)
			}
		}
		// Bob's credential in alice's session.
		graft := slices.Concat(m3[:2+32+16], m3q[2+32+16:])
		if _, err := p.Finish(graft); err == nil {
			t.Error("alice takes bob's credential as hers")
		}
		if _, err := q.Finish(m3q); err != nil {
			t.Error(err)
		}
	})
}

func TestBadApplications(t *testing.T) {
	each(t, func(t *testing.T, s *Scheme) {
		g, other := newGroup(t, s, "applications"), newGroup(t, s, "other")
		_, m2 := g.apply("alice")
		issue := func(m2 []byte) error {
			_, err := g.issuer.Issue(g.gk, g.sessions, g.register, m2, now)
			return err
		}
		for i := 0; i < len(m2); i += 53 {
			b := bytes.Clone(m2)
			b[i] ^= 1
			if issue(b) == nil {
				t.Errorf("byte %d changed: issued", i)
			}
		}
		if g.register.Len() != 0 {
			t.Fatal("something was registered")
		}
		if _, err := g.issuer.Issue(g.gk, g.sessions, g.register, m2, now+4000); err == nil {
			t.Error("issued after the session had expired")
		}
		if _, err := other.issuer.Issue(g.gk, g.sessions, g.register, m2, now); err == nil {
			t.Error("another issuer issues")
		}
		if _, err := g.opener.Issue(g.gk, g.sessions, g.register, m2, now); err == nil {
			t.Error("the opener issues")
		}
		g.check(issue(m2))
		// A point that is registered isn't registered again by somebody else.
		r := g.register.Member("alice")
		c, err := g.sessions.Open("mallory", public("mallory"), join.Fischlin, now, 3600)
		g.check(err)
		own := *r
		own.Member, own.Session = "mallory", c.Session
		_, m, err := g.gk.evidence(r)
		g.check(err)
		if readBack, _, _ := g.gk.evidence(&own); readBack == nil {
			t.Fatal("no evidence")
		}
		_ = m
		g.check(own.Sign(longTerm("mallory")))
		b, err := own.MarshalBinary()
		g.check(err)
		if issue(b) == nil {
			t.Error("alice's application was accepted as mallory's")
		}
		// Who is revoked doesn't join again.
		g.check(g.register.Revoke("alice"))
		_, m2 = g.apply("alice")
		if err := issue(m2); err == nil || !strings.Contains(err.Error(), "revoked") {
			t.Errorf("a revoked member joins: %v", err)
		}
	})
}

// Openings name the signer and nobody else.
func TestForgedOpenings(t *testing.T) {
	each(t, func(t *testing.T, s *Scheme) {
		g := newGroup(t, s, "openings")
		alice, bob := g.join("alice"), g.join("bob")
		sig, sigB := g.sign(alice, "motion"), g.sign(bob, "motion")
		open := func(sig []byte) *Opening {
			o, err := g.opener.Open(g.gk, g.register, message("motion"), []byte("context"), sig, nil)
			g.check(err)
			return o
		}
		judge := func(sig []byte, o *Opening, name string, context string) error {
			return g.gk.VerifyOpening(message("motion"), []byte("context"), sig, o, public(name), []byte(context))
		}
		o, oB := open(sig), open(sigB)
		g.check(judge(sig, o, "alice", ""))
		mixed := *o
		mixed.record, mixed.x = oB.record, oB.x
		other := *o
		other.a = oB.a
		none := *o
		none.record = nil
		shorter := *o
		shorter.proof = nil
		for name, err := range map[string]error{
			"bob's opening":      judge(sig, oB, "bob", ""),
			"for bob's":          judge(sigB, o, "alice", ""),
			"bob's record":       judge(sig, &mixed, "bob", ""),
			"bob's A":            judge(sig, &other, "alice", ""),
			"another key":        judge(sig, o, "bob", ""),
			"another context":    judge(sig, o, "alice", "x"),
			"the record removed": judge(sig, &none, "alice", ""),
			"no proof":           judge(sig, &shorter, "alice", ""),
			"nil":                judge(sig, nil, "alice", ""),
			"zero":               judge(sig, new(Opening), "alice", ""),
		} {
			if err == nil {
				t.Errorf("%s was accepted", name)
			}
		}
		// A record with alice's T that somebody else signed.
		stolen := *o
		r := *o.record
		r.Member = "mallory"
		g.check(r.Sign(longTerm("mallory")))
		stolen.record = &r
		if judge(sig, &stolen, "mallory", "") == nil {
			t.Error("alice's signature is opened as mallory's")
		}
		b, err := o.MarshalBinary()
		g.check(err)
		for i := 0; i < len(b); i += 13 {
			x := bytes.Clone(b)
			x[i] ^= 2
			q := new(Opening)
			if q.UnmarshalBinary(x) == nil && judge(sig, q, "alice", "") == nil {
				t.Errorf("byte %d of the opening was changed", i)
			}
		}
		// The opener opens no invalid signature, and nothing of another group.
		bad := bytes.Clone(sig)
		bad[len(bad)-1] ^= 1
		if _, err := g.opener.Open(g.gk, g.register, message("motion"), []byte("context"), bad, nil); !errors.Is(err, ErrSignature) {
			t.Errorf("an invalid signature: %v", err)
		}
		if _, err := g.issuer.Open(g.gk, g.register, message("motion"), []byte("context"), sig, nil); err == nil {
			t.Error("the issuer opens")
		}
		// Who isn't registered: the opening accuses the issuer, unless others can have made it.
		if s.Moves != nil {
			if _, err := g.opener.Open(g.gk, g.gk.NewRegister(), message("motion"), []byte("context"), sig, nil); !errors.Is(err, tokens.ErrUnknown) {
				t.Errorf("who isn't registered: %v", err)
			}
			return
		}
		o, err = g.opener.Open(g.gk, g.gk.NewRegister(), message("motion"), []byte("context"), sig, nil)
		g.check(err)
		if o.Member() != "" || o.Record() != nil || !bytes.Equal(o.Value(), alice.cred.a.Bytes()) {
			t.Errorf("opened as %q", o.Member())
		}
		g.check(judge(sig, o, "", ""))
		if g.register.Find(o.Value()).Member != "alice" {
			t.Error("the issuer doesn't find its own record")
		}
	})
}

func TestRecords(t *testing.T) {
	each(t, func(t *testing.T, s *Scheme) {
		g := newGroup(t, s, "records")
		g.join("alice")
		g.join("bob")
		r, rb := g.register.Member("alice"), g.register.Member("bob")
		g.check(g.opener.CheckRecord(g.gk, r, public("alice")))
		checked := len(r.Evidence)
		if s.Static { // there is no proof that the challenge's nonce belongs to
			checked = bls12381.G1Size + bls12381.ScalarSize
		}
		for i := 0; i < checked; i += 31 {
			x := *r
			x.Evidence = bytes.Clone(r.Evidence)
			x.Evidence[i] ^= 1
			if g.opener.CheckRecord(g.gk, &x, public("alice")) == nil {
				t.Errorf("byte %d of the evidence was changed", i)
			}
		}
		x := *r
		x.Evidence = rb.Evidence
		if g.opener.CheckRecord(g.gk, &x, public("alice")) == nil {
			t.Error("alice's record with bob's evidence")
		}
		x.Evidence = nil
		if g.opener.CheckRecord(g.gk, &x, public("alice")) == nil || g.gk.NewRegister().Add(&x) == nil {
			t.Error("a record without evidence")
		}
		if g.opener.CheckRecord(g.gk, nil, nil) == nil || g.issuer.CheckRecord(newGroup(t, s, "x").gk, r, public("alice")) == nil {
			t.Error("no record, or of another group")
		}
	})
}

func TestGroupKeys(t *testing.T) {
	each(t, func(t *testing.T, s *Scheme) {
		g := newGroup(t, s, "keys")
		b, err := g.gk.MarshalBinary()
		g.check(err)
		for i := 0; i < len(b); i += 11 {
			x := bytes.Clone(b)
			x[i] ^= 1
			if _, err := ParseGroupKey(s, x); err == nil {
				t.Errorf("byte %d was changed", i)
			}
		}
		for _, other := range schemes {
			if _, err := ParseGroupKey(other, b); (err == nil) != (other.withFlags(s.flags()) == s) {
				t.Errorf("read as %s: %v", other.Name, err)
			}
		}
		d, err := ParseDraft(s, b)
		g.check(err)
		for role := range d.Consents {
			x := *d
			x.Consents[role] = nil
			if _, err := NewGroupKey(&x); (err == nil) != (len(d.Consents[role]) == 0) {
				t.Errorf("without the consent of the %s: %v", roleNames[role], err)
			}
		}
		// An opener that took its key from the issuer, or whose two keys are one.
		if len(d.Opener) == 96 {
			x := *d
			x.Opener = append(bytes.Clone(d.Opener[:48]), d.Opener[:48]...)
			if _, err := NewGroupKey(&x); err == nil {
				t.Error("both keys of the opener are one")
			}
		}
		if err := GenerateOpenerKey(s).Consent(d); err == nil {
			t.Error("a stranger consents")
		}
	})
}

func TestRoleKeys(t *testing.T) {
	each(t, func(t *testing.T, s *Scheme) {
		parse := []func(*Scheme, []byte) (*RoleKeys, error){ParseIssuerKey, ParseOpenerKey, ParseLinkerKey}
		for role, k := range []*RoleKeys{GenerateIssuerKey(s), GenerateOpenerKey(s), GenerateLinkerKey(s)} {
			if k == nil {
				continue
			}
			b, err := k.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range parse {
				q, err := p(s, b)
				if (err == nil) != (i == role) {
					t.Errorf("role %d as %d: %v", role, i, err)
				}
				if err == nil {
					c, _ := q.MarshalBinary()
					if !bytes.Equal(b, c) {
						t.Error("another key comes back")
					}
				}
			}
			for _, x := range [][]byte{nil, b[:len(b)-1], append(bytes.Clone(b), 0), append(bytes.Clone(b[:len(b)-32]), make([]byte, 32)...)} {
				if _, err := parse[role](s, x); err == nil {
					t.Errorf("%d bytes were decoded", len(x))
				}
			}
			k.Wipe()
			if _, err := k.MarshalBinary(); err == nil {
				t.Error("a wiped key is encoded")
			}
			if k.Enroll(&Draft{Scheme: s, Label: "x"}) == nil || k.Consent(&Draft{Scheme: s, Label: "x"}) == nil {
				t.Error("a wiped key enrolls")
			}
		}
	})
}

// The linker links what one member signed, proves it, and can do it with nothing else.
func TestLinking(t *testing.T) {
	g := newGroup(t, HLCCN11, "linking")
	alice, bob := g.join("alice"), g.join("bob")
	signed := func(m *MemberKey, msg string) Signed {
		return Signed{Message: message(msg), Context: []byte("context"), Signature: g.sign(m, msg)}
	}
	a1, a2, a3, b1 := signed(alice, "1"), signed(alice, "2"), signed(alice, "3"), signed(bob, "1")
	tag := func(s Signed) string {
		b, err := g.linker.Tag(g.gk, s)
		g.check(err)
		return string(b)
	}
	if tag(a1) != tag(a2) || tag(a1) == tag(b1) {
		t.Error("tags are wrong")
	}
	set := []Signed{a1, a2, a3}
	link, err := g.linker.ProveLink(g.gk, set, []byte("why"))
	g.check(err)
	g.check(g.gk.VerifyLink(set, []byte("why"), link))
	if _, err := g.linker.ProveLink(g.gk, []Signed{a1, b1}, nil); err == nil {
		t.Error("two members are linked")
	}
	bad := a1
	bad.Message = message("x")
	for name, err := range map[string]error{
		"context":   g.gk.VerifyLink(set, nil, link),
		"order":     g.gk.VerifyLink([]Signed{a2, a1, a3}, []byte("why"), link),
		"fewer":     g.gk.VerifyLink(set[:2], []byte("why"), link),
		"one":       g.gk.VerifyLink(set[:1], []byte("why"), link),
		"twice":     g.gk.VerifyLink([]Signed{a1, a1, a2}, []byte("why"), link),
		"bob":       g.gk.VerifyLink([]Signed{a1, a2, b1}, []byte("why"), link),
		"invalid":   g.gk.VerifyLink([]Signed{bad, a2, a3}, []byte("why"), link),
		"truncated": g.gk.VerifyLink(set, []byte("why"), link[:len(link)-1]),
		"empty":     g.gk.VerifyLink(set, []byte("why"), nil),
	} {
		if err == nil {
			t.Errorf("a link was accepted: %s", name)
		}
	}
	for i := 0; i < len(link); i += 9 {
		x := bytes.Clone(link)
		x[i] ^= 1
		if g.gk.VerifyLink(set, []byte("why"), x) == nil {
			t.Errorf("byte %d of the link was changed", i)
		}
	}
	for name, f := range map[string]func() error{
		"the opener":  func() error { _, err := g.opener.Tag(g.gk, a1); return err },
		"the issuer":  func() error { _, err := g.issuer.ProveLink(g.gk, set, nil); return err },
		"a stranger":  func() error { _, err := GenerateLinkerKey(HLCCN11).Tag(g.gk, a1); return err },
		"another one": func() error { _, err := g.linker.Tag(g.gk, bad); return err },
	} {
		if f() == nil {
			t.Errorf("%s links", name)
		}
	}
	// It can't open: what is left of A without the opener's secret isn't A.
	if _, err := g.linker.Open(g.gk, g.register, a1.Message, a1.Context, a1.Signature, nil); err == nil {
		t.Error("the linker opens")
	}
	other := newGroup(t, DP06, "no linker")
	if other.gk.VerifyLink(set, nil, link) == nil || GenerateLinkerKey(DP06) != nil {
		t.Error("a scheme without linker links")
	}
}

func TestBatch(t *testing.T) {
	each(t, func(t *testing.T, s *Scheme) {
		g := newGroup(t, s, "batch")
		alice := g.join("alice")
		b := g.gk.Batch()
		for _, msg := range []string{"1", "2", "3"} {
			sig := g.sign(alice, msg)
			if msg == "2" {
				msg = "x"
			}
			b.Add(message(msg), []byte("context"), sig)
		}
		if err := b.Verify(); !errors.Is(err, ErrSignature) || b.Len() != 3 {
			t.Error(err)
		}
	})
}

func BenchmarkSign(b *testing.B) {
	for _, s := range schemes {
		g := newGroup(b, s, "bench")
		m := g.join("alice")
		b.Run(s.Name, func(b *testing.B) {
			for b.Loop() {
				g.sign(m, "motion")
			}
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	for _, s := range schemes {
		g := newGroup(b, s, "bench")
		sig := g.sign(g.join("alice"), "motion")
		b.Run(s.Name, func(b *testing.B) {
			for b.Loop() {
				if g.verify("motion", sig) != nil {
					b.Fatal("bad")
				}
			}
		})
	}
}

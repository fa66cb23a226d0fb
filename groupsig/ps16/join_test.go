// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

import (
	"errors"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/bls12381"
)

func (f *fixture) issue(r *Request) (*Credential, error) {
	return f.issuer.Issue(f.g, f.sessions, f.register, r, now)
}

// A request gets one answer: libgroupsig's issuer takes the same message twice.
func TestReplay(t *testing.T) {
	f := newFixture("replay")
	j := f.newJoin("alice")
	first, err := f.issue(j.Request())
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.issue(j.Request())
	if err != nil || !again.s1.Equal(&first.s1) || !again.s2.Equal(&first.s2) {
		t.Errorf("the same request got another answer: %v", err)
	}
	if f.register.Len() != 1 {
		t.Errorf("%d records", f.register.Len())
	}
	// Another request in the same session, with a good proof.
	k := &Join{g: f.g, challenge: j.challenge}
	k.sk.Random()
	if err := k.prepare(longTerm("alice")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.issue(k.Request()); err == nil {
		t.Error("the session was used twice")
	}
	// A second credential for one identity.
	if _, err := f.issue(f.newJoin("alice").Request()); err == nil {
		t.Error("a live member got a second credential")
	}
	// The same point under another identity.
	k = &Join{g: f.g, challenge: *f.invite("bob"), sk: j.sk}
	if err := k.prepare(longTerm("bob")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.issue(k.Request()); err == nil {
		t.Error("a registered point got a second credential")
	}
	if f.register.Len() != 1 {
		t.Errorf("%d records", f.register.Len())
	}
}

// The issuer's checks, in their order. A request that fails leaves the session open,
// and the register empty.
func TestBadRequests(t *testing.T) {
	f := newFixture("requests")
	j := f.newJoin("alice")
	good := j.Request()
	stranger := other().newJoin("alice")
	defer other().sessions.Cancel(stranger.challenge.Session)
	change := func(f func(*Request)) *Request {
		r := *good
		f(&r)
		return &r
	}
	prepared := func(f func(*Join), name string) *Request {
		k := *j
		f(&k)
		if err := k.prepare(longTerm(name)); err != nil {
			panic(err)
		}
		return k.Request()
	}
	var k2 bls12381.Scalar
	k2.SetUint64(2)
	for name, r := range map[string]*Request{
		"empty":            {},
		"of another group": stranger.Request(),
		"unknown session":  change(func(r *Request) { r.reg.Session[0] ^= 1 }),
		"tau zero":         change(func(r *Request) { r.tau.SetIdentity() }),
		"token zero":       change(func(r *Request) { r.ttau.SetIdentity() }),
		"both zero":        change(func(r *Request) { r.tau.SetIdentity(); r.ttau.SetIdentity() }),
		"other tau":        change(func(r *Request) { r.tau.Double(&r.tau) }),
		"other token":      change(func(r *Request) { r.ttau.Double(&r.ttau) }),
		"no proof":         change(func(r *Request) { r.proof = nil }),
		"bad proof": change(func(r *Request) {
			r.proof = append([]byte(nil), r.proof...)
			r.proof[len(r.proof)-1] ^= 1
		}),
		"key":                 change(func(r *Request) { r.reg.Key = longTermPublic("bob") }),
		"signature":           change(func(r *Request) { r.reg.Sig = make([]byte, 64) }),
		"another's signature": prepared(func(*Join) {}, "bob"),
		"another nonce":       prepared(func(k *Join) { k.challenge.Nonce[0] ^= 1 }, "alice"),
		"another identity":    prepared(func(k *Join) { k.challenge.Member = "bob" }, "alice"),
		"another kind":        prepared(func(k *Join) { k.challenge.Kind = Schnorr }, "alice"),
	} {
		if _, err := f.issue(r); err == nil {
			t.Errorf("%s: issued", name)
		}
	}
	// A token of another secret, with a proof that is right for it.
	k := *j
	r := &k.request
	r.ttau.Double(&r.ttau)
	w := []bls12381.Scalar{k.sk}
	var err error
	if r.proof, err = join.Prove(Fischlin, dstJoin, r.context(&k.challenge), r.statement(), w); err != nil {
		t.Fatal(err)
	}
	if _, err := f.issue(r); err == nil {
		t.Error("issued for a token of another secret")
	}
	if f.register.Len() != 0 {
		t.Errorf("%d records", f.register.Len())
	}
	if _, err := f.issuer.Issue(f.g, f.sessions, f.register, good, now+3600); err == nil {
		t.Error("issued after the session's end")
	}
	if _, err := f.issuer.Issue(other().g, f.sessions, f.register, good, now); err == nil {
		t.Error("issued for another issuer's group")
	}
	if _, err := f.issuer.Issue(f.g, f.sessions, other().g.NewRegister(), good, now); err == nil {
		t.Error("issued with the register of another group")
	}
	f.register.Durable = func([]byte) error { return errors.New("disk full") }
	if _, err := f.issue(good); err == nil {
		t.Error("issued without a durable record")
	}
	stored := 0
	f.register.Durable = func([]byte) error { stored++; return nil }
	if _, err := f.issue(good); err != nil || stored != 1 {
		t.Errorf("%v; %d records stored", err, stored)
	}
}

// What a member refuses to answer.
func TestBadChallenges(t *testing.T) {
	f := newFixture("challenges")
	c := f.invite("alice")
	key := longTerm("alice")
	if _, err := NewJoin(f.g, other().g.ID(), c, "alice", key); err == nil {
		t.Error("joined under another fingerprint")
	}
	if _, err := NewJoin(other().g, other().g.ID(), c, "alice", key); err == nil {
		t.Error("joined another group")
	}
	if _, err := NewJoin(f.g, f.g.ID(), c, "bob", key); err == nil {
		t.Error("joined under another identity")
	}
	if _, err := NewJoin(f.g, f.g.ID(), c, "alice", key[:10]); err == nil {
		t.Error("joined with a bad key")
	}
	if _, err := NewJoin(&GroupKey{}, [32]byte{}, c, "alice", key); err == nil {
		t.Error("joined an empty group")
	}
	bad := *c
	bad.Scheme = "klap20"
	if _, err := NewJoin(f.g, f.g.ID(), &bad, "alice", key); err == nil {
		t.Error("joined a group of another scheme")
	}
	if _, err := f.issuer.Invite(f.sessions, "", longTermPublic("x"), Fischlin, now, 60); err == nil {
		t.Error("invited nobody")
	}
}

// A malicious issuer's credentials.
func TestBadCredentials(t *testing.T) {
	f := newFixture("credentials")
	j := f.newJoin("alice")
	cred, err := f.issue(j.Request())
	if err != nil {
		t.Fatal(err)
	}
	forOther := f.newJoin("bob")
	theirs, err := f.issue(forOther.Request())
	if err != nil {
		t.Fatal(err)
	}
	theirs.session = cred.session
	change := func(f func(*Credential)) *Credential {
		c := *cred
		f(&c)
		return &c
	}
	for name, c := range map[string]*Credential{
		"empty":          {session: cred.session},
		"session":        change(func(c *Credential) { c.session[0] ^= 1 }),
		"sigma1 zero":    change(func(c *Credential) { c.s1.SetIdentity() }),
		"sigma2 zero":    change(func(c *Credential) { c.s2.SetIdentity() }),
		"zero":           change(func(c *Credential) { c.s1.SetIdentity(); c.s2.SetIdentity() }),
		"other sigma1":   change(func(c *Credential) { c.s1.Double(&c.s1) }),
		"other sigma2":   change(func(c *Credential) { c.s2.Neg(&c.s2) }),
		"swapped":        change(func(c *Credential) { c.s1, c.s2 = c.s2, c.s1 }),
		"another's":      theirs,
		"another issuer": other().issuer.credential(j.Request()),
	} {
		if _, err := j.Finish(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := j.Finish(cred); err != nil {
		t.Error(err)
	}
}

// The opener checks a record by itself.
func TestBadRecords(t *testing.T) {
	f := newFixture("records")
	j := f.newJoin("alice")
	if _, err := f.issue(j.Request()); err != nil {
		t.Fatal(err)
	}
	good := f.register.Member("alice")
	key := longTermPublic("alice")
	change := func(f func(*Record)) *Record {
		r := *good
		r.Evidence = append([]byte(nil), r.Evidence...)
		r.Signature = append([]byte(nil), r.Signature...)
		f(&r)
		return &r
	}
	for name, r := range map[string]*Record{
		"empty":         {},
		"group":         change(func(r *Record) { r.GroupID[0] ^= 1 }),
		"scheme":        change(func(r *Record) { r.Scheme = "klap20" }),
		"session":       change(func(r *Record) { r.Session[0] ^= 1 }),
		"member":        change(func(r *Record) { r.Member = "bob" }),
		"point":         change(func(r *Record) { r.Point = bls12381.G1Generator().Bytes() }),
		"signature":     change(func(r *Record) { r.Signature[3] ^= 1 }),
		"no evidence":   change(func(r *Record) { r.Evidence = nil }),
		"nonce":         change(func(r *Record) { r.Evidence[0] ^= 1 }),
		"proof":         change(func(r *Record) { r.Evidence[len(r.Evidence)-1] ^= 1 }),
		"token":         change(func(r *Record) { copy(r.Evidence[33:], bls12381.G2Generator().Bytes()) }),
		"trailing byte": change(func(r *Record) { r.Evidence = append(r.Evidence, 0) }),
	} {
		if err := f.opener.Record(f.g, f.opening, r, key); err == nil {
			t.Errorf("%s: recorded", name)
		}
	}
	if err := f.opener.Record(f.g, f.opening, good, longTermPublic("bob")); err == nil {
		t.Error("recorded under another's long-term key")
	}
	if err := other().opener.Record(f.g, f.opening, good, key); err == nil {
		t.Error("recorded by another opener")
	}
	if err := f.opener.Record(f.g, other().g.NewRegister(), good, key); err == nil {
		t.Error("recorded in another group's register")
	}
	if f.opening.Len() != 0 {
		t.Errorf("%d records", f.opening.Len())
	}
	if err := f.opener.Record(f.g, f.opening, good, key); err != nil {
		t.Error(err)
	}
	if err := f.opener.Record(f.g, f.opening, good, key); err == nil {
		t.Error("recorded twice")
	}
}

// Issuer and opener must both have agreed to a group.
func TestConsent(t *testing.T) {
	f := group()
	p := &Proposal{"consent", f.issuer.Public(), f.opener.Public()}
	q := &Proposal{"consent2", f.issuer.Public(), f.opener.Public()}
	consent := func(p *Proposal) (a, b []byte) {
		a, err := f.issuer.Consent(p)
		if err != nil {
			t.Fatal(err)
		}
		b, err = f.opener.Consent(p)
		if err != nil {
			t.Fatal(err)
		}
		return a, b
	}
	a, b := consent(p)
	a2, b2 := consent(q)
	for name, c := range map[string][2][]byte{
		"none": {}, "no issuer": {nil, b}, "no opener": {a, nil}, "swapped": {b, a},
		"issuer to another group": {a2, b}, "opener to another group": {a, b2}, "long": {append(a[:len(a):len(a)], 0), b},
	} {
		if _, err := p.GroupKey(c[0], c[1]); err == nil {
			t.Errorf("%s: there is a group", name)
		}
	}
	g, err := p.GroupKey(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if id, err := p.ID(); err != nil || id != g.ID() {
		t.Errorf("%v: the fingerprint isn't that of the proposal", err)
	}
	if _, err := other().issuer.Consent(p); err == nil {
		t.Error("consent of another issuer")
	}
	if _, err := other().opener.Consent(p); err == nil {
		t.Error("consent of another opener")
	}
	for _, bad := range []*Proposal{
		{"", p.Issuer, p.Opener}, {string(make([]byte, 256)), p.Issuer, p.Opener}, {"\xff", p.Issuer, p.Opener},
		{"x", nil, p.Opener}, {"x", p.Issuer, nil}, {"x", p.Issuer[:97], p.Opener}, {"x", p.Issuer, append(p.Opener, 0)},
	} {
		if _, err := bad.ID(); err == nil {
			t.Errorf("%v is a proposal", bad)
		}
		if _, err := f.issuer.Consent(bad); err == nil {
			t.Errorf("%v got consent", bad)
		}
		if _, err := f.opener.Consent(bad); err == nil {
			t.Errorf("%v got consent", bad)
		}
		if _, err := bad.GroupKey(a, b); err == nil {
			t.Errorf("%v is a group", bad)
		}
	}
}

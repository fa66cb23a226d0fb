// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/undersign/undersign/internal/bls12381"
)

const now = 1_800_000_000

// A group of tests: alice, bob and carol, who is revoked in some tests' copies.
type fixture struct {
	issuer   *IssuerKey
	opener   *OpenerKey
	g        *GroupKey
	sessions *Sessions
	register *Register // the issuer's
	opening  *Register // the opener's
	members  map[string]*MemberKey
}

// longTerm returns the long-term key of a test's member.
func longTerm(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("long-term key of " + name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func longTermPublic(name string) ed25519.PublicKey {
	return longTerm(name).Public().(ed25519.PublicKey)
}

func newFixture(label string, names ...string) *fixture {
	f := &fixture{issuer: GenerateIssuerKey(), opener: GenerateOpenerKey(), members: map[string]*MemberKey{}}
	var err error
	if f.g, err = Setup(label, f.issuer, f.opener); err != nil {
		panic(err)
	}
	f.sessions, f.register, f.opening = f.g.NewSessions(), f.g.NewRegister(), f.g.NewRegister()
	for _, name := range names {
		f.join(name)
	}
	return f
}

func (f *fixture) invite(name string) *Challenge {
	c, err := f.issuer.Invite(f.sessions, name, longTermPublic(name), Fischlin, now, 3600)
	if err != nil {
		panic(err)
	}
	return c
}

func (f *fixture) newJoin(name string) *Join {
	j, err := NewJoin(f.g, f.g.ID(), f.invite(name), name, longTerm(name))
	if err != nil {
		panic(err)
	}
	return j
}

func (f *fixture) join(name string) {
	j := f.newJoin(name)
	cred, err := f.issuer.Issue(f.g, f.sessions, f.register, j.Request(), now)
	if err != nil {
		panic(err)
	}
	m, err := j.Finish(cred)
	if err != nil {
		panic(err)
	}
	f.members[name] = m
	if err := f.opener.Record(f.g, f.opening, f.register.Member(name), longTermPublic(name)); err != nil {
		panic(err)
	}
}

func (f *fixture) sign(name, msg string) *Signature {
	sig, err := f.members[name].Sign([]byte(msg), nil)
	if err != nil {
		panic(err)
	}
	return sig
}

// Two groups that tests don't change.
var (
	group = sync.OnceValue(func() *fixture { return newFixture("test", "alice", "bob", "carol") })
	other = sync.OnceValue(func() *fixture { return newFixture("other", "alice") })
)

func TestLifeCycle(t *testing.T) {
	f := group()
	msg := []byte("hello")
	for _, name := range []string{"alice", "bob", "carol"} {
		sig := f.sign(name, "hello")
		if err := f.g.Verify(msg, sig, nil); err != nil {
			t.Fatal(err)
		}
		if n := len(sig.Bytes()); n != 160 {
			t.Errorf("signature of %d bytes", n)
		}
		o, err := f.opener.Open(f.g, f.opening, msg, sig, nil)
		if err != nil || o.Member() != name {
			t.Fatalf("opened %v, %v: want %s", o, err, name)
		}
		if err := f.g.VerifyOpening(msg, sig, o, longTermPublic(name), nil); err != nil {
			t.Error(err)
		}
	}
	if f.sign("bob", "hello").Equal(f.sign("bob", "hello")) {
		t.Error("two signatures are equal")
	}
}

func TestSchnorrJoin(t *testing.T) {
	f := newFixture("schnorr")
	c, err := f.issuer.Invite(f.sessions, "dave", longTermPublic("dave"), Schnorr, now, 60)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.issuer.Invite(f.sessions, "erin", longTermPublic("erin"), Schnorr, now, 60); err == nil {
		t.Error("two Schnorr sessions are open")
	}
	j, err := NewJoin(f.g, f.g.ID(), c, "dave", longTerm("dave"))
	if err != nil {
		t.Fatal(err)
	}
	cred, err := f.issuer.Issue(f.g, f.sessions, f.register, j.Request(), now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Finish(cred); err != nil {
		t.Fatal(err)
	}
}

// Nobody's signatures: the points zero make R = 1 whatever c and s are.
func TestForgeries(t *testing.T) {
	g := group().g
	msg := []byte("forged")
	p := bls12381.G1Generator()
	one := new(bls12381.Scalar).SetOne()
	// c is what the verifier computes for R = 1.
	zero := new(Signature)
	zero.c.Set(g.challengeItems(msg, nil, zero).GT("R", new(bls12381.GT)).Challenge(dstSign))
	zero.s.Random()
	// A good proof of a secret, over points that the issuer has nothing to do with.
	var loose Signature
	var sk, k bls12381.Scalar
	var r bls12381.GT
	loose.s1.ScalarBaseMult(k.Random())
	loose.s2.ScalarBaseMult(k.Random())
	bls12381.NormalizeG1(&loose.s1, &loose.s2)
	r.ExpVarTime(r.PairVarTime(&loose.s1, g.k.IssuerY()), k.Random())
	loose.c.Set(g.challengeItems(msg, nil, &loose).GT("R", &r).Challenge(dstSign))
	loose.s.Sub(&k, new(bls12381.Scalar).Mul(&loose.c, sk.Random()))
	half := &Signature{s1: *p}
	half.c.Set(zero.c.Set(&zero.c))
	for name, sig := range map[string]*Signature{
		"nil":            nil,
		"empty":          {},
		"never joined":   &loose,
		"identity":       zero,
		"s2 identity":    half,
		"s1 identity":    {s2: *p, c: *one, s: *one},
		"generators":     {s1: *p, s2: *p},
		"generators c=1": {s1: *p, s2: *p, c: *one},
		"generators s=1": {s1: *p, s2: *p, s: *one},
	} {
		if err := g.Verify(msg, sig, nil); !errors.Is(err, ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
		b := g.Batch(nil)
		b.Add(msg, sig)
		if err := b.Verify(); !errors.Is(err, ErrSignature) {
			t.Errorf("%s in a batch: %v", name, err)
		}
		if _, err := group().opener.Open(g, group().opening, msg, sig, nil); !errors.Is(err, ErrSignature) {
			t.Errorf("%s opened: %v", name, err)
		}
	}
	raw := make([]byte, SignatureSize)
	raw[0], raw[48] = 0xc0, 0xc0
	copy(raw[96:], zero.c.Bytes())
	if _, err := ParseSignature(raw); !errors.Is(err, ErrSignature) {
		t.Errorf("encoded identities: %v", err)
	}
	// c = 0 needs H(...) = 0; a proof for chosen R and s1 with c of another R fails.
	sig := group().sign("alice", "forged")
	sig.c.SetZero()
	if g.Verify(msg, sig, nil) == nil {
		t.Error("c = 0 verifies")
	}
}

// A signature holds for one message, context and group.
func TestOtherStatement(t *testing.T) {
	f := group()
	sig, err := f.members["alice"].Sign([]byte("m"), &SignOptions{Context: []byte("ctx")})
	if err != nil {
		t.Fatal(err)
	}
	ctx := &VerifyOptions{Context: []byte("ctx")}
	if err := f.g.Verify([]byte("m"), sig, ctx); err != nil {
		t.Fatal(err)
	}
	for name, ok := range map[string]bool{
		"message":    f.g.Verify([]byte("n"), sig, ctx) == nil,
		"no message": f.g.Verify(nil, sig, ctx) == nil,
		"no context": f.g.Verify([]byte("m"), sig, nil) == nil,
		"context":    f.g.Verify([]byte("m"), sig, &VerifyOptions{Context: []byte("ctxm")}) == nil,
		"shifted":    f.g.Verify([]byte("xm"), sig, &VerifyOptions{Context: []byte("ct")}) == nil,
		"group":      other().g.Verify([]byte("m"), sig, ctx) == nil,
	} {
		if ok {
			t.Errorf("verifies with another %s", name)
		}
	}
	// One issuer and opener under another label are another group.
	g2, err := Setup("test2", f.issuer, f.opener)
	if err != nil {
		t.Fatal(err)
	}
	if g2.Verify([]byte("m"), sig, ctx) == nil {
		t.Error("verifies under another label")
	}
	swapped := *sig
	swapped.s1, swapped.s2 = sig.s2, sig.s1
	rerandomised := *sig
	rerandomised.s1.Double(&sig.s1)
	rerandomised.s2.Double(&sig.s2)
	for _, bad := range []*Signature{&swapped, &rerandomised} {
		if f.g.Verify([]byte("m"), bad, ctx) == nil {
			t.Error("a changed signature verifies")
		}
	}
}

func TestBatch(t *testing.T) {
	f := group()
	names := []string{"alice", "bob", "carol"}
	b := f.g.Batch(nil)
	if err := b.Verify(); err != nil {
		t.Errorf("empty batch: %v", err)
	}
	for i := range 12 {
		msg := fmt.Sprint("message ", i)
		sig := f.sign(names[i%3], msg)
		switch i {
		case 3:
			msg = "another"
		case 7:
			sig.s.Random()
		case 11:
			sig = nil
		}
		b.Add([]byte(msg), sig)
	}
	if b.Len() != 12 {
		t.Errorf("%d signatures", b.Len())
	}
	var bad *BatchError
	if err := b.Verify(); !errors.As(err, &bad) || fmt.Sprint(bad.Bad) != "[3 7 11]" || !errors.Is(err, ErrSignature) {
		t.Errorf("batch: %v", err)
	}
	stale := f.g.Batch(&VerifyOptions{Revocation: mustList(f, 1), Now: now + 1000})
	var s *StaleError
	if err := stale.Verify(); !errors.As(err, &s) {
		t.Errorf("stale list: %v", err)
	}
}

func mustList(f *fixture, number uint64) *RevocationList {
	l, err := f.opener.RevocationList(f.g, f.opening, RevocationTerms{Number: number, Issued: now, Expires: now + 100})
	if err != nil {
		panic(err)
	}
	return l
}

// Every signature of a revoked member is refused, one from before too.
func TestRevocation(t *testing.T) {
	f := newFixture("revocation", "alice", "bob")
	before := f.sign("bob", "m")
	empty := mustList(f, 1)
	if empty.Len() != 0 {
		t.Errorf("%d tokens", empty.Len())
	}
	at := func(l *RevocationList, now int64, min uint64) *VerifyOptions {
		return &VerifyOptions{Revocation: l, Now: now, MinNumber: min}
	}
	if err := f.g.Verify([]byte("m"), before, at(empty, now, 1)); err != nil {
		t.Errorf("with an empty list: %v", err)
	}
	if err := f.opening.Revoke("bob"); err != nil {
		t.Fatal(err)
	}
	l := mustList(f, 2)
	data, err := l.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if l, err = f.g.ParseRevocationList(data); err != nil || l.Len() != 1 {
		t.Fatal(err)
	}
	for _, sig := range []*Signature{before, f.sign("bob", "m")} {
		if err := f.g.Verify([]byte("m"), sig, at(l, now, 2)); !errors.Is(err, ErrRevoked) {
			t.Errorf("revoked member: %v", err)
		}
		if err := f.g.Verify([]byte("n"), sig, at(l, now, 2)); !errors.Is(err, ErrSignature) {
			t.Errorf("revoked member, wrong message: %v", err)
		}
	}
	alice := f.sign("alice", "m")
	if err := f.g.Verify([]byte("m"), alice, at(l, now+100, 2)); err != nil {
		t.Errorf("other member: %v", err)
	}
	for name, o := range map[string]*VerifyOptions{
		"expired":          at(l, now+101, 2),
		"not yet issued":   at(l, now-1, 2),
		"no clock":         at(l, 0, 0),
		"old":              at(empty, now, 2),
		"of another group": at(mustList(other(), 5), now, 2),
	} {
		var s *StaleError
		if err := f.g.Verify([]byte("m"), alice, o); !errors.As(err, &s) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A revoked member can be opened, and may join anew.
	if o, err := f.opener.Open(f.g, f.opening, []byte("m"), before, nil); err != nil || o.Member() != "bob" {
		t.Errorf("opening: %v", err)
	}
	if err := f.register.Revoke("bob"); err != nil {
		t.Fatal(err)
	}
	early := func(what string) {
		t.Helper()
		if _, err := f.issue(f.newJoin("bob").Request()); !errors.As(err, new(*RejoinError)) {
			t.Errorf("%s: %v, want that it is too early", what, err)
		}
	}
	early("at once")
	if n, err := f.g.MarkListed(f.register, empty, now); err != nil || n != 0 {
		t.Errorf("an empty list marks %d, %v", n, err)
	}
	early("not listed")
	for name, bad := range map[string]*RevocationList{"none": nil, "another group's": mustList(other(), 5), "nobody's": new(RevocationList)} {
		if _, err := f.g.MarkListed(f.register, bad, now); err == nil {
			t.Errorf("list: %s: marks", name)
		}
	}
	if _, err := f.g.MarkListed(f.register, l, now+101); err == nil {
		t.Error("an expired list marks")
	}
	if n, err := f.g.MarkListed(f.register, l, now); err != nil || n != 1 {
		t.Fatalf("marked %d, %v", n, err)
	}
	f.join("bob")
	if err := f.g.Verify([]byte("m"), f.sign("bob", "m"), at(l, now, 2)); err != nil {
		t.Errorf("member who joined anew: %v", err)
	}
	if f.opening.Len() != 3 {
		t.Errorf("%d records", f.opening.Len())
	}

	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 1
		if _, err := f.g.ParseRevocationList(bad); err == nil {
			t.Fatalf("byte %d flipped: accepted", i)
		}
	}
	if _, err := f.g.ParseRevocationList(append(bytes.Clone(data), 0)); err == nil {
		t.Error("trailing byte accepted")
	}
	if _, err := other().g.ParseRevocationList(data); err == nil {
		t.Error("list of another group accepted")
	}
	if _, err := other().opener.RevocationList(f.g, f.opening, RevocationTerms{}); err == nil {
		t.Error("another opener made a list")
	}
	if _, err := f.opener.RevocationList(f.g, f.opening, RevocationTerms{Issued: 2, Expires: 1}); err == nil {
		t.Error("list that expires before it is issued")
	}
}

// One group key is used by many verifiers, with bad signatures among the good.
func TestConcurrent(t *testing.T) {
	f := group()
	g := f.g
	good := []*Signature{f.sign("alice", "m"), f.sign("bob", "m")}
	zero := new(Signature)
	bad := f.sign("carol", "m")
	bad.c.Random()
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			sig := []*Signature{good[0], zero, good[1], bad}[i%4]
			if err := g.Verify([]byte("m"), sig, nil); (err == nil) != (i%2 == 0) {
				t.Errorf("goroutine %d: %v", i, err)
			}
			if i%16 == 0 {
				if s, err := f.members["alice"].Sign([]byte("m"), nil); err != nil || g.Verify([]byte("m"), s, nil) != nil {
					t.Error("signing")
				}
			}
		})
	}
	wg.Wait()
}

// Printing shows no secret, whatever the verb.
func TestRedacted(t *testing.T) {
	f := group()
	j := f.newJoin("zoe")
	m := f.members["alice"]
	seed := f.opener.k.Key.Seed()
	x, y := f.issuer.k.Secrets()
	secrets := [][]byte{x.Bytes(), y.Bytes(), m.sk.Bytes(), m.s1.Bytes(), j.sk.Bytes(), seed[:]}
	for _, v := range []any{f.issuer, *f.issuer, f.opener, *f.opener, m, *m, j, *j, &MemberKey{}, MemberKey{}, &IssuerKey{}, &OpenerKey{}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d", "%q"} {
			s := strings.ToLower(fmt.Sprintf(verb, v))
			for _, k := range secrets {
				if strings.Contains(s, fmt.Sprintf("%x", k[4:12])) {
					t.Errorf("%s of a %T shows a secret", verb, v)
				}
			}
			if len(s) > 100 {
				t.Errorf("%s of a %T: %s", verb, v, s)
			}
		}
	}
	f.sessions.Cancel(j.request.reg.Session)
}

func TestWiped(t *testing.T) {
	f := newFixture("wipe", "alice")
	sig := f.sign("alice", "m")
	j := f.newJoin("bob")
	cred, err := f.issuer.Issue(f.g, f.sessions, f.register, j.Request(), now)
	if err != nil {
		t.Fatal(err)
	}
	j.Wipe()
	f.issuer.Wipe()
	f.opener.Wipe()
	m := f.members["alice"]
	m.Wipe()
	m.Wipe()
	p := &Proposal{Label: "x"}
	errs := map[string]error{}
	_, errs["finish"] = j.Finish(cred)
	_, errs["join"] = j.MarshalBinary()
	_, errs["sign"] = m.Sign(nil, nil)
	_, errs["member"] = m.MarshalBinary()
	_, errs["issuer"] = f.issuer.MarshalBinary()
	_, errs["issue"] = f.issuer.Issue(f.g, f.sessions, f.register, j.Request(), now)
	_, errs["invite"] = f.issuer.Invite(f.sessions, "x", longTermPublic("x"), Fischlin, now, 1)
	_, errs["issuer's consent"] = f.issuer.Consent(p)
	_, errs["opener's consent"] = f.opener.Consent(p)
	_, errs["opener"] = f.opener.MarshalBinary()
	_, errs["open"] = f.opener.Open(f.g, f.opening, []byte("m"), sig, nil)
	_, errs["list"] = f.opener.RevocationList(f.g, f.opening, RevocationTerms{})
	errs["record"] = f.opener.Record(f.g, f.opening, f.register.Member("bob"), longTermPublic("bob"))
	_, errs["setup"] = Setup("x", f.issuer, f.opener)
	for name, err := range errs {
		if err == nil {
			t.Errorf("%s: works with a wiped key", name)
		}
	}
	if m.Equal(m) || f.issuer.Equal(f.issuer) || f.opener.Equal(f.opener) {
		t.Error("a wiped key equals itself")
	}
}

// An empty group key verifies nothing.
func TestEmptyGroup(t *testing.T) {
	sig := group().sign("alice", "m")
	g := new(GroupKey)
	b := g.Batch(nil)
	b.Add([]byte("m"), sig)
	if g.Verify([]byte("m"), sig, nil) == nil || b.Verify() == nil {
		t.Error("verifies")
	}
	if _, err := g.ParseRevocationList(nil); err == nil {
		t.Error("has a list")
	}
	var s *StaleError
	if err := g.Verify([]byte("m"), sig, &VerifyOptions{Revocation: mustList(group(), 1), Now: now}); !errors.As(err, &s) {
		t.Errorf("another group's list: %v", err)
	}
}

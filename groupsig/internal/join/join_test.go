// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package join

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

var (
	dst = transcript.DST("test", "join")
	gid = [32]byte{1, 2, 3}
)

func newKey(t testing.TB) ed25519.PrivateKey {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func public(key ed25519.PrivateKey) ed25519.PublicKey { return key.Public().(ed25519.PublicKey) }

// statement is y = w·P1, and z = w·P2 + v·Q in G2.
func statement() (*sigma.Statement, []bls12381.Scalar) {
	w := make([]bls12381.Scalar, 2)
	w[0].Random()
	w[1].Random()
	y := new(bls12381.G1).ScalarBaseMult(&w[0])
	bls12381.NormalizeG1(y)
	q := new(bls12381.G2).HashVarTime([]byte("q"), []byte("test/h2c"))
	z := new(bls12381.G2).ScalarBaseMult(&w[0])
	z.Add(z, new(bls12381.G2).ScalarMult(&w[1], q))
	bls12381.NormalizeG2(z)
	return &sigma.Statement{
		Secrets: 2,
		G1:      []sigma.Relation{{Y: y, Terms: []sigma.Term{{W: 0, P: bls12381.G1Generator()}}}},
		G2:      []sigma.RelationG2{{Y: z, Terms: []sigma.TermG2{{W: 0, P: bls12381.G2Generator()}, {W: 1, P: q}}}},
	}, w
}

func context(s string) *transcript.Items { return new(transcript.Items).Bytes("nonce", []byte(s)) }

func TestProofs(t *testing.T) {
	st, w := statement()
	other, v := statement()
	for _, kind := range []Kind{Fischlin, Schnorr} {
		p, err := Prove(kind, dst, context("a"), st, w)
		if err != nil {
			t.Fatal(err)
		}
		if len(p) != ProofSize(kind, st) {
			t.Errorf("%d bytes, want %d", len(p), ProofSize(kind, st))
		}
		if err := VerifyVarTime(kind, dst, context("a"), st, p); err != nil {
			t.Fatal(err)
		}
		refused := func(what string, kind Kind, dst []byte, ctx string, st *sigma.Statement, p []byte) {
			t.Helper()
			if VerifyVarTime(kind, dst, context(ctx), st, p) == nil {
				t.Errorf("kind %d: %s is accepted", kind, what)
			}
		}
		refused("another context", kind, dst, "b", st, p)
		refused("another tag", kind, transcript.DST("test", "x"), "a", st, p)
		refused("another statement", kind, dst, "a", other, p)
		refused("the other kind", 1-kind, dst, "a", st, p)
		refused("a truncated proof", kind, dst, "a", st, p[1:])
		refused("a longer proof", kind, dst, "a", st, append(bytes.Clone(p), 0))
		refused("no proof", kind, dst, "a", st, nil)
		for i := 0; i < len(p); i += 37 {
			q := bytes.Clone(p)
			q[i] ^= 1
			refused("a changed proof", kind, dst, "a", st, q)
		}
		q, err := Prove(kind, dst, context("a"), st, v) // wrong secrets
		if err != nil {
			t.Fatal(err)
		}
		refused("a proof by wrong secrets", kind, dst, "a", st, q)
		if _, err := Prove(kind, dst, context("a"), st, w[:1]); err == nil {
			t.Error("a secret is missing")
		}
	}
	if _, err := Prove(2, dst, context("a"), st, w); err == nil {
		t.Error("an unknown kind")
	}
	st.G1[0].Terms[0].P = bls12381.NewG1()
	for _, kind := range []Kind{Fischlin, Schnorr} {
		if VerifyVarTime(kind, dst, context("a"), st, make([]byte, ProofSize(kind, st))) == nil {
			t.Error("a base that is the identity")
		}
	}
}

// The size for one secret in one relation, as published: 16 times 82 bytes.
func TestProofSize(t *testing.T) {
	g := bls12381.G1Generator()
	if n := ProofSize(Fischlin, sigma.Dlog(g, g)); n != 16*82 {
		t.Errorf("%d bytes", n)
	}
	if n := ProofSize(Fischlin, sigma.EqDlog(g, g, g, g)); n != 16*130 {
		t.Errorf("%d bytes", n)
	}
}

func record(t testing.TB, member string, point byte, key ed25519.PrivateKey) *Record {
	r := &Record{Scheme: "test", GroupID: gid, Member: member, Point: bytes.Repeat([]byte{point}, 96), Evidence: []byte("e")}
	if err := r.Sign(key); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRecord(t *testing.T) {
	key := newKey(t)
	r := record(t, "ada", 1, key)
	b, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var q Record
	if err := q.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	if err := q.Verify(public(key)); err != nil {
		t.Fatal(err)
	}
	if q.Verify(public(newKey(t))) == nil || q.Verify(nil) == nil {
		t.Error("another key is accepted")
	}
	for name, change := range map[string]func(*Record){
		"scheme":    func(r *Record) { r.Scheme = "tess" },
		"group":     func(r *Record) { r.GroupID[0]++ },
		"session":   func(r *Record) { r.Session[0]++ },
		"member":    func(r *Record) { r.Member = "bob" },
		"point":     func(r *Record) { r.Point = bytes.Repeat([]byte{9}, 96) },
		"signature": func(r *Record) { r.Signature = make([]byte, 64) },
		"no sig":    func(r *Record) { r.Signature = nil },
	} {
		x := q
		change(&x)
		if x.Verify(public(key)) == nil {
			t.Errorf("%s changed, and accepted", name)
		}
	}
	for i := range b {
		if new(Record).UnmarshalBinary(b[:i]) == nil {
			t.Fatalf("truncated to %d bytes", i)
		}
	}
	if new(Record).UnmarshalBinary(append(b, 0)) == nil {
		t.Error("trailing byte")
	}
	// The record has evidence; without, it is bare.
	if q.UnmarshalBare(b) == nil {
		t.Error("evidence is taken")
	}
	r.Evidence = nil
	if b, err = r.MarshalBinary(); err != nil || q.UnmarshalBare(b) != nil || len(q.Evidence) != 0 {
		t.Errorf("a bare record: %v", err)
	}
	if q.UnmarshalBare(b[1:]) == nil {
		t.Error("a bare record that is none")
	}
}

// Anybody can sign for a key of small order: here for the neutral point, by one
// signature for all messages. Its owner could deny whatever it registered.
func TestWeakKey(t *testing.T) {
	weak, signature := make(ed25519.PublicKey, 32), make([]byte, 64)
	weak[0], signature[0] = 1, 1
	if !ed25519.Verify(weak, []byte("anything"), signature) {
		t.Skip("the standard library refuses it")
	}
	r := record(t, "eve", 1, newKey(t))
	r.Key, r.Signature = weak, signature
	if r.Verify(weak) == nil {
		t.Error("a record is accepted")
	}
	g := NewRegister("test", gid, 48)
	if g.Add(r) == nil {
		t.Error("registered")
	}
	if _, err := NewSessions("test", gid).Open("eve", weak, Fischlin, 0, 60); err == nil {
		t.Error("invited")
	}
}

func TestRegister(t *testing.T) {
	g := NewRegister("test", gid, 48)
	var stored int
	g.Durable = func([]byte) error { stored++; return nil }
	ada, bob := record(t, "ada", 1, newKey(t)), record(t, "bob", 2, newKey(t))
	for _, r := range []*Record{ada, bob} {
		if err := g.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(what string, r *Record) {
		t.Helper()
		if g.Add(r) == nil {
			t.Errorf("%s is added", what)
		}
	}
	refused("the same record", ada)
	refused("a second credential for an identity", record(t, "ada", 3, newKey(t)))
	refused("a registered point", record(t, "eve", 2, newKey(t)))
	same := record(t, "eve", 7, newKey(t))
	copy(same.Point[48:], bob.Point[48:])
	same.Sign(newKey(t))
	refused("a registered trace", same)
	foreign := record(t, "eve", 4, newKey(t))
	foreign.GroupID[0]++
	refused("a record of another group", foreign)
	unsigned := record(t, "eve", 4, newKey(t))
	unsigned.Point[0]++
	refused("a record with a wrong signature", unsigned)
	short := record(t, "eve", 4, newKey(t))
	short.Point = short.Point[:48]
	short.Sign(newKey(t))
	refused("a short point", short)
	g.Durable = func([]byte) error { return errors.New("disk full") }
	refused("a record that isn't stored", record(t, "eve", 4, newKey(t)))
	g.Durable = nil
	if stored != 2 || g.Len() != 2 {
		t.Errorf("%d stored, %d records", stored, g.Len())
	}
	if g.Find(bytes.Repeat([]byte{2}, 48)) != bob || g.Find(bytes.Repeat([]byte{3}, 48)) != nil {
		t.Error("Find")
	}
	if g.Revoke("eve") == nil || g.Revoke("ada") != nil || g.Revoke("ada") == nil || g.Member("ada") != nil {
		t.Error("Revoke")
	}
	refused("the point of a revoked member", ada)
	again := record(t, "ada", 5, newKey(t))
	if err := g.Add(again); err != nil {
		t.Fatal(err)
	}
	if g.Member("ada") != again || g.Find(bytes.Repeat([]byte{1}, 48)) != ada {
		t.Error("a member that joined anew")
	}
	if g.Retire("eve") == nil || g.Retire("bob") != nil || g.Retire("bob") == nil || g.Revoke("bob") == nil {
		t.Error("Retire")
	}
	for r := range g.Revoked() {
		if r != ada {
			t.Errorf("%q is revoked", r.Member)
		}
	}

	b, err := g.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	h := NewRegister("test", gid, 48)
	if err := h.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	if c, _ := h.MarshalBinary(); !bytes.Equal(b, c) {
		t.Error("not canonical")
	}
	if h.UnmarshalBinary(b) == nil {
		t.Error("decoded over another register")
	}
	if NewRegister("test", [32]byte{}, 48).UnmarshalBinary(b) == nil || NewRegister("test", gid, 0).UnmarshalBinary(b) == nil {
		t.Error("the register of another group")
	}
	for i := range b {
		c := bytes.Clone(b)
		c[i] ^= 1
		x := NewRegister("test", gid, 48)
		if x.UnmarshalBinary(c) == nil {
			// Evidence isn't signed, nor are epochs and the mark of a revocation.
			if d, _ := x.MarshalBinary(); !bytes.Equal(c, d) {
				t.Fatalf("byte %d changed: accepted, and not canonical", i)
			}
		}
	}
}

// Who is revoked and joins again, before its old credential has ended, would have two
// pseudonyms in each scope.
func TestRejoin(t *testing.T) {
	const epoch = 7
	reload := func(g *Register) *Register {
		t.Helper()
		b, err := g.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		h := NewRegister("test", gid, 48)
		if err := h.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
		return h
	}
	var n byte
	admit := func(g *Register, epoch uint64) error {
		t.Helper()
		n++
		r := record(t, "ada", n, newKey(t))
		err := g.Admit(r, epoch)
		var re *RejoinError
		if errors.As(err, &re) {
			if re.Member != "ada" || re.Error() == "" {
				t.Errorf("%+v", re)
			}
			if err := g.Check("ada", r.Point, epoch); !errors.As(err, &re) {
				t.Errorf("Check says %v", err)
			}
			if err := g.CheckMember("ada", epoch); !errors.As(err, &re) {
				t.Errorf("CheckMember says %v", err)
			}
		}
		return err
	}
	early := func(what string, err error) {
		t.Helper()
		if !errors.As(err, new(*RejoinError)) {
			t.Errorf("%s: %v, want that it is too early", what, err)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	revoked := func() *Register {
		t.Helper()
		g := NewRegister("test", gid, 48)
		must(admit(g, epoch))
		must(g.Revoke("ada"))
		return reload(g)
	}

	g := revoked()
	early("the same epoch", admit(g, epoch))
	early("an earlier epoch", admit(g, epoch-1))
	must(g.CheckMember("ada", epoch+1))
	must(admit(g, epoch+1))
	if err := admit(g, epoch+2); err == nil || errors.As(err, new(*RejoinError)) {
		t.Errorf("a live member: %v", err)
	}
	must(g.Revoke("ada"))
	g = reload(g)
	early("revoked twice", admit(g, epoch+1))
	must(admit(g, epoch+2))

	// Credentials that were made ahead of their epoch count.
	g = NewRegister("test", gid, 48)
	must(admit(g, epoch))
	ada := g.Member("ada")
	must(g.Reissued(ada, epoch+3))
	must(g.Reissued(ada, epoch+1))
	must(g.Revoke("ada"))
	g = reload(g)
	early("reissued for later", admit(g, epoch+3))
	must(admit(g, epoch+4))
	early("reissued for an epoch before", g.Reissued(g.Member("ada"), epoch+3))
	must(g.Reissued(g.Member("ada"), epoch+4))
	if g.Reissued(ada, epoch+5) == nil || g.Reissued(record(t, "bob", 99, newKey(t)), epoch+5) == nil {
		t.Error("reissued for nobody")
	}

	// Without epochs, and when the token is listed.
	g = NewRegister("test", gid, 48)
	must(admit(g, 0))
	must(g.Revoke("ada"))
	early("without epochs", admit(g, 0))
	for _, g := range []*Register{g, revoked()} {
		if k := g.Listed(func(*Record) bool { return false }); k != 0 {
			t.Errorf("%d listed, want none", k)
		}
		early("listed somebody else", admit(g, 0))
		if k := g.Listed(func(r *Record) bool { return r.Member == "ada" }); k != 1 {
			t.Errorf("%d listed, want one", k)
		}
		g = reload(g)
		if k := g.Listed(func(*Record) bool { return true }); k != 0 {
			t.Errorf("%d listed again", k)
		}
		listed := 0
		for range g.Revoked() {
			listed++
		}
		if listed != 1 {
			t.Errorf("%d revoked, want one", listed)
		}
		must(admit(g, 0))
		must(g.Revoke("ada"))
		early("the second record isn't listed", admit(g, 0))
		g.ReadmitUnsafe("bob")
		early("somebody else is readmitted", admit(g, 0))
		g.ReadmitUnsafe("ada")
		must(admit(g, 0))
	}
}

func TestNames(t *testing.T) {
	for _, bad := range []string{"", strings.Repeat("x", 256), "a\xff", "\xc0\x80"} {
		if CheckMember(bad) == nil || CheckLabel(bad) == nil {
			t.Errorf("%q is a name", bad)
		}
		r := record(t, "ada", 1, newKey(t))
		r.Member = bad
		if _, err := r.MarshalBinary(); err == nil {
			t.Errorf("%q: encoded", bad)
		}
		if NewRegister("test", gid, 0).CheckMember(bad, 0) == nil {
			t.Errorf("%q may join", bad)
		}
	}
	for _, good := range []string{"a", "Zoë", strings.Repeat("x", 255)} {
		if err := errors.Join(CheckMember(good), CheckLabel(good)); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	r := record(t, "ada", 1, newKey(t))
	b, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if new(Record).UnmarshalBinary(bytes.Replace(b, []byte("ada"), []byte("a\xffa"), 1)) == nil {
		t.Error("decoded a name that isn't UTF-8")
	}
}

func TestSessions(t *testing.T) {
	s := NewSessions("test", gid)
	key := newKey(t)
	c, err := s.Open("ada", public(key), Fischlin, 1000, 60)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	issue := func(d *Challenge, k ed25519.PublicKey) ([]byte, error) {
		calls++
		if d.Nonce != c.Nonce || d.Member != "ada" || !k.Equal(public(key)) {
			t.Error("issue got something else")
		}
		return []byte("credential"), nil
	}
	fails := func(*Challenge, ed25519.PublicKey) ([]byte, error) { return nil, errors.New("no") }
	if _, err := s.Answer(SessionID{}, []byte("m2"), 1001, issue); err == nil {
		t.Error("an unknown session is answered")
	}
	if _, err := s.Answer(c.Session, []byte("m2"), 1060, issue); err == nil {
		t.Error("an expired session is answered")
	}
	if _, err := s.Answer(c.Session, []byte("m2"), 1001, fails); err == nil {
		t.Error("a failure is hidden")
	}
	for range 3 {
		if a, err := s.Answer(c.Session, []byte("m2"), 1001, issue); err != nil || string(a) != "credential" {
			t.Fatal("not answered", err)
		}
	}
	if _, err := s.Answer(c.Session, []byte("m3"), 1001, issue); err == nil {
		t.Error("a session is answered twice")
	}
	if calls != 1 {
		t.Errorf("issue was called %d times", calls)
	}

	b, _ := s.MarshalBinary()
	x := NewSessions("test", gid)
	if err := x.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	if a, err := x.Answer(c.Session, []byte("m2"), 1001, fails); err != nil || string(a) != "credential" {
		t.Error("the stored answer is lost", err)
	}
	if _, err := x.Answer(c.Session, []byte("m3"), 1001, issue); err == nil {
		t.Error("a decoded session is answered twice")
	}
	for i := range b {
		if NewSessions("test", gid).UnmarshalBinary(b[:i]) == nil {
			t.Fatalf("truncated to %d bytes", i)
		}
	}
	if NewSessions("test", [32]byte{}).UnmarshalBinary(b) == nil {
		t.Error("sessions of another group")
	}
	x.Purge(1060)
	if x.Len() != 0 {
		t.Error("an expired session stays")
	}
	s.Cancel(c.Session)
	if _, err := s.Answer(c.Session, []byte("m2"), 1001, issue); err == nil {
		t.Error("a cancelled session is answered")
	}
}

func TestSessionLimits(t *testing.T) {
	s := NewSessions("test", gid)
	key := public(newKey(t))
	if _, err := s.Open("", key, Fischlin, 0, 1); err == nil {
		t.Error("empty identity")
	}
	if _, err := s.Open("ada", key[:31], Fischlin, 0, 1); err == nil {
		t.Error("short key")
	}
	if _, err := s.Open("ada", key, 2, 0, 1); err == nil {
		t.Error("unknown kind")
	}
	if _, err := s.Open("ada", key, Fischlin, 0, MaxLifetime+1); err == nil {
		t.Error("long life")
	}
	if _, err := s.Open("ada", key, Schnorr, 0, 60); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open("bob", key, Schnorr, 0, 60); err == nil {
		t.Error("two open sessions with Schnorr's proof")
	}
	if _, err := s.Open("bob", key, Schnorr, 60, 60); err != nil {
		t.Error("the first has expired")
	}
	for s.Len() < MaxSessions {
		if _, err := s.Open("eve", key, Fischlin, 60, 60); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Open("eve", key, Fischlin, 60, 60); err == nil {
		t.Error("too many sessions")
	}
	if _, err := s.Open("eve", key, Fischlin, 120, 60); err != nil || s.Len() != 1 {
		t.Error("expired sessions aren't purged", err)
	}
}

// Of many messages at one time, one gets a credential.
func TestSessionRace(t *testing.T) {
	s := NewSessions("test", gid)
	c, _ := s.Open("ada", public(newKey(t)), Fischlin, 0, 60)
	var wg sync.WaitGroup
	var mu sync.Mutex
	good := 0
	for i := range 32 {
		wg.Go(func() {
			if _, err := s.Answer(c.Session, []byte{byte(i)}, 1, func(*Challenge, ed25519.PublicKey) ([]byte, error) {
				return []byte{1}, nil
			}); err == nil {
				mu.Lock()
				good++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if good != 1 {
		t.Errorf("%d credentials", good)
	}
}

func TestChallenge(t *testing.T) {
	s := NewSessions("test", gid)
	c, _ := s.Open("ada", public(newKey(t)), Schnorr, 5, 60)
	b, _ := c.MarshalBinary()
	var d Challenge
	if err := d.UnmarshalBinary(b); err != nil || d != *c {
		t.Fatal("decoded to something else", err)
	}
	for i := range b {
		if new(Challenge).UnmarshalBinary(b[:i]) == nil {
			t.Fatalf("truncated to %d bytes", i)
		}
	}
	if bytes.Equal(c.Context(nil).Data(), c.Context([]byte{1}).Data()) {
		t.Error("ver isn't absorbed")
	}
}

func BenchmarkProve(b *testing.B) {
	g := bls12381.G1Generator()
	w := make([]bls12381.Scalar, 1)
	w[0].Random()
	st := sigma.Dlog(g, new(bls12381.G1).ScalarBaseMult(&w[0]))
	b.Run("prove", func(b *testing.B) {
		for b.Loop() {
			if _, err := Prove(Fischlin, dst, context("a"), st, w); err != nil {
				b.Fatal(err)
			}
		}
	})
	p, _ := Prove(Fischlin, dst, context("a"), st, w)
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			if err := VerifyVarTime(Fischlin, dst, context("a"), st, p); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ds18

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/cryptotest"

	"github.com/undersign/undersign/internal/bls12381"
)

// joinWith joins with the token secret of another member and a base of its own, which
// the issuer can't see, and returns what the opener says.
func (f *fixture) joinWith(t *testing.T, name, other string) error {
	t.Helper()
	j := f.newJoin(name)
	j.r.Set(&f.members[other].r)
	if err := j.prepare(longTerm(name)); err != nil {
		t.Fatal(err)
	}
	m, err := j.Finish(must(f.issuer.Issue(f.g, f.sessions, f.register, j.Request(), now)))
	if err != nil {
		t.Fatal(err)
	}
	f.members[name] = m
	return f.opener.Record(f.g, f.opening, f.register.Member(name), longTermPublic(name))
}

// The points (U, Q) of a record don't determine a class: many have one token. Two members
// with one would be opened as the first of them, and once both are revoked no list could be
// made, in which a token is once: nobody would be revoked any more. The opener refuses the
// second, and one that joins again with the token that is listed.
func TestSharedToken(t *testing.T) {
	f := newFixture("shared token", "alice", "bob")
	if f.joinWith(t, "mallory", "alice") == nil {
		t.Error("mallory has alice's token")
	}
	sig := f.sign("mallory", "m")
	o, err := f.opener.Open(f.g, f.opening, []byte("m"), sig, nil)
	if err != nil || o.Member() != "alice" {
		t.Errorf("mallory's signature is opened as %v: %v", o, err)
	}
	terms := RevocationTerms{Number: 1, Issued: now, Expires: now + 10}
	for _, register := range []*Register{f.register, f.opening} {
		if err := register.Revoke("alice"); err != nil {
			t.Fatal(err)
		}
	}
	l := must(f.opener.RevocationList(f.g, f.opening, terms))
	if n, err := f.g.MarkListed(f.register, l, now); n != 1 || err != nil {
		t.Fatalf("%d are listed: %v", n, err)
	}
	if f.joinWith(t, "alice", "alice") == nil {
		t.Error("alice has the token that is listed")
	}
	// The opener's register comes back, and knows it still.
	back := f.g.NewRegister()
	if err := back.UnmarshalBinary(must(f.opening.MarshalBinary())); err != nil {
		t.Fatal(err)
	}
	f.opening = back
	if err := f.opener.Record(f.g, f.opening, f.register.Member("mallory"), longTermPublic("mallory")); err == nil {
		t.Error("mallory has the token that is listed")
	}
	if err := f.opening.Revoke("bob"); err != nil {
		t.Fatal(err)
	}
	f.opening.Revoke("mallory") // if the opener has it
	terms.Number++
	if l, err = f.opener.RevocationList(f.g, f.opening, terms); err != nil {
		t.Fatalf("nobody can be revoked any more: %v", err)
	}
	opts := &VerifyOptions{Revocation: l, Now: now}
	for _, name := range []string{"alice", "bob", "mallory"} {
		if err := f.g.Verify([]byte("m"), f.sign(name, "m"), opts); !errors.Is(err, ErrRevoked) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Credentials know nothing of the group: a key of an issuer is for one. Of two groups with
// one key, members of the first sign in the second, and the opener there has no
// record of them.
func TestOneKeyTwoGroups(t *testing.T) {
	f := newFixture("first", "alice")
	second := must(Setup("second", f.issuer, f.opener))
	m := *f.members["alice"]
	m.g = second
	sig := must(m.Sign([]byte("m"), nil))
	if err := second.Verify([]byte("m"), sig, nil); err != nil {
		t.Errorf("the docs say that it is valid: %v", err)
	}
	if _, err := f.opener.Open(second, second.NewRegister(), []byte("m"), sig, nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("opened: %v", err)
	}
	if f.g.Verify([]byte("m"), sig, nil) == nil {
		t.Error("and in the first group as well")
	}
}

// madeWith signs by the member's own way, and changes the points before the challenge is
// computed, so that only the equations are wrong.
func (f *fixture) madeWith(name string, change func(s *Signature)) *Signature {
	m := f.members[name]
	var rho, psi, k bls12381.Scalar
	rho.Random()
	psi.Random()
	k.Random()
	sig := m.points(&rho, &psi, &k)
	change(sig)
	bls12381.NormalizeG1(&sig.m1, &sig.m2, &sig.z, &sig.w, sig.r)
	bls12381.NormalizeG2(&sig.ww)
	m.respond(sig, []byte("m"), nil, &rho, &k)
	return sig
}

// What holds in the sum of the two equations of a credential, or of one with the proof, if they
// have one weight, is no signature: (1+a)·W and Z + a·P1, and R + a·P1 and (1+b)·W.
func TestCancellationWithin(t *testing.T) {
	f := group()
	p1 := bls12381.G1Generator()
	a := new(bls12381.Scalar).Random()
	sum := func(sig *Signature) bool { // with equal weights
		var x, y bls12381.G1
		x.Add(&sig.z, p1)
		x.Neg(&x)
		y.Add(&sig.w, new(bls12381.G1).Sub(sig.commitment(), sig.r))
		return bls12381.PairingCheckVarTime(bls12381.PairWith(&sig.m1, f.g.k.X), bls12381.PairWith(&sig.m2, f.g.k.Y),
			bls12381.PairOf(&x, &sig.ww), bls12381.PairWith(&y, f.g.k.P2))
	}
	if !sum(f.madeWith("alice", func(*Signature) {})) {
		t.Fatal("the control doesn't hold")
	}
	for name, change := range map[string]func(s *Signature){
		"Z and W": func(s *Signature) {
			var d bls12381.G1
			s.w.Add(&s.w, d.ScalarMult(a, &s.w))
			s.z.Add(&s.z, d.ScalarBaseMult(a))
		},
		"W and R": func(s *Signature) {
			var d bls12381.G1
			d.ScalarBaseMult(a)
			s.w.Add(&s.w, &d)
			s.r.Add(s.r, &d)
		},
	} {
		sig := f.madeWith("alice", change)
		if !sum(sig) {
			t.Errorf("%s: they don't cancel", name)
		}
		f.refused(t, name, "m", sig)
		raw := sig.BatchBytes()
		back, err := f.g.ParseBatchSignature(raw, []byte("m"), nil)
		if err != nil {
			t.Fatal(err)
		}
		f.refused(t, name+", decoded", "m", back)
	}
}

// With a generator that repeats itself, another message or context has other ρ, ψ and k, and
// two members get other t.
func TestNoncesAreHedged(t *testing.T) {
	f := newFixture("hedged", "alice")
	seen := make(map[string]bool)
	note := func(what string, p *bls12381.G1) {
		t.Helper()
		if seen[string(p.Bytes())] {
			t.Errorf("%s came before", what)
		}
		seen[string(p.Bytes())] = true
	}
	for _, in := range [][2]string{{"m", ""}, {"n", ""}, {"m", "c"}} {
		cryptotest.SetGlobalRandom(t, 1)
		sig := must(f.members["alice"].Sign([]byte(in[0]), &SignOptions{Context: []byte(in[1])}))
		for what, p := range map[string]*bls12381.G1{"M2": &sig.m2, "W": &sig.w, "R": sig.r} {
			note(what, p)
		}
	}
	a, b := f.newJoin("bob"), f.newJoin("carol")
	for _, j := range []*Join{a, b} {
		cryptotest.SetGlobalRandom(t, 1)
		note("W of a credential", &f.issuer.credential(j.Request()).w)
	}
}

// One group key serves many goroutines, with hostile signatures in between.
func TestConcurrent(t *testing.T) {
	f := group()
	good := must(ParseSignature(f.sign("alice", "m").Bytes()))
	fresh := f.sign("bob", "m")
	bad := f.madeWith("carol", func(s *Signature) { s.z.Double(&s.z) })
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, sig := range []*Signature{good, bad, fresh, bad, good} {
				if err := f.g.Verify([]byte("m"), sig, nil); (err == nil) != (sig != bad) {
					t.Errorf("%v", err)
				}
			}
			b := f.g.Batch(nil)
			for range 2 {
				for _, sig := range []*Signature{good, bad, fresh} {
					b.Add([]byte("m"), sig)
				}
			}
			var be *BatchError
			if err := b.Verify(); !errors.As(err, &be) || !slices.Equal(be.Bad, []int{1, 4}) {
				t.Errorf("%v", err)
			}
			f.sign("alice", "x")
		})
	}
	wg.Wait()
}

// Decoding the next signature into the variable of the one before doesn't have it verified
// twice.
func TestBatchKeepsSignatures(t *testing.T) {
	f := group()
	good := must(f.sign("alice", "m").MarshalBinary())
	bad := must(f.madeWith("carol", func(s *Signature) { s.z.Double(&s.z) }).MarshalBinary())
	b := f.g.Batch(nil)
	var sig Signature
	for _, data := range [][]byte{good, bad, good} {
		if err := sig.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		b.Add([]byte("m"), &sig)
	}
	var be *BatchError
	if err := b.Verify(); !errors.As(err, &be) || !slices.Equal(be.Bad, []int{1}) {
		t.Errorf("%v", err)
	}
}

// A mark in the opener's register is bound to its token: whoever changes it, so that the
// token may be there twice, spoils the token.
func TestMarkIsBound(t *testing.T) {
	f := newFixture("mark", "alice", "bob")
	sig := f.sign("alice", "m")
	var marks [][]byte
	for r := range f.opening.All() {
		marks = append(marks, r.Evidence[:32])
	}
	if bytes.Equal(marks[0], marks[1]) {
		t.Error("two tokens have one mark")
	}
	for _, change := range []func(){func() { marks[0][0] ^= 1 }, func() { copy(marks[0], marks[1]) }} {
		old := bytes.Clone(marks[0])
		change()
		if _, err := f.opener.Open(f.g, f.opening, []byte("m"), sig, nil); err == nil || errors.Is(err, ErrUnknown) {
			t.Errorf("opened with another mark: %v", err)
		}
		copy(marks[0], old)
	}
	if _, err := f.opener.Open(f.g, f.opening, []byte("m"), sig, nil); err != nil {
		t.Error(err)
	}
}

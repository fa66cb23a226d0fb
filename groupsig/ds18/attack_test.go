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

	"github.com/undersign/undersign/groupsig/internal/tokentest"
	"github.com/undersign/undersign/internal/bls12381"
)

// joinWith joins with the token secret of another member and a base of its own, which
// the issuer can't see, and returns what the opener says.
func joinWith(t *testing.T, f *fixture, name, other string) error {
	t.Helper()
	j := f.NewJoin(name)
	j.r.Set(&f.Members[other].r)
	if err := j.prepare(tokentest.LongTerm(name)); err != nil {
		t.Fatal(err)
	}
	m, err := j.Finish(tokentest.Must(f.Issuer.Issue(f.G, f.Sessions, f.Register, j.Request(), now)))
	if err != nil {
		t.Fatal(err)
	}
	f.Members[name] = m
	return f.Opener.Record(f.G, f.Opening, f.Register.Member(name), tokentest.LongTermPublic(name))
}

// The points (U, Q) of a record don't determine a class: many have one token. Two members
// with one would be opened as the first of them, and once both are revoked no list could be
// made, in which a token is once: nobody would be revoked any more. The opener refuses the
// second, and one that joins again with the token that is listed.
func TestSharedToken(t *testing.T) {
	f := common.New("shared token", "alice", "bob")
	if joinWith(t, f, "mallory", "alice") == nil {
		t.Error("mallory has alice's token")
	}
	sig := f.Sign("mallory", "m")
	o, err := f.Opener.Open(f.G, f.Opening, []byte("m"), sig, nil)
	if err != nil || o.Member() != "alice" {
		t.Errorf("mallory's signature is opened as %v: %v", o, err)
	}
	terms := RevocationTerms{Number: 1, Issued: now, Expires: now + 10}
	for _, register := range []*Register{f.Register, f.Opening} {
		if err := register.Revoke("alice"); err != nil {
			t.Fatal(err)
		}
	}
	l := tokentest.Must(f.Opener.RevocationList(f.G, f.Opening, terms))
	if n, err := f.G.MarkListed(f.Register, l, now); n != 1 || err != nil {
		t.Fatalf("%d are listed: %v", n, err)
	}
	if joinWith(t, f, "alice", "alice") == nil {
		t.Error("alice has the token that is listed")
	}
	// The opener's register comes back, and knows it still.
	back := f.G.NewRegister()
	if err := back.UnmarshalBinary(tokentest.Must(f.Opening.MarshalBinary())); err != nil {
		t.Fatal(err)
	}
	f.Opening = back
	if err := f.Opener.Record(f.G, f.Opening, f.Register.Member("mallory"), tokentest.LongTermPublic("mallory")); err == nil {
		t.Error("mallory has the token that is listed")
	}
	if err := f.Opening.Revoke("bob"); err != nil {
		t.Fatal(err)
	}
	f.Opening.Revoke("mallory") // if the opener has it
	terms.Number++
	if l, err = f.Opener.RevocationList(f.G, f.Opening, terms); err != nil {
		t.Fatalf("nobody can be revoked any more: %v", err)
	}
	opts := &VerifyOptions{Revocation: l, Now: now}
	for _, name := range []string{"alice", "bob", "mallory"} {
		if err := f.G.Verify([]byte("m"), f.Sign(name, "m"), opts); !errors.Is(err, ErrRevoked) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Credentials know nothing of the group: a key of an issuer is for one. Of two groups with
// one key, members of the first sign in the second, and the opener there has no
// record of them.
func TestOneKeyTwoGroups(t *testing.T) {
	f := common.New("first", "alice")
	second := tokentest.Must(Setup("second", f.Issuer, f.Opener))
	m := *f.Members["alice"]
	m.g = second
	sig := tokentest.Must(m.Sign([]byte("m"), nil))
	if err := second.Verify([]byte("m"), sig, nil); err != nil {
		t.Errorf("the docs say that it is valid: %v", err)
	}
	if _, err := f.Opener.Open(second, second.NewRegister(), []byte("m"), sig, nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("opened: %v", err)
	}
	if f.G.Verify([]byte("m"), sig, nil) == nil {
		t.Error("and in the first group as well")
	}
}

// madeWith signs by the member's own way, and changes the points before the challenge is
// computed, so that only the equations are wrong.
func madeWith(f *fixture, name string, change func(s *Signature)) *Signature {
	m := f.Members[name]
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
		return bls12381.PairingCheckVarTime(bls12381.PairWith(&sig.m1, f.G.k.X), bls12381.PairWith(&sig.m2, f.G.k.Y),
			bls12381.PairOf(&x, &sig.ww), bls12381.PairWith(&y, f.G.k.P2))
	}
	if !sum(madeWith(f, "alice", func(*Signature) {})) {
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
		sig := madeWith(f, "alice", change)
		if !sum(sig) {
			t.Errorf("%s: they don't cancel", name)
		}
		refused(t, f, name, "m", sig)
		raw := sig.BatchBytes()
		back, err := f.G.ParseBatchSignature(raw, []byte("m"), nil)
		if err != nil {
			t.Fatal(err)
		}
		refused(t, f, name+", decoded", "m", back)
	}
}

// With a generator that repeats itself, another message or context has other ρ, ψ and k, and
// two members get other t.
func TestNoncesAreHedged(t *testing.T) {
	f := common.New("hedged", "alice")
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
		sig := tokentest.Must(f.Members["alice"].Sign([]byte(in[0]), &SignOptions{Context: []byte(in[1])}))
		for what, p := range map[string]*bls12381.G1{"M2": &sig.m2, "W": &sig.w, "R": sig.r} {
			note(what, p)
		}
	}
	a, b := f.NewJoin("bob"), f.NewJoin("carol")
	for _, j := range []*Join{a, b} {
		cryptotest.SetGlobalRandom(t, 1)
		note("W of a credential", &f.Issuer.credential(j.Request()).w)
	}
}

// One group key serves many goroutines, with hostile signatures in between.
func TestConcurrent(t *testing.T) {
	f := group()
	good := tokentest.Must(ParseSignature(f.Sign("alice", "m").Bytes()))
	fresh := f.Sign("bob", "m")
	bad := madeWith(f, "carol", func(s *Signature) { s.z.Double(&s.z) })
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, sig := range []*Signature{good, bad, fresh, bad, good} {
				if err := f.G.Verify([]byte("m"), sig, nil); (err == nil) != (sig != bad) {
					t.Errorf("%v", err)
				}
			}
			b := f.G.Batch(nil)
			for range 2 {
				for _, sig := range []*Signature{good, bad, fresh} {
					b.Add([]byte("m"), sig)
				}
			}
			var be *BatchError
			if err := b.Verify(); !errors.As(err, &be) || !slices.Equal(be.Bad, []int{1, 4}) {
				t.Errorf("%v", err)
			}
			f.Sign("alice", "x")
		})
	}
	wg.Wait()
}

// Decoding the next signature into the variable of the one before doesn't have it verified
// twice.
func TestBatchKeepsSignatures(t *testing.T) {
	f := group()
	good := tokentest.Must(f.Sign("alice", "m").MarshalBinary())
	bad := tokentest.Must(madeWith(f, "carol", func(s *Signature) { s.z.Double(&s.z) }).MarshalBinary())
	b := f.G.Batch(nil)
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
	f := common.New("mark", "alice", "bob")
	sig := f.Sign("alice", "m")
	var marks [][]byte
	for r := range f.Opening.All() {
		marks = append(marks, r.Evidence[:32])
	}
	if bytes.Equal(marks[0], marks[1]) {
		t.Error("two tokens have one mark")
	}
	for _, change := range []func(){func() { marks[0][0] ^= 1 }, func() { copy(marks[0], marks[1]) }} {
		old := bytes.Clone(marks[0])
		change()
		if _, err := f.Opener.Open(f.G, f.Opening, []byte("m"), sig, nil); err == nil || errors.Is(err, ErrUnknown) {
			t.Errorf("opened with another mark: %v", err)
		}
		copy(marks[0], old)
	}
	if _, err := f.Opener.Open(f.G, f.Opening, []byte("m"), sig, nil); err != nil {
		t.Error(err)
	}
}

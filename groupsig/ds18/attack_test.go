// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ds18

import (
	"errors"
	"testing"
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

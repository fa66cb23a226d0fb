// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokentest

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/internal/bls12381"
)

// reopen returns o with a change to its encoding.
func reopen(o *tokens.Opening, change func([]byte) []byte) (*tokens.Opening, error) {
	q := new(tokens.Opening)
	return q, q.UnmarshalBinary(change(Must(o.MarshalBinary())))
}

// An opening holds for one signature, and names one member.
func (s *Suite[P, G, I, O, J, M, S, R, C]) openings(t *testing.T) {
	f := s.Group()
	m := []byte("m")
	sig, sig2, bobs := f.Sign("alice", "m"), f.Sign("alice", "m"), f.Sign("bob", "m")
	o, ob := Must(f.Open("m", sig)), Must(f.Open("m", bobs))
	alice, bob := LongTermPublic("alice"), LongTermPublic("bob")
	if err := f.G.VerifyOpening(m, sig, o, alice, nil); err != nil {
		t.Fatal(err)
	}
	// libgroupsig's proof doesn't mention the member: here bob's record takes the
	// place of alice's.
	const tail = 192 // the proof, and the opener's signature
	encoded := Must(o.MarshalBinary())
	n := len(encoded)
	framed := Must(reopen(ob, func(b []byte) []byte { return append(b[:len(b)-tail], encoded[n-tail:]...) }))
	var none S
	refused(t, map[string]error{
		"another signature of the member": f.G.VerifyOpening(m, sig2, o, alice, nil),
		"another member's signature":      f.G.VerifyOpening(m, bobs, o, alice, nil),
		"another message":                 f.G.VerifyOpening([]byte("n"), sig, o, alice, nil),
		"another's key":                   f.G.VerifyOpening(m, sig, o, bob, nil),
		"no key":                          f.G.VerifyOpening(m, sig, o, nil, nil),
		"another context":                 f.G.VerifyOpening(m, sig, o, alice, &tokens.OpenOptions{Context: []byte("x")}),
		"another signature context":       f.G.VerifyOpening(m, sig, o, alice, &tokens.OpenOptions{SignatureContext: []byte("x")}),
		"framed":                          f.G.VerifyOpening(m, sig, framed, bob, nil),
		"no opening":                      f.G.VerifyOpening(m, sig, nil, alice, nil),
		"empty":                           f.G.VerifyOpening(m, sig, new(tokens.Opening), alice, nil),
		"another group":                   s.Other().G.VerifyOpening(m, sig, o, alice, nil),
		"no signature":                    f.G.VerifyOpening(m, none, o, alice, nil),
		"zero signature":                  f.G.VerifyOpening(m, s.Zero().Signature, o, alice, nil),
	})
	for i := range n {
		if q, err := reopen(o, func(b []byte) []byte { b[i] ^= 1; return b }); err == nil &&
			(i > 200 || i%7 == 0) && f.G.VerifyOpening(m, sig, q, alice, nil) == nil {
			t.Errorf("byte %d of %d flipped: accepted", i, n)
		}
		if i%9 == 0 {
			if _, err := reopen(o, func(b []byte) []byte { return b[:i] }); err == nil {
				t.Errorf("%d bytes of %d: accepted", i, n)
			}
		}
	}
	if _, err := reopen(o, func(b []byte) []byte { return append(b, 0) }); err == nil {
		t.Error("trailing byte accepted")
	}
	if q, err := reopen(o, bytes.Clone); err != nil || f.G.VerifyOpening(m, sig, q, alice, nil) != nil {
		t.Errorf("decoded opening: %v", err)
	}
	if o.Member() != "alice" || !o.Key().Equal(alice) {
		t.Errorf("opening of %s", o.Member())
	}
	// A context of the opening, and one of the signature.
	opts := &tokens.OpenOptions{SignatureContext: []byte("court"), Context: []byte("case 7")}
	sig = Must(s.Sign(f.Members["alice"], m, opts.SignatureContext))
	o = Must(f.Opener.Open(f.G, f.Opening, m, sig, opts))
	if err := f.G.VerifyOpening(m, sig, o, alice, opts); err != nil {
		t.Error(err)
	}
}

// The issuer signs with a credential that nobody registered: nobody is named.
func (s *Suite[P, G, I, O, J, M, S, R, C]) unregistered(t *testing.T) {
	f := s.Group()
	c := &join.Challenge{Scheme: s.Scheme, GroupID: f.G.ID(), Member: "alice"}
	j := Must(s.NewJoin(f.G, f.G.ID(), c, "alice", LongTerm("mallory")))
	m := Must(j.Finish(s.Credential(f.Issuer, f.G, j.Request())))
	sig := Must(s.Sign(m, []byte("m"), nil))
	if _, err := f.Open("m", sig); !errors.Is(err, tokens.ErrUnknown) {
		t.Errorf("opened: %v", err)
	}
	// With its own record in the register it opens to alice, but not for a judge who
	// knows her key.
	register := f.G.NewRegister()
	g, _, opener := s.Core(f.G, f.Issuer, f.Opener)
	if err := opener.Key.Add(g.Tokens, register, s.Record(j), s.Token(j)); err != nil {
		t.Fatal(err)
	}
	o, err := f.Opener.Open(f.G, register, []byte("m"), sig, nil)
	if err != nil || o.Member() != "alice" {
		t.Fatal(err)
	}
	if f.G.VerifyOpening([]byte("m"), sig, o, LongTermPublic("alice"), nil) == nil {
		t.Error("alice was framed")
	}
}

func (s *Suite[P, G, I, O, J, M, S, R, C]) badOpen(t *testing.T) {
	f := s.Group()
	m, sig := []byte("m"), f.Sign("alice", "m")
	if _, err := f.Open("n", sig); !errors.Is(err, s.ErrSignature) {
		t.Errorf("wrong message: %v", err)
	}
	if _, err := f.Opener.Open(f.G, f.G.NewRegister(), m, sig, nil); !errors.Is(err, tokens.ErrUnknown) {
		t.Errorf("empty register: %v", err)
	}
	errs := map[string]error{}
	_, errs["with the register of another group"] = f.Opener.Open(f.G, s.Other().Opening, m, sig, nil)
	_, errs["by another opener"] = s.Other().Opener.Open(f.G, f.Opening, m, sig, nil)
	_, errs["an empty list by another opener"] = s.Other().Opener.RevocationList(f.G, f.G.NewRegister(), tokens.Terms{})
	// Tokens that were swapped between records, or sealed by another key.
	swapped := f.G.NewRegister()
	var records []join.Record
	for r := range f.Opening.All() {
		records = append(records, *r)
	}
	records[0].Evidence, records[1].Evidence = records[1].Evidence, records[0].Evidence
	for i := range records {
		if err := swapped.Add(&records[i]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Opener.Open(f.G, swapped, m, sig, nil); err == nil || errors.Is(err, tokens.ErrUnknown) {
		t.Errorf("swapped tokens: %v", err)
	}
	g, _, opener := s.Core(f.G, f.Issuer, f.Opener)
	errs["a wrong token is recorded"] = opener.Key.Add(g.Tokens, f.G.NewRegister(), &records[0], bls12381.G2Generator())
	refused(t, errs)
	// The register survives storage.
	stored := f.G.NewRegister()
	if err := stored.UnmarshalBinary(Must(f.Opening.MarshalBinary())); err != nil {
		t.Fatal(err)
	}
	if o, err := f.Opener.Open(f.G, stored, m, sig, nil); err != nil || o.Member() != "alice" {
		t.Errorf("stored register: %v", err)
	}
}

// Every signature of a revoked member is refused, one from before too.
func (s *Suite[P, G, I, O, J, M, S, R, C]) revocation(t *testing.T) {
	f := s.New("revocation", "alice", "bob")
	m := []byte("m")
	before := f.Sign("bob", "m")
	empty := f.List(1)
	if empty.Len() != 0 {
		t.Errorf("%d tokens", empty.Len())
	}
	at := func(l *tokens.List, now int64, min uint64) *tokens.VerifyOptions {
		return &tokens.VerifyOptions{Revocation: l, Now: now, MinNumber: min}
	}
	if err := f.G.Verify(m, before, at(empty, Now, 1)); err != nil {
		t.Errorf("with an empty list: %v", err)
	}
	if err := f.Opening.Revoke("bob"); err != nil {
		t.Fatal(err)
	}
	data := Must(f.List(2).MarshalBinary())
	l := Must(f.G.ParseRevocationList(data))
	if l.Len() != 1 {
		t.Fatalf("%d tokens", l.Len())
	}
	for _, sig := range []S{before, f.Sign("bob", "m")} {
		if err := f.G.Verify(m, sig, at(l, Now, 2)); !errors.Is(err, tokens.ErrRevoked) {
			t.Errorf("revoked member: %v", err)
		}
		if err := f.G.Verify([]byte("n"), sig, at(l, Now, 2)); !errors.Is(err, s.ErrSignature) {
			t.Errorf("revoked member, wrong message: %v", err)
		}
	}
	alice := f.Sign("alice", "m")
	if err := f.G.Verify(m, alice, at(l, Now+100, 2)); err != nil {
		t.Errorf("other member: %v", err)
	}
	for name, o := range map[string]*tokens.VerifyOptions{
		"expired":          at(l, Now+101, 2),
		"not yet issued":   at(l, Now-1, 2),
		"no clock":         at(l, 0, 0),
		"old":              at(empty, Now, 2),
		"of another group": at(s.Other().List(5), Now, 2),
	} {
		if err := f.G.Verify(m, alice, o); !errors.As(err, new(*tokens.StaleError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A revoked member can be opened, and may join anew.
	if o, err := f.Open("m", before); err != nil || o.Member() != "bob" {
		t.Errorf("opening: %v", err)
	}
	if err := f.Register.Revoke("bob"); err != nil {
		t.Fatal(err)
	}
	early := func(what string) {
		t.Helper()
		if _, err := f.Issue(f.NewJoin("bob").Request()); !errors.As(err, new(*join.RejoinError)) {
			t.Errorf("%s: %v, want that it is too early", what, err)
		}
	}
	early("at once")
	if n, err := f.G.MarkListed(f.Register, empty, Now); err != nil || n != 0 {
		t.Errorf("an empty list marks %d, %v", n, err)
	}
	early("not listed")
	errs := map[string]error{}
	for name, bad := range map[string]*tokens.List{"no list": nil, "another group's list": s.Other().List(5), "nobody's list": new(tokens.List)} {
		_, errs[name+" marks"] = f.G.MarkListed(f.Register, bad, Now)
	}
	_, errs["an expired list marks"] = f.G.MarkListed(f.Register, l, Now+101)
	if n, err := f.G.MarkListed(f.Register, l, Now); err != nil || n != 1 {
		t.Fatalf("marked %d, %v", n, err)
	}
	f.Join("bob")
	if err := f.G.Verify(m, f.Sign("bob", "m"), at(l, Now, 2)); err != nil {
		t.Errorf("member who joined anew: %v", err)
	}
	if f.Opening.Len() != 3 {
		t.Errorf("%d records", f.Opening.Len())
	}

	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 1
		if _, err := f.G.ParseRevocationList(bad); err == nil {
			t.Fatalf("byte %d flipped: accepted", i)
		}
	}
	_, errs["trailing byte"] = f.G.ParseRevocationList(append(bytes.Clone(data), 0))
	_, errs["parsed for another group"] = s.Other().G.ParseRevocationList(data)
	_, errs["made by another opener"] = s.Other().Opener.RevocationList(f.G, f.Opening, tokens.Terms{})
	_, errs["expires before it is issued"] = f.Opener.RevocationList(f.G, f.Opening, tokens.Terms{Issued: 2, Expires: 1})
	refused(t, errs)
}

func (s *Suite[P, G, I, O, J, M, S, R, C]) batchRevocation(t *testing.T) {
	f := s.New("batch", "alice", "bob")
	if err := f.Opening.Revoke("bob"); err != nil {
		t.Fatal(err)
	}
	b := s.Batch(f.G, &tokens.VerifyOptions{Revocation: f.List(1), Now: Now})
	for i := range 8 {
		msg := "m"
		if i == 3 {
			msg = "n"
		}
		b.Add([]byte(msg), f.Sign([]string{"alice", "bob"}[i/2%2], "m"))
	}
	var e *tokens.BatchError
	if err := b.Verify(); !errors.As(err, &e) || fmt.Sprint(e.Bad) != "[2 3 6 7]" ||
		!errors.Is(e.Errs[0], tokens.ErrRevoked) || !errors.Is(e.Errs[1], s.ErrSignature) {
		t.Errorf("batch: %v", err)
	}
}

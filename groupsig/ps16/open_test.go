// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

import (
	"bytes"
	"errors"
	"testing"

	"github.com/undersign/undersign/internal/bls12381"
)

func (f *fixture) open(t *testing.T, msg string, sig *Signature) *Opening {
	t.Helper()
	o, err := f.opener.Open(f.g, f.opening, []byte(msg), sig, nil)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// reopen returns o with a change to its encoding.
func reopen(o *Opening, change func([]byte) []byte) (*Opening, error) {
	b, err := o.MarshalBinary()
	if err != nil {
		return nil, err
	}
	q := new(Opening)
	return q, q.UnmarshalBinary(change(b))
}

// An opening holds for one signature, and names one member.
func TestForgedOpenings(t *testing.T) {
	f := group()
	sig, sig2, bobs := f.sign("alice", "m"), f.sign("alice", "m"), f.sign("bob", "m")
	o, ob := f.open(t, "m", sig), f.open(t, "m", bobs)
	m := []byte("m")
	alice, bob := longTermPublic("alice"), longTermPublic("bob")
	if err := f.g.VerifyOpening(m, sig, o, alice, nil); err != nil {
		t.Fatal(err)
	}
	bytesOf := func(o *Opening) []byte {
		b, err := o.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	// libgroupsig's proof doesn't mention the member: here bob's record takes the
	// place of alice's.
	framed, err := reopen(ob, func(b []byte) []byte { return append(b[:len(b)-192], bytesOf(o)[len(bytesOf(o))-192:]...) })
	if err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"another signature of the member": f.g.VerifyOpening(m, sig2, o, alice, nil),
		"another member's signature":      f.g.VerifyOpening(m, bobs, o, alice, nil),
		"another message":                 f.g.VerifyOpening([]byte("n"), sig, o, alice, nil),
		"another's key":                   f.g.VerifyOpening(m, sig, o, bob, nil),
		"no key":                          f.g.VerifyOpening(m, sig, o, nil, nil),
		"another context":                 f.g.VerifyOpening(m, sig, o, alice, &OpenOptions{Context: []byte("x")}),
		"another signature context":       f.g.VerifyOpening(m, sig, o, alice, &OpenOptions{SignatureContext: []byte("x")}),
		"framed":                          f.g.VerifyOpening(m, sig, framed, bob, nil),
		"empty":                           f.g.VerifyOpening(m, sig, &Opening{}, alice, nil),
		"another group":                   other().g.VerifyOpening(m, sig, o, alice, nil),
		"no signature":                    f.g.VerifyOpening(m, nil, o, alice, nil),
		"zero signature":                  f.g.VerifyOpening(m, &Signature{}, o, alice, nil),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	n := len(bytesOf(o))
	for i := range n {
		if q, err := reopen(o, func(b []byte) []byte { b[i] ^= 1; return b }); err == nil &&
			(i > 200 || i%7 == 0) && f.g.VerifyOpening(m, sig, q, alice, nil) == nil {
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
	if q, err := reopen(o, bytes.Clone); err != nil || f.g.VerifyOpening(m, sig, q, alice, nil) != nil {
		t.Errorf("decoded opening: %v", err)
	}
	if o.Member() != "alice" || !o.Key().Equal(alice) {
		t.Errorf("opening of %s", o.Member())
	}
	// A context of the opening, and one of the signature.
	opts := &OpenOptions{SignatureContext: []byte("court"), Context: []byte("case 7")}
	sig, err = f.members["alice"].Sign(m, &SignOptions{Context: []byte("court")})
	if err != nil {
		t.Fatal(err)
	}
	if o, err = f.opener.Open(f.g, f.opening, m, sig, opts); err != nil {
		t.Fatal(err)
	}
	if err := f.g.VerifyOpening(m, sig, o, alice, opts); err != nil {
		t.Error(err)
	}
}

// The issuer signs with a credential that nobody registered: nobody is named.
func TestUnregistered(t *testing.T) {
	f := group()
	j := &Join{g: f.g, challenge: Challenge{Scheme: scheme.Name, GroupID: f.g.ID(), Member: "alice", Kind: Schnorr}}
	j.sk.Random()
	if err := j.prepare(longTerm("mallory")); err != nil {
		t.Fatal(err)
	}
	m, err := j.Finish(f.issuer.credential(j.Request()))
	if err != nil {
		t.Fatal(err)
	}
	sig, err := m.Sign([]byte("m"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.opener.Open(f.g, f.opening, []byte("m"), sig, nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("opened: %v", err)
	}
	// With its own record in the register it opens to alice, but not for a judge who
	// knows her key.
	reg := f.g.NewRegister()
	if err := f.opener.k.Key.Add(f.g.k.Tokens, reg, j.request.record(&j.challenge), &j.request.ttau); err != nil {
		t.Fatal(err)
	}
	o, err := f.opener.Open(f.g, reg, []byte("m"), sig, nil)
	if err != nil || o.Member() != "alice" {
		t.Fatal(err)
	}
	if f.g.VerifyOpening([]byte("m"), sig, o, longTermPublic("alice"), nil) == nil {
		t.Error("alice was framed")
	}
}

func TestBadOpen(t *testing.T) {
	f := group()
	sig := f.sign("alice", "m")
	m := []byte("m")
	if _, err := f.opener.Open(f.g, f.opening, []byte("n"), sig, nil); !errors.Is(err, ErrSignature) {
		t.Errorf("wrong message: %v", err)
	}
	if _, err := f.opener.Open(f.g, f.g.NewRegister(), m, sig, nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("empty register: %v", err)
	}
	if _, err := f.opener.Open(f.g, other().opening, m, sig, nil); err == nil {
		t.Error("opened with the register of another group")
	}
	if _, err := other().opener.Open(f.g, f.opening, m, sig, nil); err == nil {
		t.Error("opened by another opener")
	}
	// Tokens that were swapped between records, or sealed by another key.
	swapped := f.g.NewRegister()
	var records []Record
	for r := range f.opening.All() {
		records = append(records, *r)
	}
	records[0].Evidence, records[1].Evidence = records[1].Evidence, records[0].Evidence
	for i := range records {
		if err := swapped.Add(&records[i]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.opener.Open(f.g, swapped, m, sig, nil); err == nil || errors.Is(err, ErrUnknown) {
		t.Errorf("swapped tokens: %v", err)
	}
	if err := f.opener.k.Key.Add(f.g.k.Tokens, f.g.NewRegister(), &records[0], bls12381.G2Generator()); err == nil {
		t.Error("a wrong token was recorded")
	}
	// The register survives storage.
	b, err := f.opening.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	stored := f.g.NewRegister()
	if err := stored.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	if o, err := f.opener.Open(f.g, stored, m, sig, nil); err != nil || o.Member() != "alice" {
		t.Errorf("stored register: %v", err)
	}
}

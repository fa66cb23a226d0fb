// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"testing"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/groupsig/bbsgs"
	"github.com/undersign/undersign/groupsig/dl21"
	"github.com/undersign/undersign/groupsig/dl21seq"
	"github.com/undersign/undersign/groupsig/gl19"
	"github.com/undersign/undersign/groupsig/internal/zerotest"
	"github.com/undersign/undersign/groupsig/klap20"
	"github.com/undersign/undersign/groupsig/ps16"
)

const now = 1_800_000_000

// join returns a group of a scheme with one member.
func join(t testing.TB, s groupsig.Scheme, f groupsig.Features) (groupsig.GroupKey, groupsig.MemberKey) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	d, err := s.NewDraft("test", f)
	check(err)
	issuer := s.GenerateIssuerKey()
	roles := []groupsig.Role{issuer}
	if d.Features().Has(groupsig.Escrow) {
		opener, err := s.GenerateOpenerKey(f)
		check(err)
		roles = append(roles, opener)
	}
	if d.Features().Has(groupsig.Convert) {
		converter, err := s.GenerateConverterKey()
		check(err)
		roles = append(roles, converter)
	}
	if d.Features().Has(groupsig.Link) {
		roles = append(roles, s.(groupsig.LinkingScheme).GenerateLinkerKey())
	}
	for _, r := range roles {
		check(r.Enroll(d))
	}
	for _, r := range roles {
		check(r.Consent(d))
	}
	gk, err := d.GroupKey()
	check(err)
	public, private, err := ed25519.GenerateKey(nil)
	check(err)
	sessions, register := gk.NewSessions(), gk.NewRegister()
	c, err := issuer.Invite(gk, sessions, "ada", public, now, 60)
	check(err)
	p, m2, err := gk.NewJoin(gk.ID(), c, "ada", private)
	check(err)
	m3, err := issuer.Issue(gk, sessions, register, m2, now, 0)
	check(err)
	m, err := p.Finish(m3, 0)
	check(err)
	return gk, m
}

// Keys and signatures are those of the schemes' own packages.
func TestPackages(t *testing.T) {
	msg := []byte("hello")
	for name, pkg := range map[string]struct {
		scoped bool
		// verify decodes a group key, encodes it again, and verifies a signature.
		verify func(key, sig []byte) ([]byte, error)
	}{
		"ps16": {false, func(key, sig []byte) ([]byte, error) {
			k := new(ps16.GroupKey)
			if err := k.UnmarshalBinary(key); err != nil {
				return nil, err
			}
			s, err := ps16.ParseSignature(sig)
			if err != nil {
				return nil, err
			}
			b, _ := k.MarshalBinary()
			return b, k.Verify(msg, s, nil)
		}},
		"klap20": {false, func(key, sig []byte) ([]byte, error) {
			k := new(klap20.GroupKey)
			if err := k.UnmarshalBinary(key); err != nil {
				return nil, err
			}
			s, err := klap20.ParseSignature(sig)
			if err != nil {
				return nil, err
			}
			b, _ := k.MarshalBinary()
			return b, k.Verify(msg, s, nil)
		}},
		"dl21": {true, func(key, sig []byte) ([]byte, error) {
			k := new(dl21.GroupKey)
			if err := k.UnmarshalBinary(key); err != nil {
				return nil, err
			}
			b, _ := k.MarshalBinary()
			return b, k.Verify(msg, sig, dl21.VerifyOptions{Scope: []byte("s")})
		}},
		"dl21seq": {true, func(key, sig []byte) ([]byte, error) {
			k := new(dl21seq.GroupKey)
			if err := k.UnmarshalBinary(key); err != nil {
				return nil, err
			}
			b, _ := k.MarshalBinary()
			return b, k.Verify(msg, sig, dl21seq.VerifyOptions{Scope: []byte("s")})
		}},
		"gl19": {false, func(key, sig []byte) ([]byte, error) {
			k := new(gl19.GroupKey)
			if err := k.UnmarshalBinary(key); err != nil {
				return nil, err
			}
			b, _ := k.MarshalBinary()
			return b, k.Verify(msg, sig, gl19.VerifyOptions{})
		}},
		"bbsgs": {true, func(key, sig []byte) ([]byte, error) {
			k := new(bbsgs.GroupKey)
			if err := k.UnmarshalBinary(key); err != nil {
				return nil, err
			}
			b, _ := k.MarshalBinary()
			return b, k.Verify(msg, sig, bbsgs.VerifyOptions{Scope: []byte("s")})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := groupsig.ByName(name)
			if err != nil {
				t.Fatal(err)
			}
			// With all features: what a package has, this one has.
			gk, m := join(t, s, s.Required()|s.Optional())
			var o groupsig.SignOptions
			if pkg.scoped {
				o.Scope = []byte("s")
			}
			sig, err := m.Sign(msg, o)
			if err != nil {
				t.Fatal(err)
			}
			key, err := gk.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			if back, err := pkg.verify(key, sig); err != nil || !bytes.Equal(key, back) {
				t.Errorf("package %s: %v", name, err)
			}
		})
	}
}

// Every feature that a package has is one that its scheme has here.
func TestPackageFeatures(t *testing.T) {
	for bit := range 16 {
		f := groupsig.Features(1) << bit
		for _, s := range groupsig.Schemes() {
			_, err := s.NewDraft("test", s.Required()|f)
			want := f&(s.Required()|s.Optional()) != 0
			if f == groupsig.Token && !s.Required().Has(groupsig.Escrow) {
				want = false // alone
			}
			if (err == nil) != want {
				t.Errorf("%s with %s: %v", s.Name(), f, err)
			}
		}
	}
}

func TestByName(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range groupsig.Schemes() {
		got, err := groupsig.ByName(s.Name())
		if err != nil || got != s || seen[s.Name()] || s.Summary() == "" {
			t.Errorf("%s: %v", s.Name(), err)
		}
		seen[s.Name()] = true
	}
	if len(seen) < 10 {
		t.Errorf("%d schemes", len(seen))
	}
	if s, err := groupsig.ByName("bbs05"); err == nil {
		t.Errorf("there is %s", s.Name())
	}
}

func TestFeatures(t *testing.T) {
	for f := range groupsig.Features(512) {
		if got, err := groupsig.ParseFeatures(f.String()); err != nil || got != f {
			t.Errorf("%s is %s, %v", f, got, err)
		}
	}
	for _, bad := range []string{"scop", "scope,", ",", "scope, epoch", "0x8000", "Scope"} {
		if f, err := groupsig.ParseFeatures(bad); err == nil {
			t.Errorf("%q is %s", bad, f)
		}
	}
	if s := groupsig.Features(1 << 15).String(); s != "0x8000" {
		t.Errorf("%q", s)
	}
}

// Keys of one scheme do nothing with those of another.
func TestForeignKeys(t *testing.T) {
	gks := map[string]groupsig.GroupKey{}
	members := map[string]groupsig.MemberKey{}
	for _, s := range groupsig.Schemes() {
		gks[s.Name()], members[s.Name()] = join(t, s, 0)
	}
	msg := []byte("m")
	for _, s := range groupsig.Schemes() {
		o := groupsig.SignOptions{}
		sig, err := members[s.Name()].Sign(msg, o)
		if err != nil {
			t.Fatal(err)
		}
		for name, gk := range gks {
			err := gk.Verify(msg, sig, groupsig.VerifyOptions{})
			if gk.Features().Has(groupsig.Rekey) && errors.As(err, new(*groupsig.StaleError)) {
				_, err = gk.SignatureID(msg, sig, groupsig.VerifyOptions{}) // without a list there is no verdict
			}
			if (err == nil) != (name == s.Name()) {
				t.Errorf("%s verifies what %s signed: %v", name, s.Name(), err)
			}
			if name == s.Name() {
				continue
			}
			issuer := s.GenerateIssuerKey()
			if _, err := issuer.Issue(gk, gk.NewSessions(), gk.NewRegister(), nil, now, 0); err == nil {
				t.Errorf("an issuer of %s issues for %s", s.Name(), name)
			}
			if opener, err := s.GenerateOpenerKey(groupsig.Escrow); err == nil {
				if _, err := opener.Open(gk, gk.NewRegister(), msg, sig, groupsig.VerifyOptions{}, nil); err == nil {
					t.Errorf("an opener of %s opens for %s", s.Name(), name)
				}
			}
			b, err := members[s.Name()].MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := gk.ParseMemberKey(b); err == nil {
				t.Errorf("%s takes a member's key of %s", name, s.Name())
			}
		}
	}
}

// Nothing panics for keys, states and objects that are nil or empty.
func TestEmptyArguments(t *testing.T) {
	for _, s := range groupsig.Schemes() {
		gk, m := join(t, s, 0)
		d, err := s.NewDraft("test", 0)
		if err != nil {
			t.Fatal(err)
		}
		values := []any{s, gk, m, d, s.GenerateIssuerKey()}
		if o, err := s.GenerateOpenerKey(groupsig.Escrow); err == nil {
			values = append(values, o)
		}
		if c, err := s.GenerateConverterKey(); err == nil {
			values = append(values, c)
		}
		if b, ok := groupsig.As[groupsig.Blinder](gk); ok {
			k, err := b.NewBlindingKey()
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, k)
		}
		if b, ok := groupsig.As[groupsig.BatchVerifier](gk); ok {
			values = append(values, b.Batch(groupsig.VerifyOptions{}))
		}
		for _, v := range values {
			zerotest.Calls(t, v)
		}
		if gk.Verify(nil, nil, groupsig.VerifyOptions{}) == nil {
			t.Errorf("%s: nothing is a signature", s.Name())
		}
	}
}

// Decoders of what is given by others.
func FuzzParse(f *testing.F) {
	var keys []groupsig.GroupKey
	for _, s := range groupsig.Schemes() {
		gk, m := join(f, s, s.Required()|s.Optional())
		keys = append(keys, gk)
		d, _ := s.NewDraft("test", 0)
		for _, v := range []interface{ MarshalBinary() ([]byte, error) }{gk, m, d} {
			b, err := v.MarshalBinary()
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, s := range groupsig.Schemes() {
			if d, err := s.ParseDraft(b); err == nil {
				if again, err := d.MarshalBinary(); err != nil || !bytes.Equal(again, b) {
					t.Errorf("%s: a draft that isn't canonical: %v", s.Name(), err)
				}
				d.ID()
				d.GroupKey()
			}
		}
		for _, gk := range keys {
			gk.Verify(nil, b, groupsig.VerifyOptions{})
			gk.ParsePending(b)
			if v, ok := gk.(groupsig.OpeningVerifier); ok {
				v.ParseOpening(b)
			}
			if r, err := gk.(groupsig.RevocationReader).ParseRevocation(b); err == nil {
				if again, err := r.MarshalBinary(); err != nil || !bytes.Equal(again, b) {
					t.Errorf("a revocation state that isn't canonical: %v", err)
				}
			}
		}
	})
}

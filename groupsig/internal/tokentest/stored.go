// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokentest

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/tokens"
)

// Update says that files of testdata are to be written.
var Update = flag.Bool("update", false, "write testdata")

const storedFile = "testdata/stored.txt"

// Stored tests that what was stored by version 1 is still read, is encoded as the same
// bytes, and still fits together: keys, messages, registers, signatures, openings, lists.
func (s *Suite[P, G, I, O, J, M, S, R, C]) Stored(t *testing.T) {
	if *Update {
		s.store(t)
	}
	data, err := os.ReadFile(storedFile)
	if err != nil {
		t.Fatal(err)
	}
	v := make(map[string][]byte)
	for l := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(l), ": ")
		if v[name], err = hex.DecodeString(value); err != nil {
			t.Fatal(err)
		}
	}
	z := s.Zero()
	g := z.GroupKey
	if err := g.UnmarshalBinary(v["group key"]); err != nil {
		t.Fatal(err)
	}
	sessions, register, opening, o := g.NewSessions(), g.NewRegister(), g.NewRegister(), new(tokens.Opening)
	for _, x := range []struct {
		name string
		v    Codec
	}{
		{"group key", g}, {"issuer key", z.Issuer}, {"opener key", z.Opener}, {"sessions", sessions}, {"join", z.Join},
		{"request", z.Request}, {"credential", z.Credential}, {"member key", z.Member}, {"issuer's register", register},
		{"opener's register", opening}, {"signature", z.Signature}, {"opening", o},
	} {
		if err := x.v.UnmarshalBinary(v[x.name]); err != nil {
			t.Fatalf("%s: %v", x.name, err)
		}
		if b, err := x.v.MarshalBinary(); err != nil || !bytes.Equal(b, v[x.name]) {
			t.Errorf("%s: encoded as %x: %v", x.name, b, err)
		}
	}
	msg := []byte("message")
	opts := &tokens.VerifyOptions{Context: []byte("context")}
	if id := g.ID(); !bytes.Equal(id[:], v["gid"]) {
		t.Errorf("gid %x", id)
	}
	if id := z.Signature.ID(); !bytes.Equal(id[:], v["sigID"]) {
		t.Errorf("signature ID %x", id)
	}
	if err := g.Verify(msg, z.Signature, opts); err != nil {
		t.Error(err)
	}
	if q, err := s.Parse(z.Signature.Bytes()); err != nil || !q.Equal(z.Signature) {
		t.Errorf("parsed: %v", err)
	}
	if k, err := s.Setup("stored", z.Issuer, z.Opener); err != nil || k.ID() != g.ID() {
		t.Errorf("set up again: %v", err)
	}
	if c, err := z.Issuer.Issue(g, sessions, register, z.Request, Now); err != nil || !bytes.Equal(Must(c.MarshalBinary()), v["credential"]) {
		t.Errorf("issued: %v", err)
	}
	if m, err := z.Join.Finish(z.Credential); err != nil || !m.Equal(z.Member) {
		t.Errorf("finished: %v", err)
	}
	if sig, err := s.Sign(z.Member, msg, opts.Context); err != nil || g.Verify(msg, sig, opts) != nil {
		t.Errorf("signed: %v", err)
	}
	// The opener checks what the member proved, and finds the token.
	again := g.NewRegister()
	if err := z.Opener.Record(g, again, register.Member("alice"), LongTermPublic("alice")); err != nil {
		t.Error(err)
	}
	open := &tokens.OpenOptions{SignatureContext: opts.Context, Context: []byte("case 7")}
	for name, r := range map[string]*join.Register{"stored": opening, "new": again} {
		if q, err := z.Opener.Open(g, r, msg, z.Signature, open); err != nil || q.Member() != "alice" {
			t.Errorf("opened by the %s register: %v", name, err)
		}
	}
	if err := g.VerifyOpening(msg, z.Signature, o, LongTermPublic("alice"), open); err != nil {
		t.Error(err)
	}
	l, err := g.ParseRevocationList(v["list"])
	if err != nil {
		t.Fatal(err)
	}
	opts.Revocation, opts.Now = l, Now
	if err := g.Verify(msg, z.Signature, opts); !errors.Is(err, tokens.ErrRevoked) {
		t.Errorf("revoked: %v", err)
	}
}

// store writes the file.
func (s *Suite[P, G, I, O, J, M, S, R, C]) store(t *testing.T) {
	f := s.New("stored")
	j := f.NewJoin("alice")
	cred := Must(f.Issue(j.Request()))
	m := Must(j.Finish(cred))
	if err := f.Opener.Record(f.G, f.Opening, f.Register.Member("alice"), LongTermPublic("alice")); err != nil {
		t.Fatal(err)
	}
	sig := Must(s.Sign(m, []byte("message"), []byte("context")))
	o := Must(f.Opener.Open(f.G, f.Opening, []byte("message"), sig,
		&tokens.OpenOptions{SignatureContext: []byte("context"), Context: []byte("case 7")}))
	opening := Must(f.Opening.MarshalBinary())
	if err := f.Opening.Revoke("alice"); err != nil {
		t.Fatal(err)
	}
	gid, sigID := f.G.ID(), sig.ID()
	var out strings.Builder
	for _, x := range []struct {
		name string
		b    []byte
	}{
		{"group key", Must(f.G.MarshalBinary())}, {"gid", gid[:]}, {"issuer key", Must(f.Issuer.MarshalBinary())},
		{"opener key", Must(f.Opener.MarshalBinary())}, {"sessions", Must(f.Sessions.MarshalBinary())},
		{"join", Must(j.MarshalBinary())}, {"request", Must(j.Request().MarshalBinary())},
		{"credential", Must(cred.MarshalBinary())}, {"member key", Must(m.MarshalBinary())},
		{"issuer's register", Must(f.Register.MarshalBinary())}, {"opener's register", opening},
		{"signature", Must(sig.MarshalBinary())}, {"sigID", sigID[:]}, {"opening", Must(o.MarshalBinary())},
		{"list", Must(f.List(1).MarshalBinary())},
	} {
		fmt.Fprintf(&out, "%s: %x\n", x.name, x.b)
	}
	if err := os.WriteFile(storedFile, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

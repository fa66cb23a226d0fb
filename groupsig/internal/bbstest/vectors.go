// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbstest

import (
	"bytes"
	"encoding"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/bbs"
)

var update = flag.Bool("update", false, "write testdata/vectors.txt")

const vectorsFile = "testdata/vectors.txt"

// Keys and signatures of the first release stay valid.
func (s *Suite[D, G, I, O, N, M]) vectors(t *testing.T) {
	if *update {
		s.writeVectors(t)
	}
	data, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	v := map[string][]byte{}
	for l := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(l), ": ")
		if v[name], err = hex.DecodeString(value); err != nil {
			t.Fatal(err)
		}
	}
	_, gk, issuer, opener, _, _ := s.Zero()
	o := new(bbs.Opening)
	for _, err := range []error{
		gk.UnmarshalBinary(v["group key"]), opener.UnmarshalBinary(v["opener key"]),
		issuer.UnmarshalBinary(v["issuer key"]), o.UnmarshalBinary(v["opening"]),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	register := gk.NewRegister()
	if err := register.UnmarshalBinary(v["register"]); err != nil {
		t.Fatal(err)
	}
	if id := gk.ID(); !bytes.Equal(id[:], v["expect gid"]) {
		t.Errorf("gid %x", id)
	}
	msg, opts := []byte("message"), s.Options()
	if err := gk.Verify(msg, v["signature"], opts); err != nil {
		t.Error(err)
	}
	if id, err := gk.SignatureID(msg, s.Scope, v["signature"]); err != nil || !bytes.Equal(id[:], v["expect sigID"]) {
		t.Errorf("signature ID %x, %v", id, err)
	}
	if err := gk.VerifyOpening(msg, v["signature"], opts, o, Public("ada"), nil); err != nil {
		t.Error(err)
	}
	if o, err := opener.Open(gk, register, msg, v["signature"], opts, nil); err != nil || o.Member() != "ada" {
		t.Error("open", err)
	}
	if err := opener.CheckRecord(gk, register.Member("ada"), Public("ada")); err != nil {
		t.Error(err)
	}
	if k, ok := any(gk).(revocable); ok {
		if r, err := k.ParseRevocation(v["revocation list"]); err != nil || r.Len() != 1 || r.Number() != 4 {
			t.Error("revocation list", err)
		}
	}
	if s.Epoch != 0 {
		if a, err := gk.ParseAnnouncement(v["announcement"]); err != nil || a.Epoch() != s.Epoch || a.Number() != 4 {
			t.Error("announcement", err)
		}
	}
	m, err := gk.ParseMemberKey(v["member key"])
	if err != nil {
		t.Fatal(err)
	}
	// They are encoded as the same bytes.
	for name, x := range map[string]encoding.BinaryMarshaler{
		"group key": gk, "opener key": opener, "issuer key": issuer, "register": register, "member key": m, "opening": o,
	} {
		if b, err := x.MarshalBinary(); err != nil || !bytes.Equal(b, v[name]) {
			t.Errorf("%s: encoded as %x: %v", name, b, err)
		}
	}
}

func (s *Suite[D, G, I, O, N, M]) writeVectors(t *testing.T) {
	g := s.New(t, "vectors", s.Features)
	ada := g.Join("ada")
	msg := []byte("message")
	sig := g.Sign(ada, "message")
	o, err := g.Opener.Open(g.Key, g.Register, msg, sig, s.Options(), nil)
	if err != nil {
		t.Fatal(err)
	}
	id, err := g.Key.SignatureID(msg, s.Scope, sig)
	if err != nil {
		t.Fatal(err)
	}
	type vector struct {
		name string
		v    encoding.BinaryMarshaler
	}
	all := []vector{{"group key", g.Key}, {"opener key", g.Opener}, {"issuer key", g.Issuer}, {"register", g.Register}, {"member key", ada}, {"opening", o}}
	if k, ok := any(g.Opener).(revoker[G]); ok {
		list, err := k.RevocationList(g.Key, Terms, bbs.Revoked{Pseudonyms: [][]byte{g.Pseudonym(sig)}})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, vector{"revocation list", list})
	}
	if s.Epoch != 0 {
		a, err := g.Issuer.Announce(g.Key, Terms, s.Epoch-1, s.Epoch)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, vector{"announcement", a})
	}
	var out strings.Builder
	for _, x := range all {
		b, err := x.v.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s: %x\n", x.name, b)
	}
	fmt.Fprintf(&out, "signature: %x\nexpect gid: %x\nexpect sigID: %x\n", sig, g.Key.ID(), id)
	if err := os.WriteFile(vectorsFile, []byte(out.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package strongrsa

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/undersign/undersign/groupsig/legacy/internal/qrn"
	"github.com/undersign/undersign/internal/modexp"
)

var update = flag.Bool("update", false, "make testdata/vectors.txt anew")

const vectorsFile = "testdata/vectors.txt"

// TestVectors checks that what was once made, at full size, is still valid and encoded
// in the same way, and that what is hashed from a group's label is the same.
func TestVectors(t *testing.T) {
	if *update {
		makeVectors(t)
	}
	data, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	v := make(map[string][]byte)
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && !strings.HasPrefix(line, "#") {
			if v[name], err = hex.DecodeString(value); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range makers {
		s := schemeOf(t, i, qrn.Standard)
		g, err := s.ParseGroupKey(v[s.name+" group key"])
		if err != nil {
			t.Fatal(err)
		}
		if id := g.ID(); !bytes.Equal(id[:], v[s.name+" gid"]) {
			t.Errorf("%s: another gid", s.name)
		}
		if !bytes.Equal(g.base["h"].Bytes(), v[s.name+" h"]) {
			t.Errorf("%s: another base h", s.name)
		}
		m, err := g.ParseMemberKey(v[s.name+" member key"])
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := m.MarshalBinary(); !bytes.Equal(b, v[s.name+" member key"]) {
			t.Errorf("%s: another encoding", s.name)
		}
		sig := v[s.name+" signature"]
		if err := g.Verify([]byte("message"), []byte("context"), sig); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		if got := frozenSignature(t, m); !bytes.Equal(got, v[s.name+" chosen"]) {
			t.Errorf("%s: another signature of chosen numbers", s.name)
		} else if err := g.Verify([]byte("message"), []byte("context"), got); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		again, err := m.Sign([]byte("again"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Verify([]byte("again"), nil, again); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		var o Opening
		if err := o.UnmarshalBinary(v[s.name+" opening"]); err != nil {
			t.Fatal(err)
		}
		if err := g.VerifyOpening([]byte("message"), []byte("context"), sig, nil, &o, public("ada")); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
	}
}

// frozenSignature returns the signature that chosen blinds and nonces give.
func frozenSignature(t *testing.T, m *MemberKey) []byte {
	t.Helper()
	g, s := m.g, m.g.s
	blinds := make([]modexp.Nat, len(s.blinds))
	for i, r := range s.blinds {
		blinds[i] = chosen("blind "+string(rune('0'+i)), r.Bits)
	}
	ts, v := s.hide(m, blinds)
	b := make([]*qrn.Base, len(ts))
	var sig []byte
	for i := range ts {
		b[i] = g.group(i).NewBase(ts[i])
		sig = append(sig, b[i].Bytes()...)
	}
	st, items := g.signed([]byte("message"), []byte("context"), b)
	nonces := make([]modexp.Nat, len(v))
	for i, r := range s.secrets {
		nonces[i] = chosen("nonce "+string(rune('0'+i)), r.Response(s.p))
	}
	proof, ok := st.ProveChosen(s.dst("sig"), items, nonces, v)
	if !ok {
		t.Fatal("the chosen nonces aren't good")
	}
	return append(sig, proof...)
}

func makeVectors(t *testing.T) {
	var out bytes.Buffer
	for i := range makers {
		s := schemeOf(t, i, qrn.Standard)
		w := newWorld(t, s, "vectors")
		m := w.join("ada")
		sig, err := m.Sign([]byte("message"), []byte("context"))
		if err != nil {
			t.Fatal(err)
		}
		o, err := w.opener.Open(w.opening, []byte("message"), []byte("context"), sig, nil)
		if err != nil {
			t.Fatal(err)
		}
		id := w.gk.ID()
		key, _ := m.MarshalBinary()
		opening, _ := o.MarshalBinary()
		for _, x := range []struct {
			name string
			b    []byte
		}{
			{"group key", w.gk.encode()}, {"gid", id[:]}, {"h", w.gk.base["h"].Bytes()},
			{"member key", key}, {"signature", sig}, {"opening", opening},
			{"chosen", frozenSignature(t, m)},
		} {
			fmt.Fprintf(&out, "%s %s: %x\n", s.name, x.name, x.b)
		}
	}
	if err := os.WriteFile(vectorsFile, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

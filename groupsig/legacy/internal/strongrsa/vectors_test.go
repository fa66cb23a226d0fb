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
		} {
			fmt.Fprintf(&out, "%s %s: %x\n", s.name, x.name, x.b)
		}
	}
	if err := os.WriteFile(vectorsFile, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

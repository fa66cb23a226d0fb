// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cl04

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
)

var update = flag.Bool("update", false, "make testdata/vectors.txt anew")

const vectorsFile = "testdata/vectors.txt"

// TestVectors checks that what was once made is still valid and encoded in the same
// way.
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
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			if v[name], err = hex.DecodeString(value); err != nil {
				t.Fatal(err)
			}
		}
	}
	g, err := ParseGroupKey(v["group key"])
	if err != nil {
		t.Fatal(err)
	}
	if id := g.ID(); !bytes.Equal(id[:], v["gid"]) || !bytes.Equal(g.h.Bytes(), v["h"]) {
		t.Error("another gid or base h")
	}
	m, err := g.ParseMemberKey(v["member key"])
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := m.MarshalBinary(); !bytes.Equal(b, v["member key"]) {
		t.Error("another encoding")
	}
	if err := g.Verify([]byte("message"), []byte("context"), v["signature"]); err != nil {
		t.Error(err)
	}
	if got := frozenSignature(m); !bytes.Equal(got, v["chosen"]) {
		t.Error("another signature of chosen numbers")
	} else if err := g.Verify([]byte("message"), []byte("context"), got); err != nil {
		t.Error(err)
	}
	var o Opening
	if err := o.UnmarshalBinary(v["opening"]); err != nil {
		t.Fatal(err)
	}
	if err := g.VerifyOpening([]byte("message"), []byte("context"), v["signature"], nil, &o, public("ada")); err != nil {
		t.Error(err)
	}
}

// frozenSignature returns the signature that chosen blinds and nonces give.
func frozenSignature(m *MemberKey) []byte {
	chosen := func(name string) (k bls12381.Scalar) {
		k.SetHash([]byte(name), []byte("undersign test vector"))
		return k
	}
	u, r1, r2 := chosen("u"), chosen("r1"), chosen("r2")
	nonces := []bls12381.Scalar{chosen("k0"), chosen("k1"), chosen("k2")}
	t := m.hide(&u, &r1, &r2)
	m.finish(&u, t)
	st := m.g.relations(t)
	c := m.g.challenge([]byte("message"), []byte("context"), t, st, st.Commit(nonces), m.commitGT(&r1, &r2, nonces))
	s := sigma.Respond(c, nonces, []bls12381.Scalar{m.k, u, *new(bls12381.Scalar).Inverse(&r1)})
	var sig []byte
	for i := range t {
		sig = t[i].Append(sig)
	}
	return (&sigma.Proof{C: *c, S: s}).Append(sig)
}

func makeVectors(t *testing.T) {
	w := newWorld(t, "vectors")
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
	var out bytes.Buffer
	for _, x := range []struct {
		name string
		b    []byte
	}{
		{"group key", w.gk.encode()}, {"gid", id[:]}, {"h", w.gk.h.Bytes()},
		{"member key", key}, {"signature", sig}, {"opening", opening},
		{"chosen", frozenSignature(m)},
	} {
		fmt.Fprintf(&out, "%s: %x\n", x.name, x.b)
	}
	if err := os.WriteFile(vectorsFile, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

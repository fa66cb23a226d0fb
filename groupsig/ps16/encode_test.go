// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/groupsig/internal/tokentest"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// TestVectors freezes a signature that is made from chosen secrets, and thereby
// labels, order and encodings.
func TestVectors(t *testing.T) {
	const file = "testdata/signature.txt"
	scalar := func(name string) (k bls12381.Scalar) {
		k.SetHash([]byte(name), []byte("undersign test vector"))
		return k
	}
	kx, ky := scalar("x"), scalar("y")
	x, y := &kx, &ky
	issuer, opener := new(IssuerKey), new(OpenerKey)
	seed := [tokens.SeedSize]byte{1, 2, 3}
	if err := errors.Join(issuer.UnmarshalBinary(slices.Concat([]byte{version, suite}, x.Bytes(), y.Bytes())),
		opener.UnmarshalBinary(append([]byte{version, suite}, seed[:]...))); err != nil {
		t.Fatal(err)
	}
	g, err := Setup("vectors", issuer, opener)
	if err != nil {
		t.Fatal(err)
	}
	j := &Join{g: g, challenge: Challenge{Scheme: scheme.Name, GroupID: g.ID(), Session: SessionID{7}, Member: "alice", Kind: Schnorr}, sk: scalar("sk")}
	if err := j.prepare(tokentest.LongTerm("alice")); err != nil {
		t.Fatal(err)
	}
	u := scalar("u")
	cred := &Credential{session: SessionID{7}}
	cred.s1.ScalarBaseMult(&u)
	var e, p bls12381.Scalar
	cred.s2.ScalarMult(e.MulAdd(y, &j.sk, x), &cred.s1)
	m, err := j.Finish(cred)
	if err != nil {
		t.Fatal(err)
	}
	e, p = scalar("t"), scalar("k")
	sig := m.points(&e)
	bls12381.NormalizeG1(&sig.s1, &sig.s2)
	m.respond(sig, []byte("message"), []byte("context"), &e, &p)
	if err := g.Verify([]byte("message"), sig, &VerifyOptions{Context: []byte("context")}); err != nil {
		t.Fatal(err)
	}
	id, sigID := g.ID(), sig.ID()
	var out strings.Builder
	for _, line := range []struct {
		name string
		b    []byte
	}{
		{"issuer", issuer.Public()}, {"opener", opener.Public()}, {"gid", id[:]},
		{"tau", j.request.tau.Bytes()}, {"token", j.request.ttau.Bytes()}, {"registration", j.request.reg.Sig},
		{"signature", sig.Bytes()}, {"sigID", sigID[:]},
	} {
		fmt.Fprintf(&out, "%s: %x\n", line.name, line.b)
	}
	if *tokentest.Update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	// The signature of the file, once more, by its definition.
	var s Signature
	for line := range strings.Lines(string(want)) {
		if name, v, _ := strings.Cut(strings.TrimSpace(line), ": "); name == "signature" {
			b, err := hex.DecodeString(v)
			if err != nil {
				t.Fatal(err)
			}
			q, err := ParseSignature(b)
			if err != nil {
				t.Fatal(err)
			}
			s = *q
		}
	}
	var r, f1, f2 bls12381.GT
	f1.PairVarTime(&s.s1, g.k.IssuerY())
	r.ExpVarTime(&f1, &s.s)
	f1.PairVarTime(&s.s2, bls12381.G2Generator())
	f2.PairVarTime(&s.s1, new(bls12381.G2).ScalarBaseMult(x))
	r.Mul(&r, f1.ExpVarTime(f1.Div(&f1, &f2), &s.c))
	items := new(transcript.Items).Bytes("gid", id[:]).Bytes("ver", nil).Bytes("context", []byte("context")).
		Message("m", transcript.MessageOf([]byte("message"))).G1("s1", &s.s1).G1("s2", &s.s2).GT("R", &r)
	if !s.c.Equal(items.Challenge([]byte("undersign/groupsig/v1/ps16/sig"))) {
		t.Error("the file's signature isn't valid by its definition")
	}
}

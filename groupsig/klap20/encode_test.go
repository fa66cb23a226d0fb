// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package klap20

import (
	"bytes"
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

func TestHostileBatchEncodings(t *testing.T) {
	g := group().G
	common.Hostile(t, "111R", group().Sign("alice", "m").BatchBytes(), func(raw []byte) (*Signature, error) {
		return g.ParseBatchSignature(raw, []byte("m"), nil)
	})
}

// A signature has one name, whatever its layout, and each layout gives the other.
func TestLayouts(t *testing.T) {
	f := group()
	m := []byte("m")
	ctx := &VerifyOptions{Context: []byte("ctx")}
	sig, err := f.Members["bob"].Sign(m, &SignOptions{Context: ctx.Context})
	if err != nil {
		t.Fatal(err)
	}
	compact, err := ParseSignature(sig.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if len(sig.BatchBytes()) != BatchSignatureSize || !bytes.Equal(sig.BatchBytes(), compact.BatchBytes()) {
		t.Error("the batch layout differs")
	}
	merged, err := f.G.ParseBatchSignature(sig.BatchBytes(), m, ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Signature{compact, merged} {
		if err := f.G.Verify(m, s, ctx); err != nil {
			t.Error(err)
		}
		if s.ID() != sig.ID() || !s.Equal(sig) || !bytes.Equal(s.Bytes(), sig.Bytes()) {
			t.Error("the signature has two names")
		}
	}
	other, err := f.G.ParseBatchSignature(sig.BatchBytes(), []byte("n"), ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, msg := range []string{"m", "n"} {
		if f.G.Verify([]byte(msg), other, ctx) == nil {
			t.Error("parsed with another message: verifies")
		}
	}
}

// TestVectors freezes a signature that is made from chosen secrets, and thereby
// labels, order and encodings.
func TestVectors(t *testing.T) {
	const file = "testdata/signature.txt"
	scalar := func(name string) (k bls12381.Scalar) {
		k.SetHash([]byte(name), []byte("undersign test vector"))
		return k
	}
	bytesOf := func(name string) []byte { k := scalar(name); return k.Bytes() }
	issuer, opener := new(IssuerKey), new(OpenerKey)
	seed := [tokens.SeedSize]byte{1, 2, 3}
	if err := errors.Join(issuer.UnmarshalBinary(slices.Concat([]byte{version, suite}, bytesOf("x"), bytesOf("y"))),
		opener.UnmarshalBinary(slices.Concat([]byte{version, suite}, bytesOf("z0"), bytesOf("z1"), seed[:]))); err != nil {
		t.Fatal(err)
	}
	g, err := Setup("vectors", issuer, opener)
	if err != nil {
		t.Fatal(err)
	}
	j := &Join{g: g, challenge: Challenge{Scheme: scheme.Name, GroupID: g.ID(), Session: SessionID{7}, Member: "alice"}, alpha: scalar("alpha")}
	if err := j.prepare(tokentest.LongTerm("alice")); err != nil {
		t.Fatal(err)
	}
	cred := issuer.credential(g, j.Request())
	m, err := j.Finish(cred)
	if err != nil {
		t.Fatal(err)
	}
	r, k := scalar("r"), scalar("k")
	sig := m.points(&r, &k)
	bls12381.NormalizeG1(&sig.uu, &sig.vv, &sig.ww, sig.r)
	m.respond(sig, []byte("message"), []byte("context"), &k)
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
		{"f", j.request.f.Bytes()}, {"w", j.request.w.Bytes()}, {"v", cred.v.Bytes()}, {"registration", j.request.reg.Sig},
		{"signature", sig.Bytes()}, {"batch", sig.BatchBytes()}, {"sigID", sigID[:]},
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
	// The same by its definition: the challenge, and v = (x + alpha·y)·u.
	items := new(transcript.Items).Bytes("gid", id[:]).Bytes("ver", nil).Bytes("context", []byte("context")).
		Message("m", transcript.MessageOf([]byte("message"))).G1("uu", &sig.uu).G1("vv", &sig.vv).G1("ww", &sig.ww)
	var u, p, q bls12381.G1
	u.HashVarTime(new(transcript.Items).Bytes("gid", id[:]).G1("f", &j.request.f).Data(), []byte("undersign/groupsig/v1/klap20/h2c/join"))
	p.Add(p.ScalarMultVarTime(&sig.s, &sig.uu), q.ScalarMultVarTime(&sig.c, &sig.ww))
	if !sig.c.Equal(items.G1("R", &p).Challenge([]byte("undersign/groupsig/v1/klap20/sig"))) {
		t.Error("the signature isn't valid by its definition")
	}
	x, y := issuer.k.Secrets()
	if e := new(bls12381.Scalar).MulAdd(y, &m.alpha, x); !p.ScalarMultVarTime(e, &u).Equal(&cred.v) {
		t.Error("the credential isn't valid by its definition")
	}
}

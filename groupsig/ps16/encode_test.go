// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

import (
	"bytes"
	"encoding"
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

type codec interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// objects returns one object of each kind, with a function that makes an empty one.
func objects() map[string][2]func() codec {
	f := group()
	of := func(v codec, empty func() codec) [2]func() codec {
		return [2]func() codec{func() codec { return v }, empty}
	}
	j := f.newJoin("walter")
	f.sessions.Cancel(j.request.reg.Session)
	r := j.Request()
	o, err := f.opener.Open(f.g, f.opening, []byte("m"), f.sign("alice", "m"), nil)
	if err != nil {
		panic(err)
	}
	return map[string][2]func() codec{
		"group key":  of(f.g, func() codec { return new(GroupKey) }),
		"issuer key": of(f.issuer, func() codec { return new(IssuerKey) }),
		"opener key": of(f.opener, func() codec { return new(OpenerKey) }),
		"member key": of(f.members["alice"], func() codec { return new(MemberKey) }),
		"join":       of(j, func() codec { return new(Join) }),
		"request":    of(r, func() codec { return new(Request) }),
		"credential": of(f.issuer.credential(r), func() codec { return new(Credential) }),
		"signature":  of(f.sign("bob", "m"), func() codec { return new(Signature) }),
		"opening":    of(o, func() codec { return new(Opening) }),
	}
}

func TestRoundTrip(t *testing.T) {
	for name, v := range objects() {
		b, err := v[0]().MarshalBinary()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		q := v[1]()
		if err := q.UnmarshalBinary(b); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c, err := q.MarshalBinary(); err != nil || !bytes.Equal(b, c) {
			t.Errorf("%s: another encoding: %v", name, err)
		}
		for _, n := range []int{0, 1, 2, 3, len(b) / 2, len(b) - 1} {
			if v[1]().UnmarshalBinary(b[:n]) == nil {
				t.Errorf("%s: %d bytes of %d accepted", name, n, len(b))
			}
		}
		if v[1]().UnmarshalBinary(append(bytes.Clone(b), 0)) == nil {
			t.Errorf("%s: trailing byte accepted", name)
		}
		for i := range 2 {
			c := bytes.Clone(b)
			c[i]++
			if v[1]().UnmarshalBinary(c) == nil {
				t.Errorf("%s: unknown version or suite accepted", name)
			}
		}
		// What decodes with a byte flipped is canonical too. Those that check
		// signatures and credentials accept nothing.
		step := 1
		if len(b) > 400 {
			step = 13
		}
		for i := 2; i < len(b); i += step {
			c := bytes.Clone(b)
			c[i] ^= 1
			q := v[1]()
			if q.UnmarshalBinary(c) != nil {
				continue
			}
			switch name {
			case "group key", "member key":
				t.Errorf("%s: byte %d of %d flipped: accepted", name, i, len(b))
			}
			if d, err := q.MarshalBinary(); err != nil || !bytes.Equal(c, d) {
				t.Errorf("%s: byte %d: decoded, and encoded as something else: %v", name, i, err)
			}
		}
	}
	for name, v := range objects() {
		if b, err := v[1]().MarshalBinary(); err == nil {
			t.Errorf("%s: an empty one has the encoding %x", name, b)
		}
	}
}

func TestEqual(t *testing.T) {
	f, o := group(), other()
	if !f.g.Equal(f.g) || f.g.Equal(o.g) || f.g.Equal(nil) ||
		!f.issuer.Equal(f.issuer) || f.issuer.Equal(o.issuer) || f.issuer.Equal(nil) ||
		!f.opener.Equal(f.opener) || f.opener.Equal(o.opener) || f.opener.Equal(nil) ||
		!f.members["bob"].Equal(f.members["bob"]) || f.members["bob"].Equal(f.members["alice"]) || f.members["bob"].Equal(nil) {
		t.Error("Equal")
	}
}

// The order-3 point (0, 2): no pairing sees it when it is added to a point.
func order3() []byte {
	b := make([]byte, bls12381.G1Size)
	b[0] = 0x80
	return b
}

func TestHostileEncodings(t *testing.T) {
	f := group()
	raw := f.sign("alice", "m").Bytes()
	r, _ := hex.DecodeString("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001")
	put := func(at int, b []byte) []byte {
		c := bytes.Clone(raw)
		copy(c[at:], b)
		return c
	}
	zero := make([]byte, bls12381.G1Size)
	identity := append([]byte{0xc0}, zero[1:]...)
	uncompressed := put(0, []byte{raw[0] &^ 0x80})
	ones := bytes.Repeat([]byte{0xff}, 48)
	for at := 0; at < 96; at += 48 {
		for name, b := range map[string][]byte{
			"identity": identity, "order 3": order3(), "zero": zero, "x = p or more": append([]byte{0x9f}, ones[1:]...), "ones": ones,
		} {
			if _, err := ParseSignature(put(at, b)); !errors.Is(err, ErrSignature) {
				t.Errorf("%s at %d: %v", name, at, err)
			}
		}
	}
	for at := 96; at < 160; at += 32 {
		for _, b := range [][]byte{r, bytes.Repeat([]byte{0xff}, 32)} {
			if _, err := ParseSignature(put(at, b)); !errors.Is(err, ErrSignature) {
				t.Errorf("scalar not below r at %d: %v", at, err)
			}
		}
	}
	for _, b := range [][]byte{nil, raw[:159], append(bytes.Clone(raw), 0), uncompressed, make([]byte, 160)} {
		if _, err := ParseSignature(b); !errors.Is(err, ErrSignature) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	}
	for i := range raw {
		for _, bit := range []byte{1, 0x80} {
			c := bytes.Clone(raw)
			c[i] ^= bit
			if sig, err := ParseSignature(c); err == nil && f.g.Verify([]byte("m"), sig, nil) == nil {
				t.Errorf("byte %d flipped: verifies", i)
			}
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
	if err := j.prepare(longTerm("alice")); err != nil {
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

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/undersign/undersign/internal/bls12381"
)

// eachScheme runs a test with a group, a message, and a signature of it.
func eachScheme(t *testing.T, f func(t *testing.T, g testGroup, k *GroupKey, msg, sig []byte)) {
	for _, s := range Schemes() {
		t.Run(s.String(), func(t *testing.T) {
			g := newTestGroup(s)
			k, err := ParseGroupKey(g.key)
			if err != nil {
				t.Fatal(err)
			}
			msg, text := []byte("a message"), []byte("a message")
			if s.HasScopes() {
				msg = message("a scope", "a message")
			}
			f(t, g, k, msg, g.join().sign([]byte("a scope"), text))
		})
	}
}

// mustRefuse demands that a signature isn't valid, and that the error says why.
func mustRefuse(t *testing.T, k *GroupKey, msg, sig []byte, word, what string) {
	t.Helper()
	if _, err := k.Verify(msg, sig); !errors.Is(err, ErrSignature) || !strings.Contains(err.Error(), word) {
		t.Errorf("%s: %v", what, err)
	}
}

func TestVerify(t *testing.T) {
	eachScheme(t, func(t *testing.T, g testGroup, k *GroupKey, msg, sig []byte) {
		res, err := k.Verify(msg, sig)
		if err != nil {
			t.Fatal(err)
		}
		if res.Scheme != g.scheme || len(res.Flaws) == 0 || string(res.Text) != "a message" {
			t.Errorf("%+v", res)
		}
		if (len(res.Pseudonym) > 0) != g.scheme.HasScopes() || (string(res.Scope) == "a scope") != g.scheme.HasScopes() {
			t.Errorf("scope %q, pseudonym %x", res.Scope, res.Pseudonym)
		}
		text := base64.StdEncoding.EncodeToString(sig)
		if _, err := k.Verify(msg, []byte(text[:72]+"\n"+text[72:]+"\n")); err != nil {
			t.Error("in base64:", err)
		}
		other := newTestGroup(g.scheme)
		k2, err := ParseGroupKey(other.key)
		if err != nil {
			t.Fatal(err)
		}
		if k2.Equal(k) || k2.ID() == k.ID() {
			t.Error("two groups have one ID")
		}
		mustRefuse(t, k2, msg, sig, "", "another group's")
		mustRefuse(t, k, bytes.Replace(msg, []byte("a mess"), []byte("a mass"), 1), sig, "", "another message's")
		mustRefuse(t, k, bytes.Replace(msg, []byte("a message"), nil, 1), sig, "empty", "of nothing")
		mustRefuse(t, k, msg, nil, "header", "no signature")
		mustRefuse(t, k, msg, []byte("%"), "base64", "no base64")
		mustRefuse(t, k, msg, bytes.Repeat([]byte("A"), maxText+4), "long", "a long text")
		mustRefuse(t, k, msg, append(bytes.Clone(sig), 0), "follow", "with a byte more")
		for i := range sig {
			mustRefuse(t, k, msg, sig[:i], "", "truncated")
		}
		for code := range 10 {
			if bad := bytes.Clone(sig); Scheme(code) != g.scheme {
				bad[0] = byte(code)
				mustRefuse(t, k, msg, bad, "", "of another scheme")
			}
		}
		if !g.scheme.HasScopes() {
			if _, err := k.VerifyScoped([]byte("a scope"), msg, sig); err == nil {
				t.Error("a scope where there are none")
			}
			return
		}
		if _, err := k.VerifyScoped([]byte("a scope"), []byte("a message"), sig); err != nil {
			t.Error("by its parts:", err)
		}
		for _, parts := range [][2]string{{"A scope", "a message"}, {"a scope", "A message"}, {"", "a message"}, {"a scope", ""}} {
			if _, err := k.VerifyScoped([]byte(parts[0]), []byte(parts[1]), sig); !errors.Is(err, ErrSignature) {
				t.Errorf("%q: %v", parts, err)
			}
		}
	})
}

// points outside the subgroup and others that no field may have, by name.
func badPoints(t *testing.T) map[string][]byte {
	torsion := bls12381.NewG1() // (0,2), of order 3
	b := make([]byte, bls12381.G1SizeUncompressed)
	b[len(b)-1] = 2
	if err := torsion.SetUncompressedUnsafe(b); err != nil {
		t.Fatal(err)
	}
	x := bytes.Repeat([]byte{0xff}, 48)
	return map[string][]byte{
		"the identity":              make([]byte, 48),
		"x = 0 and y odd":           append(make([]byte, 47), 0x80),
		"outside the subgroup":      appendG1(nil, new(p1).Add(torsion, rnd1())),
		"not on the curve":          append([]byte{1}, make([]byte, 47)...),
		"not reduced":               x,
		"not reduced, without sign": append(bytes.Clone(x[:47]), 0x1f),
		"x + 2³⁸¹":                  func() []byte { e := appendG1(nil, rnd1()); e[47] |= 0x20; return e }(),
	}
}

func TestElementsOfSignatures(t *testing.T) {
	points := badPoints(t)
	order := []byte{0x01, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xfe, 0x5b, 0xfe, 0xff, 0x02, 0xa4, 0xbd, 0x53, 0x05, 0xd8, 0xa1, 0x09, 0x08, 0xd8, 0x39, 0x33, 0x48, 0x7d, 0x9d, 0x29, 0x53, 0xa7, 0xed, 0x73}
	eachScheme(t, func(t *testing.T, g testGroup, k *GroupKey, msg, sig []byte) {
		at := 1
		for _, kind := range g.fields {
			size := 32
			if kind == 'p' {
				size = 48
			}
			set := func(what string, enc []byte) {
				t.Helper()
				bad := bytes.Clone(sig)
				copy(bad[at+4:], enc)
				mustRefuse(t, k, msg, bad, "", what)
			}
			if kind == 'p' {
				for name, enc := range points {
					set(name, enc)
				}
				flip := bytes.Clone(sig[at+4 : at+4+size])
				flip[47] ^= 0x80
				set("the opposite point", flip)
				set("another point", appendG1(nil, rnd1()))
			} else {
				set("the group order", order)
				set("all ones", bytes.Repeat([]byte{0xff}, 32))
				set("another scalar", appendScalar(nil, rnd()))
				set("zero", make([]byte, 32))
			}
			for _, n := range []byte{0, 31, 33, 47, 49, 96, 0xff} {
				if int(n) == size {
					continue
				}
				bad := bytes.Clone(sig)
				bad[at] = n
				mustRefuse(t, k, msg, bad, "length", "a wrong length")
			}
			bad := bytes.Clone(sig)
			bad[at+3] = 0x80
			mustRefuse(t, k, msg, bad, "length", "a huge length")
			// Left out, as the library writes what is absent.
			bad = append(append(bytes.Clone(sig[:at]), 0, 0, 0, 0), sig[at+4+size:]...)
			mustRefuse(t, k, msg, bad, "length", "a field left out")
			at += 4 + size
		}
		if at+g.tail != len(sig) {
			t.Errorf("fields end at %d of %d", at, len(sig))
		}
	})
}

// A universal forgery for PS16 and KLAP20 as the library verifies them: the identity for
// all points.
func TestIdentityForgeries(t *testing.T) {
	id := new(p1)
	for _, s := range []Scheme{PS16, KLAP20} {
		g := newTestGroup(s)
		k, err := ParseGroupKey(g.key)
		if err != nil {
			t.Fatal(err)
		}
		sig := export(nil, s, id, id, hashBLAKE(id, id, new(bls12381.GT), []byte("hello")), rnd())
		if s == KLAP20 {
			sig = export(nil, s, id, id, id, hashSHA1([]byte("hello"), id, id, id), rnd())
		}
		mustRefuse(t, k, []byte("hello"), sig, "identity", s.String())
	}
}

// What is known to be forgeable stays so, and the result says it: one member, one scope,
// two pseudonyms.
func TestKnownFlawDL21(t *testing.T) {
	g1, g2, h1, h2, isk := rnd1(), rnd2(), rnd1(), rnd1(), rnd()
	k, err := ParseGroupKey(export(nil, DL21, byte(0), g1, g2, h1, h2, lin2(isk, g2)))
	if err != nil {
		t.Fatal(err)
	}
	y, x, s, one := rnd(), rnd(), rnd(), new(sc).SetOne()
	b := lin(one, g1, y, h1, s, h2)
	a := lin(inv(add(isk, x)), b)
	seen := map[string]bool{}
	for range 2 {
		sig := signDL21(DL21, []byte("vote"), []byte("yes"), g1, h1, h2, a, b, x, s, y, rnd())
		res, err := k.VerifyScoped([]byte("vote"), []byte("yes"), sig)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(res.Flaws, "\n"), "several in one scope") {
			t.Errorf("flaws %q", res.Flaws)
		}
		seen[string(res.Pseudonym)] = true
	}
	if len(seen) != 2 {
		t.Error("the pseudonym is bound to the member after all: say so")
	}
	// A credential that isn't the group's helps nobody.
	bad := signDL21(DL21, []byte("vote"), []byte("yes"), g1, h1, h2, lin(rnd(), b), b, x, s, y, y)
	if _, err := k.VerifyScoped([]byte("vote"), []byte("yes"), bad); !errors.Is(err, ErrSignature) {
		t.Error("a credential of nobody:", err)
	}
}

// The values of a sequence aren't signed; their lengths are what they are in exports.
func TestSequenceValues(t *testing.T) {
	g := newTestGroup(DL21SEQ)
	k, err := ParseGroupKey(g.key)
	if err != nil {
		t.Fatal(err)
	}
	msg := message("s", "m")
	sig := g.join().sign([]byte("s"), []byte("m"))
	seq := len(sig) - g.tail
	first := append(bytes.Clone(sig[:seq+40]), append(make([]byte, 8), sig[seq+80:]...)...)
	if _, err := k.Verify(msg, first); err != nil {
		t.Error("a member's first signature:", err)
	}
	bad := bytes.Clone(sig)
	bad[seq+8] ^= 1
	if _, err := k.Verify(msg, bad); err != nil {
		t.Error("values of the sequence are signed after all: say so:", err)
	}
	for _, i := range []int{0, 80} {
		bad := append(bytes.Clone(sig[:seq+i]), append(make([]byte, 8), sig[seq+i+40:]...)...)
		mustRefuse(t, k, msg, bad, "length", "a value left out")
	}
	for i := range 8 {
		bad := bytes.Clone(sig)
		bad[seq+i] ^= 0x40
		mustRefuse(t, k, msg, bad, "length", "a huge value")
	}
}

func TestMessages(t *testing.T) {
	g := newTestGroup(DL21)
	k, err := ParseGroupKey(g.key)
	if err != nil {
		t.Fatal(err)
	}
	m := g.join()
	scope, text := []byte("a\t\"scope\""), []byte("Grüße\\\n")
	sig := m.sign(scope, text)
	for _, good := range []string{
		`{"scope":"a\t\"scope\"","message":"Grüße\\\n"}`,
		" {\n\"message\" : \"Grüße\\\\\\n\" ,\r\n\t\"scope\":\"a\\t\\\"scope\\\"\" }\n",
	} {
		res, err := k.Verify([]byte(good), sig)
		if err != nil || !bytes.Equal(res.Scope, scope) || !bytes.Equal(res.Text, text) {
			t.Errorf("%s: %v", good, err)
		}
	}
	sig = m.sign([]byte("s"), []byte("m"))
	if _, err := k.Verify([]byte(`{"scope":"s","message":"m"}`), sig); err != nil {
		t.Fatal(err)
	}
	for word, bad := range map[string]string{
		"covers":   `{"scope":"s","message":"m","note":"sign here"}`,
		"twice":    `{"scope":"s","message":"m","message":"n"}`,
		`twice `:   `{"scope":"s","scope":"s","message":"m"}`,
		`"scope"`:  `{"message":"m"}`,
		`"message`: `{"scope":"s"}`,
		"empty":    `{"scope":"s","message":""}`,
		"empty ":   `{"scope":"","message":"m"}`,
		"escape":   `{"scope":"s","message":"\u006d"}`,
		"escape ":  `{"scope":"s","message":"m\/"}`,
		"escape  ": `{"\scope":"s","message":"m"}`,
		"control":  "{\"scope\":\"s\",\"message\":\"m\n\"}",
		"UTF-8":    "{\"scope\":\"s\",\"message\":\"m\xff\"}",
		"end":      `{"scope":"s","message":"m`,
		"end ":     `{"scope":"s","message":"m\`,
		"object":   `{"scope":"s","message":"m"`,
		"object ":  `"m"`,
		`object o`: `{"scope":"s","message":1}`,
		`object  `: `{"scope":"s" "message":"m"}`,
		`bject`:    `{"scope":"s","message":"m",}`,
		`'"'`:      `{}`,
		"follows":  `{"scope":"s","message":"m"}{}`,
		"":         ``,
	} {
		mustRefuse(t, k, []byte(bad), sig, strings.TrimSpace(word), bad)
	}
}

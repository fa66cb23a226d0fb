// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
)

// proveHom proves knowledge of x in G2 with e(g,x) = k, as the opener does in PS16.
func proveHom(g *p1, x *p2, msg []byte) []byte {
	rr := rnd2()
	c := hashBLAKE(msg, g, pair(g, x), pair(g, rr))
	return export(nil, PS16, new(p2).Add(rr, lin2(c, x)), c)
}

func TestVerifyOpening(t *testing.T) {
	g := newPS16()
	k, err := ParseGroupKey(g.key)
	if err != nil {
		t.Fatal(err)
	}
	a, b := g.join(), g.join()
	l, err := k.ParseMemberList(list(Fork, a, b))
	if err != nil {
		t.Fatal(err)
	}
	msg := []byte("hello")
	sig := b.sign(nil, msg)
	r := &reader{b: sig[1:]}
	s1 := r.g1("s1")
	proof := proveHom(s1, l.Members[1].g2[0], sig)
	o, err := k.VerifyOpening(msg, sig, proof)
	if err != nil {
		t.Fatal(err)
	}
	if id, ok := o.Member(l); !ok || id != 1 {
		t.Errorf("it names %d, %v", id, ok)
	}
	for what, other := range map[string]*MemberList{"without the signer": {Scheme: PS16, Members: l.Members[:1]}, "of another scheme": {Scheme: KLAP20, Members: l.Members}, "of nobody": {Scheme: PS16}} {
		if id, ok := o.Member(other); ok {
			t.Errorf("a list %s names %d", what, id)
		}
	}
	bad := func(what string, msg, sig, proof []byte, want error, word string) {
		t.Helper()
		if _, err := k.VerifyOpening(msg, sig, proof); !errors.Is(err, want) || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", what, err)
		}
	}
	again := b.sign(nil, msg)
	bad("somebody else's token", msg, sig, proveHom(s1, l.Members[0].g2[0], sig), ErrProof, "")
	bad("another signature", msg, again, proof, ErrProof, "")
	bad("bound to something else", msg, sig, proveHom(s1, l.Members[1].g2[0], again), ErrProof, "")
	bad("another message", []byte("bye"), sig, proof, ErrSignature, "")
	bad("no proof", msg, sig, nil, ErrProof, "header")
	bad("text", msg, sig, []byte("%"), ErrProof, "base64")
	bad("a byte more", msg, sig, append(bytes.Clone(proof), 0), ErrProof, "follow")
	bad("another scheme's", msg, sig, append([]byte{byte(KLAP20)}, proof[1:]...), ErrProof, "klap20")
	for i := range proof {
		bad("truncated", msg, sig, proof[:i], ErrProof, "")
	}
	identity := bytes.Clone(proof)
	clear(identity[5 : 5+96])
	bad("the identity", msg, sig, identity, ErrProof, "identity")
	d, err := ParseGroupKey(newTestGroup(DL21).key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.VerifyOpening(msg, sig, proof); err == nil {
		t.Error("a scheme without openings has one")
	}
}

// A linkGroup is a group of DL21 or DL21SEQ with two members.
type linkGroup struct {
	scheme Scheme
	k      *GroupKey
	y      [2]*sc
	sign   [2]func(scope string) Signed
}

func newLinkGroup(t *testing.T, scheme Scheme) *linkGroup {
	g1, g2, h1, h2, isk, one := rnd1(), rnd2(), rnd1(), rnd1(), rnd(), new(sc).SetOne()
	k, err := ParseGroupKey(export(nil, scheme, byte(0), g1, g2, h1, h2, lin2(isk, g2)))
	if err != nil {
		t.Fatal(err)
	}
	g := &linkGroup{scheme: scheme, k: k}
	for i := range g.y {
		y, x, s := rnd(), rnd(), rnd()
		b := lin(one, g1, y, h1, s, h2)
		a := lin(inv(add(isk, x)), b)
		g.y[i], g.sign[i] = y, func(scope string) Signed {
			return Signed{message(scope, "m"), signDL21(scheme, []byte(scope), []byte("m"), g1, h1, h2, a, b, x, s, y, y)}
		}
	}
	return g
}

var linkText = []byte("linked")

// prove makes a proof for signatures in some scopes.
func (g *linkGroup) prove(y *sc, scopes ...string) []byte {
	sum := new(p1)
	for _, s := range scopes {
		sum.Add(sum, hashToG1([]byte(s)))
	}
	c, s := proveLog(linkText, lin(y, sum), sum, y)
	return export(nil, g.scheme, s, c)
}

func (g *linkGroup) bad(t *testing.T, what string, set []Signed, text, proof []byte, want error) {
	t.Helper()
	if err := g.k.VerifyLink(set, text, proof); err == nil || want != nil && !errors.Is(err, want) {
		t.Errorf("%s: %v", what, err)
	}
}

func TestVerifyLink(t *testing.T) {
	g := newLinkGroup(t, DL21)
	k, text, prove := g.k, linkText, g.prove
	y1, y2, sign1, sign2 := g.y[0], g.y[1], g.sign[0], g.sign[1]
	a, b, c := sign1("a"), sign1("b"), sign2("b")
	proof := prove(y1, "a", "b")
	if err := k.VerifyLink([]Signed{b, a}, text, proof); err != nil {
		t.Error(err)
	}
	if err := k.VerifyLink([]Signed{a, sign1("a")}, text, prove(y1, "a", "a")); err != nil {
		t.Error("one pseudonym twice:", err)
	}
	bad := func(what string, set []Signed, text, proof []byte, want error) {
		t.Helper()
		g.bad(t, what, set, text, proof, want)
	}
	bad("two members", []Signed{a, c}, text, proof, ErrProof)
	bad("one less", []Signed{a}, text, proof, ErrProof)
	bad("one more", []Signed{a, b, sign1("c")}, text, proof, ErrProof)
	bad("another text", []Signed{a, b}, []byte("Linked"), proof, ErrProof)
	bad("no text", []Signed{a, b}, nil, proof, nil)
	bad("nothing", nil, text, proof, nil)
	bad("another member", []Signed{a, b}, text, prove(y2, "a", "b"), ErrProof)
	bad("a byte more", []Signed{a, b}, text, append(bytes.Clone(proof), 0), ErrProof)
	bad("c and s exchanged", []Signed{a, b}, text, append(append([]byte{proof[0]}, proof[37:]...), proof[1:37]...), ErrProof)
	forged := Signed{a.Message, bytes.Clone(a.Signature)}
	forged.Signature[70] ^= 1
	bad("a signature that isn't valid", []Signed{forged, b}, text, proof, ErrSignature)

	// Two members in one scope, whom the library takes for one: both pseudonyms' sum is
	// twice the scope's point times the mean of their secrets.
	mean := mul(add(y1, y2), inv(new(sc).SetUint64(2)))
	bad("two colluders", []Signed{b, c}, text, prove(mean, "b", "b"), ErrProof)

	p, err := ParseGroupKey(newTestGroup(PS16).key)
	if err != nil {
		t.Fatal(err)
	}
	if p.VerifyLink([]Signed{a, b}, text, proof) == nil {
		t.Error("a scheme without links has one")
	}
}

// A signature is linked with itself by anybody who made one, and shows nothing.
func TestLinkRepeated(t *testing.T) {
	for _, scheme := range []Scheme{DL21, DL21SEQ} {
		g := newLinkGroup(t, scheme)
		a, b := g.sign[0]("a"), g.sign[0]("b")
		text := Signed{a.Message, []byte(base64.StdEncoding.EncodeToString(a.Signature))}
		spaced := Signed{bytes.Replace(a.Message, []byte(", "), []byte(" ,\n "), 1), a.Signature}
		if _, err := g.k.Verify(spaced.Message, spaced.Signature); err != nil {
			t.Fatal(err)
		}
		again := map[string]Signed{"the same": a, "in base64": text, "with other white space": spaced}
		if scheme == DL21SEQ { // two exports of one signature differ here
			other := Signed{a.Message, bytes.Clone(a.Signature)}
			other.Signature[len(other.Signature)-1] ^= 1
			if _, err := g.k.Verify(other.Message, other.Signature); err != nil {
				t.Fatal(err)
			}
			again["with another sequence"] = other
		}
		for what, s := range again {
			for _, set := range [][]Signed{{a, s}, {s, a}, {a, b, s}, {s, b, a}} {
				scopes := []string{"a", "a", "b"}[:len(set)]
				err := g.k.VerifyLink(set, linkText, g.prove(g.y[0], scopes...))
				if !errors.Is(err, ErrProof) || !strings.Contains(err.Error(), "again") {
					t.Errorf("%s: %s: %v", scheme, what, err)
				}
			}
		}
		// Another signature in the scope is another one.
		if err := g.k.VerifyLink([]Signed{a, g.sign[0]("a"), b}, linkText, g.prove(g.y[0], "a", "a", "b")); err != nil {
			t.Error(err)
		}
	}
}

// The library exports a link of DL21SEQ with eight bytes of 0 from the last one of c.
func TestLinkExport(t *testing.T) {
	g := newLinkGroup(t, DL21SEQ)
	set := []Signed{g.sign[0]("a"), g.sign[0]("b")}
	for range 3 { // of several values of the byte
		whole := g.prove(g.y[0], "a", "b")
		proof := append(bytes.Clone(whole[:72]), make([]byte, 8)...)
		if err := g.k.VerifyLink(set, linkText, proof); err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{72, 73, 79, 81} {
			if n != 73 || whole[72] != 0 { // else it is whole
				g.bad(t, "of another length", set, linkText, append(bytes.Clone(proof), 0)[:n], ErrProof)
			}
		}
		for i := range proof {
			if i%9 == 0 || i > 70 {
				bad := bytes.Clone(proof)
				bad[i] ^= 1
				g.bad(t, "changed", set, linkText, bad, ErrProof)
			}
		}
		g.bad(t, "another text", set, []byte("Linked"), proof, ErrProof)
		g.bad(t, "one less", set[:1], linkText, proof, ErrProof)
		g.bad(t, "another member", set, linkText, append(g.prove(g.y[1], "a", "b")[:72], make([]byte, 8)...), ErrProof)
	}
	d := newLinkGroup(t, DL21)
	d.bad(t, "in DL21", []Signed{d.sign[0]("a")}, linkText, append(d.prove(d.y[0], "a")[:72], make([]byte, 8)...), ErrProof)
}

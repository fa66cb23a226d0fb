// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package libgroupsig

import (
	"bytes"
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

func TestVerifyLink(t *testing.T) {
	g1, g2, h1, h2, isk, one := rnd1(), rnd2(), rnd1(), rnd1(), rnd(), new(sc).SetOne()
	k, err := ParseGroupKey(export(nil, DL21, byte(0), g1, g2, h1, h2, lin2(isk, g2)))
	if err != nil {
		t.Fatal(err)
	}
	member := func() (y *sc, sign func(scope string) Signed) {
		y, x, s := rnd(), rnd(), rnd()
		b := lin(one, g1, y, h1, s, h2)
		a := lin(inv(add(isk, x)), b)
		return y, func(scope string) Signed {
			return Signed{message(scope, "m"), signDL21(DL21, []byte(scope), []byte("m"), g1, h1, h2, a, b, x, s, y, y)}
		}
	}
	text := []byte("linked")
	prove := func(y *sc, scopes ...string) []byte {
		sum := new(p1)
		for _, s := range scopes {
			sum.Add(sum, hashToG1([]byte(s)))
		}
		c, s := proveLog(text, lin(y, sum), sum, y)
		return export(nil, DL21, s, c)
	}
	y1, sign1 := member()
	y2, sign2 := member()
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
		if err := k.VerifyLink(set, text, proof); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v", what, err)
		}
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

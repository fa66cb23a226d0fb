// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/undersign/undersign/internal/bls12381"
)

func TestLink(t *testing.T) {
	for _, f := range []Features{Scope, Plus | Scope, Plus | Scope | Sequence} {
		g := newGroup(t, f)
		ada, bob := g.join("ada"), g.join("bob")
		set := []Signed{g.signed(ada, "a", "s"), g.signed(ada, "b", "t"), g.signed(ada, "c", "s")}
		link, err := ada.Link(set, []byte("ctx"))
		if err != nil {
			t.Fatal(err)
		}
		if err := g.k.VerifyLink(set, []byte("ctx"), link); err != nil {
			t.Fatal(err)
		}
		refused := func(what string, set []Signed, ctx string, link []byte) {
			t.Helper()
			if g.k.VerifyLink(set, []byte(ctx), link) == nil {
				t.Errorf("%s: accepted", what)
			}
		}
		refused("another context", set, "ctx2", link)
		refused("another order", []Signed{set[1], set[0], set[2]}, "ctx", link)
		refused("fewer", set[:2], "ctx", link)
		refused("none", nil, "ctx", link)
		refused("twice the same", append(slices.Clone(set), set[0]), "ctx", link)
		refused("a short link", set, "ctx", link[:63])
		for i := 0; i < len(link); i += 9 {
			bad := bytes.Clone(link)
			bad[i] ^= 1
			refused("a changed link", set, "ctx", bad)
		}
		// The other layout of a signature is no second signature.
		twin := set[0]
		if twin.Signature, err = g.k.ForBatch(twin.Options.Scope, twin.Signature); err != nil {
			t.Fatal(err)
		}
		refused("a signature in both layouts", append(slices.Clone(set), twin), "ctx", link)
		if err := g.k.VerifyLink([]Signed{twin, set[1], set[2]}, []byte("ctx"), link); err != nil {
			t.Error("the layout makes a difference", err)
		}
		bad := slices.Clone(set)
		bad[1].Message = msg("z")
		refused("a signature that isn't valid", bad, "ctx", link)
		mixed := []Signed{set[0], g.signed(bob, "b", "t")}
		if _, err := ada.Link(mixed, nil); err == nil {
			t.Error("a link of another's signature")
		}
		refused("two signers", mixed, "ctx", link)

		claim, err := ada.Claim(set[0], []byte("c"))
		if err != nil {
			t.Fatal(err)
		}
		if err := g.k.VerifyClaim(set[0], []byte("c"), claim); err != nil {
			t.Error(err)
		}
		if g.k.VerifyClaim(set[1], []byte("c"), claim) == nil || g.k.VerifyClaim(set[0], []byte("d"), claim) == nil {
			t.Error("a claim to something else is accepted")
		}
		refused("a claim as a link", set[:1], "c", claim)
		if _, err := bob.Claim(set[0], nil); err == nil {
			t.Error("bob claims ada's signature")
		}
		if own, err := ada.Identify(set[1]); err != nil || !own {
			t.Error("ada doesn't know her own")
		}
		if own, err := bob.Identify(set[1]); err != nil || own {
			t.Error("bob takes ada's for his own")
		}
	}
}

// Two colluders in one scope can't link their signatures with y = (y1 + y2)/2, nor
// with a weighted mean.
func TestLinkCollusion(t *testing.T) {
	g := newGroup(t, Plus|Scope)
	ada, bob := g.join("ada"), g.join("bob")
	set := []Signed{g.signed(ada, "a", "s"), g.signed(bob, "b", "s")}
	half := new(bls12381.Scalar).SetUint64(2)
	half.Inverse(half)
	y := new(bls12381.Scalar).Add(&ada.y, &bob.y)
	y.Mul(y, half)
	l, err := g.k.newLinks("link", nil, set[:1])
	if err != nil {
		t.Fatal(err)
	}
	m, err := g.k.newLinks("link", nil, set[1:])
	if err != nil {
		t.Fatal(err)
	}
	l.st.G1 = append(l.st.G1, m.st.G1...)
	for _, y := range []*bls12381.Scalar{y, &ada.y} {
		p, err := l.st.Prove(g.k.dst("link"), l.context, []bls12381.Scalar{*y})
		if err != nil {
			t.Fatal(err)
		}
		if g.k.VerifyLink(set, nil, p.Append(nil)) == nil || l.st.VerifyVarTime(g.k.dst("link"), l.context, p) == nil {
			t.Error("two colluders are linked")
		}
	}
}

func TestSequenceLink(t *testing.T) {
	g := newGroup(t, Plus|Scope|Sequence)
	ada, bob := g.join("ada"), g.join("bob")
	var set []Signed
	for i := range 5 {
		set = append(set, g.signed(ada, fmt.Sprint(i), "s"))
	}
	if ada.SequenceIndex() != 6 {
		t.Errorf("next index %d", ada.SequenceIndex())
	}
	prove := func(set []Signed, first bool) []byte {
		t.Helper()
		link, err := ada.SequenceLink(set, []byte("ctx"), first)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.k.VerifySequenceLink(set, []byte("ctx"), link, first); err != nil {
			t.Fatal(err)
		}
		return link
	}
	all, tail := prove(set, true), prove(set[1:4], false)
	refused := func(what string, set []Signed, ctx string, link []byte, first bool) {
		t.Helper()
		if g.k.VerifySequenceLink(set, []byte(ctx), link, first) == nil {
			t.Errorf("%s: accepted", what)
		}
	}
	refused("another context", set, "x", all, true)
	refused("not from the first", set, "ctx", all, false)
	refused("from the first", set[1:4], "ctx", tail, true)
	refused("one more", set[1:5], "ctx", tail, false)
	refused("one less", set[1:3], "ctx", tail, false)
	refused("one less, and its x", set[1:3], "ctx", tail[:len(tail)-32], false)
	refused("another order", []Signed{set[2], set[1], set[3]}, "ctx", tail, false)
	refused("no values", set[1:4], "ctx", tail[:64], false)
	refused("an empty link", nil, "ctx", nil, false)
	for i := 0; i < len(tail); i += 13 {
		bad := bytes.Clone(tail)
		bad[i] ^= 1
		refused("a changed link", set[1:4], "ctx", bad, false)
	}
	for name, s := range map[string][]Signed{
		"a gap":     {set[0], set[2]},
		"backwards": {set[1], set[0]},
		"bob's":     {g.signed(bob, "b", "s")},
	} {
		if _, err := ada.SequenceLink(s, nil, false); err == nil {
			t.Errorf("%s: linked", name)
		}
	}
	if _, err := ada.SequenceLink(set[1:], nil, true); err == nil {
		t.Error("the second is the first")
	}
	// A gap with an honest link over both signatures, and true values x.
	gap := []Signed{set[0], set[2]}
	l, err := g.k.newLinks("seqlink", []byte("ctx"), gap)
	if err != nil {
		t.Fatal(err)
	}
	x1, x3 := ada.seq.x(1), ada.seq.x(3)
	xs := append(x1[:], x3[:]...)
	l.context.Bytes("x", xs)
	p, err := ada.prove("seqlink", l, gap)
	if err != nil {
		t.Fatal(err)
	}
	refused("a gap", gap, "ctx", append(p, xs...), false)

	// The sequence is signed: nobody exchanges it or takes it from another.
	n := len(set[0].Signature)
	a, b := bytes.Clone(set[0].Signature), set[1].Signature
	copy(a[n-seqSize:], b[n-seqSize:])
	if g.k.Verify(msg("0"), a, g.opts("s")) == nil {
		t.Error("an exchanged sequence is accepted")
	}
	if g.k.Verify(msg("0"), a[:n-seqSize], g.opts("s")) == nil {
		t.Error("a signature without its sequence is accepted")
	}

	// A member that goes back, or signs on two devices, repeats n_i: that is seen, and
	// the two are no sequence.
	saved, err := ada.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	twin, err := g.k.ParseMemberKey(saved)
	if err != nil {
		t.Fatal(err)
	}
	s1, s2 := g.signed(ada, "x", "s"), g.signed(twin, "y", "s")
	if !bytes.Equal(s1.Signature[n-32:], s2.Signature[n-32:]) {
		t.Error("n_i isn't repeated")
	}
	if _, err := ada.SequenceLink([]Signed{s1, s2}, nil, false); err == nil {
		t.Error("two successors of one signature are linked as a sequence")
	}
	prove([]Signed{set[4], s1}, false) // each of them follows, which is all that is proven
	prove([]Signed{set[4], s2}, false)
	// Keys of a member aren't those of another, nor zero.
	if ada.seq.k == bob.seq.k || ada.seq.k == ada.seq.kk || ada.seq.k == [32]byte{} {
		t.Error("the keys of the sequence")
	}
}

// A member may sign three times in a scope, and a fourth signature repeats a pseudonym.
func TestLimitedScope(t *testing.T) {
	g := newGroup(t, Plus|Scope)
	ada := g.join("ada")
	seen := map[string]bool{}
	for i := range uint64(4) {
		scope, err := LimitedScope([]byte("s"), i%3, 3)
		if err != nil {
			t.Fatal(err)
		}
		sig := g.sign(ada, "m", string(scope), false)
		if err := g.k.Verify(msg("m"), sig, g.opts(string(scope))); err != nil {
			t.Fatal(err)
		}
		nym, err := g.k.Pseudonym(sig)
		if err != nil {
			t.Fatal(err)
		}
		if seen[string(nym)] != (i == 3) {
			t.Errorf("use %d: seen is %v", i, i != 3)
		}
		seen[string(nym)] = true
	}
	if _, err := LimitedScope([]byte("s"), 3, 3); err == nil {
		t.Error("use 3 of 3, counted from 0")
	}
	a, _ := LimitedScope([]byte("s"), 0, 3)
	b, _ := LimitedScope([]byte("s"), 0, 4)
	if bytes.Equal(a, b) {
		t.Error("the limit makes no difference")
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package strongrsa

import (
	"bytes"
	"maps"
	"math/big"
	"strings"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/legacy/internal/qrn"
	"github.com/undersign/undersign/internal/modexp"
)

// TestConstants forges as the library libgroupsig can be forged for, whose signatures
// carry the constants: under a constant that is made for a credential.
func TestConstants(t *testing.T) {
	forAll(t, func(t *testing.T, i int) {
		w := newWorld(t, schemeOf(t, i, small), "constants")
		g, s := w.gk, w.s
		m := &MemberKey{g: g, a: g.n.Hash([]byte("dst"), "A"), member: "eve"}
		m.e = modexp.NewNat(s.e.Bits)
		m.e[0] = 1
		for _, x := range s.slots {
			v := modexp.NewNat(x.r.Bits)
			v[0] = 7
			m.w = append(m.w, v)
		}
		// c' = A^e / prod b^w
		one := g.base[s.constant]
		fake := *g
		fake.base = maps.Clone(g.base)
		fake.base[s.constant] = g.n.NewBase(g.n.M.One())
		den := fake.issued(m.w)
		fake.base[s.constant] = g.n.NewBase(g.n.Mul(g.n.Pow(m.a, s.e.Full(m.e)), g.n.NewBase(den).Inverse()))
		if g.n.Equal(fake.base[s.constant].X, one.X) {
			t.Fatal("the constant is the group's")
		}
		m.g = &fake
		if err := m.check(); err != nil {
			t.Fatal(err)
		}
		sig := w.sign(m, "m")
		if err := fake.Verify([]byte("m"), nil, sig); err != nil {
			t.Fatalf("the forgery is none: %v", err)
		}
		if g.Verify([]byte("m"), nil, sig) == nil {
			t.Error("forged")
		}
		// Who holds no credential is told so by the key itself.
		m.g = g
		if m.check() == nil {
			t.Error("a key without a credential passes")
		}
		if g.Verify([]byte("m"), nil, w.sign(m, "m")) == nil {
			t.Error("forged")
		}
	})
}

// TestTrivialCredential signs with e = 1, for which anybody has a root: only the range
// of e is against it.
func TestTrivialCredential(t *testing.T) {
	forAll(t, func(t *testing.T, i int) {
		w := newWorld(t, schemeOf(t, i, small), "trivial")
		loose := *w.s
		loose.e.Low = big.NewInt(0)
		loose.secrets = append([]qrn.Range(nil), w.s.secrets...)
		for j, r := range loose.secrets {
			if r.Low.Cmp(w.s.e.Low) == 0 && r.Bits == w.s.e.Bits {
				loose.secrets[j] = loose.e
			}
		}
		g := *w.gk
		g.s = &loose
		m := &MemberKey{g: &g, member: "eve", e: qrn.NatOf(big.NewInt(1), loose.e.Bits)}
		for _, x := range loose.slots {
			m.w = append(m.w, modexp.NewNat(x.r.Bits))
		}
		m.a = g.issued(m.w)
		if err := m.check(); err != nil {
			t.Fatal(err)
		}
		sig := w.sign(m, "m")
		if err := g.Verify([]byte("m"), nil, sig); err != nil {
			t.Fatalf("the forgery is none: %v", err)
		}
		if w.gk.Verify([]byte("m"), nil, sig) == nil {
			t.Error("forged")
		}
		if _, err := loose.check(); err == nil {
			t.Error("parameters with e = 1 in range pass")
		}
	})
}

// TestHostile offers elements that aren't in the group, responses out of range, and
// every other change.
func TestHostile(t *testing.T) {
	forAll(t, func(t *testing.T, i int) {
		w := newWorld(t, schemeOf(t, i, small), "hostile")
		g, m := w.gk, w.join("ada")
		sig := w.sign(m, "m")
		refused := func(what string, sig []byte) {
			t.Helper()
			if g.Verify([]byte("m"), nil, sig) == nil {
				t.Errorf("accepted: %s", what)
			}
		}
		if g.Verify([]byte("M"), nil, sig) == nil || g.Verify([]byte("m"), []byte("c"), sig) == nil {
			t.Error("accepted for another message or context")
		}
		other := newWorld(t, w.s, "hostile 2") // same modulus
		if other.gk.Verify([]byte("m"), nil, sig) == nil {
			t.Error("accepted by another group")
		}
		for at := 0; at < len(sig); at += 23 {
			x := bytes.Clone(sig)
			x[at] ^= 1 << (at % 8)
			refused("a flipped bit", x)
		}
		refused("a longer one", append(bytes.Clone(sig), 0))
		refused("a shorter one", sig[:len(sig)-1])
		refused("nothing", nil)
		at := 0
		for j := range w.s.elements {
			gr := g.group(j)
			v := new(big.Int).SetBytes(sig[at : at+gr.Size()])
			set := func(what string, v *big.Int) {
				x := bytes.Clone(sig)
				v.FillBytes(x[at : at+gr.Size()])
				refused(what, x)
			}
			set("0", new(big.Int))
			set("1", big.NewInt(1))
			set("n", gr.N())
			set("-1", new(big.Int).Sub(gr.N(), big.NewInt(1)))
			set("-x", new(big.Int).Sub(gr.N(), v))
			set("a factor of n", w.issuer.f.N().Sqrt(w.issuer.f.N()))
			p, _ := testPrimes(t, 512)
			set("a factor of n", p)
			nonResidue := big.NewInt(2)
			for big.Jacobi(nonResidue, gr.N()) != -1 {
				nonResidue.Add(nonResidue, big.NewInt(1))
			}
			set("no residue", nonResidue)
			at += gr.Size()
		}
		// A response with a bit above its length.
		at += small.Challenge / 8
		for _, r := range w.s.secrets {
			bits := r.Response(small)
			if extra := 8*((bits+7)/8) - bits; extra > 0 {
				x := bytes.Clone(sig)
				x[at] |= 1 << 7
				refused("a response out of range", x)
			}
			at += (bits + 7) / 8
		}
		if at != len(sig) {
			t.Error("the layout is another one")
		}
	})
}

// TestChallengeLength: libgroupsig takes the low 10 bits of a challenge.
func TestChallengeLength(t *testing.T) {
	for i := range makers {
		if s := schemeOf(t, i, qrn.Standard); s.p.Challenge < 128 || s.p.Modulus < 3072 || s.p.Statistical < 80 {
			t.Errorf("%s: weak parameters", s.name)
		}
	}
	w := newWorld(t, schemeOf(t, 0, small), "challenge")
	sig := w.sign(w.join("ada"), "m")
	at := 7 * w.gk.n.Size()
	for bit := range small.Challenge {
		x := bytes.Clone(sig)
		x[at+bit/8] ^= 1 << (bit % 8)
		if w.gk.Verify([]byte("m"), nil, x) == nil {
			t.Errorf("bit %d of the challenge doesn't count", bit)
		}
	}
}

func TestParameters(t *testing.T) {
	for _, p := range []qrn.Params{
		{Modulus: 1024, Challenge: 128, Statistical: 80, Secret: 256}, // no room in Lambda
		{Modulus: 1024, Challenge: 40, Statistical: 20, Secret: 120},  // the issuer's part doesn't hide x'
		{Modulus: 1024, Challenge: 96, Statistical: 80, Secret: 1},
	} {
		if _, err := KTY04(p); err == nil {
			t.Errorf("%+v: accepted", p)
		}
	}
	for i := range makers {
		for _, p := range []qrn.Params{
			{Modulus: 1000, Challenge: 40, Statistical: 20, Secret: 112},
			{Modulus: 1024, Challenge: 44, Statistical: 20, Secret: 112},
			{Modulus: 1024, Challenge: 40, Statistical: 0, Secret: 112},
		} {
			if _, err := makers[i](p); err == nil {
				t.Errorf("%+v: accepted", p)
			}
		}
	}
	// The bounds themselves: each interval that is one bit too wide.
	for i := range makers {
		s := schemeOf(t, i, qrn.Standard)
		wide := *s
		wide.e.Bits = s.e.Low.BitLen() - 1 - s.p.Challenge - s.p.Statistical
		if _, err := wide.check(); err == nil {
			t.Errorf("%s: e from an interval that reaches 0", s.name)
		}
	}
}

func TestGroupKey(t *testing.T) {
	s := schemeOf(t, 0, small)
	w := newWorld(t, s, "group key")
	p, q := testPrimes(t, 512)
	n := new(big.Int).Mul(p, q)
	for what, m := range map[string]*big.Int{
		"even":           new(big.Int).Add(n, big.NewInt(1)),
		"3 modulo 4":     new(big.Int).Add(n, big.NewInt(2)),
		"short":          p,
		"a square":       new(big.Int).Mul(p, p),
		"a small factor": new(big.Int).Mul(new(big.Int).Add(qrn.Pow2(1017), big.NewInt(1)), big.NewInt(65)),
		"negative":       new(big.Int).Neg(n),
	} {
		if _, _, err := s.Setup("x", m); err == nil {
			t.Errorf("accepted: %s", what)
		}
	}
	prime := qrn.Pow2(1023)
	prime.Add(prime, big.NewInt(1))
	for ; !prime.ProbablyPrime(0); prime.Add(prime, big.NewInt(4)) {
	}
	if _, _, err := s.Setup("x", prime); err == nil || !strings.Contains(err.Error(), "prime") {
		t.Errorf("a prime modulus: %v", err)
	}
	if _, err := s.IssuerOf(p, p); err == nil {
		t.Error("equal factors accepted")
	}
	if _, err := s.IssuerOf(p, new(big.Int).Add(q, big.NewInt(2))); err == nil {
		t.Error("a composite factor accepted")
	}
	b := w.gk.encode()
	for at := 0; at < len(b); at += 5 {
		x := bytes.Clone(b)
		x[at] ^= 1
		if _, err := s.ParseGroupKey(x); err == nil {
			t.Errorf("a group key with byte %d changed", at)
		}
	}
	if _, err := schemeOf(t, 2, small).ParseGroupKey(b); err == nil {
		t.Error("a group key of another scheme")
	}
	for _, x := range [][]byte{nil, b[:len(b)-1], append(bytes.Clone(b), 0)} {
		if _, err := s.ParseGroupKey(x); err == nil {
			t.Error("a group key of another length")
		}
	}
}

func TestWiped(t *testing.T) {
	w := newWorld(t, schemeOf(t, 0, small), "wiped")
	m := w.join("ada")
	sig := w.sign(m, "m")
	j := w.invite("bob")
	m.Wipe()
	w.issuer.Wipe()
	w.opener.Wipe()
	j.Wipe()
	if _, err := m.Sign(nil, nil); err == nil {
		t.Error("a wiped member signs")
	}
	if _, err := m.MarshalBinary(); err == nil {
		t.Error("a wiped key is stored")
	}
	if _, err := m.Claim(sig, nil); err == nil {
		t.Error("a wiped member claims")
	}
	if _, err := j.Finish(new(Credential)); err == nil {
		t.Error("a wiped join ends")
	}
	if _, err := w.issuer.Invite(w.sessions, "eve", public("eve"), 1, 1); err == nil {
		t.Error("a wiped issuer invites")
	}
	if _, err := w.issuer.Issue(w.gk, w.sessions, w.register, j.Request(), 2); err == nil {
		t.Error("a wiped issuer issues")
	}
	if _, err := w.opener.Open(w.opening, []byte("m"), nil, sig, nil); err == nil {
		t.Error("a wiped opener opens")
	}
	if err := w.opener.Record(w.opening, new(join.Record), public("ada")); err == nil {
		t.Error("a wiped opener records")
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ds18

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/tokentest"
	"github.com/undersign/undersign/internal/bls12381"
)

// refused checks that a signature is valid in no way: in either layout, alone or in a
// batch.
func refused(t *testing.T, f *fixture, what, msg string, sig *Signature) {
	t.Helper()
	if err := f.G.Verify([]byte(msg), sig, nil); !errors.Is(err, ErrSignature) {
		t.Errorf("%s: %v", what, err)
	}
	for _, n := range []int{0, 6} {
		b := f.G.Batch(nil)
		for range n {
			b.Add([]byte("m"), f.Sign("bob", "m"))
		}
		b.Add([]byte(msg), sig)
		var be *BatchError
		if err := b.Verify(); !errors.As(err, &be) || !slices.Equal(be.Bad, []int{n}) {
			t.Errorf("%s: in a batch with %d others: %v", what, n, err)
		}
	}
}

// Every field is replaced by another's, negated, and moved.
func TestFields(t *testing.T) {
	f := group()
	a, b := f.Sign("alice", "m"), f.Sign("bob", "m")
	move := func(p *bls12381.G1) { bls12381.NormalizeG1(p.Add(p, bls12381.G1Generator())) }
	negate := func(p *bls12381.G1) { bls12381.NormalizeG1(p.Neg(p)) }
	for what, change := range map[string]func(s *Signature){
		"M1":               func(s *Signature) { s.m1 = b.m1 },
		"M2":               func(s *Signature) { s.m2 = b.m2 },
		"M1, M2":           func(s *Signature) { s.m1, s.m2 = b.m1, b.m2 },
		"Z":                func(s *Signature) { s.z = b.z },
		"W":                func(s *Signature) { s.w = b.w },
		"WW":               func(s *Signature) { s.ww = b.ww },
		"W, WW":            func(s *Signature) { s.w, s.ww = b.w, b.ww },
		"Z, W, WW":         func(s *Signature) { s.z, s.w, s.ww = b.z, b.w, b.ww },
		"all points":       func(s *Signature) { s.m1, s.m2, s.z, s.w, s.ww = b.m1, b.m2, b.z, b.w, b.ww },
		"c":                func(s *Signature) { s.c = b.c },
		"s":                func(s *Signature) { s.s = b.s },
		"c, s":             func(s *Signature) { s.c, s.s = b.c, b.s },
		"M1 and M2 turned": func(s *Signature) { s.m1, s.m2 = s.m2, s.m1 },
		"M1 moved":         func(s *Signature) { move(&s.m1) },
		"M2 moved":         func(s *Signature) { move(&s.m2) },
		"Z moved":          func(s *Signature) { move(&s.z) },
		"W moved":          func(s *Signature) { move(&s.w) },
		"Z negated":        func(s *Signature) { negate(&s.z) },
		"W negated":        func(s *Signature) { negate(&s.w) },
		"W, WW negated":    func(s *Signature) { negate(&s.w); bls12381.NormalizeG2(s.ww.Neg(&s.ww)) },
		"M1 zero":          func(s *Signature) { s.m1.SetIdentity() },
		"M2 zero":          func(s *Signature) { s.m2.SetIdentity() },
		"Z zero":           func(s *Signature) { s.z.SetIdentity() },
		"W zero":           func(s *Signature) { s.w.SetIdentity() },
		"WW zero":          func(s *Signature) { s.ww.SetIdentity() },
		"all zero": func(s *Signature) {
			s.m1.SetIdentity()
			s.m2.SetIdentity()
			s.z.SetIdentity()
			s.w.SetIdentity()
			s.ww.SetIdentity()
		},
	} {
		x := *a
		x.r = nil
		change(&x)
		refused(t, f, what, "m", &x)
	}
	refused(t, f, "another message", "n", a)
	refused(t, f, "another group", "m", tokentest.Must(other().Members["alice"].Sign([]byte("m"), nil)))
	refused(t, f, "nil", "m", nil)
}

// forge returns a signature of points and a factor of M2 = ρ·P1, with a right proof.
func forge(f *fixture, rho *bls12381.Scalar, m1, m2, z, w *bls12381.G1, ww *bls12381.G2) *Signature {
	sig := &Signature{m1: *m1, m2: *m2, z: *z, w: *w, ww: *ww, r: new(bls12381.G1)}
	var k, t bls12381.Scalar
	k.Random()
	sig.r.ScalarBaseMult(&k)
	bls12381.NormalizeG1(&sig.m1, &sig.m2, &sig.z, &sig.w, sig.r)
	bls12381.NormalizeG2(&sig.ww)
	sig.c.Set(f.G.challenge([]byte("m"), nil, sig, sig.r))
	sig.s.Sub(&k, t.Mul(&sig.c, rho))
	return sig
}

// Who has a signature of a member, and all that the issuer has, can't sign for the
// member: its class takes the factor of r·P1, which nobody else knows.
func TestForgeries(t *testing.T) {
	f := group()
	m := f.Members["alice"]
	// The control: the member's own way.
	var rho, mu, y, inv bls12381.Scalar
	rho.Random()
	mu.Random()
	y.Random()
	inv.Inverse(&y)
	sx, sy := f.Issuer.k.Secrets()
	credential := func(m1, m2 *bls12381.G1) (z, w bls12381.G1, ww bls12381.G2) { // by the issuer's key
		var v bls12381.Scalar
		var p bls12381.G1
		z.ScalarMult(v.Mul(&y, sx), m1)
		z.Add(&z, p.ScalarMult(v.Mul(&y, sy), m2))
		w.ScalarBaseMult(&inv)
		ww.ScalarBaseMult(&inv)
		return
	}
	var m1, m2 bls12381.G1
	var v bls12381.Scalar
	m1.ScalarBaseMult(v.Mul(&rho, &m.r))
	m2.ScalarBaseMult(&rho)
	z, w, ww := credential(&m1, &m2)
	if err := f.G.Verify([]byte("m"), forge(f, &rho, &m1, &m2, &z, &w, &ww), nil); err != nil {
		t.Fatalf("the control: %v", err)
	}

	// The issuer has U = r·q·P1 and Q = q·P1, signs any multiple, and knows that one's
	// factor of Q, but not of P1.
	u, q := classOf(&m.r, &m.q)
	m1.ScalarMult(&mu, &u)
	m2.ScalarMult(&mu, &q)
	z, w, ww = credential(&m1, &m2)
	framed := forge(f, &mu, &m1, &m2, &z, &w, &ww)
	refused(t, f, "the issuer frames alice", "m", framed)
	if !bls12381.PairingCheckVarTime(bls12381.PairOf(new(bls12381.G1).Neg(&m1), bls12381.G2Generator()),
		bls12381.PairOf(&m2, new(bls12381.G2).ScalarBaseMult(&m.r))) {
		t.Error("the attack isn't what it should be: it wouldn't open to alice")
	}

	// Anybody randomises alice's signature, and knows the factor of her M2 alone.
	sig := f.Sign("alice", "x")
	m1.ScalarMult(&mu, &sig.m1)
	m2.ScalarMult(&mu, &sig.m2)
	z.ScalarMult(&mu, &sig.z)
	again := forge(f, &mu, &m1, &m2, &z, &sig.w, &sig.ww)
	refused(t, f, "a randomised signature", "m", again)

	// A class that the issuer didn't sign, with all factors known.
	var r bls12381.Scalar
	r.Random()
	m1.ScalarBaseMult(v.Mul(&rho, &r))
	m2.ScalarBaseMult(&rho)
	refused(t, f, "another class", "m", forge(f, &rho, &m1, &m2, &sig.z, &sig.w, &sig.ww))
	// Only one of the two equations: W and WW of different numbers.
	m1.ScalarBaseMult(v.Mul(&rho, &m.r))
	z, w, ww = credential(&m1, &m2)
	bls12381.NormalizeG1(w.Add(&w, bls12381.G1Generator()))
	refused(t, f, "W isn't WW's", "m", forge(f, &rho, &m1, &m2, &z, &w, &ww))
}

// Two whose errors cancel when the weights are equal are refused.
func TestBatchCancellation(t *testing.T) {
	f := group()
	a, b := f.Sign("alice", "m"), f.Sign("bob", "m")
	var d bls12381.G1
	d.ScalarBaseMult(new(bls12381.Scalar).Random())
	x, y := *a, *b
	x.w.Add(&a.w, &d)
	y.w.Sub(&b.w, &d)
	bls12381.NormalizeG1(&x.w, &y.w)
	// The challenge has to be right for the changed point.
	redo := func(s *Signature, m *MemberKey) *Signature {
		var rho, psi, k bls12381.Scalar
		rho.Random()
		psi.Random()
		k.Random()
		out := m.points(&rho, &psi, &k)
		bls12381.NormalizeG1(&out.m1, &out.m2, &out.z, &out.w, out.r)
		bls12381.NormalizeG2(&out.ww)
		if s == &x {
			out.w.Add(&out.w, &d)
		} else {
			out.w.Sub(&out.w, &d)
		}
		bls12381.NormalizeG1(&out.w)
		m.respond(out, []byte("m"), nil, &rho, &k)
		return out
	}
	left, right := redo(&x, f.Members["alice"]), redo(&y, f.Members["bob"])
	batch := f.G.Batch(nil)
	for i := range 12 {
		switch i {
		case 3:
			batch.Add([]byte("m"), left)
		case 7:
			batch.Add([]byte("m"), right)
		default:
			batch.Add([]byte("m"), f.Sign("carol", "m"))
		}
	}
	var be *BatchError
	if err := batch.Verify(); !errors.As(err, &be) || !slices.Equal(be.Bad, []int{3, 7}) {
		t.Errorf("%v", err)
	}
}

// A batch decides as one by one.
func TestBatch(t *testing.T) {
	f := group()
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 5, 40} {
		b := f.G.Batch(nil)
		var want []int
		for i := range n {
			msg := fmt.Sprint(i)
			sig := f.Sign([]string{"alice", "bob", "carol"}[r.IntN(3)], msg)
			if r.IntN(2) == 0 {
				sig = tokentest.Must(ParseSignature(sig.Bytes()))
			} else {
				sig = tokentest.Must(f.G.ParseBatchSignature(sig.BatchBytes(), []byte(msg), nil))
			}
			if n > 1 && r.IntN(6) == 0 {
				x := *sig
				switch r.IntN(3) {
				case 0:
					x.s.Random()
				case 1:
					bls12381.NormalizeG1(x.z.Double(&x.z))
				case 2:
					msg += "!"
				}
				sig = &x
			}
			if f.G.Verify([]byte(msg), sig, nil) != nil {
				want = append(want, i)
			}
			b.Add([]byte(msg), sig)
		}
		var bad []int
		var be *BatchError
		if err := b.Verify(); errors.As(err, &be) {
			bad = be.Bad
		} else if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(bad, want) {
			t.Errorf("%d signatures: bad are %v, not %v", n, bad, want)
		}
	}
}

// What the issuer is given by the member is checked. In every request the rest is that of
// a good one.
func TestRequests(t *testing.T) {
	common.Requests(t, tokentest.Edits(map[string]func(r, bobs *Request){
		"bob's points":        func(r, bobs *Request) { r.u, r.q = bobs.u, bobs.q },
		"a multiple":          func(r, _ *Request) { r.u.Double(&r.u); r.q.Double(&r.q); bls12381.NormalizeG1(&r.u, &r.q) },
		"U and Q turned":      func(r, _ *Request) { r.u, r.q = r.q, r.u },
		"U zero":              func(r, _ *Request) { r.u.SetIdentity() },
		"Q zero":              func(r, _ *Request) { r.q.SetIdentity() },
		"bob's encryptions":   func(r, bobs *Request) { r.token = bobs.token },
		"one of bob's":        func(r, bobs *Request) { r.token.S[1], r.token.F[1] = bobs.token.S[1], bobs.token.F[1] },
		"encryptions swapped": func(r, _ *Request) { slices.Reverse(r.token.S[:]); slices.Reverse(r.token.F[:]) },
		"S0 zero":             func(r, _ *Request) { r.token.S[0].SetIdentity() },
		"F1 zero":             func(r, _ *Request) { r.token.F[1].SetIdentity() },
		"no proof":            func(r, _ *Request) { r.proof = nil },
		"bob's proof":         func(r, bobs *Request) { r.proof = bobs.proof },
		"bob's signature":     func(r, bobs *Request) { r.reg.Sig = bobs.reg.Sig },
		"bob's key":           func(r, bobs *Request) { r.reg.Key, r.reg.Sig = bobs.reg.Key, bobs.reg.Sig },
		"bob's session":       func(r, bobs *Request) { r.reg.Session = bobs.reg.Session },
	}), nil)
}

// What the member is given by the issuer is checked.
func TestCredentials(t *testing.T) {
	common.Credentials(t, inSession, map[string]func(c, bobs *Credential){
		"bob's points": func(c, bobs *Credential) { c.z, c.w, c.ww = bobs.z, bobs.w, bobs.ww },
		"Z":            func(c, bobs *Credential) { c.z = bobs.z },
		"W":            func(c, bobs *Credential) { c.w = bobs.w },
		"WW":           func(c, bobs *Credential) { c.ww = bobs.ww },
		"zero":         func(c, _ *Credential) { c.z.SetIdentity(); c.w.SetIdentity(); c.ww.SetIdentity() },
	})
}

// The batch layout is canonical, and of the same signature.
func TestBatchEncodings(t *testing.T) {
	g, sig := group().G, group().Sign("alice", "m")
	wide := sig.BatchBytes()
	common.Hostile(t, "11112R", wide, func(raw []byte) (*Signature, error) { return g.ParseBatchSignature(raw, []byte("m"), nil) })
	if _, err := ParseSignature(wide); !errors.Is(err, ErrSignature) {
		t.Errorf("read as the other layout: %v", err)
	}
	if len(wide) != BatchSignatureSize || tokentest.Must(g.ParseBatchSignature(wide, []byte("m"), nil)).ID() != sig.ID() {
		t.Error("the layouts have two IDs")
	}
}

func FuzzBatchSignature(f *testing.F) {
	g := group().G
	f.Add(group().Sign("alice", "m").BatchBytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		sig, err := g.ParseBatchSignature(raw, []byte("not signed"), nil)
		if err != nil {
			return
		}
		if !bytes.Equal(sig.BatchBytes(), raw) {
			t.Error("not canonical")
		}
		if g.Verify([]byte("not signed"), sig, nil) == nil {
			t.Error("forged")
		}
	})
}

// A signature that was made once is valid for ever.
func TestKnownAnswer(t *testing.T) {
	data, err := os.ReadFile("testdata/signature.txt")
	if err != nil {
		t.Fatal(err)
	}
	fields := make(map[string][]byte)
	for line := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			var b []byte
			if _, err := fmt.Sscanf(value, "%x", &b); err == nil {
				fields[name] = b
			}
		}
	}
	g := new(GroupKey)
	if err := g.UnmarshalBinary(fields["group"]); err != nil {
		t.Fatal(err)
	}
	m := new(MemberKey)
	if err := m.UnmarshalBinary(fields["member"]); err != nil {
		t.Fatal(err)
	}
	if err := g.Verify([]byte("message"), tokentest.Must(ParseSignature(fields["signature"])), &VerifyOptions{Context: []byte("context")}); err != nil {
		t.Error(err)
	}
	if id := g.ID(); !bytes.Equal(id[:], fields["id"]) {
		t.Errorf("the group's ID is %x", id)
	}
	if err := g.Verify([]byte("new"), tokentest.Must(m.Sign([]byte("new"), nil)), nil); err != nil {
		t.Error(err)
	}
}

func BenchmarkBatch(b *testing.B) {
	f := group()
	sig := f.Sign("alice", "m")
	b.Run("n=256", func(b *testing.B) {
		for b.Loop() {
			batch := f.G.Batch(nil)
			for range 256 {
				batch.Add([]byte("m"), sig)
			}
			if batch.Verify() != nil {
				b.Fatal("bad")
			}
		}
	})
}

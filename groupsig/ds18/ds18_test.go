// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ds18

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/undersign/undersign/internal/bls12381"
)

const now = 1_800_000_000

type fixture struct {
	issuer   *IssuerKey
	opener   *OpenerKey
	g        *GroupKey
	sessions *Sessions
	register *Register // the issuer's
	opening  *Register // the opener's
	members  map[string]*MemberKey
}

// longTerm returns the long-term key of a test's member.
func longTerm(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("long-term key of " + name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func longTermPublic(name string) ed25519.PublicKey {
	return longTerm(name).Public().(ed25519.PublicKey)
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func newFixture(label string, names ...string) *fixture {
	f := &fixture{issuer: GenerateIssuerKey(), opener: GenerateOpenerKey(), members: map[string]*MemberKey{}}
	f.g = must(Setup(label, f.issuer, f.opener))
	f.sessions, f.register, f.opening = f.g.NewSessions(), f.g.NewRegister(), f.g.NewRegister()
	for _, name := range names {
		f.join(name)
	}
	return f
}

func (f *fixture) newJoin(name string) *Join {
	c := must(f.issuer.Invite(f.sessions, name, longTermPublic(name), now, 3600))
	return must(NewJoin(f.g, f.g.ID(), c, name, longTerm(name)))
}

func (f *fixture) join(name string) {
	j := f.newJoin(name)
	f.members[name] = must(j.Finish(must(f.issuer.Issue(f.g, f.sessions, f.register, j.Request(), now))))
	if err := f.opener.Record(f.g, f.opening, f.register.Member(name), longTermPublic(name)); err != nil {
		panic(err)
	}
}

func (f *fixture) sign(name, msg string) *Signature {
	return must(f.members[name].Sign([]byte(msg), nil))
}

// Two groups that tests don't change.
var (
	group = sync.OnceValue(func() *fixture { return newFixture("test", "alice", "bob", "carol") })
	other = sync.OnceValue(func() *fixture { return newFixture("other", "alice") })
)

func TestLifeCycle(t *testing.T) {
	f := group()
	msg := []byte("hello")
	for _, name := range []string{"alice", "bob", "carol"} {
		sig := f.sign(name, "hello")
		if err := f.g.Verify(msg, sig, nil); err != nil {
			t.Fatal(err)
		}
		if len(sig.Bytes()) != 352 || len(sig.BatchBytes()) != BatchSignatureSize {
			t.Errorf("signature of %d bytes", len(sig.Bytes()))
		}
		o, err := f.opener.Open(f.g, f.opening, msg, sig, nil)
		if err != nil || o.Member() != name {
			t.Fatalf("opened %v, %v: want %s", o, err, name)
		}
		if err := f.g.VerifyOpening(msg, sig, o, longTermPublic(name), nil); err != nil {
			t.Error(err)
		}
	}
	if f.sign("bob", "hello").Equal(f.sign("bob", "hello")) {
		t.Error("two signatures are the same")
	}
}

// refused checks that a signature is valid in no way: in either layout, alone or in a
// batch.
func (f *fixture) refused(t *testing.T, what, msg string, sig *Signature) {
	t.Helper()
	if err := f.g.Verify([]byte(msg), sig, nil); !errors.Is(err, ErrSignature) {
		t.Errorf("%s: %v", what, err)
	}
	for _, n := range []int{0, 6} {
		b := f.g.Batch(nil)
		for range n {
			b.Add([]byte("m"), f.sign("bob", "m"))
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
	a, b := f.sign("alice", "m"), f.sign("bob", "m")
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
		f.refused(t, what, "m", &x)
	}
	f.refused(t, "another message", "n", a)
	f.refused(t, "another group", "m", must(other().members["alice"].Sign([]byte("m"), nil)))
	f.refused(t, "nil", "m", nil)
}

// forge returns a signature of points and a factor of M2 = ρ·P1, with a right proof.
func (f *fixture) forge(rho *bls12381.Scalar, m1, m2, z, w *bls12381.G1, ww *bls12381.G2) *Signature {
	sig := &Signature{m1: *m1, m2: *m2, z: *z, w: *w, ww: *ww, r: new(bls12381.G1)}
	var k, t bls12381.Scalar
	k.Random()
	sig.r.ScalarBaseMult(&k)
	bls12381.NormalizeG1(&sig.m1, &sig.m2, &sig.z, &sig.w, sig.r)
	bls12381.NormalizeG2(&sig.ww)
	sig.c.Set(f.g.challenge([]byte("m"), nil, sig, sig.r))
	sig.s.Sub(&k, t.Mul(&sig.c, rho))
	return sig
}

// Who has a signature of a member, and all that the issuer has, can't sign for the
// member: its class takes the factor of r·P1, which nobody else knows.
func TestForgeries(t *testing.T) {
	f := group()
	m := f.members["alice"]
	// The control: the member's own way.
	var rho, mu, y, inv bls12381.Scalar
	rho.Random()
	mu.Random()
	y.Random()
	inv.Inverse(&y)
	sx, sy := f.issuer.k.Secrets()
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
	if err := f.g.Verify([]byte("m"), f.forge(&rho, &m1, &m2, &z, &w, &ww), nil); err != nil {
		t.Fatalf("the control: %v", err)
	}

	// The issuer has U = r·q·P1 and Q = q·P1, signs any multiple, and knows that one's
	// factor of Q, but not of P1.
	u, q := classOf(&m.r, &m.q)
	m1.ScalarMult(&mu, &u)
	m2.ScalarMult(&mu, &q)
	z, w, ww = credential(&m1, &m2)
	framed := f.forge(&mu, &m1, &m2, &z, &w, &ww)
	f.refused(t, "the issuer frames alice", "m", framed)
	if !bls12381.PairingCheckVarTime(bls12381.PairOf(new(bls12381.G1).Neg(&m1), bls12381.G2Generator()),
		bls12381.PairOf(&m2, new(bls12381.G2).ScalarBaseMult(&m.r))) {
		t.Error("the attack isn't what it should be: it wouldn't open to alice")
	}

	// Anybody randomises alice's signature, and knows the factor of her M2 alone.
	sig := f.sign("alice", "x")
	m1.ScalarMult(&mu, &sig.m1)
	m2.ScalarMult(&mu, &sig.m2)
	z.ScalarMult(&mu, &sig.z)
	again := f.forge(&mu, &m1, &m2, &z, &sig.w, &sig.ww)
	f.refused(t, "a randomised signature", "m", again)

	// A class that the issuer didn't sign, with all factors known.
	var r bls12381.Scalar
	r.Random()
	m1.ScalarBaseMult(v.Mul(&rho, &r))
	m2.ScalarBaseMult(&rho)
	f.refused(t, "another class", "m", f.forge(&rho, &m1, &m2, &sig.z, &sig.w, &sig.ww))
	// Only one of the two equations: W and WW of different numbers.
	m1.ScalarBaseMult(v.Mul(&rho, &m.r))
	z, w, ww = credential(&m1, &m2)
	bls12381.NormalizeG1(w.Add(&w, bls12381.G1Generator()))
	f.refused(t, "W isn't WW's", "m", f.forge(&rho, &m1, &m2, &z, &w, &ww))
}

// Two whose errors cancel when the weights are equal are refused.
func TestBatchCancellation(t *testing.T) {
	f := group()
	a, b := f.sign("alice", "m"), f.sign("bob", "m")
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
	left, right := redo(&x, f.members["alice"]), redo(&y, f.members["bob"])
	batch := f.g.Batch(nil)
	for i := range 12 {
		switch i {
		case 3:
			batch.Add([]byte("m"), left)
		case 7:
			batch.Add([]byte("m"), right)
		default:
			batch.Add([]byte("m"), f.sign("carol", "m"))
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
		b := f.g.Batch(nil)
		var want []int
		for i := range n {
			msg := fmt.Sprint(i)
			sig := f.sign([]string{"alice", "bob", "carol"}[r.IntN(3)], msg)
			if r.IntN(2) == 0 {
				sig = must(ParseSignature(sig.Bytes()))
			} else {
				sig = must(f.g.ParseBatchSignature(sig.BatchBytes(), []byte(msg), nil))
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
			if f.g.Verify([]byte(msg), sig, nil) != nil {
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

// Encodings: every byte counts, and points are of the subgroup.
func TestEncodings(t *testing.T) {
	f := group()
	sig := f.sign("alice", "m")
	raw, wide := sig.Bytes(), sig.BatchBytes()
	outside := append([]byte{0x80}, make([]byte, 47)...) // (0, 2), of order 3
	identity := append([]byte{0xc0}, make([]byte, 95)...)
	for i := range raw {
		b := bytes.Clone(raw)
		b[i] ^= 1 << (i % 8)
		if x, err := ParseSignature(b); err == nil && f.g.Verify([]byte("m"), x, nil) == nil {
			t.Errorf("byte %d was changed", i)
		}
	}
	for i := range wide {
		b := bytes.Clone(wide)
		b[i] ^= 1 << (i % 8)
		if x, err := f.g.ParseBatchSignature(b, []byte("m"), nil); err == nil && f.g.Verify([]byte("m"), x, nil) == nil {
			t.Errorf("batch: byte %d was changed", i)
		}
	}
	for i := range 4 {
		b := bytes.Clone(raw)
		copy(b[48*i:], outside)
		if _, err := ParseSignature(b); !errors.Is(err, ErrSignature) {
			t.Errorf("point %d outside of the subgroup: %v", i, err)
		}
		copy(b[48*i:], identity[:48])
		if _, err := ParseSignature(b); !errors.Is(err, ErrSignature) {
			t.Errorf("point %d zero: %v", i, err)
		}
	}
	b := bytes.Clone(raw)
	copy(b[192:], identity)
	if _, err := ParseSignature(b); !errors.Is(err, ErrSignature) {
		t.Errorf("WW zero: %v", err)
	}
	for _, b := range [][]byte{nil, raw[:351], append(bytes.Clone(raw), 0), wide} {
		if _, err := ParseSignature(b); !errors.Is(err, ErrSignature) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	}
	if must(ParseSignature(raw)).ID() != must(f.g.ParseBatchSignature(wide, []byte("m"), nil)).ID() {
		t.Error("the layouts have two IDs")
	}
}

// What the member is given by the issuer is checked, and what the issuer is given by the
// member.
func TestJoin(t *testing.T) {
	f := newFixture("join")
	a, b := f.newJoin("alice"), f.newJoin("bob")
	ra := a.Request()
	for what, change := range map[string]func(r *Request){
		"bob's points":      func(r *Request) { r.u, r.q = b.request.u, b.request.q },
		"a multiple":        func(r *Request) { r.u.Double(&r.u); r.q.Double(&r.q); bls12381.NormalizeG1(&r.u, &r.q) },
		"U and Q turned":    func(r *Request) { r.u, r.q = r.q, r.u },
		"U zero":            func(r *Request) { r.u.SetIdentity() },
		"Q zero":            func(r *Request) { r.q.SetIdentity() },
		"bob's encryptions": func(r *Request) { r.token = b.request.token },
		"one of bob's":      func(r *Request) { r.token.S[1], r.token.F[1] = b.request.token.S[1], b.request.token.F[1] },
		"bob's proof":       func(r *Request) { r.proof = b.request.proof },
		"bob's signature":   func(r *Request) { r.reg.Sig = b.request.reg.Sig },
		"bob's key":         func(r *Request) { r.reg.Key, r.reg.Sig = b.request.reg.Key, b.request.reg.Sig },
		"bob's session":     func(r *Request) { r.reg.Session = b.request.reg.Session },
	} {
		r := *ra
		change(&r)
		if _, err := f.issuer.Issue(f.g, f.sessions, f.register, &r, now); err == nil {
			t.Errorf("issued: %s", what)
		}
	}
	ca := must(f.issuer.Issue(f.g, f.sessions, f.register, ra, now))
	cb := must(f.issuer.Issue(f.g, f.sessions, f.register, b.Request(), now))
	for what, change := range map[string]func(c *Credential){
		"bob's":         func(c *Credential) { *c = *cb },
		"bob's points":  func(c *Credential) { c.z, c.w, c.ww = cb.z, cb.w, cb.ww },
		"Z":             func(c *Credential) { c.z = cb.z },
		"W":             func(c *Credential) { c.w = cb.w },
		"WW":            func(c *Credential) { c.ww = cb.ww },
		"zero":          func(c *Credential) { c.z.SetIdentity(); c.w.SetIdentity(); c.ww.SetIdentity() },
		"bob's session": func(c *Credential) { c.session = cb.session },
	} {
		c := *ca
		change(&c)
		if _, err := a.Finish(&c); err == nil {
			t.Errorf("alice takes: %s", what)
		}
	}
	if must(f.issuer.Issue(f.g, f.sessions, f.register, ra, now)).z != ca.z {
		t.Error("the same request gets another credential")
	}
	m := must(a.Finish(ca))
	back := new(MemberKey)
	if err := back.UnmarshalBinary(must(m.MarshalBinary())); err != nil || !back.Equal(m) {
		t.Errorf("another member's key comes back: %v", err)
	}
	j := new(Join)
	if err := j.UnmarshalBinary(must(a.MarshalBinary())); err != nil || !must(j.Finish(ca)).Equal(m) {
		t.Errorf("another join comes back: %v", err)
	}
	// Somebody else's registration of alice's points.
	r := *f.register.Member("alice")
	r.Member = "mallory"
	if err := r.Sign(longTerm("mallory")); err != nil {
		t.Fatal(err)
	}
	if f.opener.Record(f.g, f.opening, &r, longTermPublic("mallory")) == nil {
		t.Error("the opener records alice's points as mallory's")
	}
}

// The opener finds the signer by a token with a base of its own, revokes it, and lets it
// join anew.
func TestRevocation(t *testing.T) {
	f := newFixture("revocation", "alice", "bob")
	sig := f.sign("alice", "m")
	if err := f.opening.Revoke("alice"); err != nil {
		t.Fatal(err)
	}
	l := must(f.opener.RevocationList(f.g, f.opening, RevocationTerms{Number: 1, Issued: now, Expires: now + 10}))
	l = must(f.g.ParseRevocationList(must(l.MarshalBinary())))
	opts := &VerifyOptions{Revocation: l, Now: now}
	if err := f.g.Verify([]byte("m"), sig, opts); !errors.Is(err, ErrRevoked) {
		t.Errorf("alice: %v", err)
	}
	if err := f.g.Verify([]byte("m"), f.sign("bob", "m"), opts); err != nil {
		t.Errorf("bob: %v", err)
	}
	if err := f.register.Revoke("alice"); err != nil {
		t.Fatal(err)
	}
	if n, err := f.g.MarkListed(f.register, l, now); n != 1 || err != nil {
		t.Errorf("%d are listed: %v", n, err)
	}
	o, err := f.opener.Open(f.g, f.opening, []byte("m"), sig, nil)
	if err != nil || o.Member() != "alice" {
		t.Errorf("opened as %v: %v", o, err)
	}
	if f.g.VerifyOpening([]byte("m"), f.sign("bob", "m"), o, longTermPublic("alice"), nil) == nil {
		t.Error("alice's opening is good for bob's signature")
	}
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
	if err := g.Verify([]byte("message"), must(ParseSignature(fields["signature"])), &VerifyOptions{Context: []byte("context")}); err != nil {
		t.Error(err)
	}
	if id := g.ID(); !bytes.Equal(id[:], fields["id"]) {
		t.Errorf("the group's ID is %x", id)
	}
	if err := g.Verify([]byte("new"), must(m.Sign([]byte("new"), nil)), nil); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	x := group()
	j := x.newJoin("dave")
	f.Add(x.sign("alice", "m").Bytes())
	f.Add(must(x.g.MarshalBinary()))
	f.Add(must(x.members["alice"].MarshalBinary()))
	f.Add(must(j.Request().MarshalBinary()))
	f.Add(must(j.MarshalBinary()))
	f.Fuzz(func(t *testing.T, data []byte) {
		if sig, err := ParseSignature(data); err == nil {
			if !bytes.Equal(sig.Bytes(), data) {
				t.Error("a signature with two encodings")
			}
			x.g.Verify([]byte("m"), sig, nil)
		}
		x.g.ParseBatchSignature(data, []byte("m"), nil)
		for _, v := range []interface {
			UnmarshalBinary([]byte) error
			MarshalBinary() ([]byte, error)
		}{new(GroupKey), new(IssuerKey), new(OpenerKey), new(MemberKey), new(Request), new(Credential), new(Join)} {
			if v.UnmarshalBinary(data) == nil {
				if b, err := v.MarshalBinary(); err != nil || !bytes.Equal(b, data) {
					t.Errorf("%T with two encodings", v)
				}
			}
		}
	})
}

func Benchmark(b *testing.B) {
	f := group()
	sig := f.sign("alice", "m")
	b.Run("sign", func(b *testing.B) {
		for b.Loop() {
			f.sign("alice", "m")
		}
	})
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			if f.g.Verify([]byte("m"), sig, nil) != nil {
				b.Fatal("bad")
			}
		}
	})
	b.Run("batch/n=256", func(b *testing.B) {
		for b.Loop() {
			batch := f.g.Batch(nil)
			for range 256 {
				batch.Add([]byte("m"), sig)
			}
			if batch.Verify() != nil {
				b.Fatal("bad")
			}
		}
	})
}

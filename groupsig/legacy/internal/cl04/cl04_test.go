// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cl04

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
)

type world struct {
	t        testing.TB
	issuer   *IssuerKey
	opener   *OpenerKey
	gk       *GroupKey
	sessions *join.Sessions
	register *join.Register // the issuer's
	opening  *join.Register // the opener's
}

func longTerm(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func public(name string) ed25519.PublicKey { return longTerm(name).Public().(ed25519.PublicKey) }

func newWorld(t testing.TB, label string) *world {
	t.Helper()
	issuer := GenerateIssuerKey()
	gk, opener, err := Setup(label, issuer)
	if err != nil {
		t.Fatal(err)
	}
	return &world{t, issuer, opener, gk, gk.NewSessions(), gk.NewRegister(), gk.NewRegister()}
}

func (w *world) invite(name string, kind join.Kind) *Join {
	w.t.Helper()
	c, err := w.issuer.Invite(w.sessions, name, public(name), kind, 1, 10)
	if err != nil {
		w.t.Fatal(err)
	}
	j, err := NewJoin(w.gk, w.gk.ID(), c, name, longTerm(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

func (w *world) join(name string) *MemberKey {
	w.t.Helper()
	j := w.invite(name, join.Fischlin)
	cred, err := w.issuer.Issue(w.gk, w.sessions, w.register, j.Request(), 2)
	if err != nil {
		w.t.Fatal(err)
	}
	m, err := j.Finish(cred)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.opener.Record(w.opening, w.register.Member(name), public(name)); err != nil {
		w.t.Fatal(err)
	}
	return m
}

func (w *world) sign(m *MemberKey, msg string) []byte {
	w.t.Helper()
	sig, err := m.Sign([]byte(msg), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return sig
}

func TestLife(t *testing.T) {
	w := newWorld(t, "life")
	for _, name := range []string{"ada", "bob"} {
		m := w.join(name)
		sig := w.sign(m, "m")
		if err := w.gk.Verify([]byte("m"), nil, sig); err != nil {
			t.Fatal(err)
		}
		o, err := w.opener.Open(w.opening, []byte("m"), nil, sig, []byte("why"))
		if err != nil || o.Member() != name {
			t.Fatalf("opened to %v, %v", o, err)
		}
		b, _ := o.MarshalBinary()
		var q Opening
		if err := q.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
		if err := w.gk.VerifyOpening([]byte("m"), nil, sig, []byte("why"), &q, public(name)); err != nil {
			t.Error(err)
		}
		if w.gk.VerifyOpening([]byte("m"), nil, sig, nil, &q, public(name)) == nil ||
			w.gk.VerifyOpening([]byte("m"), nil, w.sign(m, "m"), []byte("why"), &q, public(name)) == nil ||
			w.gk.VerifyOpening([]byte("M"), nil, sig, []byte("why"), &q, public(name)) == nil ||
			w.gk.VerifyOpening([]byte("m"), nil, sig, []byte("why"), &q, public("eve")) == nil {
			t.Error("an opening of something else")
		}
		gk, err := ParseGroupKey(w.gk.encode())
		if err != nil || !gk.Equal(w.gk) || gk.ID() != w.gk.ID() {
			t.Fatalf("the group key changed: %v", err)
		}
		key, _ := m.MarshalBinary()
		again, err := gk.ParseMemberKey(key)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.gk.Verify([]byte("x"), nil, w.sign(again, "x")); err != nil {
			t.Error(err)
		}
		t.Logf("signature %d bytes, group key %d, member key %d", len(sig), len(w.gk.encode()), len(key))
	}
}

func TestHostile(t *testing.T) {
	w := newWorld(t, "hostile")
	m := w.join("ada")
	sig := w.sign(m, "m")
	refused := func(what string, sig []byte) {
		t.Helper()
		if w.gk.Verify([]byte("m"), nil, sig) == nil {
			t.Errorf("accepted: %s", what)
		}
	}
	for at := 0; at < len(sig); at += 3 {
		x := bytes.Clone(sig)
		x[at] ^= 1 << (at % 8)
		refused("a flipped bit", x)
	}
	refused("a longer one", append(bytes.Clone(sig), 0))
	refused("a shorter one", sig[:len(sig)-1])
	if w.gk.Verify([]byte("M"), nil, sig) == nil || w.gk.Verify([]byte("m"), []byte("c"), sig) == nil ||
		newWorld(t, "hostile").gk.Verify([]byte("m"), nil, sig) == nil {
		t.Error("accepted for something else")
	}
	identity := append([]byte{0xc0}, make([]byte, 47)...)
	order3 := append([]byte{0x80}, make([]byte, 47)...) // (0, 2)
	for i := range 7 {
		for what, b := range map[string][]byte{"the identity": identity, "a point of order 3": order3} {
			x := bytes.Clone(sig)
			copy(x[48*i:], b)
			refused(what, x)
		}
		x := bytes.Clone(sig)
		x[48*i] ^= 0x20 // the other root
		refused("-T", x)
		x[48*i] &^= 0x80
		refused("an uncompressed point", x)
	}
	// A credential blinded with the identity, and an honest ciphertext.
	tt, _, _ := decode(sig)
	for i := 4; i < 7; i++ {
		tt[i].SetIdentity()
	}
	if !w.gk.blinded(tt) {
		t.Error("the test isn't the one that it should be")
	}
}

// TestCredential gives the member what it must refuse.
func TestCredential(t *testing.T) {
	w := newWorld(t, "credential")
	j := w.invite("ada", join.Fischlin)
	cred, err := w.issuer.Issue(w.gk, w.sessions, w.register, j.Request(), 2)
	if err != nil {
		t.Fatal(err)
	}
	bob := w.join("bob")
	for what, f := range map[string]func(c *Credential){
		"another session":    func(c *Credential) { c.session[0] ^= 1 },
		"another a":          func(c *Credential) { c.p[0] = bob.p[0] },
		"another b":          func(c *Credential) { c.p[1] = bob.p[1] },
		"another c":          func(c *Credential) { c.p[2] = bob.p[2] },
		"another credential": func(c *Credential) { c.p = bob.p },
		"nothing":            func(c *Credential) { c.p = [3]bls12381.G1{} },
	} {
		x := *cred
		f(&x)
		if _, err := j.Finish(&x); err == nil {
			t.Errorf("accepted: %s", what)
		}
	}
	if _, err := j.Finish(cred); err != nil {
		t.Error(err)
	}
	b, _ := cred.MarshalBinary()
	if new(Credential).UnmarshalBinary(append(b, 0)) == nil || new(Credential).UnmarshalBinary(b[1:]) == nil {
		t.Error("a credential of another length")
	}
}

func TestJoinHostile(t *testing.T) {
	for _, kind := range []join.Kind{join.Fischlin, join.Schnorr} {
		w := newWorld(t, "join")
		j := w.invite("ada", kind)
		other := newWorld(t, "join").invite("ada", kind).Request()
		issue := func(r *Request) error {
			_, err := w.issuer.Issue(w.gk, w.sessions, w.register, r, 2)
			return err
		}
		for what, f := range map[string]func(r *Request){
			"another point":     func(r *Request) { r.p = other.p },
			"another proof":     func(r *Request) { r.proof = other.proof },
			"both":              func(r *Request) { r.p, r.proof = other.p, other.proof },
			"no proof":          func(r *Request) { r.proof = nil },
			"another key":       func(r *Request) { r.key = public("eve") },
			"another signature": func(r *Request) { r.sig = other.sig },
			"another session":   func(r *Request) { r.session[1] ^= 1 },
			"the identity":      func(r *Request) { r.p.SetIdentity() },
		} {
			r := j.Request()
			f(r)
			if issue(r) == nil {
				t.Errorf("issued for %s", what)
			}
		}
		if w.register.Len() != 0 {
			t.Error("something is registered")
		}
		if err := issue(j.Request()); err != nil {
			t.Fatal(err)
		}
		second, err := NewJoin(w.gk, w.gk.ID(), &j.challenge, "ada", longTerm("ada"))
		if err != nil {
			t.Fatal(err)
		}
		if issue(second.Request()) == nil {
			t.Error("two credentials in one session")
		}
		if _, err := NewJoin(w.gk, [32]byte{}, &j.challenge, "ada", longTerm("ada")); err == nil {
			t.Error("joined under another fingerprint")
		}
		if _, err := NewJoin(w.gk, w.gk.ID(), &j.challenge, "bob", longTerm("bob")); err == nil {
			t.Error("answered another member's challenge")
		}
	}
}

func TestOpeningHostile(t *testing.T) {
	w := newWorld(t, "opening")
	ada, bob := w.join("ada"), w.join("bob")
	msg := []byte("m")
	sig, other := w.sign(ada, "m"), w.sign(bob, "m")
	o, err := w.opener.Open(w.opening, msg, nil, sig, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.opener.Open(w.opening, msg, nil, other, nil)
	if err != nil {
		t.Fatal(err)
	}
	renamed := *o.record
	renamed.Member = "bob"
	for what, x := range map[string]*Opening{
		"another signature's": p,
		"another record":      {record: p.record, proof: o.proof},
		"another proof":       {record: o.record, proof: p.proof},
		"another name":        {record: &renamed, proof: o.proof},
		"no proof":            {record: o.record},
		"nothing":             {},
	} {
		for _, name := range []string{"ada", "bob"} {
			if w.gk.VerifyOpening(msg, nil, sig, nil, x, public(name)) == nil {
				t.Errorf("accepted: %s", what)
			}
		}
	}
	// An opener that lies about what it has decrypted.
	tt, _, _ := decode(sig)
	q, err := w.gk.decrypted(tt, &bob.pk).Prove(dstOpen, w.gk.openingItems(sig, nil, p.record), w.opener.x[:2])
	if err != nil {
		t.Fatal(err)
	}
	if w.gk.VerifyOpening(msg, nil, sig, nil, &Opening{p.record, q.Append(nil)}, public("bob")) == nil {
		t.Error("a lie is accepted")
	}
	if _, err := w.opener.Open(w.opening, []byte("M"), nil, sig, nil); err == nil {
		t.Error("an invalid signature is opened")
	}
	if _, err := w.opener.Open(w.gk.NewRegister(), msg, nil, sig, nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("an empty register: %v", err)
	}
	r := *w.register.Member("ada")
	if w.opener.Record(w.gk.NewRegister(), &r, public("eve")) == nil {
		t.Error("a record under another key")
	}
	r.GroupID[0] ^= 1
	if w.opener.Record(w.gk.NewRegister(), &r, public("ada")) == nil {
		t.Error("a record of another group")
	}
}

func TestGroupKey(t *testing.T) {
	w := newWorld(t, "group key")
	b := w.gk.encode()
	for at := range b {
		x := bytes.Clone(b)
		x[at] ^= 1
		if _, err := ParseGroupKey(x); err == nil {
			t.Errorf("byte %d changed", at)
		}
	}
	for _, x := range [][]byte{nil, b[:len(b)-1], append(bytes.Clone(b), 0)} {
		if _, err := ParseGroupKey(x); err == nil {
			t.Error("another length")
		}
	}
	if _, _, err := Setup("", w.issuer); err == nil {
		t.Error("no label")
	}
	m := w.join("ada")
	key, _ := m.MarshalBinary()
	for at := 0; at < len(key); at += 7 {
		x := bytes.Clone(key)
		x[at] ^= 1
		// A byte of the name is no secret, and isn't tied to the rest.
		if got, err := w.gk.ParseMemberKey(x); err == nil && got.member == m.member {
			t.Errorf("byte %d of a member key changed", at)
		}
	}
	if _, err := newWorld(t, "group key").gk.ParseMemberKey(key); err == nil {
		t.Error("a member key of another group")
	}
}

func TestWiped(t *testing.T) {
	w := newWorld(t, "wiped")
	m := w.join("ada")
	sig := w.sign(m, "m")
	j := w.invite("bob", join.Fischlin)
	m.Wipe()
	j.Wipe()
	w.opener.Wipe()
	w.issuer.Wipe()
	if _, err := m.Sign(nil, nil); err == nil {
		t.Error("a wiped member signs")
	}
	if _, err := m.MarshalBinary(); err == nil {
		t.Error("a wiped key is stored")
	}
	if _, err := j.Finish(new(Credential)); err == nil {
		t.Error("a wiped join ends")
	}
	if _, err := w.opener.Open(w.opening, []byte("m"), nil, sig, nil); err == nil {
		t.Error("a wiped opener opens")
	}
	if _, err := w.issuer.Issue(w.gk, w.sessions, w.register, j.Request(), 2); err == nil {
		t.Error("a wiped issuer issues")
	}
	if _, err := w.issuer.Invite(w.sessions, "x", public("x"), join.Fischlin, 1, 1); err == nil {
		t.Error("a wiped issuer invites")
	}
	if _, _, err := Setup("x", w.issuer); err == nil {
		t.Error("a wiped issuer sets up a group")
	}
	if w.opener.Record(w.opening, new(join.Record), public("x")) == nil {
		t.Error("a wiped opener records")
	}
}

// TestEquations checks the relation in GT both ways, and that the precomputed form is
// the one of the blinded points.
func TestEquations(t *testing.T) {
	w := newWorld(t, "equations")
	m := w.join("ada")
	var u, r1, r2, rho bls12381.Scalar
	u.Random()
	r1.Random()
	r2.Random()
	rho.Inverse(&r1)
	tt := m.hide(&u, &r1, &r2)
	m.finish(&u, tt)
	got := m.commitGT(&r1, &r2, []bls12381.Scalar{m.k, u, rho})
	want := new(bls12381.GT).PairingProductVarTime(bls12381.PairWith(&tt[4], w.gk.lx))
	if !got.Equal(want) {
		t.Error("e(T7, P2)^rho · e(T6, X)^-k isn't e(T5, X)")
	}
	c := new(bls12381.Scalar).SetUint64(5)
	nonces := []bls12381.Scalar{*c, rho, u}
	s := sigma.Respond(c, nonces, []bls12381.Scalar{m.k, u, rho})
	_, _, gt := w.gk.recompute(tt, &sigma.Proof{C: *c, S: s})
	if !gt.Equal(m.commitGT(&r1, &r2, nonces)) {
		t.Error("the verifier has another commitment")
	}
}

func BenchmarkSign(b *testing.B) {
	w := newWorld(b, "bench")
	m := w.join("ada")
	for b.Loop() {
		w.sign(m, "m")
	}
}

func BenchmarkVerify(b *testing.B) {
	w := newWorld(b, "bench")
	sig := w.sign(w.join("ada"), "m")
	for b.Loop() {
		if err := w.gk.Verify([]byte("m"), nil, sig); err != nil {
			b.Fatal(err)
		}
	}
}

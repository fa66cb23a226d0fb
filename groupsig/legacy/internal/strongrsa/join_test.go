// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package strongrsa

import (
	"bytes"
	"errors"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/legacy/internal/qrn"
	"github.com/undersign/undersign/internal/modexp"
)

// TestJoinHostile gives the issuer what it must not answer.
func TestJoinHostile(t *testing.T) {
	forAll(t, func(t *testing.T, i int) {
		w := newWorld(t, schemeOf(t, i, small), "join")
		j := w.invite("ada")
		if _, err := w.issuer.Invite(w.sessions, "bob", public("bob"), 1, 10); err == nil {
			t.Error("a second session is open")
		}
		issue := func(r *Request) error {
			_, err := w.issuer.Issue(w.gk, w.sessions, w.register, r, 2)
			return err
		}
		// Another member's values: a whole other session's.
		other := newWorld(t, w.s, "join 2").invite("ada").Request()
		for what, f := range map[string]func(r *Request){
			"another group's proof": func(r *Request) { r.proof = other.proof },
			"another point":         func(r *Request) { r.point = other.point },
			"another commitment":    func(r *Request) { r.commitment = append(bytes.Clone(other.commitment), 1) },
			"another key":           func(r *Request) { r.key = public("eve") },
			"another signature":     func(r *Request) { r.sig = other.sig },
			"no proof":              func(r *Request) { r.proof = nil },
			"another session":       func(r *Request) { r.session[0] ^= 1 },
			"point 1":               func(r *Request) { r.point = append(make([]byte, len(r.point)-1), 1) },
			"a changed proof": func(r *Request) {
				r.proof = bytes.Clone(r.proof)
				r.proof[len(r.proof)-1] ^= 1
			},
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
		cred, err := w.issuer.Issue(w.gk, w.sessions, w.register, j.Request(), 2)
		if err != nil {
			t.Fatal(err)
		}
		again, err := w.issuer.Issue(w.gk, w.sessions, w.register, j.Request(), 2)
		if err != nil || !bytes.Equal(again.a, cred.a) || !bytes.Equal(again.e, cred.e) {
			t.Error("the same request gets another answer")
		}
		// The same session with another request, and the same point in another one.
		c := j.challenge
		second, err := NewJoin(w.gk, w.gk.ID(), &c, "ada", longTerm("ada"))
		if err != nil {
			t.Fatal(err)
		}
		if issue(second.Request()) == nil {
			t.Error("two credentials in one session")
		}
		if c, err := w.issuer.Invite(w.sessions, "ada", public("ada"), 3, 10); err == nil {
			if j2, err := NewJoin(w.gk, w.gk.ID(), c, "ada", longTerm("ada")); err != nil || issue(j2.Request()) == nil {
				t.Error("two credentials for one identity")
			}
		}
		// What the member must refuse of the issuer's.
		for what, f := range map[string]func(c *Credential){
			"another session": func(c *Credential) { c.session[0] ^= 1 },
			"another A":       func(c *Credential) { c.a = w.gk.n.Encode(w.gk.base["g"].X) },
			"no A":            func(c *Credential) { c.a = nil },
			"another e":       func(c *Credential) { c.e[len(c.e)-1] ^= 4 },
			"an even e":       func(c *Credential) { c.e[len(c.e)-1] ^= 1 },
			"a longer e":      func(c *Credential) { c.e = append([]byte{1}, c.e...) },
			"no parts":        func(c *Credential) { c.parts = nil },
			"more parts":      func(c *Credential) { c.parts = append(c.parts, []byte{1}) },
			"another part": func(c *Credential) {
				c.parts[len(c.parts)-1] = bytes.Clone(c.parts[len(c.parts)-1])
				c.parts[len(c.parts)-1][3] ^= 1
			},
		} {
			x := *cred
			x.a, x.e = bytes.Clone(cred.a), bytes.Clone(cred.e)
			x.parts = append([][]byte(nil), cred.parts...)
			f(&x)
			if _, err := j.Finish(&x); err == nil {
				t.Errorf("the member accepts %s", what)
			}
		}
		// What the issuer knows isn't the member's key: its own part is missing.
		known := &MemberKey{g: w.gk, member: "ada"}
		if known.set(cred, make([]modexp.Nat, len(w.s.slots))) == nil {
			t.Error("the issuer knows the member's key")
		}
		if _, err := j.Finish(cred); err != nil {
			t.Error(err)
		}
		if _, err := NewJoin(w.gk, [32]byte{}, &c, "ada", longTerm("ada")); err == nil {
			t.Error("joined under another fingerprint")
		}
		if _, err := NewJoin(w.gk, w.gk.ID(), &c, "bob", longTerm("bob")); err == nil {
			t.Error("answered another member's challenge")
		}
	})
}

// TestJoinParts: the member doesn't choose its secret, and the issuer doesn't know it.
func TestJoinParts(t *testing.T) {
	forAll(t, func(t *testing.T, i int) {
		w := newWorld(t, schemeOf(t, i, small), "parts")
		j := w.invite("ada")
		cred, err := w.issuer.Issue(w.gk, w.sessions, w.register, j.Request(), 2)
		if err != nil {
			t.Fatal(err)
		}
		m, err := j.Finish(cred)
		if err != nil {
			t.Fatal(err)
		}
		parts, _ := w.s.decodeParts(cred.parts)
		for i, x := range w.s.slots {
			if x.member == 0 {
				continue
			}
			b := qrn.Fill(m.w[i], x.r.Bits)
			if parts[i] != nil && bytes.Equal(b, qrn.Fill(parts[i], x.r.Bits)) {
				t.Error("the secret is the issuer's")
			}
			u := qrn.Fill(j.u[i], x.r.Bits)
			if x.issuer > 0 && bytes.Equal(b, u) {
				t.Error("the secret is the member's choice")
			}
			all, _ := w.register.MarshalBinary()
			req, _ := j.Request().MarshalBinary()
			out, _ := cred.MarshalBinary()
			all = append(append(all, req...), out...)
			if bytes.Contains(all, bytes.TrimLeft(b, "\x00")) || bytes.Contains(all, bytes.TrimLeft(u, "\x00")) {
				t.Error("the secret leaves the member")
			}
		}
	})
}

// TestOpeningHostile forges openings.
func TestOpeningHostile(t *testing.T) {
	forAll(t, func(t *testing.T, i int) {
		w := newWorld(t, schemeOf(t, i, small), "opening")
		ada, bob := w.join("ada"), w.join("bob")
		msg := []byte("m")
		sig, other := w.sign(ada, "m"), w.sign(bob, "m")
		open := func(sig []byte) *Opening {
			o, err := w.opener.Open(w.opening, msg, nil, sig, nil)
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
		o, p := open(sig), open(other)
		refused := func(what string, o *Opening) {
			t.Helper()
			for _, name := range []string{"ada", "bob"} {
				if w.gk.VerifyOpening(msg, nil, sig, nil, o, public(name)) == nil {
					t.Errorf("accepted: %s", what)
				}
			}
		}
		refused("the opening of another signature", p)
		refused("another record", &Opening{record: p.record, a: o.a, part: o.part, proof: o.proof})
		refused("another record with its part", &Opening{record: p.record, a: o.a, part: p.part, proof: o.proof})
		refused("another credential", &Opening{record: p.record, a: p.a, part: p.part, proof: o.proof})
		refused("another proof", &Opening{record: o.record, a: o.a, part: o.part, proof: p.proof})
		refused("no proof", &Opening{record: o.record, a: o.a, part: o.part})
		refused("nothing", new(Opening))
		renamed := *o.record
		renamed.Member = "bob"
		refused("another name", &Opening{record: &renamed, a: o.a, part: o.part, proof: o.proof})
		refused("a credential too many", &Opening{record: o.record, a: append(bytes.Clone(o.a), 1), part: o.part, proof: o.proof})
		if err := w.gk.VerifyOpening(msg, nil, sig, nil, o, public("ada")); err != nil {
			t.Error(err)
		}
		if w.gk.VerifyOpening([]byte("M"), nil, sig, nil, o, public("ada")) == nil {
			t.Error("an opening passes with an invalid signature")
		}
		if _, err := w.opener.Open(w.opening, []byte("M"), nil, sig, nil); err == nil {
			t.Error("an invalid signature is opened")
		}
		if _, err := w.opener.Open(w.gk.NewRegister(), msg, nil, sig, nil); !errors.Is(err, ErrUnknown) {
			t.Errorf("an empty register: %v", err)
		}
		// An opener that knows everything puts ada's credential to bob's registration.
		if i != 1 {
			mixed := *w.register.Member("bob")
			mixed.Evidence = w.register.Member("ada").Evidence
			if w.opener.Record(w.gk.NewRegister(), &mixed, public("bob")) == nil {
				t.Error("a record with another member's credential")
			}
			frame := w.gk.NewRegister()
			if err := frame.Add(&mixed); err != nil {
				t.Fatal(err)
			}
			o, err := w.opener.Open(frame, msg, nil, sig, nil)
			if err != nil {
				t.Fatal(err)
			}
			refused("a framing opener", o)
		}
		// Another opener's key.
		x := &OpenerKey{w.gk, qrn.Random(func(b []byte) { b[0] = 1 }, w.s.opener)}
		if o, err := x.Open(w.opening, msg, nil, sig, nil); err == nil {
			refused("another opener", o)
		}
		for _, r := range []*join.Record{w.register.Member("ada")} {
			if w.opener.Record(w.gk.NewRegister(), r, public("eve")) == nil {
				t.Error("a record under another key")
			}
			changed := *r
			changed.Evidence = append(bytes.Clone(r.Evidence), 0)
			if w.opener.Record(w.gk.NewRegister(), &changed, public("ada")) == nil {
				t.Error("a record with trailing evidence")
			}
		}
	})
}

// TestTrace is KTY04's tracing and claiming.
func TestTrace(t *testing.T) {
	w := newWorld(t, schemeOf(t, 0, small), "trace")
	ada, bob := w.join("ada"), w.join("bob")
	a1, a2, b := w.sign(ada, "1"), w.sign(ada, "2"), w.sign(bob, "1")
	d, err := w.gk.Reveal(w.opening.Member("ada"))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		sig  []byte
		want bool
	}{{a1, true}, {a2, true}, {b, false}} {
		if got, err := d.Trace(x.sig); err != nil || got != x.want {
			t.Errorf("traced: %v, %v", got, err)
		}
	}
	if _, err := d.Trace(a1[1:]); err == nil {
		t.Error("half a signature is traced")
	}
	claim, err := ada.Claim(a1, []byte("c"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.gk.VerifyClaim(a1, []byte("c"), claim); err != nil {
		t.Error(err)
	}
	bad := bytes.Clone(claim)
	bad[len(bad)-1] ^= 1
	if w.gk.VerifyClaim(a2, []byte("c"), claim) == nil || w.gk.VerifyClaim(b, []byte("c"), claim) == nil ||
		w.gk.VerifyClaim(a1, nil, claim) == nil || w.gk.VerifyClaim(a1, []byte("c"), bad) == nil ||
		w.gk.VerifyClaim(a1, []byte("c"), nil) == nil {
		t.Error("a claim of something else")
	}
	if _, err := bob.Claim(a1, nil); err == nil {
		t.Error("bob claims ada's signature")
	}
	// The issuer's part of x' makes no claim, nor does its trapdoor: in libgroupsig the
	// issuer has x' itself.
	issuer := *ada
	ev, err := w.gk.evidence(w.register.Member("ada"))
	if err != nil {
		t.Fatal(err)
	}
	issuer.w = []modexp.Nat{ev.parts[0], qrn.Sum(ev.parts[1], modexp.NewNat(1), w.s.slots[1].r.Bits)}
	if _, err := issuer.Claim(a1, nil); err == nil {
		t.Error("the issuer claims ada's signature")
	}
	forged, err := w.gk.claiming(must(w.gk.elements(a1))).Prove(w.s.dst("claim"), w.gk.claimItems(a1, nil), issuer.w[1:])
	if err != nil {
		t.Fatal(err)
	}
	if w.gk.VerifyClaim(a1, nil, forged) == nil {
		t.Error("the issuer claims ada's signature")
	}
	cg := newWorld(t, schemeOf(t, 1, small), "trace")
	m := cg.join("ada")
	if _, err := m.Claim(cg.sign(m, "m"), nil); err == nil {
		t.Error("CG05 has no claims")
	}
	if _, err := cg.gk.Reveal(cg.register.Member("ada")); err == nil {
		t.Error("CG05 has no trapdoors")
	}
	if cg.gk.VerifyClaim(nil, nil, nil) == nil {
		t.Error("CG05 has no claims")
	}
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

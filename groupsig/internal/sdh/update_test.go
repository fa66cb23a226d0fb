// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/state"
	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/internal/bls12381"
)

func termsOf(n uint64) state.Terms { return state.Terms{Number: n, Issued: now, Expires: now + 100} }

func eachMoving(t *testing.T, f func(t *testing.T, s *Scheme)) {
	each(t, func(t *testing.T, s *Scheme) {
		if len(s.Moves) > 0 {
			f(t, s)
		}
	})
}

// update signs the next update, and passes it through its encoding.
func (g *group) update(n uint64, base *Update) *Update {
	g.t.Helper()
	u, err := g.issuer.Update(g.gk, g.register, termsOf(n), base)
	g.check(err)
	b, err := u.MarshalBinary()
	g.check(err)
	u, err = g.gk.ParseUpdate(b)
	g.check(err)
	return u
}

// A life with revocations: signatures are good in their own version only, who is revoked
// can't follow, who joins later catches up, and all can be opened.
func TestUpdates(t *testing.T) {
	eachMoving(t, func(t *testing.T, s *Scheme) {
		g := newGroup(t, s, "updates")
		alice, bob, carol := g.join("alice"), g.join("bob"), g.join("carol")
		old := g.sign(alice, "motion")
		u0 := g.update(1, nil)
		if u0.Len() != 0 || u0.Key() != g.gk || alice.Update(u0) != nil {
			t.Error("an update that revokes nobody")
		}
		g.check(g.register.Revoke("bob"))
		u1 := g.update(2, u0)
		g.check(g.register.Revoke("carol"))
		u2 := g.update(3, u1)
		if u1.Len() != 1 || u2.Len() != 2 || u2.Key().Version() != 2 {
			t.Fatalf("%d and %d are revoked", u1.Len(), u2.Len())
		}
		g.check(alice.Update(u1))
		g.check(carol.Update(u1))
		first := g.sign(alice, "motion")
		b, err := alice.MarshalBinary()
		g.check(err)
		alice, err = g.gk.ParseMemberKey(b)
		g.check(err)
		g.check(alice.Update(u2))
		if alice.Version() != 2 || alice.Update(u1) == nil || alice.Update(u2) != nil {
			t.Error("an update twice, or one that is older")
		}
		// Dora joins when two are revoked.
		dora := g.join("dora")
		g.check(dora.Update(u2))
		second, doras := g.sign(alice, "motion"), g.sign(dora, "motion")
		for i, sig := range [][]byte{old, first, second, doras} {
			for v := range uint64(3) {
				k, err := u2.KeyAt(v)
				g.check(err)
				if want := []uint64{0, 1, 2, 2}[i]; (k.Verify(message("motion"), []byte("context"), sig) == nil) != (v == want) {
					t.Errorf("signature %d in version %d", i, v)
				}
			}
		}
		if _, err := u2.KeyAt(3); err == nil {
			t.Error("a version that isn't there")
		}
		for name, m := range map[string]*MemberKey{"bob": bob, "carol": carol} {
			if err := m.Update(u2); !errors.Is(err, state.ErrRevoked) {
				t.Errorf("%s: %v", name, err)
			}
			// Nor with what is published and another's place taken by force.
			forced := *m
			forced.gk = u2.Key()
			if u2.Key().Verify(message("m"), []byte("context"), g.sign(&forced, "m")) == nil {
				t.Errorf("%s signs with the old credential", name)
			}
		}
		// Openings, in each version.
		for i, x := range []struct {
			sig  []byte
			v    uint64
			name string
		}{{old, 0, "alice"}, {first, 1, "alice"}, {second, 2, "alice"}, {doras, 2, "dora"}} {
			k, err := u2.KeyAt(x.v)
			g.check(err)
			o, err := g.opener.Open(k, g.register, message("motion"), []byte("context"), x.sig, nil)
			g.check(err)
			if o.Member() != x.name {
				t.Fatalf("%d: opened to %q", i, o.Member())
			}
			judge := func(k *GroupKey) error {
				return k.VerifyOpening(message("motion"), []byte("context"), x.sig, o, public(x.name), nil)
			}
			g.check(judge(k))
			other, err := u2.KeyAt((x.v + 1) % 3)
			g.check(err)
			if judge(other) == nil {
				t.Errorf("%d: the opening is good in another version", i)
			}
			if r := k.FindRecord(g.register, o.Value()); r == nil || r.Member != x.name {
				t.Errorf("%d: the issuer doesn't find its record", i)
			}
		}
		// Rejoining.
		_, m2 := g.apply("bob")
		if _, err := g.issuer.Issue(g.gk, g.sessions, g.register, m2, now); !errors.As(err, new(*join.RejoinError)) {
			t.Errorf("bob joins before: %v", err)
		}
		if n, err := g.gk.MarkListed(g.register, u1, now); err != nil || n != 1 {
			t.Errorf("%d are marked: %v", n, err)
		}
		if _, err := g.gk.MarkListed(g.register, u2, now+101); err == nil {
			t.Error("an update that has expired")
		}
		bob = g.join("bob")
		g.check(bob.Update(u2))
		// The next update doesn't revoke anew who is revoked.
		if u3 := g.update(4, u2); u3.Len() != 2 || bob.Update(u3) != nil {
			t.Error("bob is revoked again")
		}
	})
}

// sign signs entries as an issuer that publishes what it likes.
func (g *group) signSteps(entries ...[]byte) ([]byte, error) {
	s, err := g.gk.format().Sign(termsOf(1), [][][]byte{entries}, func(msg []byte) ([]byte, error) {
		p, err := g.gk.consent(issuerRole).Prove(g.gk.dst(updateOp), g.gk.context(updateOp).Bytes("state", msg), g.issuer.secrets)
		if err != nil {
			return nil, err
		}
		return p.Append(nil), nil
	})
	if err != nil {
		return nil, err
	}
	return s.MarshalBinary()
}

// A hostile issuer's updates: each check by itself.
func TestBadSteps(t *testing.T) {
	eachMoving(t, func(t *testing.T, s *Scheme) {
		g := newGroup(t, s, "steps")
		start := g.gk.start()
		x := new(bls12381.Scalar).Random()
		good := g.issuer.divide(1, start, x)
		parse := func(entries ...[]byte) error {
			b, err := g.signSteps(entries...)
			g.check(err)
			_, err = g.gk.ParseUpdate(b)
			return err
		}
		clone := func() *step {
			z := *good
			z.moved = append([]bls12381.G1(nil), good.moved...)
			return &z
		}
		g.check(parse(good.append(1)))
		refused := func(what, want string, z *step) {
			t.Helper()
			for i := range z.moved {
				bls12381.NormalizeG1(&z.moved[i])
			}
			bls12381.NormalizeG2(&z.g2)
			if err := parse(z.append(1)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", what, err)
			}
		}
		for i := range good.moved {
			z := clone()
			z.moved[i].Add(&z.moved[i], bls12381.G1Generator())
			refused("a constant that isn't divided", "constant", z)
			z = clone()
			z.moved[i] = start.moved[i]
			refused("a constant that has stayed", "constant", z)
		}
		z := clone()
		z.g2.Add(&z.g2, bls12381.G2Generator())
		refused("g2 that isn't divided", "the point of G2", z)
		z = clone()
		z.g2 = start.g2
		refused("g2 that has stayed", "the point of G2", z)
		z = clone()
		z.x.Random()
		refused("another x", "constant 0", z)
		// A key with another γ: all divided by one number that isn't γ+x. What compares the
		// groups alone takes it, e(B', g2) = e(B, g2').
		a := new(bls12381.Scalar).Random()
		z = clone()
		for i := range z.moved {
			z.moved[i].ScalarMult(a, &start.moved[i])
		}
		z.g2.ScalarMult(a, &start.g2)
		var minus bls12381.G1
		minus.Neg(&start.moved[0])
		if !bls12381.PairingCheckVarTime(bls12381.PairOf(&z.moved[0], &start.g2), bls12381.PairOf(&minus, &z.g2)) {
			t.Error("the last equation refuses what it can't see")
		}
		refused("an unrelated key", "constant 0", z)

		second := g.issuer.divide(2, good, new(bls12381.Scalar).Random())
		again := g.issuer.divide(2, good, x)
		g.check(parse(good.append(1), second.append(2)))
		identity := good.append(1)
		copy(identity[40:], append([]byte{0xc0}, make([]byte, 47)...))
		outside := good.append(1)
		copy(outside[40:], append([]byte{0x80}, make([]byte, 47)...))
		zero := good.append(1)
		clear(zero[8:40])
		order := good.append(1)
		copy(order[8:40], bytes.Repeat([]byte{0xff}, 32))
		for name, entries := range map[string][][]byte{
			"the second alone": {second.append(2)}, "the second as the first": {second.append(1)},
			"a step left out":         {good.append(1), second.append(3)},
			"the first twice":         {good.append(1), good.append(2)},
			"one member revoked more": {good.append(1), again.append(2)},
			"identity":                {identity}, "outside": {outside}, "x of 0": {zero}, "x too large": {order},
		} {
			if parse(entries...) == nil {
				t.Errorf("%s: taken", name)
			}
		}
	})
}

func TestBadUpdates(t *testing.T) {
	eachMoving(t, func(t *testing.T, s *Scheme) {
		g, other := newGroup(t, s, "bad"), newGroup(t, s, "other")
		alice := g.join("alice")
		g.join("bob")
		g.check(g.register.Revoke("bob"))
		u := g.update(1, nil)
		b, err := u.MarshalBinary()
		g.check(err)
		for i := 0; i < len(b); i += 5 {
			x := bytes.Clone(b)
			x[i] ^= 1
			if _, err := g.gk.ParseUpdate(x); err == nil {
				t.Errorf("byte %d was changed", i)
			}
		}
		if _, err := other.gk.ParseUpdate(b); err == nil {
			t.Error("another group takes it")
		}
		if _, err := other.issuer.Update(g.gk, g.register, termsOf(2), u); err == nil {
			t.Error("another issuer revokes")
		}
		if _, err := g.opener.Update(g.gk, g.register, termsOf(2), u); err == nil {
			t.Error("the opener revokes")
		}
		if _, err := g.issuer.Update(g.gk, g.register, termsOf(1), u); err == nil {
			t.Error("two updates with one number")
		}
		if _, err := g.issuer.Update(g.gk, nil, termsOf(2), u); err == nil {
			t.Error("no register")
		}
		foreign := other.update(1, nil)
		if alice.Update(foreign) == nil || alice.Update(nil) == nil || alice.Update(new(Update)) == nil {
			t.Error("alice takes another group's update, or none")
		}
		for name, f := range map[string]func() error{
			"expired":   func() error { _, err := g.gk.Fresh(u, now+101, 0); return err },
			"to come":   func() error { _, err := g.gk.Fresh(u, now-1, 0); return err },
			"no time":   func() error { _, err := g.gk.Fresh(u, 0, 0); return err },
			"older":     func() error { _, err := g.gk.Fresh(u, now, 2); return err },
			"another's": func() error { _, err := g.gk.Fresh(foreign, now, 0); return err },
			"none":      func() error { _, err := g.gk.Fresh(nil, now, 0); return err },
			"empty":     func() error { _, err := g.gk.Fresh(new(Update), now, 0); return err },
		} {
			if err := f(); !errors.As(err, new(*state.StaleError)) {
				t.Errorf("%s: %v", name, err)
			}
		}
		k, err := g.gk.Fresh(u, now, 1)
		g.check(err)
		// A history that goes on from elsewhere.
		g.check(alice.Update(u))
		g.register = g.gk.NewRegister()
		g.join("carol")
		g.check(g.register.Revoke("carol"))
		fork := g.update(2, nil)
		if alice.Update(fork) == nil {
			t.Error("alice takes a history that isn't hers")
		}
		if k.Verify(message("m"), []byte("context"), g.sign(alice, "m")) != nil {
			t.Error("alice's key was spoilt")
		}
		if fork.Key().Equal(k) || !k.Equal(u.Key()) {
			t.Error("versions that are equal")
		}
		// Nor do verifiers take one, or one that has lost steps: anybody can sign under it.
		g.register = g.gk.NewRegister()
		lost := g.update(3, nil)
		for name, next := range map[string]*Update{"a fork": fork, "no steps": lost} {
			if next.State.Replaces(&u.State) != nil || !errors.As(next.Replaces(u), new(*state.StaleError)) {
				t.Errorf("%s takes the place of the update", name)
			}
		}
		g.check(u.Replaces(u))
		g.check(u.Replaces(nil))
		g.check(u.Replaces(new(Update)))
	})
	g := newGroup(t, DP06, "no updates")
	if _, err := g.issuer.Update(g.gk, g.register, termsOf(1), nil); err == nil {
		t.Error("dp06 revokes")
	}
	if _, err := g.gk.ParseUpdate(nil); err == nil {
		t.Error("dp06 has an update")
	}
}

// In the static form a credential is of the record that it was made for.
func TestStatic(t *testing.T) {
	g := newGroup(t, bbs04Static, "static")
	alice, bob := g.join("alice"), g.join("bob")
	sig := g.sign(alice, "motion")
	o, err := g.opener.Open(g.gk, g.register, message("motion"), []byte("context"), sig, nil)
	g.check(err)
	// An opener that says it was bob: the proof can be made for any record.
	forged := *o
	r := *g.register.Member("bob")
	r.Evidence = nil
	forged.record = &r
	for _, x := range []*bls12381.Scalar{new(bls12381.Scalar), &alice.cred.x, &bob.cred.x} {
		forged.x = *x
		items, err := g.gk.openContext(sig, nil, &forged)
		g.check(err)
		s, err := g.gk.s.parse(sig)
		g.check(err)
		forged.proof, err = g.gk.openStatement(s, &forged.a).Prove(g.gk.dst("open"), items, g.opener.secrets)
		g.check(err)
		if g.gk.VerifyOpening(message("motion"), []byte("context"), sig, &forged, public("bob"), nil) == nil {
			t.Error("alice's signature is opened as bob's")
		}
	}
	// An opening isn't a key: it has A, and so it mustn't have x, nor what x is made of.
	b, err := o.MarshalBinary()
	g.check(err)
	_, m, err := g.gk.evidence(g.register.Member("alice"))
	g.check(err)
	if bytes.Contains(b, alice.cred.x.Bytes()) || bytes.Contains(b, m.proof) || !bytes.Contains(b, alice.cred.a.Bytes()) {
		t.Error("the opening has alice's key")
	}
	shown := *o
	shown.x = alice.cred.x
	items, err := g.gk.openContext(sig, nil, &shown)
	g.check(err)
	raw, err := g.gk.s.parse(sig)
	g.check(err)
	shown.proof, err = g.gk.openStatement(raw, &shown.a).Prove(g.gk.dst("open"), items, g.opener.secrets)
	g.check(err)
	if g.gk.VerifyOpening(message("motion"), []byte("context"), sig, &shown, public("alice"), nil) == nil {
		t.Error("an opening that shows x was accepted")
	}
	// A member registers the x that it asks for, and not another's.
	for name, change := range map[string]func(r *join.Record){
		"bob's point": func(r *join.Record) { r.Point = g.register.Member("bob").Point },
		"no point":    func(r *join.Record) { r.Point = make([]byte, bls12381.G2Size) },
		"short":       func(r *join.Record) { r.Point = r.Point[:staticSeed] },
		"other seed":  func(r *join.Record) { r.Evidence[len(r.Evidence)-1] ^= 1 },
		"no seed":     func(r *join.Record) { r.Evidence = r.Evidence[:len(r.Evidence)-staticSeed] },
	} {
		c, err := g.sessions.Open("carol", public("carol"), join.Fischlin, now, 60)
		g.check(err)
		_, m2, err := g.gk.NewJoin(g.gk.ID(), c, "carol", longTerm("carol"))
		g.check(err)
		r := new(join.Record)
		g.check(r.UnmarshalBinary(m2))
		change(r)
		g.check(r.Sign(longTerm("carol")))
		m2, err = r.MarshalBinary()
		g.check(err)
		if _, err := g.issuer.Issue(g.gk, g.sessions, g.gk.NewRegister(), m2, now); err == nil {
			t.Errorf("%s: issued", name)
		}
	}
	// A draft isn't read as the other form.
	b, err = g.gk.MarshalBinary()
	g.check(err)
	k, err := ParseGroupKey(BBS04, b)
	if err != nil || !k.Static() || k.ID() != g.gk.ID() {
		t.Error("the static form isn't recognised", err)
	}
	dynamic := newGroup(t, BBS04, "static")
	if dynamic.gk.Static() || dynamic.gk.ID() == g.gk.ID() {
		t.Error("both forms are one")
	}
	if dynamic.verify("motion", sig) == nil || g.verify("motion", dynamic.sign(dynamic.join("alice"), "motion")) == nil {
		t.Error("a signature is good in the other form")
	}
}

// A member that uses one α twice can still be linked.
func TestLinkingOneBlind(t *testing.T) {
	g := newGroup(t, HLCCN11, "one blind")
	alice, bob := g.join("alice"), g.join("bob")
	blind := new(bls12381.Scalar).Random()
	sign := func(m *MemberKey, msg string) Signed {
		w, nonces := make([]bls12381.Scalar, HLCCN11.Secrets), make([]bls12381.Scalar, HLCCN11.Secrets)
		w[0].Set(blind)
		for i := range nonces {
			nonces[i].Random()
		}
		return Signed{Message: message(msg), Context: []byte("context"), Signature: m.prove(message(msg), []byte("context"), w, nonces).bytes(0)}
	}
	set := []Signed{sign(alice, "1"), sign(alice, "2"), {Message: message("3"), Context: []byte("context"), Signature: g.sign(alice, "3")}}
	link, err := g.linker.ProveLink(g.gk, set, nil)
	g.check(err)
	g.check(g.gk.VerifyLink(set, nil, link))
	bad := []Signed{set[0], sign(bob, "2")}
	if _, err := g.linker.ProveLink(g.gk, bad, nil); err == nil {
		t.Error("two members are linked")
	}
	if g.gk.VerifyLink(bad, nil, link) == nil {
		t.Error("a link of two members")
	}
}

// Signatures of one member stay linked when the key moves.
func TestLinkingVersions(t *testing.T) {
	g := newGroup(t, hlccn11Rekey, "linking versions")
	alice, bob := g.join("alice"), g.join("bob")
	g.join("carol")
	signed := func(m *MemberKey, msg string) Signed {
		return Signed{Message: message(msg), Context: []byte("context"), Signature: g.sign(m, msg), Key: m.Group()}
	}
	set := []Signed{signed(alice, "1")}
	bobs := signed(bob, "1")
	g.check(g.register.Revoke("carol"))
	u := g.update(1, nil)
	g.check(alice.Update(u))
	set = append(set, signed(alice, "2"))
	for _, k := range []*GroupKey{g.gk, u.Key()} {
		link, err := g.linker.ProveLink(k, set, nil)
		g.check(err)
		g.check(g.gk.VerifyLink(set, nil, link))
		g.check(u.Key().VerifyLink(set, nil, link))
		wrong := []Signed{set[0], set[1]}
		wrong[1].Key = g.gk
		if g.gk.VerifyLink(wrong, nil, link) == nil || g.gk.VerifyLink([]Signed{set[0], bobs}, nil, link) == nil {
			t.Error("a link of what isn't linked")
		}
	}
	if _, err := g.linker.ProveLink(g.gk, []Signed{bobs, set[1]}, nil); err == nil {
		t.Error("two members are linked")
	}
	other := newGroup(t, hlccn11Rekey, "another")
	foreign := signed(other.join("alice"), "1")
	if _, err := g.linker.Tag(g.gk, foreign); err == nil {
		t.Error("another group's signature has a tag")
	}
}

// What was computed for a register is of use when it has grown, and none when it is another.
func TestIndex(t *testing.T) {
	g := newGroup(t, BBS04, "index")
	alice, bob := g.join("alice"), g.join("bob")
	g.join("carol")
	g.check(g.register.Revoke("carol"))
	u := g.update(1, nil)
	g.check(alice.Update(u))
	g.check(bob.Update(u))
	k := u.Key()
	open := func(register *join.Register, m *MemberKey) string {
		o, err := g.opener.Open(k, register, message("m"), []byte("context"), g.sign(m, "m"), nil)
		g.check(err)
		return o.Member()
	}
	if open(g.register, alice) != "alice" || open(g.register, bob) != "bob" {
		t.Error("the wrong ones")
	}
	dora := g.join("dora")
	g.check(dora.Update(u))
	if open(g.register, dora) != "dora" || open(g.register, alice) != "alice" {
		t.Error("a register that has grown")
	}
	one := g.gk.NewRegister()
	g.check(one.Add(g.register.Member("bob")))
	if _, err := g.opener.Open(k, one, message("m"), []byte("context"), g.sign(alice, "m"), nil); !errors.Is(err, tokens.ErrUnknown) || open(one, bob) != "bob" {
		t.Error("another register")
	}
}

// The keys of an update are made once, by whoever is first.
func TestUpdateGoroutines(t *testing.T) {
	g := newGroup(t, BBS04, "goroutines")
	alice := g.join("alice")
	g.join("bob")
	g.check(g.register.Revoke("bob"))
	u := g.update(1, nil)
	g.check(alice.Update(u))
	sig := g.sign(alice, "m")
	u = g.update(2, u)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			switch i % 4 {
			case 0:
				if err := u.Key().Verify(message("m"), []byte("context"), sig); err != nil {
					t.Error(err)
				}
			case 1:
				if k, err := g.gk.Fresh(u, now, 0); err != nil || k.Verify(message("n"), []byte("context"), sig) == nil {
					t.Error("another message", err)
				}
			case 2:
				o, err := g.opener.Open(u.Key(), g.register, message("m"), []byte("context"), sig, nil)
				if err != nil || o.Member() != "alice" {
					t.Error("opened to another", err)
				}
			case 3:
				if k, err := g.gk.KeyOf(u, message("m"), []byte("context"), sig); err != nil || k.Version() != 1 {
					t.Error("another version", err)
				}
			}
		})
	}
	wg.Wait()
}

// By a step anybody can sign under the keys before it, and under no others; and neither is
// a member blamed for it, nor the issuer.
func TestOldKeys(t *testing.T) {
	eachMoving(t, func(t *testing.T, s *Scheme) {
		if s.Trace != nil {
			return
		}
		g := newGroup(t, s, "old keys")
		alice := g.join("alice")
		g.join("bob")
		g.check(g.register.Revoke("bob"))
		u := g.update(1, nil)
		// What is published, and secrets of an outsider's choice.
		x := &u.steps[0]
		m := &MemberKey{gk: g.gk, member: "nobody", y: make([]bls12381.Scalar, len(s.Base))}
		m.cred.x = x.x
		m.cred.a.Set(&x.moved[0])
		var p bls12381.G1
		for j := range m.y {
			m.y[j].Random()
			p.ScalarMult(&m.y[j], &x.moved[j+1])
			if s.Minus {
				m.cred.a.Sub(&m.cred.a, &p)
			} else {
				m.cred.a.Add(&m.cred.a, &p)
			}
		}
		bls12381.NormalizeG1(&m.cred.a)
		g.check(m.load())
		sig := g.sign(m, "m")
		g.check(g.verify("m", sig))
		if m.Update(u) == nil {
			t.Error("the outsider follows the key")
		}
		m.gk = u.Key()
		if m.load() == nil || u.Key().Verify(message("m"), []byte("context"), sig) == nil || u.Key().Verify(message("m"), []byte("context"), g.sign(m, "m")) == nil {
			t.Error("the outsider signs under the current key")
		}
		o, err := g.opener.Open(g.gk, g.register, message("m"), []byte("context"), sig, nil)
		if s.Static { // whose members are blamed for what others can do
			if err != nil || o.Member() != "bob" {
				t.Errorf("opened to another: %v", err)
			}
			return
		}
		if !errors.Is(err, tokens.ErrUnknown) {
			t.Errorf("opened: %v", err)
		}
		// An opener that accuses the issuer nevertheless, and one that blames alice.
		raw, err := g.gk.s.parse(sig)
		g.check(err)
		for _, r := range []*join.Record{nil, g.register.Member("alice")} {
			forged := &Opening{a: m.cred.a}
			if r != nil {
				own := *r
				own.Evidence = nil
				forged.record, forged.x = &own, alice.cred.x
			}
			items, err := g.gk.openContext(sig, nil, forged)
			g.check(err)
			forged.proof, err = g.gk.openStatement(raw, &forged.a).Prove(g.gk.dst("open"), items, g.opener.secrets)
			g.check(err)
			if g.gk.VerifyOpening(message("m"), []byte("context"), sig, forged, public("alice"), nil) == nil {
				t.Error("somebody is blamed for what an outsider signed")
			}
		}
	})
}

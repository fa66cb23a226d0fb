// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"strings"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/transcript"
)

const now = 1_000_000

// The sets of features under test, by name.
var featureSets = map[string]Features{
	"core":    0,
	"scope":   Scope,
	"open":    Scope | Escrow,
	"epoch":   Scope | Escrow | Epoch,
	"all":     Scope | Escrow | Epoch | Sequence | Token,
	"dl21":    Plus | Scope,
	"dl21seq": Plus | Scope | Sequence,
	"gl19":    Plus | Convert | Epoch | Escrow | SingleOpener,
	"noscope": Escrow,
}

// A group is a group with members, for tests.
type group struct {
	t         testing.TB
	k         *GroupKey
	issuer    *IssuerKey
	opener    *OpenerKey
	converter *ConverterKey
	sessions  *join.Sessions
	register  *join.Register
	epoch     uint64
	keys      map[string]ed25519.PrivateKey
}

func newGroup(t testing.TB, f Features) *group {
	t.Helper()
	return newLabelled(t, f, "test")
}

func newLabelled(t testing.TB, f Features, label string) *group {
	t.Helper()
	g := &group{t: t, issuer: GenerateIssuerKey(), keys: map[string]ed25519.PrivateKey{}}
	d := &Draft{Scheme: "test", Label: label, Features: f, Issuer: g.issuer.Public()}
	var err error
	if f.Has(Escrow) {
		if g.opener, err = GenerateOpenerKey(f); err != nil {
			t.Fatal(err)
		}
		d.Opener = g.opener.Public(d)
	}
	if f.Has(Convert) {
		g.converter = GenerateConverterKey()
		d.Converter = g.converter.Public(d)
	}
	if err := g.issuer.Consent(d); err != nil {
		t.Fatal(err)
	}
	if g.opener != nil {
		if err := g.opener.Consent(d); err != nil {
			t.Fatal(err)
		}
	}
	if g.converter != nil {
		if err := g.converter.Consent(d); err != nil {
			t.Fatal(err)
		}
	}
	if g.k, err = NewGroupKey(d); err != nil {
		t.Fatal(err)
	}
	if f.Has(Epoch) {
		g.epoch = 7
	}
	g.sessions, g.register = g.k.NewSessions(), g.k.NewRegister()
	return g
}

func (g *group) key(member string) ed25519.PrivateKey {
	if g.keys[member] == nil {
		_, key, err := ed25519.GenerateKey(nil)
		if err != nil {
			g.t.Fatal(err)
		}
		g.keys[member] = key
	}
	return g.keys[member]
}

func (g *group) public(member string) ed25519.PublicKey {
	return g.key(member).Public().(ed25519.PublicKey)
}

// apply runs the first half of the join protocol.
func (g *group) apply(member string) (*PendingMember, []byte) {
	g.t.Helper()
	c, err := g.sessions.Open(member, g.public(member), join.Fischlin, now, 60)
	if err != nil {
		g.t.Fatal(err)
	}
	p, m2, err := g.k.NewJoin(g.k.ID(), c, member, g.key(member))
	if err != nil {
		g.t.Fatal(err)
	}
	return p, m2
}

func (g *group) join(member string) *MemberKey {
	g.t.Helper()
	p, m2 := g.apply(member)
	m3, err := g.issuer.Issue(g.k, g.sessions, g.register, m2, now+1, g.epoch)
	if err != nil {
		g.t.Fatal(err)
	}
	m, err := p.Finish(m3, g.epoch)
	if err != nil {
		g.t.Fatal(err)
	}
	return m
}

func (g *group) scope(s string) []byte {
	if g.k.Features().Has(Scope) {
		return []byte(s)
	}
	return nil
}

func (g *group) opts(scope string) VerifyOptions {
	return VerifyOptions{Scope: g.scope(scope), MinEpoch: g.epoch, MaxEpoch: g.epoch}
}

func msg(s string) transcript.Message { return transcript.MessageOf([]byte(s)) }

func (g *group) sign(m *MemberKey, s, scope string, batch bool) []byte {
	g.t.Helper()
	sig, err := m.Sign(msg(s), SignOptions{Scope: g.scope(scope), Batch: batch})
	if err != nil {
		g.t.Fatal(err)
	}
	return sig
}

func (g *group) signed(m *MemberKey, s, scope string) Signed {
	return Signed{msg(s), g.sign(m, s, scope, false), g.opts(scope)}
}

// each runs a test for every set of features.
func each(t *testing.T, run func(t *testing.T, g *group)) {
	for name, f := range featureSets {
		t.Run(name, func(t *testing.T) { run(t, newGroup(t, f)) })
	}
}

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		f    Features
		size int
	}{
		{0, 304},
		{Scope, 352},
		{Scope | Escrow, 528},
		{Scope | Escrow | Token, 528},
		{Scope | Escrow | Epoch, 536},
		{Scope | Escrow | Epoch | Sequence, 632},
		{Plus | Scope, 384},
		{Plus | Scope | Sequence, 480},
		{Plus | Convert | Epoch | Escrow | SingleOpener, 600},
	} {
		if n := c.f.SignatureSize(); n != c.size {
			t.Errorf("features %#x: %d bytes, want %d", uint16(c.f), n, c.size)
		}
	}
}

func TestLifeCycle(t *testing.T) {
	each(t, func(t *testing.T, g *group) {
		ada, bob := g.join("ada"), g.join("bob")
		for _, batch := range []bool{false, true} {
			sig := g.sign(ada, "hello", "s", batch)
			want := g.k.Features().SignatureSize()
			if batch {
				want = g.k.Features().BatchSignatureSize()
			}
			if len(sig) != want {
				t.Errorf("%d bytes, want %d", len(sig), want)
			}
			if err := g.k.Verify(msg("hello"), sig, g.opts("s")); err != nil {
				t.Fatal(err)
			}
			if g.k.Verify(msg("hallo"), sig, g.opts("s")) == nil {
				t.Error("another message is accepted")
			}
			if g.k.Features().Has(Scope) && g.k.Verify(msg("hello"), sig, g.opts("r")) == nil {
				t.Error("another scope is accepted")
			}
			if g.opener != nil {
				o, err := g.opener.Open(g.k, g.register, msg("hello"), sig, g.opts("s"), nil)
				if err != nil {
					t.Fatal(err)
				}
				if o.Member() != "ada" {
					t.Errorf("opened to %q", o.Member())
				}
				if err := g.k.VerifyOpening(msg("hello"), sig, g.opts("s"), o, g.public("ada"), nil); err != nil {
					t.Error(err)
				}
			}
		}
		if err := g.k.Verify(msg("x"), g.sign(bob, "x", "s", false), g.opts("s")); err != nil {
			t.Error(err)
		}
	})
}

// The layouts of one signature have one ID, and each can be made of the other.
func TestLayouts(t *testing.T) {
	each(t, func(t *testing.T, g *group) {
		ada := g.join("ada")
		compact := g.sign(ada, "m", "s", false)
		batch, err := g.k.ForBatch(g.scope("s"), compact)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.k.Verify(msg("m"), batch, g.opts("s")); err != nil {
			t.Fatal(err)
		}
		back, err := g.k.Compact(msg("m"), g.scope("s"), batch)
		if err != nil || !bytes.Equal(back, compact) {
			t.Fatal("the compact layout doesn't come back", err)
		}
		a, err := g.k.SignatureID(msg("m"), g.scope("s"), compact)
		b, err2 := g.k.SignatureID(msg("m"), g.scope("s"), batch)
		if err != nil || err2 != nil || a != b {
			t.Error("two IDs", err, err2)
		}
	})
}

// Every part of a signature matters.
func TestFlippedBytes(t *testing.T) {
	for _, f := range []Features{Scope | Escrow | Epoch | Sequence, Plus | Convert | Epoch | Escrow | SingleOpener} {
		g := newGroup(t, f)
		ada := g.join("ada")
		opts := g.opts("s")
		opts.MinEpoch, opts.MaxEpoch = 0, 1<<63
		for _, batch := range []bool{false, true} {
			sig := g.sign(ada, "m", "s", batch)
			for i := range sig {
				if i%7 != 0 && i < len(sig)-9 { // every field, and the whole of the end
					continue
				}
				bad := bytes.Clone(sig)
				bad[i] ^= 1
				if g.k.Verify(msg("m"), bad, opts) == nil {
					t.Errorf("byte %d changed, batch=%v", i, batch)
				}
			}
			for _, n := range []int{0, 1, len(sig) - 1} {
				if g.k.Verify(msg("m"), sig[:n], opts) == nil {
					t.Errorf("%d bytes", n)
				}
			}
			if g.k.Verify(msg("m"), append(sig, 0), opts) == nil {
				t.Error("a trailing byte")
			}
		}
	}
}

func TestEpochs(t *testing.T) {
	g := newGroup(t, Scope|Epoch)
	ada := g.join("ada")
	sig := g.sign(ada, "m", "s", false)
	for _, w := range [][2]uint64{{0, 6}, {8, 9}, {0, 0}} {
		opts := g.opts("s")
		opts.MinEpoch, opts.MaxEpoch = w[0], w[1]
		if g.k.Verify(msg("m"), sig, opts) == nil {
			t.Errorf("epoch 7 is accepted in %v", w)
		}
	}
	cred, err := g.issuer.Reissue(g.k, g.register, "ada", 8)
	if err != nil {
		t.Fatal(err)
	}
	if ada.Update(cred, 9) == nil {
		t.Error("an epoch that isn't the announced one")
	}
	if err := ada.Update(cred, 8); err != nil {
		t.Fatal(err)
	}
	if ada.Update(cred, 8) == nil {
		t.Error("a credential that repeats x")
	}
	if err := g.k.Verify(msg("m"), g.sign(ada, "m", "s", false), VerifyOptions{Scope: []byte("s"), MinEpoch: 8, MaxEpoch: 8}); err != nil {
		t.Error(err)
	}
	bob := g.join("bob")
	if bob.Update(cred, 8) == nil {
		t.Error("another member's credential is taken")
	}
	if err := g.register.Revoke("ada"); err != nil {
		t.Fatal(err)
	}
	if _, err := g.issuer.Reissue(g.k, g.register, "ada", 9); err == nil {
		t.Error("a revoked member gets a credential")
	}
}

func TestEncodings(t *testing.T) {
	each(t, func(t *testing.T, g *group) {
		b, err := g.k.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		k, err := ParseGroupKey(b)
		if err != nil || !k.Equal(g.k) {
			t.Fatal("group key", err)
		}
		for i := 0; i < len(b); i += 11 {
			c := bytes.Clone(b)
			c[i] ^= 1
			if _, err := ParseGroupKey(c); err == nil {
				t.Fatalf("group key: byte %d changed, and the roles agree", i)
			}
		}
		if _, err := ParseGroupKey(append(b, 0)); err == nil {
			t.Error("trailing byte")
		}

		p, m2 := g.apply("ada")
		pb, err := p.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if p, err = k.ParsePendingMember(pb); err != nil {
			t.Fatal(err)
		}
		m3, err := g.issuer.Issue(g.k, g.sessions, g.register, m2, now, g.epoch)
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.Finish(m3, g.epoch)
		if err != nil {
			t.Fatal(err)
		}
		mb, err := m.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if m, err = k.ParseMemberKey(mb); err != nil {
			t.Fatal(err)
		}
		if err := g.k.Verify(msg("m"), g.sign(m, "m", "s", false), g.opts("s")); err != nil {
			t.Error(err)
		}
		if _, err := newLabelled(t, g.k.Features(), "other").k.ParseMemberKey(mb); err == nil {
			t.Error("a member's key for another group")
		}
		for _, i := range []int{40, 70, 100, 130} { // y, A, x
			c := bytes.Clone(mb)
			c[i] ^= 1
			if _, err := k.ParseMemberKey(c); err == nil {
				t.Errorf("member key: byte %d changed", i)
			}
		}
		ib, _ := g.issuer.MarshalBinary()
		var issuer IssuerKey
		if err := issuer.UnmarshalBinary(ib); err != nil || !bytes.Equal(issuer.Public(), g.issuer.Public()) {
			t.Error("issuer key", err)
		}
		if g.opener != nil {
			ob, _ := g.opener.MarshalBinary()
			var opener OpenerKey
			if err := opener.UnmarshalBinary(ob); err != nil || opener.matches(g.k) != nil {
				t.Error("opener key", err)
			}
			if new(IssuerKey).UnmarshalBinary(ob) == nil {
				t.Error("an opener's key as an issuer's")
			}
		}
		for _, s := range []any{*m, m, issuer, *p} {
			for _, verb := range []string{"%v", "%+v", "%#v", "%x", "%s"} {
				if out := fmt.Sprintf(verb, s); !strings.HasPrefix(out, redacted) {
					t.Errorf("%s shows %s", verb, out)
				}
			}
		}
		m.Wipe()
		if _, err := m.Sign(msg("m"), SignOptions{}); err == nil {
			t.Error("a wiped key signs")
		}
	})
}

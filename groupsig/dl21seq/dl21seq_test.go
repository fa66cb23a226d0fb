// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package dl21seq

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/vectors.txt")

const (
	now   = 1_000_000
	epoch = 0
)

func key(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func public(name string) ed25519.PublicKey { return key(name).Public().(ed25519.PublicKey) }

// A group is what the roles have.
type group struct {
	t        testing.TB
	gk       *GroupKey
	issuer   *IssuerKey
	opener   *OpenerKey
	sessions *Sessions
	register *Register
}

func newGroup(t testing.TB, label string, f Features) *group {
	t.Helper()
	d, err := NewDraft(label, f)
	if err != nil {
		t.Fatal(err)
	}
	g := &group{t: t, issuer: GenerateIssuerKey()}
	g.issuer.Enroll(d)
	if g.opener, err = GenerateOpenerKey(f); err == nil {
		g.opener.Enroll(d)
	}
	// The draft goes from role to role as a file.
	for _, consent := range []func(*Draft) error{g.issuer.Consent, func(d *Draft) error {
		if f&Escrow == 0 {
			return nil
		}
		return g.opener.Consent(d)
	}} {
		if err := consent(d); err != nil {
			t.Fatal(err)
		}
		b, err := d.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if err := d.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
	}
	if g.gk, err = NewGroupKey(d); err != nil {
		t.Fatal(err)
	}
	g.sessions, g.register = g.gk.NewSessions(), g.gk.NewRegister()
	return g
}

// join runs the protocol, with every message and state through its encoding.
func (g *group) join(member string) *MemberKey {
	g.t.Helper()
	check := func(err error) {
		g.t.Helper()
		if err != nil {
			g.t.Fatal(err)
		}
	}
	c, err := g.sessions.Open(member, public(member), Fischlin, now, 3600)
	check(err)
	b, err := c.MarshalBinary()
	check(err)
	c = new(Challenge)
	check(c.UnmarshalBinary(b))
	p, m2, err := g.gk.NewJoin(g.gk.ID(), c, member, key(member))
	check(err)
	b, err = p.MarshalBinary()
	check(err)
	p, err = g.gk.ParsePending(b)
	check(err)
	b, err = g.sessions.MarshalBinary()
	check(err)
	g.sessions = g.gk.NewSessions()
	check(g.sessions.UnmarshalBinary(b))
	m3, err := g.issuer.Issue(g.gk, g.sessions, g.register, m2, now, epoch)
	check(err)
	b, err = g.register.MarshalBinary()
	check(err)
	g.register = g.gk.NewRegister()
	check(g.register.UnmarshalBinary(b))
	m, err := p.Finish(m3, epoch)
	check(err)
	b, err = m.MarshalBinary()
	check(err)
	m, err = g.gk.ParseMemberKey(b)
	check(err)
	return m
}

var (
	signOptions   = SignOptions{Scope: []byte("election")}
	verifyOptions = VerifyOptions{Scope: []byte("election"), MinEpoch: epoch, MaxEpoch: epoch}
)

func (g *group) sign(m *MemberKey, msg string) []byte {
	g.t.Helper()
	sig, err := m.Sign([]byte(msg), signOptions)
	if err != nil {
		g.t.Fatal(err)
	}
	return sig
}

var terms = Terms{Number: 4, Issued: now, Expires: now + 10}

type marshaler interface{ MarshalBinary() ([]byte, error) }

// again passes a state through its encoding.
func again[T marshaler](t *testing.T, v T, parse func([]byte) (T, error)) T {
	t.Helper()
	b, err := v.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	out, err := parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestLifeCycle(t *testing.T) {
	g := newGroup(t, "test", Escrow)
	b, err := g.gk.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	gk := new(GroupKey)
	if err := gk.UnmarshalBinary(b); err != nil || !gk.Equal(g.gk) {
		t.Fatal("group key", err)
	}
	ada, bob := g.join("ada"), g.join("bob")
	sig := g.sign(ada, "yes")
	if len(sig) != gk.SignatureSize() {
		t.Errorf("%d bytes", len(sig))
	}
	if err := gk.Verify([]byte("yes"), sig, verifyOptions); err != nil {
		t.Fatal(err)
	}
	if gk.Verify([]byte("no"), sig, verifyOptions) == nil {
		t.Error("another message is accepted")
	}
	if newGroup(t, "other", Escrow).gk.Verify([]byte("yes"), sig, verifyOptions) == nil {
		t.Error("another group accepts")
	}
	batch := gk.Batch()
	for i := range 6 {
		m := "yes"
		if i == 4 {
			m = "no"
		}
		batch.Add([]byte(m), sig, verifyOptions)
	}
	if err, ok := batch.Verify().(*BatchError); !ok || fmt.Sprint(err.Bad) != "[4]" {
		t.Errorf("batch says %v", err)
	}
	fast, err := gk.ForBatch(verifyOptions.Scope, sig)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := gk.Compact([]byte("yes"), verifyOptions.Scope, fast); err != nil || !bytes.Equal(back, sig) {
		t.Error("layouts", err)
	}
	o, err := g.opener.Open(gk, g.register, []byte("yes"), sig, verifyOptions, nil)
	if err != nil {
		t.Fatal(err)
	}
	if o.Member() != "ada" {
		t.Errorf("opened to %q", o.Member())
	}
	if err := gk.VerifyOpening([]byte("yes"), sig, verifyOptions, o, public("ada"), nil); err != nil {
		t.Error(err)
	}
	if gk.VerifyOpening([]byte("yes"), g.sign(bob, "yes"), verifyOptions, o, public("ada"), nil) == nil {
		t.Error("an opening of another signature is accepted")
	}
	set := []Signed{{[]byte("yes"), sig, verifyOptions}, {[]byte("a"), g.sign(ada, "a"), verifyOptions}}
	link, err := ada.Link(set, []byte("audit"))
	if err != nil {
		t.Fatal(err)
	}
	if err := gk.VerifyLink(set, []byte("audit"), link); err != nil {
		t.Error(err)
	}
	if gk.VerifyLink(set, []byte("other"), link) == nil || gk.VerifyLink(set[:1], []byte("audit"), link) == nil {
		t.Error("a link of something else is accepted")
	}
	claim, err := ada.Claim(set[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	if gk.VerifyClaim(set[0], nil, claim) != nil || gk.VerifyClaim(set[1], nil, claim) == nil {
		t.Error("claims")
	}
	nym, err := gk.Pseudonym(sig)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := gk.Pseudonym(set[1].Signature); !bytes.Equal(nym, again) {
		t.Error("two pseudonyms in one scope")
	}
	if other, _ := gk.Pseudonym(g.sign(bob, "no")); bytes.Equal(nym, other) {
		t.Error("one pseudonym for two")
	}
	if own, err := bob.Identify(set[0]); own || err != nil {
		t.Error("bob takes ada's signature for his own")
	}
	seq, err := ada.SequenceLink(set, []byte("audit"), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := gk.VerifySequenceLink(set, []byte("audit"), seq, true); err != nil {
		t.Error(err)
	}
	if gk.VerifySequenceLink(set[1:], []byte("audit"), seq[:len(seq)-32], true) == nil || ada.SequenceIndex() != 3 {
		t.Error("sequences")
	}
	for _, s := range []any{ada, *ada, g.issuer, *g.issuer, g.opener} {
		if out := fmt.Sprintf("%v %+v %#v", s, s, s); strings.Count(out, "secret key") != 3 {
			t.Errorf("prints %s", out)
		}
	}
	ada.Wipe()
	if _, err := ada.Sign(nil, signOptions); err == nil {
		t.Error("a wiped key signs")
	}
}

// Signatures of the scheme alone have the published size.
func TestSize(t *testing.T) {
	g := newGroup(t, "test", 0)
	if n := g.gk.SignatureSize(); n != 480 {
		t.Errorf("%d bytes", n)
	}
}

func TestForeignFeatures(t *testing.T) {
	for bit := range 16 {
		f := Features(1) << bit
		if f&(required|optional) == 0 {
			if _, err := NewDraft("test", f); err == nil {
				t.Errorf("features %#x", uint16(f))
			}
		}
	}
}

// Keys and signatures of the first release stay valid.
func TestVectors(t *testing.T) {
	const file = "testdata/vectors.txt"
	if *update {
		g := newGroup(t, "vectors", Escrow)
		ada := g.join("ada")
		sig := g.sign(ada, "message")
		o, err := g.opener.Open(g.gk, g.register, []byte("message"), sig, verifyOptions, nil)
		if err != nil {
			t.Fatal(err)
		}
		id, err := g.gk.SignatureID([]byte("message"), verifyOptions.Scope, sig)
		if err != nil {
			t.Fatal(err)
		}
		nym, err := g.gk.Pseudonym(sig)
		if err != nil {
			t.Fatal(err)
		}
		list, err := g.opener.RevocationList(g.gk, terms, Revoked{Pseudonyms: [][]byte{nym}})
		if err != nil {
			t.Fatal(err)
		}
		gid := g.gk.ID()
		var out strings.Builder
		line := func(name string, b []byte, err error) {
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&out, "%s: %x\n", name, b)
		}
		for _, x := range []struct {
			name string
			v    marshaler
		}{{"group key", g.gk}, {"opener key", g.opener}, {"issuer key", g.issuer}, {"register", g.register}, {"member key", ada}, {"opening", o}, {"revocation list", list}} {
			b, err := x.v.MarshalBinary()
			line(x.name, b, err)
		}
		line("signature", sig, nil)
		line("expect gid", gid[:], nil)
		line("expect sigID", id[:], nil)
		if err := os.WriteFile(file, []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	v := map[string][]byte{}
	for l := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(l), ": ")
		if v[name], err = hex.DecodeString(value); err != nil {
			t.Fatal(err)
		}
	}
	gk, opener, issuer, o := new(GroupKey), new(OpenerKey), new(IssuerKey), new(Opening)
	for _, err := range []error{
		gk.UnmarshalBinary(v["group key"]), opener.UnmarshalBinary(v["opener key"]),
		issuer.UnmarshalBinary(v["issuer key"]), o.UnmarshalBinary(v["opening"]),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	register := gk.NewRegister()
	if err := register.UnmarshalBinary(v["register"]); err != nil {
		t.Fatal(err)
	}
	if id := gk.ID(); !bytes.Equal(id[:], v["expect gid"]) {
		t.Errorf("gid %x", id)
	}
	if err := gk.Verify([]byte("message"), v["signature"], verifyOptions); err != nil {
		t.Error(err)
	}
	if id, err := gk.SignatureID([]byte("message"), verifyOptions.Scope, v["signature"]); err != nil || !bytes.Equal(id[:], v["expect sigID"]) {
		t.Errorf("signature ID %x, %v", id, err)
	}
	if err := gk.VerifyOpening([]byte("message"), v["signature"], verifyOptions, o, public("ada"), nil); err != nil {
		t.Error(err)
	}
	if o, err := opener.Open(gk, register, []byte("message"), v["signature"], verifyOptions, nil); err != nil || o.Member() != "ada" {
		t.Error("open", err)
	}
	if err := opener.CheckRecord(gk, register.Member("ada"), public("ada")); err != nil {
		t.Error(err)
	}
	if r, err := gk.ParseRevocation(v["revocation list"]); err != nil || r.Len() != 1 || r.Number() != 4 {
		t.Error("revocation list", err)
	}
	if _, err := gk.ParseMemberKey(v["member key"]); err != nil {
		t.Error(err)
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
)

var update = flag.Bool("update", false, "write testdata")

// chosen returns a secret by name.
func chosen(name string) (k bls12381.Scalar) {
	k.SetHash([]byte(name), []byte("undersign test vector"))
	return k
}

// frozenGroup returns a group, and a member of it in epoch 7, all of chosen secrets.
func frozenGroup(t *testing.T, f Features) (*group, *MemberKey) {
	t.Helper()
	g := &group{t: t, issuer: &IssuerKey{[]bls12381.Scalar{chosen("isk")}}, keys: map[string]ed25519.PrivateKey{}}
	d := &Draft{Scheme: "test", Label: "vectors", Features: f, Issuer: g.issuer.Public()}
	if f.Has(Escrow) {
		g.opener = &OpenerKey{z: []bls12381.Scalar{chosen("z1"), chosen("z2")}[:f.openers()]}
		if f.Has(Token) {
			g.opener.token = []bls12381.Scalar{chosen("zt")}
		}
		d.Opener = g.opener.Public(d)
	}
	if f.Has(Convert) {
		g.converter = &ConverterKey{[]bls12381.Scalar{chosen("csk")}}
		d.Converter = g.converter.Public(d)
	}
	for role, secrets := range [][]bls12381.Scalar{g.issuer.isk, nil, nil} {
		switch role {
		case openerRole:
			if g.opener != nil {
				secrets = g.opener.secrets()
			}
		case converterRole:
			if g.converter != nil {
				secrets = g.converter.csk
			}
		}
		if secrets == nil {
			continue
		}
		var err error
		if d.Consents[role], err = agree(d, role, secrets); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if g.k, err = NewGroupKey(d); err != nil {
		t.Fatal(err)
	}
	if f.Has(Epoch) {
		g.epoch = 7
	}
	g.sessions, g.register = g.k.NewSessions(), g.k.NewRegister()

	c := &credential{x: chosen("x"), epoch: g.epoch}
	y := chosen("y")
	b := new(bls12381.G1).ScalarMult(&y, &g.k.h1.p)
	b.Add(b, &g.k.epochBase(g.epoch).p)
	if f.Has(Plus) {
		c.s = chosen("s")
		b.Add(b, new(bls12381.G1).ScalarMult(&c.s, &g.k.h2.p))
	}
	var inv bls12381.Scalar
	inv.Inverse(inv.Add(&g.issuer.isk[0], &c.x))
	c.a.ScalarMult(&inv, b)
	bls12381.NormalizeG1(&c.a)
	m, err := g.k.newMember(&y, c)
	if err != nil {
		t.Fatal(err)
	}
	if f.Has(Sequence) {
		m.seq = seqKeys{on: true, k: sha256.Sum256([]byte("k")), kk: sha256.Sum256([]byte("k'")), next: 1}
	}
	return g, m
}

// frozenSignature signs with chosen multipliers and nonces.
func frozenSignature(g *group, m *MemberKey, batch bool) []byte {
	k := g.k
	s := &signature{p: make([]bls12381.G1, k.l.points), epoch: g.epoch, batch: batch}
	if k.draft.Features.Has(Sequence) {
		place := m.seq.place(k, 1)
		s.seq = place[:]
	}
	sg := signing{r1: chosen("r1"), r2: chosen("r2"), a: chosen("a"), aConvert: chosen("a'")}
	m.hide(s, &sg, g.scope("scope"))
	normalize(s.p)
	for i := range sg.k {
		sg.k[i] = chosen(fmt.Sprint("nonce ", i))
	}
	m.commit(s, &sg, g.scope("scope"))
	normalize(s.t.G1)
	s.c = *s.t.AppendTo(k.items(s, g.scope("scope"), msg("message"))).Challenge(k.dst("sig"))
	s.s = sigma.Respond(&s.c, sg.k, sg.w)
	return k.encode(s)
}

// TestVectors freezes what is made of chosen secrets, and thereby labels, order and
// encodings. Proofs whose nonces are fresh are kept from when they were made, and
// verified.
func TestVectors(t *testing.T) {
	const file = "testdata/vectors.txt"
	data, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		want[name] = value
	}
	var out strings.Builder
	for _, name := range []string{"core", "all", "dl21seq", "gl19"} {
		g, m := frozenGroup(t, featureSets[name])
		f := g.k.Features()
		line := func(what string, b []byte) {
			fmt.Fprintf(&out, "%s %s: %x\n", name, what, b)
			if got := fmt.Sprintf("%x", b); !*update && got != want[name+" "+what] {
				t.Errorf("%s %s: %s, want %s", name, what, got, want[name+" "+what])
			}
		}
		// kept is a proof with fresh nonces: the file's, or when updating a new one.
		kept := func(what string, make func() ([]byte, error), check func([]byte) error) {
			t.Helper()
			b, err := hex.DecodeString(want[name+" "+what])
			if *update {
				b, err = make()
			}
			if err == nil {
				err = check(b)
			}
			if err != nil {
				t.Errorf("%s %s: %v", name, what, err)
			}
			fmt.Fprintf(&out, "%s %s: %x\n", name, what, b)
		}
		id := g.k.ID()
		line("gid", id[:])
		for _, gen := range []string{"g1", "h1", "h2", "h3", "g", "h", "hc"} {
			line(gen, generator(&g.k.draft, gen).Bytes())
		}
		line("issuer", g.k.draft.Issuer)
		line("opener", g.k.draft.Opener)
		line("converter", g.k.draft.Converter)
		sig := frozenSignature(g, m, false)
		opts := g.opts("scope")
		for _, batch := range []bool{false, true} {
			s := frozenSignature(g, m, batch)
			if err := g.k.Verify(msg("message"), s, opts); err != nil {
				t.Error(name, err)
			}
			line(fmt.Sprint("signature, batch ", batch), s)
		}
		sigID, err := g.k.SignatureID(msg("message"), opts.Scope, sig)
		if err != nil {
			t.Fatal(err)
		}
		line("sigID", sigID[:])
		if f.Has(Sequence) {
			m.seq.next = 2 // the signature above was the first
		}

		c := &join.Challenge{Scheme: "test", GroupID: id, Session: join.SessionID{7}, Nonce: [32]byte{8}, Member: "ada", Kind: join.Fischlin, Expiry: 1 << 40}
		key := ed25519.NewKeyFromSeed(make([]byte, 32))
		kept("application", func() ([]byte, error) {
			_, b, err := g.k.NewJoin(id, c, "ada", key)
			return b, err
		}, func(b []byte) error {
			r := new(join.Record)
			if err := r.UnmarshalBinary(b); err != nil {
				return err
			}
			_, err := g.k.checkRecord(r)
			return err
		})
		context := []byte("context")
		if f.Has(Scope) {
			set := []Signed{{msg("message"), sig, opts}}
			kept("link", func() ([]byte, error) { return m.Link(set, context) },
				func(b []byte) error { return g.k.VerifyLink(set, context, b) })
			kept("claim", func() ([]byte, error) { return m.Claim(set[0], context) },
				func(b []byte) error { return g.k.VerifyClaim(set[0], context, b) })
			kept("revocation list", func() ([]byte, error) {
				nym, err := g.k.Pseudonym(sig)
				if err != nil {
					return nil, err
				}
				r, err := g.tryList(listTerms, Revoked{Pseudonyms: [][]byte{nym}})
				if err != nil {
					return nil, err
				}
				return r.MarshalBinary()
			}, func(b []byte) error {
				_, err := g.k.ParseRevocation(b)
				return err
			})
			if f.Has(Sequence) {
				kept("sequence link", func() ([]byte, error) { return m.SequenceLink(set, context, true) },
					func(b []byte) error { return g.k.VerifySequenceLink(set, context, b, true) })
			}
		}
		if f.Has(Escrow) {
			kept("opening", func() ([]byte, error) {
				o, err := g.opener.Open(g.k, g.register, msg("message"), sig, opts, context)
				if err != nil {
					return nil, err
				}
				return o.MarshalBinary()
			}, func(b []byte) error {
				o := new(Opening)
				if err := o.UnmarshalBinary(b); err != nil {
					return err
				}
				return g.k.VerifyOpening(msg("message"), sig, opts, o, nil, context)
			})
		}
		if f.Has(Epoch) {
			kept("announcement", func() ([]byte, error) {
				a, err := g.issuer.Announce(g.k, listTerms, 6, 7)
				if err != nil {
					return nil, err
				}
				return a.MarshalBinary()
			}, func(b []byte) error {
				_, err := g.k.ParseAnnouncement(b)
				return err
			})
		}
		if f.Has(Convert) {
			line("message point", g.k.MessagePoint(msg("message")))
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if n := len(slices.Collect(strings.Lines(out.String()))); n != len(want) {
		t.Errorf("%d lines, and %d in the file", n, len(want))
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package strongrsa

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/legacy/internal/qrn"
	"github.com/undersign/undersign/internal/modexp"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

const (
	version = 1
	suite   = 1
)

var errWiped = errors.New("strongrsa: the key was wiped")

// An IssuerKey makes credentials. It is secret.
type IssuerKey struct {
	s *Scheme
	f *qrn.Factors // nil if wiped
}

// GenerateIssuer finds a modulus, which takes minutes of processor time at full size.
func (s *Scheme) GenerateIssuer(ctx context.Context) (*IssuerKey, error) {
	f, err := qrn.Generate(ctx, s.p)
	if err != nil {
		return nil, err
	}
	return &IssuerKey{s, f}, nil
}

// IssuerOf returns the key of two safe primes.
func (s *Scheme) IssuerOf(p, q *big.Int) (*IssuerKey, error) {
	f, err := qrn.FactorsOf(s.p, p, q)
	if err != nil {
		return nil, err
	}
	return &IssuerKey{s, f}, nil
}

// N returns the modulus.
func (k *IssuerKey) N() *big.Int { return k.f.N() }

// Wipe overwrites the key. It is of no use afterwards.
func (k *IssuerKey) Wipe() {
	if k.f != nil {
		k.f.Wipe()
		k.f = nil
	}
}

// String shows nothing of the key.
func (k IssuerKey) String() string { return "strongrsa.IssuerKey" }

// GoString is String.
func (k IssuerKey) GoString() string { return k.String() }

// Format writes String, whatever the verb.
func (k IssuerKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

// An OpenerKey opens signatures. It is secret.
type OpenerKey struct {
	g *GroupKey
	x modexp.Nat // nil if wiped
}

// Wipe overwrites the key. It is of no use afterwards.
func (k *OpenerKey) Wipe() {
	k.x.Wipe()
	k.x = nil
}

// String shows nothing of the key.
func (k OpenerKey) String() string { return "strongrsa.OpenerKey" }

// GoString is String.
func (k OpenerKey) GoString() string { return k.String() }

// Format writes String, whatever the verb.
func (k OpenerKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

// A GroupKey is what verifies signatures of a group. It is immutable, and may be used
// by several goroutines.
type GroupKey struct {
	s     *Scheme
	label string
	n     *qrn.Group
	base  map[string]*qrn.Base // y is the opener's key
	proof []byte               // that the opener knows X
	id    [32]byte
}

// group returns the group key without y.
func (s *Scheme) group(label string, n *big.Int) (*GroupKey, error) {
	if err := join.CheckLabel(label); err != nil {
		return nil, err
	}
	g := &GroupKey{s: s, label: label, base: make(map[string]*qrn.Base)}
	var err error
	if g.n, err = qrn.NewSigned(n, s.p.Modulus); err != nil {
		return nil, err
	}
	dst := s.dst("base")
	for _, name := range s.bases {
		g.base[name] = g.n.NewFixedBase(g.n.Hash(dst, label+"/"+name), s.table)
	}
	for _, name := range s.subgroup {
		p := subgroup().group
		g.base[name] = p.NewFixedBase(p.Hash(dst, label+"/"+name), s.table)
	}
	return g, nil
}

// setOpener completes the group key.
func (g *GroupKey) setOpener(y *modexp.Element) {
	gen := g.base[g.s.gen]
	g.base["y"] = gen.G.NewFixedBase(y, g.s.table)
	g.id = new(transcript.Items).Bytes("dst", []byte("undersign/groupsig/v1/gid")).Bytes("scheme", []byte(g.s.name)).
		Bytes("label", []byte(g.label)).Uint64("features", 0).
		Uint64("challenge", uint64(g.s.p.Challenge)).Uint64("statistical", uint64(g.s.p.Statistical)).
		Bytes("n", g.n.N().Bytes()).Bytes("y", g.base["y"].Bytes()).Sum()
}

// items are what every transcript begins with: gid, and no version.
func (g *GroupKey) items() *transcript.Items {
	return new(transcript.Items).Bytes("gid", g.id[:]).Bytes("ver", nil)
}

// possession says that y = gen^X.
func (g *GroupKey) possession() *qrn.Statement {
	return &qrn.Statement{
		P: g.s.p, Secrets: []qrn.Range{qrn.Below(g.s.opener)},
		Rel: []qrn.Relation{relation([]qrn.Term{pow(g.base[g.s.gen], 0)}, qrn.Factor{Base: g.base["y"]})},
	}
}

// Setup makes the group key for a modulus, and the opener's key.
func (s *Scheme) Setup(label string, n *big.Int) (*GroupKey, *OpenerKey, error) {
	g, err := s.group(label, n)
	if err != nil {
		return nil, nil, fmt.Errorf("strongrsa: setup: %w", err)
	}
	x := qrn.Random(func(b []byte) { rand.Read(b) }, s.opener)
	g.setOpener(g.base[s.gen].Pow(x, s.opener))
	if g.proof, err = g.possession().Prove(s.dst("pop"), g.items(), []modexp.Nat{x}); err != nil {
		return nil, nil, err
	}
	return g, &OpenerKey{g, x}, nil
}

// ID returns the group's fingerprint, gid.
func (g *GroupKey) ID() [32]byte { return g.id }

// Label returns what the group is called.
func (g *GroupKey) Label() string { return g.label }

// Scheme returns the scheme.
func (g *GroupKey) Scheme() *Scheme { return g.s }

// Equal reports whether x is the same key.
func (g *GroupKey) Equal(x *GroupKey) bool { return x != nil && bytes.Equal(g.encode(), x.encode()) }

// pow returns the power of a base, in constant time.
func (g *GroupKey) pow(name string, e modexp.Nat) *modexp.Element {
	return g.base[name].Pow(e, 64*len(e))
}

// group returns the group of an element of a signature.
func (g *GroupKey) group(i int) *qrn.Group {
	if g.s.inSub[i] {
		return subgroup().group
	}
	return g.n
}

func (g *GroupKey) encode() []byte {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Bytes([]byte(g.s.name))
	e.Bytes([]byte(g.label))
	e.Bytes(g.n.N().Bytes())
	e.Bytes(g.base["y"].Bytes())
	e.Bytes(g.proof)
	return e.Data()
}

// MarshalBinary returns the canonical encoding.
func (g *GroupKey) MarshalBinary() ([]byte, error) { return g.encode(), nil }

// ParseGroupKey decodes a group key of the scheme and checks the opener's proof.
func (s *Scheme) ParseGroupKey(data []byte) (*GroupKey, error) {
	g, err := s.parseGroupKey(data)
	if err != nil {
		return nil, fmt.Errorf("strongrsa: group key: %w", err)
	}
	return g, nil
}

func (s *Scheme) parseGroupKey(data []byte) (*GroupKey, error) {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	name := d.Bytes("scheme", 32)
	label := d.Bytes("label", join.MaxLabel)
	n := d.Int("n", s.p.Modulus/8)
	y := d.Bytes("y", 1024)
	proof := d.Bytes("proof", 4096)
	if err := d.Finish(); err != nil {
		return nil, err
	}
	if string(name) != s.name {
		return nil, errors.New("it is of another scheme")
	}
	g, err := s.group(string(label), n)
	if err != nil {
		return nil, err
	}
	el, err := g.base[s.gen].G.Decode(y)
	if err != nil {
		return nil, err
	}
	g.setOpener(el)
	g.proof = proof
	return g, g.possession().VerifyVarTime(s.dst("pop"), g.items(), proof)
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cl04

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

const (
	scheme  = "cl04"
	version = 1
	suite   = 1
)

var (
	dstSig   = transcript.DST(scheme, "sig")
	dstBlind = transcript.DST(scheme, "blind")
	dstHash  = transcript.DST(scheme, "hash")
	dstJoin  = transcript.DST(scheme, "join")
	dstIssue = transcript.DST(scheme, "issue")
	dstPoP   = transcript.DST(scheme, "pop")
	dstOpen  = transcript.DST(scheme, "open")
	dstGen   = transcript.DST(scheme, "gen")
)

var errWiped = errors.New("cl04: the key was wiped")

// An IssuerKey makes credentials. It is secret.
type IssuerKey struct {
	x, y bls12381.Scalar
	pub  [2]bls12381.G2 // X, Y
}

// GenerateIssuerKey returns a new key.
func GenerateIssuerKey() *IssuerKey {
	k := new(IssuerKey)
	k.x.Random()
	k.y.Random()
	k.pub[0].ScalarBaseMult(&k.x)
	k.pub[1].ScalarBaseMult(&k.y)
	bls12381.NormalizeG2(&k.pub[0], &k.pub[1])
	return k
}

// Wipe overwrites the key. It is of no use afterwards.
func (k *IssuerKey) Wipe() {
	k.x.Wipe()
	k.y.Wipe()
}

// String shows nothing of the key.
func (k IssuerKey) String() string { return "cl04.IssuerKey" }

// GoString is String.
func (k IssuerKey) GoString() string { return k.String() }

// Format writes String, whatever the verb.
func (k IssuerKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

// An OpenerKey opens signatures of one group. It is secret.
type OpenerKey struct {
	g *GroupKey
	x [6]bls12381.Scalar
}

// Wipe overwrites the key. It is of no use afterwards.
func (k *OpenerKey) Wipe() {
	for i := range k.x {
		k.x[i].Wipe()
	}
	k.g = nil
}

// String shows nothing of the key.
func (k OpenerKey) String() string { return "cl04.OpenerKey" }

// GoString is String.
func (k OpenerKey) GoString() string { return k.String() }

// Format writes String, whatever the verb.
func (k OpenerKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

// A GroupKey is what verifies signatures of a group. It is immutable, and may be used
// by several goroutines.
type GroupKey struct {
	label       string
	x, y        bls12381.G2
	ys          [3]bls12381.G1
	issuerProof []byte
	openerProof []byte

	h             bls12381.G1 // hashed from the label
	id            [32]byte
	lx, ly, lines *bls12381.Lines // of X, Y and P2
}

// newGroup returns the group key without its proofs.
func newGroup(label string, x, y *bls12381.G2) (*GroupKey, error) {
	if err := join.CheckLabel(label); err != nil {
		return nil, err
	}
	if x.IsIdentity() || y.IsIdentity() {
		return nil, errors.New("cl04: a point is zero")
	}
	g := &GroupKey{label: label, x: *x, y: *y}
	g.h = *new(transcript.Items).Bytes("label", []byte(label)).Bytes("name", []byte("h")).HashToG1(dstGen)
	g.lx, g.ly = bls12381.NewLinesVarTime(x), bls12381.NewLinesVarTime(y)
	g.lines = bls12381.NewLinesVarTime(bls12381.G2Generator())
	return g, nil
}

func (g *GroupKey) setID() {
	t := new(transcript.Items).Bytes("dst", []byte("undersign/groupsig/v1/gid")).Bytes("scheme", []byte(scheme)).
		Bytes("label", []byte(g.label)).Uint64("features", 0).G2("X", &g.x).G2("Y", &g.y)
	for i := range g.ys {
		t.G1("y", &g.ys[i])
	}
	g.id = t.Sum()
}

// items are what every transcript begins with: gid, and no version.
func (g *GroupKey) items() *transcript.Items {
	return new(transcript.Items).Bytes("gid", g.id[:]).Bytes("ver", nil)
}

// issuing says that the issuer knows x and y.
func (g *GroupKey) issuing() *sigma.Statement {
	p2 := bls12381.G2Generator()
	return &sigma.Statement{Secrets: 2, G2: []sigma.RelationG2{
		{Y: &g.x, Terms: []sigma.TermG2{{W: 0, P: p2}}},
		{Y: &g.y, Terms: []sigma.TermG2{{W: 1, P: p2}}},
	}}
}

// opening says that the opener knows y_i = x_(2i-1)·P1 + x_(2i)·h.
func (g *GroupKey) opening() *sigma.Statement {
	st := &sigma.Statement{Secrets: 6}
	p1 := bls12381.G1Generator()
	for i := range g.ys {
		st.G1 = append(st.G1, sigma.Relation{Y: &g.ys[i], Terms: []sigma.Term{{W: 2 * i, P: p1}, {W: 2*i + 1, P: &g.h}}})
	}
	return st
}

// Setup makes a group key and the opener's key.
func Setup(label string, issuer *IssuerKey) (*GroupKey, *OpenerKey, error) {
	if issuer.x.IsZero() {
		return nil, nil, errWiped
	}
	g, err := newGroup(label, &issuer.pub[0], &issuer.pub[1])
	if err != nil {
		return nil, nil, err
	}
	k := &OpenerKey{g: g}
	for i := range k.x {
		k.x[i].Random()
	}
	for i := range g.ys {
		var p bls12381.G1
		g.ys[i].ScalarBaseMult(&k.x[2*i])
		g.ys[i].Add(&g.ys[i], p.ScalarMult(&k.x[2*i+1], &g.h))
	}
	bls12381.NormalizeG1(&g.ys[0], &g.ys[1], &g.ys[2])
	g.setID()
	w := []bls12381.Scalar{issuer.x, issuer.y}
	a, err := g.issuing().Prove(dstPoP, g.items(), w)
	w[0].Wipe()
	w[1].Wipe()
	if err != nil {
		return nil, nil, err
	}
	b, err := g.opening().Prove(dstPoP, g.items(), k.x[:])
	if err != nil {
		return nil, nil, err
	}
	g.issuerProof, g.openerProof = a.Append(nil), b.Append(nil)
	return g, k, nil
}

// ID returns the group's fingerprint, gid.
func (g *GroupKey) ID() [32]byte { return g.id }

// Label returns what the group is called.
func (g *GroupKey) Label() string { return g.label }

// Equal reports whether x is the same key.
func (g *GroupKey) Equal(x *GroupKey) bool { return x != nil && bytes.Equal(g.encode(), x.encode()) }

func (g *GroupKey) encode() []byte {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Bytes([]byte(g.label))
	e.Fixed(g.x.Bytes())
	e.Fixed(g.y.Bytes())
	for i := range g.ys {
		e.Fixed(g.ys[i].Bytes())
	}
	e.Bytes(g.issuerProof)
	e.Bytes(g.openerProof)
	return e.Data()
}

// MarshalBinary returns the canonical encoding.
func (g *GroupKey) MarshalBinary() ([]byte, error) { return g.encode(), nil }

// ParseGroupKey decodes a group key and checks the proofs of possession.
func ParseGroupKey(data []byte) (*GroupKey, error) {
	g, err := parseGroupKey(data)
	if err != nil {
		return nil, fmt.Errorf("cl04: group key: %w", err)
	}
	return g, nil
}

func parseGroupKey(data []byte) (*GroupKey, error) {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	label := string(d.Bytes("label", join.MaxLabel))
	x, y := readG2(d, "X"), readG2(d, "Y")
	var ys [3]bls12381.G1
	for i := range ys {
		readG1(d, "y", &ys[i])
	}
	a := d.Bytes("issuer's proof", sigma.Size(2))
	b := d.Bytes("opener's proof", sigma.Size(6))
	if err := d.Finish(); err != nil {
		return nil, err
	}
	g, err := newGroup(label, x, y)
	if err != nil {
		return nil, err
	}
	g.ys, g.issuerProof, g.openerProof = ys, a, b
	g.setID()
	p, err := sigma.Decode(a, 2)
	if err != nil {
		return nil, err
	}
	q, err := sigma.Decode(b, 6)
	if err != nil {
		return nil, err
	}
	if err := g.issuing().VerifyVarTime(dstPoP, g.items(), p); err != nil {
		return nil, err
	}
	return g, g.opening().VerifyVarTime(dstPoP, g.items(), q)
}

// readG1 reads a point other than the identity.
func readG1(d *wire.Decoder, field string, p *bls12381.G1) {
	b := d.Fixed(field, bls12381.G1Size)
	if d.Err() != nil {
		return
	}
	if err := p.SetBytes(b); err != nil {
		d.Fail(field, "%v", err)
	}
}

func readG2(d *wire.Decoder, field string) *bls12381.G2 {
	p := new(bls12381.G2)
	b := d.Fixed(field, bls12381.G2Size)
	if d.Err() == nil {
		if err := p.SetBytes(b); err != nil {
			d.Fail(field, "%v", err)
		}
	}
	return p
}

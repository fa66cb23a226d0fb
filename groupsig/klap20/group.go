// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package klap20

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
	"github.com/undersign/undersign/internal/wire"
)

// A Proposal is a group before issuer and opener have agreed to it.
type Proposal struct {
	Label  string // what the group is called: 1 to 255 bytes of UTF-8
	Issuer []byte // IssuerKey.Public
	Opener []byte // OpenerKey.Public
}

// parse returns the group key without its proofs.
func (p *Proposal) parse() (*GroupKey, error) {
	g := &GroupKey{label: p.Label}
	if err := join.CheckLabel(p.Label); err != nil {
		return nil, fmt.Errorf("klap20: %w", err)
	}
	if err := g.issuer.decode(p.Issuer); err != nil {
		return nil, fmt.Errorf("klap20: issuer: %w", err)
	}
	if err := g.opener.decode(p.Opener); err != nil {
		return nil, fmt.Errorf("klap20: opener: %w", err)
	}
	g.id = new(transcript.Items).Bytes("dst", []byte("undersign/groupsig/v1/gid")).Bytes("scheme", []byte(scheme)).
		Bytes("label", []byte(g.label)).Uint64("features", 0).
		G2("X", &g.issuer.x).G2("Y", &g.issuer.y).
		G2("Z0", &g.opener.z[0]).G2("Z1", &g.opener.z[1]).Bytes("opener", g.opener.list).Sum()
	return g, nil
}

// ID returns the fingerprint of the group that is proposed.
func (p *Proposal) ID() ([32]byte, error) {
	g, err := p.parse()
	if err != nil {
		return [32]byte{}, err
	}
	return g.id, nil
}

// Consent proves possession of the issuer's key for the proposed group, and with it
// that the issuer agrees.
func (k *IssuerKey) Consent(p *Proposal) ([]byte, error) {
	if k.wiped() {
		return nil, errWiped
	}
	g, err := p.parse()
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(g.issuer.encode(), k.pub.encode()) {
		return nil, errors.New("klap20: the proposal names another issuer")
	}
	w := []bls12381.Scalar{k.x, k.y}
	proof, err := k.pub.secrets().Prove(dstPoP, g.items(), w)
	w[0].Wipe()
	w[1].Wipe()
	if err != nil {
		return nil, err
	}
	return proof.Append(nil), nil
}

// Consent is the opener's: a proof of z0 and z1, and a signature by the key that signs
// lists.
func (k *OpenerKey) Consent(p *Proposal) ([]byte, error) {
	if k.wiped() {
		return nil, errWiped
	}
	g, err := p.parse()
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(g.opener.encode(), k.pub.encode()) {
		return nil, errors.New("klap20: the proposal names another opener")
	}
	w := []bls12381.Scalar{k.z[0], k.z[1]}
	proof, err := k.pub.secrets().Prove(dstPoP, g.items(), w)
	w[0].Wipe()
	w[1].Wipe()
	if err != nil {
		return nil, err
	}
	return append(proof.Append(nil), k.k.Sign(g.consent())...), nil
}

// GroupKey makes the group key of what both have consented to.
func (p *Proposal) GroupKey(issuer, opener []byte) (*GroupKey, error) {
	g, err := p.parse()
	if err != nil {
		return nil, err
	}
	g.issuerProof, g.openerProof = bytes.Clone(issuer), bytes.Clone(opener)
	return g, g.load()
}

// Setup makes the group key where both keys are in one hand.
func Setup(label string, issuer *IssuerKey, opener *OpenerKey) (*GroupKey, error) {
	p := &Proposal{label, issuer.Public(), opener.Public()}
	a, err := issuer.Consent(p)
	if err != nil {
		return nil, err
	}
	b, err := opener.Consent(p)
	if err != nil {
		return nil, err
	}
	return p.GroupKey(a, b)
}

// A GroupKey is what verifies signatures of the group. It is immutable, and may be
// used by several goroutines.
type GroupKey struct {
	label       string
	issuer      issuerPublic
	opener      openerPublic
	issuerProof []byte
	openerProof []byte

	id       [32]byte
	x, y, p2 *bls12381.Lines
	tokens   *tokens.Group
}

// openerProofSize is the length of the opener's consent.
var openerProofSize = sigma.Size(2) + ed25519.SignatureSize

// items are the items that every transcript begins with: gid, and no version.
func (g *GroupKey) items() *transcript.Items {
	return new(transcript.Items).Bytes("gid", g.id[:]).Bytes("ver", nil)
}

// consent is what the opener's list key signs.
func (g *GroupKey) consent() []byte {
	return new(transcript.Items).Bytes("dst", dstPoP).Append(g.items()).Data()
}

// load checks the proofs of possession and precomputes lines.
func (g *GroupKey) load() error {
	proof, err := sigma.Decode(g.issuerProof, 2)
	if err != nil {
		return fmt.Errorf("klap20: group key: issuer's proof: %w", err)
	}
	if err := g.issuer.secrets().VerifyVarTime(dstPoP, g.items(), proof); err != nil {
		return fmt.Errorf("klap20: group key: issuer's proof: %w", err)
	}
	if len(g.openerProof) != openerProofSize {
		return errors.New("klap20: group key: opener's proof has a wrong length")
	}
	n := sigma.Size(2)
	if proof, err = sigma.Decode(g.openerProof[:n], 2); err == nil {
		err = g.opener.secrets().VerifyVarTime(dstPoP, g.items(), proof)
	}
	if err == nil && !ed25519.Verify(g.opener.list, g.consent(), g.openerProof[n:]) {
		err = errors.New("wrong signature")
	}
	if err != nil {
		return fmt.Errorf("klap20: group key: opener's proof: %w", err)
	}
	g.x = bls12381.NewLinesVarTime(&g.issuer.x)
	g.y = bls12381.NewLinesVarTime(&g.issuer.y)
	g.p2 = bls12381.NewLinesVarTime(bls12381.G2Generator())
	g.tokens = &tokens.Group{Scheme: scheme, ID: g.id, Q: g.p2, Opener: g.opener.list}
	return nil
}

// ID returns the group's fingerprint, gid. It is published where members and
// verifiers can compare it: a group key that was made for one member marks that one's
// signatures.
func (g *GroupKey) ID() [32]byte { return g.id }

// Label returns what the group is called.
func (g *GroupKey) Label() string { return g.label }

// Equal reports whether x is the same key.
func (g *GroupKey) Equal(x *GroupKey) bool { return x != nil && bytes.Equal(g.encode(), x.encode()) }

// String names the group.
func (g *GroupKey) String() string { return fmt.Sprintf("klap20.GroupKey(%q, %x)", g.label, g.id[:8]) }

func (g *GroupKey) encode() []byte {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Bytes([]byte(g.label))
	e.Fixed(g.issuer.x.Bytes())
	e.Fixed(g.issuer.y.Bytes())
	g.opener.append(&e)
	e.Fixed(g.issuerProof)
	e.Fixed(g.openerProof)
	return e.Data()
}

// MarshalBinary returns the canonical encoding.
func (g *GroupKey) MarshalBinary() ([]byte, error) {
	if g.x == nil {
		return nil, errors.New("klap20: empty group key")
	}
	return g.encode(), nil
}

// UnmarshalBinary decodes a group key and checks its proofs of possession. Whether it
// is the group's is for the caller: see ID.
func (g *GroupKey) UnmarshalBinary(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	label := d.Bytes("label", join.MaxLabel)
	var pub issuerPublic
	tokens.ReadG2(d, "X", &pub.x)
	tokens.ReadG2(d, "Y", &pub.y)
	var opener openerPublic
	opener.read(d)
	a := d.Fixed("issuer's proof", sigma.Size(2))
	b := d.Fixed("opener's proof", openerProofSize)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("klap20: group key: %w", err)
	}
	p := &Proposal{string(label), pub.encode(), opener.encode()}
	q, err := p.GroupKey(a, b)
	if err != nil {
		return err
	}
	*g = *q
	return nil
}

func digest(b []byte) []byte {
	d := sha256.Sum256(b)
	return d[:8]
}

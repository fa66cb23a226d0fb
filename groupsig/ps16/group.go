// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

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
		return nil, fmt.Errorf("ps16: %w", err)
	}
	if err := g.issuer.decode(p.Issuer); err != nil {
		return nil, fmt.Errorf("ps16: issuer: %w", err)
	}
	var err error
	if g.opener, err = decodeOpener(p.Opener); err != nil {
		return nil, fmt.Errorf("ps16: opener: %w", err)
	}
	g.id = new(transcript.Items).Bytes("dst", []byte("undersign/groupsig/v1/gid")).Bytes("scheme", []byte(scheme)).
		Bytes("label", []byte(g.label)).Uint64("features", 0).
		G2("X", &g.issuer.x).G2("Y", &g.issuer.y).Bytes("opener", g.opener).Sum()
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
		return nil, errors.New("ps16: the proposal names another issuer")
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

// Consent is the opener's.
func (k *OpenerKey) Consent(p *Proposal) ([]byte, error) {
	if k.wiped() {
		return nil, errWiped
	}
	g, err := p.parse()
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(g.opener, k.k.Public()) {
		return nil, errors.New("ps16: the proposal names another opener")
	}
	return k.k.Sign(g.consent()), nil
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
	opener      ed25519.PublicKey
	issuerProof []byte
	openerProof []byte

	id       [32]byte
	x, y, p2 *bls12381.Lines
	tokens   *tokens.Group
}

// items are the items that every transcript begins with: gid, and no version.
func (g *GroupKey) items() *transcript.Items {
	return new(transcript.Items).Bytes("gid", g.id[:]).Bytes("ver", nil)
}

// consent is what the opener signs.
func (g *GroupKey) consent() []byte {
	return new(transcript.Items).Bytes("dst", dstPoP).Append(g.items()).Data()
}

// load checks the proofs of possession and precomputes lines.
func (g *GroupKey) load() error {
	proof, err := sigma.Decode(g.issuerProof, 2)
	if err != nil {
		return fmt.Errorf("ps16: group key: issuer's proof: %w", err)
	}
	if err := g.issuer.secrets().VerifyVarTime(dstPoP, g.items(), proof); err != nil {
		return fmt.Errorf("ps16: group key: issuer's proof: %w", err)
	}
	if len(g.openerProof) != ed25519.SignatureSize || !ed25519.Verify(g.opener, g.consent(), g.openerProof) {
		return errors.New("ps16: group key: opener's proof is wrong")
	}
	g.x = bls12381.NewLinesVarTime(&g.issuer.x)
	g.y = bls12381.NewLinesVarTime(&g.issuer.y)
	g.p2 = bls12381.NewLinesVarTime(bls12381.G2Generator())
	g.tokens = &tokens.Group{Scheme: scheme, ID: g.id, Q: g.y, Opener: g.opener}
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
func (g *GroupKey) String() string { return fmt.Sprintf("ps16.GroupKey(%q, %x)", g.label, g.id[:8]) }

func (g *GroupKey) encode() []byte {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	e.Bytes([]byte(g.label))
	e.Fixed(g.issuer.x.Bytes())
	e.Fixed(g.issuer.y.Bytes())
	e.Fixed(g.opener)
	e.Fixed(g.issuerProof)
	e.Fixed(g.openerProof)
	return e.Data()
}

// MarshalBinary returns the canonical encoding.
func (g *GroupKey) MarshalBinary() ([]byte, error) {
	if g.x == nil {
		return nil, errors.New("ps16: empty group key")
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
	opener := d.Fixed("opener", ed25519.PublicKeySize)
	a := d.Fixed("issuer's proof", sigma.Size(2))
	b := d.Fixed("opener's proof", ed25519.SignatureSize)
	if err := d.Finish(); err != nil {
		return fmt.Errorf("ps16: group key: %w", err)
	}
	p := &Proposal{string(label), pub.encode(), encodeOpener(opener)}
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

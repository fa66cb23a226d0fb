// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

import (
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/tokens"
)

// A Proposal is a group before issuer and opener have agreed to it.
type Proposal struct {
	Label  string // what the group is called: 1 to 255 bytes of UTF-8
	Issuer []byte // IssuerKey.Public
	Opener []byte // OpenerKey.Public
}

// group returns the group key without its proofs.
func (p *Proposal) group() (*tokens.GroupKey, error) {
	return scheme.Propose(p.Label, p.Issuer, p.Opener)
}

// ID returns the fingerprint of the group that is proposed.
func (p *Proposal) ID() ([32]byte, error) {
	g, err := p.group()
	return g.ID(), err
}

// Consent proves possession of the issuer's key for the proposed group, and with it
// that the issuer agrees.
func (k *IssuerKey) Consent(p *Proposal) ([]byte, error) {
	g, err := p.group()
	if err != nil {
		return nil, err
	}
	return k.k.Consent(g)
}

// Consent is the opener's.
func (k *OpenerKey) Consent(p *Proposal) ([]byte, error) {
	g, err := p.group()
	if err != nil {
		return nil, err
	}
	return k.k.Consent(g)
}

// GroupKey makes the group key of what both have consented to.
func (p *Proposal) GroupKey(issuer, opener []byte) (*GroupKey, error) {
	g, err := scheme.NewGroupKey(p.Label, p.Issuer, p.Opener, issuer, opener)
	if err != nil {
		return nil, err
	}
	return &GroupKey{g}, nil
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
	k *tokens.GroupKey
}

// ID returns the group's fingerprint, gid. It is published where members and
// verifiers can compare it: a group key that was made for one member marks that one's
// signatures.
func (g *GroupKey) ID() [32]byte { return g.k.ID() }

// Label returns what the group is called.
func (g *GroupKey) Label() string { return g.k.Label() }

// Equal reports whether x is the same key.
func (g *GroupKey) Equal(x *GroupKey) bool { return x != nil && g.k.Equal(x.k) }

// String names the group.
func (g *GroupKey) String() string {
	id := g.ID()
	return fmt.Sprintf("ps16.GroupKey(%q, %x)", g.Label(), id[:8])
}

// MarshalBinary returns the canonical encoding.
func (g *GroupKey) MarshalBinary() ([]byte, error) { return g.k.MarshalBinary() }

// UnmarshalBinary decodes a group key and checks its proofs of possession. Whether it
// is the group's is for the caller: see ID.
func (g *GroupKey) UnmarshalBinary(data []byte) error {
	q, err := scheme.ParseGroupKey(data)
	if err != nil {
		return err
	}
	g.k = q
	return nil
}

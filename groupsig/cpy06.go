// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig

import (
	"crypto/ed25519"

	"github.com/undersign/undersign/groupsig/internal/sdh"
	"github.com/undersign/undersign/internal/transcript"
)

// What groups with traces have beside the other groups of the core: lists of revoked members
// in place of keys that move, claims, and revelations.

var cpy06Scheme = &sdhScheme{sdh.CPY06, "short and traceable: the opener can reveal a member, and members can claim; the issuer can trace",
	Escrow | Token | Trace, 0}

// sdhList returns what is behind a list.
func sdhList(r Revocation) (*sdh.List, error) {
	l, ok := r.(*sdh.List)
	if !ok || l == nil {
		return nil, &StaleError{What: "revocation list", Reason: "it is of another scheme"}
	}
	return l, nil
}

// listed returns what verifiers look at, or nil, where signatures are traced.
func (g *sdhGroup) listed(o VerifyOptions) (*sdh.Check, error) {
	if o.Revocation == nil {
		return nil, nil
	}
	l, err := sdhList(o.Revocation)
	return &sdh.Check{List: l, Now: o.Now, MinNumber: o.MinNumber}, err
}

// verifyTraced is Verify where signatures are traced.
func (g *sdhGroup) verifyTraced(msg, sig []byte, o VerifyOptions) error {
	context, err := g.context(o)
	if err != nil {
		return err
	}
	m := transcript.MessageOf(msg)
	c, err := g.listed(o)
	if err != nil {
		return err
	}
	if c == nil {
		return refused(g.k.Verify(m, context, sig))
	}
	return refused(g.k.VerifyListed(m, context, sig, *c))
}

func (g *sdhGroup) tracedBatch(o VerifyOptions) Batch {
	b := &sdhBatch{b: g.k.Batch()}
	if b.context, b.err = g.context(o); b.err == nil {
		b.b.Check, b.err = g.listed(o)
	}
	return b
}

// RevocationList fails in groups without tokens.
func (o *sdhOpener) RevocationList(x GroupKey, register *Register, terms Terms, base Revocation) (Revocation, error) {
	g, err := o.group(x)
	if err != nil {
		return nil, err
	}
	var b *sdh.List
	if base != nil {
		if b, err = sdhList(base); err != nil {
			return nil, err
		}
	}
	l, err := o.k.List(g.k, register, terms, b)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (o *sdhOpener) Reveal(x GroupKey, register *Register, member string, context []byte) (Revelation, error) {
	g, err := o.group(x)
	if err != nil {
		return nil, err
	}
	v, err := o.k.Reveal(g.k, register, member, context)
	if err != nil {
		return nil, err
	}
	return v, nil
}

func (g *sdhGroup) ParseRevelation(data []byte) (Revelation, error) {
	v := new(sdh.Revealed)
	if err := v.UnmarshalBinary(data); err != nil {
		return nil, err
	}
	return v, nil
}

func (g *sdhGroup) CheckRevelation(r Revelation, key ed25519.PublicKey, context []byte) error {
	v, ok := r.(*sdh.Revealed)
	if !ok {
		return errForeign
	}
	return g.k.CheckRevealed(v, key, context)
}

func (g *sdhGroup) Trace(r Revelation, s Signed) (bool, error) {
	v, ok := r.(*sdh.Revealed)
	if !ok {
		return false, errForeign
	}
	one, err := g.claimed(s)
	if err != nil {
		return false, err
	}
	is, err := g.k.Trace(v, one)
	return is, refused(err)
}

// claimed is claimedAll for one.
func (g *sdhGroup) claimed(s Signed) (sdh.Signed, error) {
	set, err := g.claimedAll([]Signed{s})
	if err != nil {
		return sdh.Signed{}, err
	}
	return set[0], nil
}

// claimedAll returns a set as the core has it, which verifies the signatures. If their signers
// mustn't be on a list that is seen to here.
func (g *sdhGroup) claimedAll(set []Signed) ([]sdh.Signed, error) {
	out := make([]sdh.Signed, len(set))
	for i, s := range set {
		context, err := g.context(s.Options)
		if err != nil {
			return nil, err
		}
		if s.Options.Revocation != nil {
			if err := g.verifyTraced(s.Message, s.Signature, s.Options); err != nil {
				return nil, err
			}
		}
		out[i] = sdh.Signed{Message: transcript.MessageOf(s.Message), Context: context, Signature: s.Signature}
	}
	return out, nil
}

func (m *sdhMember) Identify(s Signed) (bool, error) {
	one, err := m.g.claimed(s)
	if err != nil {
		return false, err
	}
	is, err := m.m.Identify(one)
	return is, refused(err)
}

func (m *sdhMember) Link(set []Signed, context []byte) ([]byte, error) {
	all, err := m.g.claimedAll(set)
	if err != nil {
		return nil, err
	}
	return m.m.ProveEquality(all, context)
}

func (m *sdhMember) Claim(s Signed, context []byte) ([]byte, error) {
	one, err := m.g.claimed(s)
	if err != nil {
		return nil, err
	}
	return m.m.Claim(one, context)
}

func (g *sdhGroup) verifyEquality(set []Signed, context, link []byte) error {
	all, err := g.claimedAll(set)
	if err != nil {
		return err
	}
	return g.k.VerifyEquality(all, context, link)
}

func (g *sdhGroup) VerifyClaim(s Signed, context, claim []byte) error {
	one, err := g.claimed(s)
	if err != nil {
		return err
	}
	return g.k.VerifyClaim(one, context, claim)
}

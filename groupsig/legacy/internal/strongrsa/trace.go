// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package strongrsa

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/legacy/internal/qrn"
	"github.com/undersign/undersign/internal/modexp"
	"github.com/undersign/undersign/internal/transcript"
)

// What KTY04 has beyond signing and opening: the trapdoor x of a member, which the
// register has, tells that member's signatures by T4 = T5^x, and a member claims a
// signature by T6 = T7^x'.

var errNotTraceable = errors.New("strongrsa: the scheme has no tracing")

// Traceable reports whether the scheme has tracing and claims.
func (s *Scheme) Traceable() bool { return s.name == "kty04" }

// A Trapdoor tells all signatures of one member.
type Trapdoor struct {
	g *GroupKey
	x modexp.Nat
}

// Reveal returns the trapdoor of a member whose record has evidence.
func (g *GroupKey) Reveal(r *join.Record) (*Trapdoor, error) {
	if !g.s.Traceable() {
		return nil, errNotTraceable
	}
	ev, err := g.evidence(r)
	if err != nil {
		return nil, fmt.Errorf("strongrsa: reveal: %w", err)
	}
	return &Trapdoor{g, g.s.slots[0].r.Full(ev.parts[0])}, nil
}

// Trace reports whether a signature, which the caller has verified, is the member's.
func (d *Trapdoor) Trace(sig []byte) (bool, error) {
	t, err := d.g.elements(sig)
	if err != nil {
		return false, err
	}
	return d.g.n.Equal(d.g.n.Pow(t[4].X, d.x), t[3].X), nil
}

// claiming says that T6 = T7^x'.
func (g *GroupKey) claiming(t []*qrn.Base) *qrn.Statement {
	return &qrn.Statement{
		P: g.s.p, Secrets: []qrn.Range{g.s.slots[1].r},
		Rel: []qrn.Relation{relation([]qrn.Term{pow(t[6], 0)}, qrn.Factor{Base: t[5]})},
	}
}

func (g *GroupKey) claimItems(sig, context []byte) *transcript.Items {
	id := sigID(sig)
	return g.items().Bytes("signature", id[:]).Bytes("context", context)
}

// Claim proves that a signature is the member's own.
func (m *MemberKey) Claim(sig, context []byte) ([]byte, error) {
	if m.w == nil {
		return nil, errWiped
	}
	g := m.g
	if !g.s.Traceable() {
		return nil, errNotTraceable
	}
	t, err := g.elements(sig)
	if err != nil {
		return nil, err
	}
	x1 := g.s.slots[1].r.Full(m.w[1])
	defer x1.Wipe()
	if !g.n.Equal(g.n.Pow(t[6].X, x1), t[5].X) {
		return nil, errors.New("strongrsa: claim: the signature is another member's")
	}
	return g.claiming(t).Prove(g.s.dst("claim"), g.claimItems(sig, context), []modexp.Nat{m.w[1]})
}

// VerifyClaim checks a claim of a signature, which the caller has verified.
func (g *GroupKey) VerifyClaim(sig, context, claim []byte) error {
	if !g.s.Traceable() {
		return errNotTraceable
	}
	t, err := g.elements(sig)
	if err != nil {
		return err
	}
	if err := g.claiming(t).VerifyVarTime(g.s.dst("claim"), g.claimItems(sig, context), claim); err != nil {
		return fmt.Errorf("strongrsa: claim: %w", err)
	}
	return nil
}

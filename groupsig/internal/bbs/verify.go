// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"crypto/sha256"

	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/groupsig/internal/state"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// ErrSignature is what a signature that isn't valid is refused for.
var ErrSignature = state.ErrSignature

// VerifyOptions say what a verifier demands of a signature.
type VerifyOptions struct {
	Scope []byte // as in SignOptions

	// MinEpoch and MaxEpoch are the epochs that are accepted, in groups that
	// have them. The zero values accept epoch 0 alone. Announcement, if it isn't
	// nil, says it instead.
	MinEpoch, MaxEpoch uint64
	Announcement       *Announcement

	// Revocation says who is revoked. Nobody is, if it is nil.
	Revocation *Revocation

	// Now is the time, in seconds since 1970, and MinNumber and MinAnnouncement are
	// the highest numbers of a list and of an announcement that the verifier has
	// seen: what isn't in force, or is older, is refused, with a *[StaleError].
	Now                        int64
	MinNumber, MinAnnouncement uint64
}

// relations is the statement of a signature.
func (k *GroupKey) relations(g *signature, scope []byte) *sigma.Statement {
	f := k.draft.Features
	negAA := new(bls12381.G1).Neg(&g.p[ptAA])
	st := &sigma.Statement{Secrets: k.l.secrets, G1: make([]sigma.Relation, 0, k.l.relations)}
	add := func(y *bls12381.G1, terms ...sigma.Term) {
		st.G1 = append(st.G1, sigma.Relation{Y: y, Terms: terms})
	}
	loose := func(w int, p *bls12381.G1) sigma.Term { return sigma.Term{W: w, P: p} }
	if f.Has(Plus) {
		y := new(bls12381.G1).Sub(&g.p[ptABar], &g.p[ptD])
		add(y, loose(k.l.x, negAA), k.h2.term(k.l.r2))
		st.G1[0].Parts = [2]*bls12381.G1{&g.p[ptABar], &g.p[ptD]}
		add(nil, loose(k.l.r3, &g.p[ptD]), k.negH2.term(k.l.s), k.negH1.term(k.l.y))
	} else {
		add(&g.p[ptABar], loose(k.l.x, negAA), loose(k.l.r1, &g.p[ptD]))
		add(nil, loose(k.l.r3, &g.p[ptD]), k.negH1.term(k.l.y))
	}
	e := k.epochBase(g.epoch)
	st.G1[1].Y, st.G1[1].YTable = &e.p, e.table
	if f.Has(Scope) {
		add(&g.p[ptNym], k.scope(scope).term(k.l.y))
	}
	if f.Has(Convert) {
		i := f.ptConvert()
		add(&g.p[i], k.g.term(k.l.aConvert))
		add(&g.p[i+1], k.cpk.term(k.l.aConvert), k.hc.term(k.l.y))
	}
	if f.Has(Escrow) {
		i := f.ptE()
		add(&g.p[i], k.g.term(k.l.a))
		for j, o := range k.opk {
			add(&g.p[i+1+j], o.term(k.l.a), k.h.term(k.l.y))
		}
	}
	return st
}

// admit is what a verifier checks of a signature before any mathematics.
func (k *GroupKey) admit(g *signature, opts *VerifyOptions) error {
	if err := k.checkScope(opts.Scope); err != nil {
		return err
	}
	if k.draft.Features.Has(Epoch) {
		if err := opts.accepts(k, g.epoch); err != nil {
			return err
		}
	} else if opts.Announcement != nil {
		return errNoEpochs
	}
	if opts.Revocation != nil {
		return opts.Revocation.Fresh(k.id, opts.Now, opts.MinNumber)
	}
	return nil
}

// Verify checks a signature, in this order: its form and its points, none of which
// is the identity; the epoch; e(AA, ipk) = e(A_, P2); the proof; revocation. It
// accepts both layouts.
func (k *GroupKey) Verify(msg transcript.Message, sig []byte, opts VerifyOptions) error {
	_, err := k.verify(msg, sig, &opts)
	return err
}

// verify returns the signature with challenge and commitments.
func (k *GroupKey) verify(msg transcript.Message, sig []byte, opts *VerifyOptions) (*signature, error) {
	g, err := k.parse(sig)
	if err != nil {
		return nil, err
	}
	if err := k.admit(g, opts); err != nil {
		return nil, err
	}
	if !k.pairing(&g.p[ptAA], &g.p[ptABar]) {
		return nil, ErrSignature
	}
	if err := k.checkProof(g, opts.Scope, msg); err != nil {
		return nil, err
	}
	return g, k.checkRevoked(g, opts)
}

// pairing reports whether e(AA, ipk) = e(A_, P2).
func (k *GroupKey) pairing(aa, aBar *bls12381.G1) bool {
	neg := new(bls12381.G1).Neg(aBar)
	return bls12381.PairingCheckVarTime(bls12381.PairWith(aa, k.linesIPK), bls12381.PairWith(neg, k.linesP2))
}

// checkProof checks the proof and fills in what the layout leaves out.
func (k *GroupKey) checkProof(g *signature, scope []byte, msg transcript.Message) error {
	st := k.relations(g, scope)
	items := k.items(g, scope, msg)
	if g.batch {
		g.c = *g.t.AppendTo(items).Challenge(k.dst("sig"))
		t := st.RecomputeVarTime(&g.c, g.s)
		for i := range t.G1 {
			if !t.G1[i].Equal(&g.t.G1[i]) {
				return ErrSignature
			}
		}
		return nil
	}
	g.t = st.RecomputeVarTime(&g.c, g.s)
	if !g.t.AppendTo(items).Challenge(k.dst("sig")).Equal(&g.c) {
		return ErrSignature
	}
	return nil
}

// checkRevoked looks the signature up in the revocation state.
func (k *GroupKey) checkRevoked(g *signature, opts *VerifyOptions) error {
	if opts.Revocation == nil {
		return nil
	}
	return opts.Revocation.check(k, g, opts.Scope)
}

// SignatureID returns what names a signature, whatever its layout: the digest of its
// compact encoding. The message and the scope are those it was made for.
func (k *GroupKey) SignatureID(msg transcript.Message, scope []byte, sig []byte) ([sha256.Size]byte, error) {
	b, err := k.Compact(msg, scope, sig)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	return sigID(b), nil
}

func sigID(compact []byte) [sha256.Size]byte {
	return new(transcript.Items).Bytes("sig", compact).Sum()
}

// id is the ID of a signature whose challenge is known.
func (k *GroupKey) sigID(g *signature) [sha256.Size]byte {
	h := *g
	h.batch = false
	return sigID(k.encode(&h))
}

// Compact returns the compact encoding of a signature in either layout.
func (k *GroupKey) Compact(msg transcript.Message, scope []byte, sig []byte) ([]byte, error) {
	g, err := k.parse(sig)
	if err != nil {
		return nil, err
	}
	if g.batch {
		g.c = *g.t.AppendTo(k.items(g, scope, msg)).Challenge(k.dst("sig"))
		g.batch = false
	}
	return k.encode(g), nil
}

// ForBatch returns the encoding for batches of a signature in either layout. It
// doesn't verify the signature.
func (k *GroupKey) ForBatch(scope []byte, sig []byte) ([]byte, error) {
	g, err := k.parse(sig)
	if err != nil {
		return nil, err
	}
	if err := k.checkScope(scope); err != nil {
		return nil, err
	}
	if !g.batch {
		g.t = k.relations(g, scope).RecomputeVarTime(&g.c, g.s)
		g.batch = true
	}
	return k.encode(g), nil
}

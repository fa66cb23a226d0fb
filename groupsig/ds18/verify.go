// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ds18

import (
	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// VerifyOptions are what a verifier demands. The zero value, or nil, is no context
// and no revocation.
type VerifyOptions = tokens.VerifyOptions

// challenge returns c for the commitment r.
func (g *GroupKey) challenge(msg, context []byte, sig *Signature, r *bls12381.G1) *bls12381.Scalar {
	return g.k.Items().Bytes("context", context).Message("m", transcript.MessageOf(msg)).
		G1("M1", &sig.m1).G1("M2", &sig.m2).G1("Z", &sig.z).G1("W", &sig.w).G2("WW", &sig.ww).G1("R", r).Challenge(dstSign)
}

// Verify returns nil if a member signed msg, and isn't revoked by the list in the
// options. Errors are [ErrSignature], [ErrRevoked] or a *[StaleError].
func (g *GroupKey) Verify(msg []byte, sig *Signature, opts *VerifyOptions) error {
	o, err := g.k.Check(opts)
	if err != nil {
		return err
	}
	if !g.valid(msg, sig, o.Context) {
		return ErrSignature
	}
	if o.Revocation == nil {
		return nil
	}
	return o.Revocation.Check(g.target(sig))
}

// hasZero reports whether one of the points is zero: zeros would satisfy the pairing
// equations.
func (sig *Signature) hasZero() bool {
	return sig.m1.IsIdentity() || sig.m2.IsIdentity() || sig.z.IsIdentity() || sig.w.IsIdentity() || sig.ww.IsIdentity()
}

// valid checks c = H(..., s·P1 + c·M2) and the credential.
func (g *GroupKey) valid(msg []byte, sig *Signature, context []byte) bool {
	if g.k == nil || sig == nil || sig.hasZero() || !sig.c.Equal(g.challenge(msg, context, sig, sig.commitment())) {
		return false
	}
	return g.signed(&sig.m1, &sig.m2, &sig.z, &sig.w, &sig.ww)
}

// signed checks a credential for (m1, m2), with a δ that is drawn when all else is known:
//
//	e(m1, X) · e(m2, Y) · e(-z - δ·P1, ww) · e(δ·w, P2) = 1
func (g *GroupKey) signed(m1, m2, z, w *bls12381.G1, ww *bls12381.G2) bool {
	delta := new(bls12381.Scalar).RandomWeight()
	var a, b bls12381.G1
	a.ScalarMultVarTime(delta, bls12381.G1Generator())
	a.Add(&a, z)
	a.Neg(&a)
	b.ScalarMultVarTime(delta, w)
	return bls12381.PairingCheckVarTime(bls12381.PairWith(m1, g.k.X), bls12381.PairWith(m2, g.k.Y),
		bls12381.PairOf(&a, ww), bls12381.PairWith(&b, g.k.P2))
}

// target says what a valid signature tells of its signer: e(M2, token) = e(M1, P2).
func (g *GroupKey) target(sig *Signature) *tokens.Target {
	return &tokens.Target{A: &sig.m2, ID: sig.ID(), Pairs: []bls12381.Pair{bls12381.PairWith(&sig.m1, g.k.P2)}}
}

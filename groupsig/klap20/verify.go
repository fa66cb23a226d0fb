// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package klap20

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
		G1("uu", &sig.uu).G1("vv", &sig.vv).G1("ww", &sig.ww).G1("R", r).Challenge(dstSign)
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

// hasZero reports whether one of the points is zero: three zeros would satisfy the
// pairing equation, and leave R to the forger.
func (sig *Signature) hasZero() bool {
	return sig.uu.IsIdentity() || sig.vv.IsIdentity() || sig.ww.IsIdentity()
}

// valid checks c = H(..., s·uu + c·ww) and e(vv, P2) = e(uu, X)·e(ww, Y).
func (g *GroupKey) valid(msg []byte, sig *Signature, context []byte) bool {
	if g.k == nil || sig == nil || sig.hasZero() || !sig.c.Equal(g.challenge(msg, context, sig, sig.commitment())) {
		return false
	}
	var neg bls12381.G1
	return bls12381.PairingCheckVarTime(bls12381.PairWith(neg.Neg(&sig.vv), g.k.P2),
		bls12381.PairWith(&sig.uu, g.k.X), bls12381.PairWith(&sig.ww, g.k.Y))
}

// target says what a valid signature tells of its signer: e(uu, token) = e(ww, P2).
func (g *GroupKey) target(sig *Signature) *tokens.Target {
	return &tokens.Target{A: &sig.uu, ID: sig.ID(), Pairs: []bls12381.Pair{bls12381.PairWith(&sig.ww, g.k.P2)}}
}

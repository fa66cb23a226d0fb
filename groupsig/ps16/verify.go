// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ps16

import (
	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// VerifyOptions are what a verifier demands. The zero value, or nil, is no context
// and no revocation.
type VerifyOptions = tokens.VerifyOptions

// challengeItems returns the challenge's items up to the commitment.
func (g *GroupKey) challengeItems(msg, context []byte, sig *Signature) *transcript.Items {
	return g.k.Items().Bytes("context", context).Message("m", transcript.MessageOf(msg)).G1("s1", &sig.s1).G1("s2", &sig.s2)
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

// valid checks c = H(..., R) with R = e(s·s1, Y)·e(c·s2, P2)·e(-c·s1, X), which is
// e(s1, Y)^s·(e(s2, P2)/e(s1, X))^c. Without the test of s1 anybody signs: both points
// zero make R = 1 for all c and s.
func (g *GroupKey) valid(msg []byte, sig *Signature, context []byte) bool {
	if g.k == nil || sig == nil || sig.s1.IsIdentity() || sig.s2.IsIdentity() {
		return false
	}
	var a, b, d bls12381.G1
	var nc bls12381.Scalar
	a.ScalarMultVarTime(&sig.s, &sig.s1)
	b.ScalarMultVarTime(&sig.c, &sig.s2)
	d.ScalarMultVarTime(nc.Neg(&sig.c), &sig.s1)
	bls12381.NormalizeG1(&a, &b, &d)
	var r bls12381.GT
	r.PairingProductVarTime(bls12381.PairWith(&a, g.k.Y), bls12381.PairWith(&b, g.k.P2), bls12381.PairWith(&d, g.k.X))
	c := g.challengeItems(msg, context, sig).GT("R", &r).Challenge(dstSign)
	return sig.c.Equal(c)
}

// target says what a valid signature tells of its signer:
// e(s1, ttau) = e(s2, P2)·e(-s1, X).
func (g *GroupKey) target(sig *Signature) *tokens.Target {
	var neg bls12381.G1
	neg.Neg(&sig.s1)
	return &tokens.Target{A: &sig.s1, ID: sig.ID(), Pairs: []bls12381.Pair{
		bls12381.PairWith(&sig.s2, g.k.P2), bls12381.PairWith(&neg, g.k.X),
	}}
}

// A Batch verifies many signatures, each on its own, on all processors: the
// commitment R is an element of GT, and nothing can be merged.
type Batch struct {
	g    *GroupKey
	opts *VerifyOptions
	msgs [][]byte
	sigs []*Signature
}

// A BatchError says which signatures of a batch are refused, and why.
type BatchError = tokens.BatchError

// Batch returns an empty batch. The options hold for all signatures.
func (g *GroupKey) Batch(opts *VerifyOptions) *Batch { return &Batch{g: g, opts: opts} }

// Add adds a signature. The message and the signature mustn't change until Verify
// returns.
func (b *Batch) Add(msg []byte, sig *Signature) {
	b.msgs = append(b.msgs, msg)
	b.sigs = append(b.sigs, sig)
}

// Len returns the number of signatures.
func (b *Batch) Len() int { return len(b.sigs) }

// Verify returns nil if all signatures are valid, and else a *[BatchError].
func (b *Batch) Verify() error {
	if b.g == nil {
		b.g = new(GroupKey) // which accepts nothing
	}
	if _, err := b.g.k.Check(b.opts); err != nil {
		return err
	}
	errs := make([]error, len(b.sigs))
	tokens.Parallel(len(errs), func(i int) { errs[i] = b.g.Verify(b.msgs[i], b.sigs[i], b.opts) })
	return tokens.NewBatchError(errs)
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ds18

import (
	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// A BatchError says which signatures of a batch are refused, and why.
type BatchError = tokens.BatchError

// A Batch verifies many signatures together, with one product of pairings: one for each,
// and three. It takes signatures in both layouts; those that were parsed from the batch
// layout have their proofs merged as well.
type Batch struct {
	g    *GroupKey
	opts *VerifyOptions
	msgs [][]byte
	sigs []*Signature
}

// Batch returns an empty batch. The options hold for all signatures.
func (g *GroupKey) Batch(opts *VerifyOptions) *Batch { return &Batch{g: g, opts: opts} }

// Add adds a signature. The message mustn't change until Verify returns; another signature
// may be decoded into the same variable.
func (b *Batch) Add(msg []byte, sig *Signature) {
	if sig != nil {
		own := *sig
		sig = &own
	}
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
	o, err := b.g.k.Check(b.opts)
	if err != nil {
		return err
	}
	m := &tokens.Merge{
		N: len(b.sigs), Invalid: ErrSignature, CostEach: 0.5,
		Proved: func(i int) bool { return b.proved(i, o.Context) },
		Digest: func() [32]byte { return b.digest(o.Context) },
		Sum:    b.sum,
		Valid:  func(i int) bool { return b.g.valid(b.msgs[i], b.sigs[i], o.Context) },
		Target: func(i int) *tokens.Target { return b.g.target(b.sigs[i]) },
	}
	return m.Verify(o.Revocation)
}

// proved checks what comes before the weights: points that aren't zero, and c by its
// hash. The commitment is recomputed unless it came with the signature; then it is
// checked with the sums.
func (b *Batch) proved(i int, context []byte) bool {
	sig := b.sigs[i]
	if b.g.k == nil || sig == nil || sig.hasZero() {
		return false
	}
	if sig.r != nil && sig.c.Equal(b.g.challenge(b.msgs[i], context, sig, sig.r)) {
		return true
	}
	return sig.c.Equal(b.g.challenge(b.msgs[i], context, sig, sig.commitment()))
}

// digest returns the digest of all inputs.
func (b *Batch) digest(context []byte) [32]byte {
	items := b.g.k.Items().Bytes("context", context)
	for i, sig := range b.sigs {
		items.Message("m", transcript.MessageOf(b.msgs[i]))
		if sig != nil {
			items.Bytes("signature", sig.Bytes())
			if sig.r != nil {
				items.G1("R", sig.r)
			}
		}
	}
	return items.Sum()
}

// sum checks the equations of some signatures, with weights d and e for the two of a
// credential, and another weight f for each proof whose commitment is given:
//
//	e(Σ d·M1, X) · e(Σ d·M2, Y) · e(Σ e·W + f·(s·P1 + c·M2 - R), P2) · Π e(-d·Z - e·P1, WW) = 1
func (b *Batch) sum(items []int, weights *transcript.Weights) bool {
	n := len(items)
	d, e, f := make([]bls12381.Scalar, n), make([]bls12381.Scalar, n), make([]bls12381.Scalar, n)
	pairs := make([]bls12381.Pair, 3, 3+n)
	own := make([]bls12381.G1, n)
	var m1, m2, p2 []bls12381.G1Term
	for i, item := range items {
		weights.Next(&d[i])
		weights.Next(&e[i])
		weights.Next(&f[i])
		sig := b.sigs[item]
		m1 = append(m1, bls12381.MulG1(&d[i], &sig.m1))
		m2 = append(m2, bls12381.MulG1(&d[i], &sig.m2))
		p2 = append(p2, bls12381.MulG1(&e[i], &sig.w))
		if sig.r != nil {
			p2 = append(p2, bls12381.MulG1(new(bls12381.Scalar).Neg(&f[i]), sig.r),
				bls12381.MulG1Table(new(bls12381.Scalar).Mul(&f[i], &sig.s), tableP1()),
				bls12381.MulG1(new(bls12381.Scalar).Mul(&f[i], &sig.c), &sig.m2))
		}
		pairs = append(pairs, bls12381.PairOf(&own[i], &sig.ww))
	}
	tokens.Parallel(n, func(i int) {
		own[i].MultiMultVarTime(bls12381.MulG1(&d[i], &b.sigs[items[i]].z), bls12381.MulG1Table(&e[i], tableP1()))
		own[i].Neg(&own[i])
	})
	var p [3]bls12381.G1
	tokens.Parallel(3, func(i int) { p[i].MultiMultVarTime([][]bls12381.G1Term{m1, m2, p2}[i]...) })
	for i, lines := range []*bls12381.Lines{b.g.k.X, b.g.k.Y, b.g.k.P2} {
		pairs[i] = bls12381.PairWith(&p[i], lines)
	}
	return bls12381.PairingCheckVarTime(pairs...)
}

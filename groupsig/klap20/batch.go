// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package klap20

import (
	"runtime"

	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// A BatchError says which signatures of a batch are refused, and why.
type BatchError = tokens.BatchError

// A Batch verifies many signatures together, with one product of three pairings. It
// takes signatures in both layouts; those that were parsed from the batch layout have
// their proofs merged as well.
type Batch struct {
	g    *GroupKey
	opts *VerifyOptions
	msgs [][]byte
	sigs []*Signature
}

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
	o, err := b.g.k.Check(b.opts)
	if err != nil {
		return err
	}
	m := &tokens.Merge{
		N: len(b.sigs), Invalid: ErrSignature, CostEach: 0.12,
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

// sum checks the equations of some signatures, with a weight d for each pairing
// equation and another weight e for each proof whose commitment is given:
//
//	e(sum -d·vv + e·(s·uu + c·ww - R), P2) · e(sum d·uu, X) · e(sum d·ww, Y) = 1
func (b *Batch) sum(items []int, weights *transcript.Weights) bool {
	n := len(items)
	d, e := make([]bls12381.Scalar, n), make([]bls12381.Scalar, n)
	for i := range items {
		weights.Next(&d[i])
		weights.Next(&e[i])
	}
	const chunk = 256 // that many are worth another goroutine
	workers := max(1, min(runtime.GOMAXPROCS(0), n/chunk))
	parts := make([][3]bls12381.G1, workers)
	tokens.Parallel(workers, func(j int) {
		lo, hi := j*n/workers, (j+1)*n/workers
		parts[j] = b.part(items[lo:hi], d[lo:hi], e[lo:hi])
	})
	var p [3]bls12381.G1
	for j := range parts {
		for i := range p {
			p[i].Add(&p[i], &parts[j][i])
		}
	}
	bls12381.NormalizeG1(&p[0], &p[1], &p[2])
	return bls12381.PairingCheckVarTime(bls12381.PairWith(&p[0], b.g.k.P2),
		bls12381.PairWith(&p[1], b.g.k.X), bls12381.PairWith(&p[2], b.g.k.Y))
}

// part returns the three sums over a part of the signatures.
func (b *Batch) part(items []int, d, e []bls12381.Scalar) (p [3]bls12381.G1) {
	n := len(items)
	p2, uu, ww := make([]bls12381.G1Term, 0, 4*n), make([]bls12381.G1Term, 0, n), make([]bls12381.G1Term, 0, n)
	scaled := make([][4]bls12381.Scalar, n)
	for i, item := range items {
		sig, k := b.sigs[item], &scaled[i]
		p2 = append(p2, bls12381.MulG1(k[0].Neg(&d[i]), &sig.vv))
		uu = append(uu, bls12381.MulG1(&d[i], &sig.uu))
		ww = append(ww, bls12381.MulG1(&d[i], &sig.ww))
		if sig.r != nil {
			p2 = append(p2, bls12381.MulG1(k[1].Neg(&e[i]), sig.r),
				bls12381.MulG1(k[2].Mul(&e[i], &sig.s), &sig.uu), bls12381.MulG1(k[3].Mul(&e[i], &sig.c), &sig.ww))
		}
	}
	p[0].MultiMultVarTime(p2...)
	p[1].MultiMultVarTime(uu...)
	p[2].MultiMultVarTime(ww...)
	return p
}

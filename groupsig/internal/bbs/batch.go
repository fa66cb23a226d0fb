// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs

import (
	"bytes"
	"crypto/sha256"

	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/groupsig/internal/state"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// A Batch verifies many signatures at once: all pairings in one product of two, and
// in the layout for batches all relations in one sum. It decides as Verify does for
// each of them.
type Batch struct {
	k     *GroupKey
	items []batchItem
}

type batchItem struct {
	msg  transcript.Message
	sig  []byte
	opts VerifyOptions
	g    *signature
	st   *sigma.Statement
	err  error
}

// Batch returns an empty batch.
func (k *GroupKey) Batch() *Batch { return &Batch{k: k} }

// Add adds a signature.
func (b *Batch) Add(msg transcript.Message, sig []byte, opts VerifyOptions) {
	opts.Scope = bytes.Clone(opts.Scope)
	b.items = append(b.items, batchItem{msg: msg, sig: bytes.Clone(sig), opts: opts})
}

// Len returns the number of signatures.
func (b *Batch) Len() int { return len(b.items) }

// Verify returns nil if all signatures are valid, and otherwise a *[BatchError], with
// the error that Verify of the group key has for each. An empty batch is valid.
func (b *Batch) Verify() error { return state.NewBatchError(b.verify()) }

// verify returns the verdict on each.
func (b *Batch) verify() []error {
	// Everything that concerns one signature alone comes before any weight.
	gid := b.k.ID()
	digest := new(transcript.Items).Bytes("gid", gid[:])
	var rest []int
	for i := range b.items {
		it := &b.items[i]
		digest.Message("m", it.msg).Bytes("scope", it.opts.Scope).Bytes("sig", it.sig)
		if it.err = b.prepare(it); it.err == nil {
			rest = append(rest, i)
		}
	}
	b.bisect(rest, digest.Sum())
	errs := make([]error, len(b.items))
	for i := range b.items {
		it := &b.items[i]
		if it.err == nil { // of valid signatures alone is said that their signer is revoked
			it.err = b.k.checkRevoked(it.g, &it.opts)
		}
		errs[i] = it.err
		it.g, it.st = nil, nil
	}
	return errs
}

// prepare decodes a signature and computes its challenge. The proof of a compact one
// is checked here; of one in the layout for batches, its relations remain.
func (b *Batch) prepare(it *batchItem) (err error) {
	k := b.k
	if it.g, err = k.parse(it.sig); err != nil {
		return err
	}
	if err := k.admit(it.g, &it.opts); err != nil {
		return err
	}
	if it.g.batch {
		it.g.c = *it.g.t.AppendTo(k.items(it.g, it.opts.Scope, it.msg)).Challenge(k.dst("sig"))
		it.st = k.relations(it.g, it.opts.Scope)
	} else if err := k.checkProof(it.g, it.opts.Scope, it.msg); err != nil {
		return err
	}
	return nil
}

// minBisect is the number of signatures from which they are verified one by one.
const minBisect = 4

// bisect decides the equations that remain of some signatures.
func (b *Batch) bisect(idx []int, digest [sha256.Size]byte) {
	switch {
	case len(idx) == 0:
		return
	case len(idx) < minBisect:
		for _, i := range idx {
			it := &b.items[i]
			opts := it.opts
			opts.Revocation = nil // which comes last
			_, it.err = b.k.verify(it.msg, it.sig, &opts)
		}
		return
	case b.holds(idx, digest):
		return
	}
	half := len(idx) / 2
	b.bisect(idx[:half], digest)
	b.bisect(idx[half:], digest)
}

// holds checks the equations of some signatures at once, each with a fresh weight of
// its own:
//
//	e(sum d·AA, ipk)·e(sum -d·A_ + sum d'·(c·Y + sum s·G - T), P2) = 1
func (b *Batch) holds(idx []int, digest [sha256.Size]byte) bool {
	weights := transcript.NewWeights(digest)
	left, right := sigma.NewSum(), sigma.NewSum()
	var d, neg bls12381.Scalar
	for _, i := range idx {
		it := &b.items[i]
		weights.Next(&d)
		left.Add(&d, &it.g.p[ptAA], nil)
		right.Add(neg.Neg(&d), &it.g.p[ptABar], nil)
		if it.st != nil {
			it.st.AddTo(right, weights, it.g.t, &it.g.c, it.g.s)
		}
	}
	l, r := left.PointVarTime(), right.PointVarTime()
	return bls12381.PairingCheckVarTime(bls12381.PairWith(l, b.k.linesIPK), bls12381.PairWith(r, b.k.linesP2))
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdh

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/undersign/undersign/groupsig/internal/sigma"
	"github.com/undersign/undersign/groupsig/internal/state"
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// Verify returns nil if a member signed the message for the context.
func (k *GroupKey) Verify(msg transcript.Message, context, raw []byte) error {
	_, err := k.verified(msg, context, raw)
	return err
}

// verified returns a signature that it has verified.
func (k *GroupKey) verified(msg transcript.Message, context, raw []byte) (*signature, error) {
	if k.empty() {
		return nil, errEmpty
	}
	sig, err := k.s.parse(raw)
	if err != nil {
		return nil, err
	}
	if !k.valid(msg, context, sig) {
		return nil, ErrSignature
	}
	return sig, nil
}

// relations are those in G1 of a signature's proof.
func (k *GroupKey) relations(points []bls12381.G1) *sigma.Statement {
	s := k.s
	st := &sigma.Statement{Secrets: s.Secrets}
	for i, terms := range s.Points {
		if !slices.Contains(s.Carriers, i) {
			st.G1 = append(st.G1, sigma.Relation{Y: &points[i], Terms: k.terms(terms, points)})
		}
	}
	for _, r := range s.Relations {
		y := new(bls12381.G1)
		if r.Left != r.Right {
			bls12381.NormalizeG1(y.Sub(&points[r.Left], &points[r.Right]))
		}
		st.G1 = append(st.G1, sigma.Relation{Y: y, Terms: k.terms(r.Terms, points)})
	}
	return st
}

func (k *GroupKey) terms(terms Terms, points []bls12381.G1) []sigma.Term {
	list := make([]sigma.Term, len(terms))
	for i, t := range terms {
		list[i].W = t.Secret
		switch {
		case t.Of < 0:
			list[i].P = &points[^t.Of]
		case t.Minus:
			b := k.consts[t.Of].neg()
			list[i].P, list[i].Table = &b.p, b.table
		default:
			list[i].P, list[i].Table = &k.consts[t.Of].p, k.consts[t.Of].table
		}
	}
	return list
}

// slot returns the terms of a pairing's slot.
func (k *GroupKey) slot(terms Terms, sig *signature) []bls12381.G1Term {
	var list []bls12381.G1Term
	for i, t := range k.terms(terms, sig.points) {
		v := &sig.s[terms[i].Secret]
		if t.Table != nil {
			list = append(list, bls12381.MulG1Table(v, t.Table))
		} else {
			list = append(list, bls12381.MulG1(v, t.P))
		}
	}
	return list
}

func (k *GroupKey) valid(msg transcript.Message, context []byte, sig *signature) bool {
	commitments := k.relations(sig.points).RecomputeVarTime(&sig.c, sig.s)
	var minus bls12381.Scalar
	minus.Neg(&sig.c)
	sums := [][]bls12381.G1Term{
		append(k.slot(k.s.P2, sig), bls12381.MulG1Table(&sig.c, k.consts[0].table)),
		append(k.slot(k.s.W, sig), bls12381.MulG1(&minus, &sig.points[k.s.carrier()])),
	}
	if tr := k.s.Trace; tr != nil {
		sums = append(sums, []bls12381.G1Term{bls12381.MulG1Table(&sig.s[tr.Secret], k.consts[tr.Const].table)})
	}
	slots := bls12381.G1SumsVarTime(sums...)
	var r bls12381.GT
	r.PairingProductVarTime(bls12381.PairWith(&slots[0], k.linesP2), bls12381.PairWith(&slots[1], k.linesW))
	for _, t := range sig.traced {
		t.commit(&slots[2], &sig.c)
	}
	return sig.c.Equal(k.challenge(msg, context, sig.points, commitments.G1, &r, sig.traced...))
}

// A Batch verifies many signatures, each on its own, on all processors: the commitment to
// the pairing equation is in GT, and nothing can be merged.
type Batch struct {
	// Check, if it isn't nil, refuses the signatures of who is on its list.
	Check *Check

	k     *GroupKey
	items []item
}

type item struct {
	msg     transcript.Message
	context []byte
	raw     []byte
}

// Batch returns an empty batch.
func (k *GroupKey) Batch() *Batch { return &Batch{k: k} }

// Add adds a signature, which mustn't change until Verify returns.
func (b *Batch) Add(msg transcript.Message, context, raw []byte) {
	b.items = append(b.items, item{msg, context, raw})
}

// Len returns the number of signatures.
func (b *Batch) Len() int { return len(b.items) }

// Verify returns nil if all signatures are valid, and else a *[state.BatchError].
func (b *Batch) Verify() error {
	if b.Check != nil {
		if err := b.k.inForce(b.Check.List, b.Check.Now, b.Check.MinNumber); err != nil {
			return err
		}
	}
	errs := make([]error, len(b.items))
	forEach(len(errs), func(i int) bool {
		it := b.items[i]
		if b.Check != nil {
			errs[i] = b.k.VerifyListed(it.msg, it.context, it.raw, *b.Check)
		} else {
			errs[i] = b.k.Verify(it.msg, it.context, it.raw)
		}
		return true
	})
	return state.NewBatchError(errs)
}

// forEach calls f with the numbers below n, on all processors, until it returns false, and
// reports whether it didn't.
func forEach(n int, f func(i int) bool) bool {
	var next atomic.Int64
	var wg sync.WaitGroup
	var ended atomic.Bool
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !ended.Load(); i = int(next.Add(1)) - 1 {
				if !f(i) {
					ended.Store(true)
				}
			}
		})
	}
	wg.Wait()
	return !ended.Load()
}

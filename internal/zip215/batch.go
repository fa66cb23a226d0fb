// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package zip215

import (
	"crypto/rand"

	"github.com/undersign/undersign/internal/batch"
	"github.com/undersign/undersign/internal/edwards"
)

// A Batch is signatures that are verified together, to the same verdicts as alone but for
// a probability of 2⁻¹²⁸. The zero value is an empty batch. It is for one goroutine at a
// time.
type Batch struct {
	items []item
}

// NewBatch returns an empty batch with room for n signatures.
func NewBatch(n int) *Batch { return &Batch{make([]item, 0, n)} }

// Len returns the number of signatures.
func (b *Batch) Len() int { return len(b.items) }

// Add adds a signature. Whatever is wrong with it, a key that is nil included, is found by
// Verify. Nothing of msg and sig is retained.
func (b *Batch) Add(key *Key, msg, sig []byte) {
	b.items = append(b.items, item{})
	it := &b.items[len(b.items)-1]
	it.bad = key == nil || !it.set(key, msg, sig)
}

// Verify returns the indices of bad signatures, in ascending order. All others are good.
func (b *Batch) Verify() (bad []int) {
	var list []int // items with an equation
	for i := range b.items {
		if !b.items[i].bad {
			list = append(list, i)
		}
	}
	isBad := make([]bool, len(b.items))
	for i := range b.items {
		isBad[i] = b.items[i].bad
	}
	if len(list) > 0 {
		for _, i := range b.search(list) {
			isBad[list[i]] = true
		}
	}
	for i, is := range isBad {
		if is {
			bad = append(bad, i)
		}
	}
	return bad
}

// search returns which of the items of a list are bad, as indices of the list.
func (b *Batch) search(list []int) []int {
	confirm := func(items []int) (bad []int) {
		for _, i := range items {
			if !b.items[list[i]].holds() {
				bad = append(bad, i)
			}
		}
		return bad
	}
	if len(list) == 1 {
		return confirm([]int{0})
	}
	weights := make([]byte, 16*len(list))
	rand.Read(weights)
	sum := func(lo, hi int) *edwards.Point {
		p := new(edwards.Point)
		p.SumVarTime(b.terms(list[lo:hi], weights[16*lo:]))
		return p
	}
	return batch.Locate(batch.Problem[*edwards.Point]{
		N:   len(list),
		Sum: sum,
		Sub: func(total, part *edwards.Point) *edwards.Point {
			minus := *part
			minus.Negate()
			minus.Add(total)
			return &minus
		},
		IsZero:  (*edwards.Point).IsSmall,
		Confirm: confirm,
		Cost:    func(n int) float64 { return 2 + 0.25*float64(n) },
	}, sum(0, len(list))).Bad
}

// terms returns the terms of the weighted sum of some equations.
func (b *Batch) terms(list []int, weights []byte) []edwards.Term {
	terms := make([]edwards.Term, 2*len(list)+1)
	base := &terms[2*len(list)]
	base.Point = edwards.Generator()
	for i, at := range list {
		it := &b.items[at]
		r, a := &terms[2*i], &terms[2*i+1]
		r.Point, a.Point = &it.r, &it.a
		var z [32]byte
		copy(z[:16], weights[16*i:])
		r.Scalar.SetCanonicalBytes(z[:]) // less than 2^128
		a.Scalar.Multiply(&r.Scalar, &it.k)
		base.Scalar.MultiplyAdd(&r.Scalar, &it.s, &base.Scalar)
	}
	base.Scalar.Negate(&base.Scalar)
	return terms
}

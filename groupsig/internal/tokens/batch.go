// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"github.com/undersign/undersign/internal/batch"
	"github.com/undersign/undersign/internal/transcript"
)

// A Merge is a batch of signatures whose equations are summed up with weights. Signatures
// are numbered from 0.
type Merge struct {
	N       int
	Invalid error // what a bad signature is refused for

	// Proved checks what comes before the weights, Sum the equations of some that have
	// passed, Valid a single one. Digest is of all inputs, for the weights.
	Proved func(i int) bool
	Digest func() [32]byte
	Sum    func(items []int, weights *transcript.Weights) bool
	Valid  func(i int) bool

	// Target says what a valid one tells of its signer.
	Target func(i int) *Target

	// CostEach is what a sum costs for each signature, in units of Valid.
	CostEach float64
}

// How the search for bad signatures spends its time, in units of a single verification: a
// sum is a product of pairings, and less for each signature.
const (
	Leaf     = 4 // so few are verified one by one
	sumCost  = 0.8
	maxExtra = 0.6
)

// Verify returns nil if all signatures are valid, and none is of a signer on the list,
// which may be nil, and else a *[BatchError].
func (m *Merge) Verify(revoked *List) error {
	errs := make([]error, m.N)
	good := make([]bool, m.N)
	Parallel(m.N, func(i int) { good[i] = m.Proved(i) })
	var items []int
	for i, ok := range good {
		if ok {
			items = append(items, i)
		} else {
			errs[i] = m.Invalid
		}
	}
	digest := m.Digest()
	sum := func(lo, hi int) bool { return m.Sum(items[lo:hi], transcript.NewWeights(digest)) }
	if len(items) <= Leaf || !sum(0, len(items)) {
		batch.Locate(batch.Problem[bool]{
			N: len(items), Sum: sum, IsZero: func(ok bool) bool { return ok },
			Confirm: func(suspects []int) []int {
				Parallel(len(suspects), func(j int) {
					if i := items[suspects[j]]; !m.Valid(i) {
						errs[i] = m.Invalid
					}
				})
				return nil
			},
			Cost: func(n int) float64 { return sumCost + m.CostEach*float64(n) },
			Leaf: Leaf, MaxExtra: maxExtra,
		}, false)
	}
	if revoked != nil {
		for i := range errs {
			if errs[i] == nil {
				errs[i] = revoked.Check(m.Target(i))
			}
		}
	}
	return NewBatchError(errs)
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import "github.com/undersign/undersign/internal/batch"

// A joint is a batch of items that were lifted to points, for which
//
//	Σ z(sG + tP - R) = 0
//
// is to be seen with random weights z. Items of the same signer are together, so
// that one multiplication serves for them.
type joint struct {
	items   []*Item
	points  []Affine // R
	weights []weight
	zs, zt  []Scalar   // multipliers of G and P
	odd     []oddTable // of P, or nil
	workers int
}

// newJoint returns the batch, with weights from the seed. From here on nothing of it changes.
func newJoint(items []*Item, points []Affine, seed *[32]byte, workers int) *joint {
	j := &joint{items: items, points: points, workers: workers}
	j.weights = drawWeights(seed, items, points)
	j.zs, j.zt = make([]Scalar, len(items)), make([]Scalar, len(items))
	chunks(len(items), 256, workers, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			z := j.weights[i].scalar()
			t, _ := items[i].T()
			j.zs[i].Mul(&z, &items[i].S)
			j.zt[i].Mul(&z, &t)
		}
	})
	return j
}

// sum returns the weighted sum of the defects of the items lo to hi-1.
func (j *joint) sum(lo, hi int) Jacobian {
	terms := make([]multiple, 0, 2*(hi-lo)+1)
	for i := lo; i < hi; i++ {
		w := &j.weights[i]
		terms = append(terms, multiple{p: &j.points[i], k: w.k, neg: !w.neg})
	}
	var g Scalar
	for i := lo; i < hi; {
		p := &j.items[i].P
		var k Scalar
		var odd oddTable
		for ; i < hi && j.items[i].P == *p; i++ {
			k.Add(&k, &j.zt[i])
			g.Add(&g, &j.zs[i])
			if j.odd != nil && odd.first == nil {
				odd = j.odd[i]
			}
		}
		t := newMultiple(p, &k)
		t.odd = odd
		terms = append(terms, t)
	}
	terms = append(terms, newMultiple(&generator, &g))
	return current.sumMultiples(terms, j.workers)
}

// verify looks for bad items. Suspects go through confirm, which gives exact
// verdicts. The search costs at most maxExtra of confirming all.
func (j *joint) verify(maxExtra float64, confirm func(items []int) (bad []int)) batch.Result {
	n := len(j.items)
	signers := 1
	for i := 1; i < n; i++ {
		if j.items[i].P != j.items[i-1].P {
			signers++
		}
	}
	costs := costsFor(n)
	return batch.Locate(batch.Problem[Jacobian]{
		N:   n,
		Sum: j.sum,
		Sub: func(sum, part Jacobian) Jacobian {
			part.Neg(&part)
			sum.Add(&sum, &part)
			return sum
		},
		IsZero:  func(s Jacobian) bool { return s.IsInfinity() },
		Confirm: confirm,
		Cost: func(m int) float64 {
			// Signers are taken to be spread evenly.
			return costs.joint(min(signers, (signers*m+n-1)/n), m) / costs.single
		},
		Leaf:     16,
		MaxExtra: maxExtra,
	}, j.sum(0, n))
}

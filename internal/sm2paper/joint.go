// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2paper

import "github.com/undersign/undersign/internal/sm2ec"

// A term is k times p.
type term struct {
	p sm2ec.Affine
	k sm2ec.Scalar
}

// A subsets is the table of all sums of the points of some terms: sums[m] for the
// set of the bits of m. Those of a single point are given; the others are
// Jacobian until the inversion.
type subsets struct {
	terms []term
	jac   []sm2ec.Jacobian
	sums  []sm2ec.Affine // of those that aren't infinity
}

// groupSizes returns the sizes of the tables for n terms: one table for at most
// 5, otherwise two, as the paper has it.
func groupSizes(n int) []int {
	if n <= 5 {
		return []int{n}
	}
	return []int{n / 2, n - n/2}
}

// newSubsets adds up the points of terms, by 11 multiplications a sum.
func (f field) newSubsets(terms []term) *subsets {
	s := &subsets{
		terms: terms,
		jac:   make([]sm2ec.Jacobian, 1<<len(terms)),
		sums:  make([]sm2ec.Affine, 1<<len(terms)),
	}
	for i := range terms {
		m := 1 << i
		s.sums[m] = terms[i].p
		s.jac[m] = terms[i].p.Jacobian()
		for low := 1; low < m; low++ {
			f.addAffine(&sm2Curve, &s.jac[m|low], &s.jac[low], &terms[i].p)
		}
	}
	return s
}

// toInvert returns the masks of the sums whose Z isn't 1, nor 0.
func (s *subsets) toInvert() (masks []int) {
	for m := range s.jac {
		if m&(m-1) != 0 && !s.jac[m].IsInfinity() {
			masks = append(masks, m)
		}
	}
	return masks
}

// joint returns the sum of all terms of all tables by one binary
// multiplication: a doubling a bit, and an addition a table and bit.
func (f field) joint(tables []*subsets) (p sm2ec.Jacobian) {
	for i := 255; i >= 0; i-- {
		if !p.IsInfinity() {
			f.double(&sm2Curve, &p, &p)
		}
		for _, s := range tables {
			m := uint(0)
			for j := range s.terms {
				m |= bit(&s.terms[j].k, i) << j
			}
			if m != 0 && !s.jac[m].IsInfinity() {
				f.addAffine(&sm2Curve, &p, &p, &s.sums[m])
			}
		}
	}
	return p
}

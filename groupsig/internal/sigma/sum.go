// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sigma

import (
	"github.com/undersign/undersign/internal/bls12381"
	"github.com/undersign/undersign/internal/transcript"
)

// A Sum collects equations "sum = 0" of many proofs, each multiplied by a weight of
// its own, into one sum. A point that comes again, at the same address or with the
// same table, costs no further term.
type Sum struct {
	index  map[any]int
	scalar []*bls12381.Scalar
	point  []*bls12381.G1
	table  []*bls12381.G1Table

	indexG2  map[*bls12381.G2]int
	scalarG2 []*bls12381.Scalar
	pointG2  []*bls12381.G2
}

// NewSum returns an empty sum.
func NewSum() *Sum {
	return &Sum{index: map[any]int{}, indexG2: map[*bls12381.G2]int{}}
}

// Add adds k·p. The table is that of p, or nil.
func (a *Sum) Add(k *bls12381.Scalar, p *bls12381.G1, table *bls12381.G1Table) {
	var key any = p
	if table != nil {
		key = table
	}
	i, ok := a.index[key]
	if !ok {
		i = len(a.scalar)
		a.index[key] = i
		a.scalar = append(a.scalar, new(bls12381.Scalar))
		a.point = append(a.point, p)
		a.table = append(a.table, table)
	}
	a.scalar[i].Add(a.scalar[i], k)
}

// AddG2 adds k·p in G2.
func (a *Sum) AddG2(k *bls12381.Scalar, p *bls12381.G2) {
	i, ok := a.indexG2[p]
	if !ok {
		i = len(a.scalarG2)
		a.indexG2[p] = i
		a.scalarG2 = append(a.scalarG2, new(bls12381.Scalar))
		a.pointG2 = append(a.pointG2, p)
	}
	a.scalarG2[i].Add(a.scalarG2[i], k)
}

// PointVarTime returns the sum in G1.
func (a *Sum) PointVarTime() *bls12381.G1 {
	terms := make([]bls12381.G1Term, len(a.scalar))
	for i, k := range a.scalar {
		if a.table[i] != nil {
			terms[i] = bls12381.MulG1Table(k, a.table[i])
		} else {
			terms[i] = bls12381.MulG1(k, a.point[i])
		}
	}
	return bls12381.NewG1().MultiMultVarTime(terms...)
}

// PointG2VarTime returns the sum in G2.
func (a *Sum) PointG2VarTime() *bls12381.G2 {
	terms := make([]bls12381.G2Term, len(a.scalarG2))
	for i, k := range a.scalarG2 {
		terms[i] = bls12381.MulG2(k, a.pointG2[i])
	}
	return bls12381.NewG2().MultiMultVarTime(terms...)
}

// IsZeroVarTime reports whether both sums are zero.
func (a *Sum) IsZeroVarTime() bool {
	return a.PointVarTime().IsIdentity() && a.PointG2VarTime().IsIdentity()
}

// AddTo adds c·Y + sum s_j·G_j - T for each relation, each with a weight of its own.
// The challenge c must have been computed from the commitments t.
func (st *Statement) AddTo(a *Sum, weights *transcript.Weights, t *Commitments, c *bls12381.Scalar, s []bls12381.Scalar) {
	var d, k bls12381.Scalar
	for i, r := range st.G1 {
		weights.Next(&d)
		k.Mul(&d, c)
		if r.Parts[0] != nil {
			a.Add(&k, r.Parts[0], nil)
			a.Add(k.Neg(&k), r.Parts[1], nil)
		} else {
			a.Add(&k, r.Y, r.YTable)
		}
		for _, term := range r.Terms {
			a.Add(k.Mul(&d, &s[term.W]), term.P, term.Table)
		}
		a.Add(k.Neg(&d), &t.G1[i], nil)
	}
	for i, r := range st.G2 {
		weights.Next(&d)
		a.AddG2(k.Mul(&d, c), r.Y)
		for _, term := range r.Terms {
			a.AddG2(k.Mul(&d, &s[term.W]), term.P)
		}
		a.AddG2(k.Neg(&d), &t.G2[i])
	}
}

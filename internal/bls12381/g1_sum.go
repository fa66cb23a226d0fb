// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import bls "github.com/consensys/gnark-crypto/ecc/bls12-381"

// A G1Affine is a public point in 96 bytes, for long lists. The zero value is the
// identity.
type G1Affine struct{ a bls.G1Affine }

// Set sets a to p.
func (a *G1Affine) Set(p *G1) *G1Affine {
	a.a = p.toAffine()
	return a
}

// Point returns the point.
func (a *G1Affine) Point() *G1 {
	p := g1FromAffine(&a.a)
	return &p
}

// SumVarTime sets p to the sum of the points, whatever they are: equal points,
// opposite points and the identity may be among them.
//
// It adds them pairwise, in rounds, by the affine formulas with one inversion for
// many pairs.
func (p *G1) SumVarTime(points []G1Affine) *G1 {
	var sum bls.G1Jac
	sum.FromAffine(&bls.G1Affine{})
	var t bls.G1Affine
	work := make([]bls.G1Affine, min(len(points), sumChunk))
	den := make([]fe, (len(work)+1)/2)
	for len(points) > 0 {
		n := min(len(points), sumChunk)
		for i := range n {
			work[i] = points[i].a
		}
		for m := n; m > 1; {
			m = g1AddPairs(work[:m], den)
		}
		t = work[0]
		sum.AddMixed(&t)
		points = points[n:]
	}
	*p = g1FromJacobian(&sum)
	return p
}

// sumChunk is the number of points that are summed at a time, so that they stay
// in the cache.
const sumChunk = 1024

// Cases of an affine addition.
const (
	pairOther = iota // the sum is one of the two, or the identity, and is in place
	pairDistinct
	pairEqual
)

// g1AddPairs sets the first half of w to the sums of its pairs, and returns how
// many there are. A point that is left over is the last.
func g1AddPairs(w []bls.G1Affine, den []fe) int {
	half := len(w) / 2
	var kinds [sumChunk / 2]uint8
	for i := range half {
		a, b := &w[2*i], &w[2*i+1]
		kinds[i] = g1Classify(&den[i], a, b)
	}
	inverseBatch(den[:half])
	var l, t fe
	for i := range half {
		a, b := w[2*i], w[2*i+1]
		switch kinds[i] {
		case pairOther:
			w[i] = a
			continue
		case pairDistinct:
			l.Sub(&b.Y, &a.Y)
		case pairEqual:
			l.Square(&a.X)
			t.Double(&l)
			l.Add(&l, &t)
		}
		l.Mul(&l, &den[i])
		t.Square(&l)
		t.Sub(&t, &a.X)
		t.Sub(&t, &b.X)
		w[i].X = t
		t.Sub(&a.X, &t)
		t.Mul(&t, &l)
		w[i].Y.Sub(&t, &a.Y)
	}
	if len(w)%2 == 1 {
		w[half] = w[len(w)-1]
		return half + 1
	}
	return half
}

// g1Classify sets d to the denominator of the slope through a and b, which is not
// 0. Where there is none, it leaves the sum in a.
func g1Classify(d *fe, a, b *bls.G1Affine) uint8 {
	*d = feOne
	switch {
	case b.IsInfinity():
		return pairOther
	case a.IsInfinity():
		*a = *b
		return pairOther
	case !a.X.Equal(&b.X):
		d.Sub(&b.X, &a.X)
		return pairDistinct
	case a.Y.Equal(&b.Y) && !a.Y.IsZero():
		d.Double(&a.Y)
		return pairEqual
	}
	*a = bls.G1Affine{}
	return pairOther
}

// inverseBatch inverts public elements, none of which is 0, in place.
func inverseBatch(x []fe) {
	if len(x) == 0 {
		return
	}
	var kept [sumChunk / 2]fe
	prod := kept[:len(x)]
	acc := feOne
	for i := range x {
		prod[i] = acc
		acc.Mul(&acc, &x[i])
	}
	acc.Inverse(&acc)
	var t fe
	for i := len(x) - 1; i >= 0; i-- {
		t.Mul(&acc, &x[i])
		x[i].Mul(&acc, &prod[i])
		acc = t
	}
}

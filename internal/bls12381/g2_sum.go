// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import bls "github.com/consensys/gnark-crypto/ecc/bls12-381"

// A G2Affine is a public point in 192 bytes, for long lists. The zero value is the
// identity.
type G2Affine struct{ a bls.G2Affine }

// Set sets a to p.
func (a *G2Affine) Set(p *G2) *G2Affine {
	a.a = p.toAffine()
	return a
}

// Point returns the point.
func (a *G2Affine) Point() *G2 {
	p := g2FromAffine(&a.a)
	return &p
}

// SumVarTime sets p to the sum of the points, whatever they are: equal points,
// opposite points and the identity may be among them.
//
// It adds them pairwise, in rounds, by the affine formulas with one inversion for
// many pairs.
func (p *G2) SumVarTime(points []G2Affine) *G2 {
	var sum bls.G2Jac
	sum.FromAffine(&bls.G2Affine{})
	var t bls.G2Affine
	work := make([]bls.G2Affine, min(len(points), sumChunk))
	den := make([]fe2, (len(work)+1)/2)
	for len(points) > 0 {
		n := min(len(points), sumChunk)
		for i := range n {
			work[i] = points[i].a
		}
		for m := n; m > 1; {
			m = g2AddPairs(work[:m], den)
		}
		t = work[0]
		sum.AddMixed(&t)
		points = points[n:]
	}
	*p = g2FromJacobian(&sum)
	return p
}

// g2AddPairs sets the first half of w to the sums of its pairs, and returns how
// many there are. A point that is left over is the last.
func g2AddPairs(w []bls.G2Affine, den []fe2) int {
	half := len(w) / 2
	var kinds [sumChunk / 2]uint8
	for i := range half {
		a, b := &w[2*i], &w[2*i+1]
		kinds[i] = g2Classify(&den[i], a, b)
	}
	inverseBatch2(den[:half])
	var l, t fe2
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

// g2Classify sets d to the denominator of the slope through a and b, which is not
// 0. Where there is none, it leaves the sum in a.
func g2Classify(d *fe2, a, b *bls.G2Affine) uint8 {
	*d = fe2One
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
	*a = bls.G2Affine{}
	return pairOther
}

// inverseBatch2 inverts public elements, none of which is 0, in place.
func inverseBatch2(x []fe2) {
	if len(x) == 0 {
		return
	}
	var kept [sumChunk / 2]fe2
	prod := kept[:len(x)]
	acc := fe2One
	for i := range x {
		prod[i] = acc
		acc.Mul(&acc, &x[i])
	}
	acc.Inverse(&acc)
	var t fe2
	for i := len(x) - 1; i >= 0; i-- {
		t.Mul(&acc, &x[i])
		x[i].Mul(&acc, &prod[i])
		acc = t
	}
}

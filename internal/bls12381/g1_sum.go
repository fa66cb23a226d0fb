// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import bls "github.com/consensys/gnark-crypto/ecc/bls12-381"

// A G1Affine is a public point in 96 bytes, for long lists. The zero value is the
// identity.
type G1Affine struct{ a bls.G1Affine }

// Set sets a to p.
func (a *G1Affine) Set(p *G1) *G1Affine {
	if p.affine && !p.IsIdentity() { // mostly, and there are many
		a.a.X, a.a.Y = p.x, p.y
		return a
	}
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
// It adds many pairwise, in rounds, by the affine formulas with one inversion for many
// pairs, and few one after the other.
func (p *G1) SumVarTime(points []G1Affine) *G1 {
	var sum bls.G1Jac
	sum.FromAffine(&bls.G1Affine{})
	if hasKernel && len(points) <= sumSingly {
		for i := range points {
			g1AddAffine(&sum, &points[i].a)
		}
		*p = g1FromJacobian(&sum)
		return p
	}
	work := make([]bls.G1Affine, min(len(points), sumChunk))
	for len(points) > 0 {
		n := min(len(points), sumChunk)
		for i := range n {
			work[i] = points[i].a
		}
		g1SumGroups(work[:n], []int{n})
		g1AddAffine(&sum, &work[0])
		points = points[n:]
	}
	*p = g1FromJacobian(&sum)
	return p
}

const (
	// sumChunk is the number of points that are summed at a time, so that they
	// stay in a near cache.
	sumChunk = 4096
	// sumSingly is the number of points up to which the assembly adds them faster one
	// by one.
	sumSingly = 128
	// sumBatch is the number of additions that share an inversion.
	sumBatch = 512
)

// Cases of an affine addition.
const (
	pairDone     = iota // the sum is in the first place already
	pairDistinct        // by the line through both
	pairEqual           // by the tangent
)

// g1SumGroups sums each of the groups that lie in w one after the other, of the
// given sizes. Afterwards w starts with the sums, in order, without those of empty
// groups, and sizes are 0 or 1.
func g1SumGroups(w []bls.G1Affine, sizes []int) {
	b := new(g1Batch)
	for more := true; more; {
		more = false
		in := 0
		b.out = w
		for i, n := range sizes {
			for ; n > 1; n -= 2 {
				b.add(w[in : in+2])
				in += 2
			}
			if n == 1 {
				b.add(w[in : in+1])
				in++
			}
			sizes[i] = (sizes[i] + 1) / 2
			more = more || sizes[i] > 1
		}
		b.flush()
	}
}

// A g1Batch collects additions, and does them together. The sums go to the front
// of out, which may overlap the summands: each lies no further than they do.
type g1Batch struct {
	out   []bls.G1Affine
	n     int // additions collected
	dens  int // denominators among them
	kinds [sumBatch]uint8
	pairs [sumBatch][]bls.G1Affine
	den   [sumBatch]fe
}

// add collects the addition of a pair, or the copy of a single point.
func (b *g1Batch) add(pair []bls.G1Affine) {
	b.pairs[b.n] = pair
	b.kinds[b.n] = pairDone
	if len(pair) == 2 {
		d := &b.den[b.dens]
		b.kinds[b.n] = g1Classify(d, &pair[0], &pair[1])
		if b.kinds[b.n] != pairDone {
			b.dens++
		}
	}
	if b.n++; b.n == sumBatch {
		b.flush()
	}
}

func (b *g1Batch) flush() {
	inverseBatch(b.den[:b.dens])
	dens := b.den[:]
	var l, t fe
	for i, pair := range b.pairs[:b.n] {
		p := pair[0]
		switch b.kinds[i] {
		case pairDone:
			b.out[i] = p
			continue
		case pairDistinct:
			l.Sub(&pair[1].Y, &p.Y)
		case pairEqual:
			l.Square(&p.X)
			t.Double(&l)
			l.Add(&l, &t)
		}
		l.Mul(&l, &dens[0])
		dens = dens[1:]
		t.Square(&l)
		t.Sub(&t, &p.X)
		t.Sub(&t, &pair[1].X)
		b.out[i].X = t
		t.Sub(&p.X, &t)
		t.Mul(&t, &l)
		b.out[i].Y.Sub(&t, &p.Y)
	}
	b.out = b.out[b.n:]
	b.n, b.dens = 0, 0
}

// g1Classify sets d to the denominator of the slope of the line through a and b,
// which is not 0. Where there is no line, it leaves the sum in a.
func g1Classify(d *fe, a, b *bls.G1Affine) uint8 {
	switch {
	case b.IsInfinity():
		return pairDone
	case a.IsInfinity():
		*a = *b
		return pairDone
	case !a.X.Equal(&b.X):
		d.Sub(&b.X, &a.X)
		return pairDistinct
	case a.Y.Equal(&b.Y) && !a.Y.IsZero():
		d.Double(&a.Y)
		return pairEqual
	}
	*a = bls.G1Affine{}
	return pairDone
}

// inverseBatch inverts at most sumBatch public elements, none of which is 0, in place.
func inverseBatch(x []fe) {
	if len(x) == 0 {
		return
	}
	var kept [sumBatch]fe
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

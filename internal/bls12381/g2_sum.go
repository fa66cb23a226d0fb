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
	work := make([]bls.G2Affine, min(len(points), sumChunk))
	for len(points) > 0 {
		n := min(len(points), sumChunk)
		for i := range n {
			work[i] = points[i].a
		}
		g2SumGroups(work[:n], []int{n})
		sum.AddMixed(&work[0])
		points = points[n:]
	}
	*p = g2FromJacobian(&sum)
	return p
}

// AddPairsVarTime returns the sum of each pair of points, in their order, with one inversion
// for many of them.
func AddPairsVarTime(pairs [][2]G2Affine) []G2Affine {
	sums := make([]G2Affine, len(pairs))
	var sizes [sumChunk / 2]int
	work := make([]bls.G2Affine, min(2*len(pairs), sumChunk))
	for at := 0; at < len(pairs); at += len(sizes) {
		n := min(len(pairs)-at, len(sizes))
		for i := range n {
			sizes[i] = 2
			work[2*i], work[2*i+1] = pairs[at+i][0].a, pairs[at+i][1].a
		}
		g2SumGroups(work[:2*n], sizes[:n])
		for i := range n {
			sums[at+i].a = work[i]
		}
	}
	return sums
}

// g2SumGroups sums each of the groups that lie in w one after the other, of the
// given sizes. Afterwards w starts with the sums, in order, without those of empty
// groups, and sizes are 0 or 1.
func g2SumGroups(w []bls.G2Affine, sizes []int) {
	b := new(g2Batch)
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

// A g2Batch collects additions, and does them together. The sums go to the front
// of out, which may overlap the summands: each lies no further than they do.
type g2Batch struct {
	out   []bls.G2Affine
	n     int // additions collected
	dens  int // denominators among them
	kinds [sumBatch]uint8
	pairs [sumBatch][]bls.G2Affine
	den   [sumBatch]fe2
}

// add collects the addition of a pair, or the copy of a single point.
func (b *g2Batch) add(pair []bls.G2Affine) {
	b.pairs[b.n] = pair
	b.kinds[b.n] = pairDone
	if len(pair) == 2 {
		d := &b.den[b.dens]
		b.kinds[b.n] = g2Classify(d, &pair[0], &pair[1])
		if b.kinds[b.n] != pairDone {
			b.dens++
		}
	}
	if b.n++; b.n == sumBatch {
		b.flush()
	}
}

func (b *g2Batch) flush() {
	inverseBatch2(b.den[:b.dens])
	dens := b.den[:]
	var l, t fe2
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

// g2Classify sets d to the denominator of the slope of the line through a and b,
// which is not 0. Where there is no line, it leaves the sum in a.
func g2Classify(d *fe2, a, b *bls.G2Affine) uint8 {
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
	*a = bls.G2Affine{}
	return pairDone
}

// inverseBatch2 inverts at most sumBatch public elements, none of which is 0, in place.
func inverseBatch2(x []fe2) {
	if len(x) == 0 {
		return
	}
	var kept [sumBatch]fe2
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

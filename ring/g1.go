// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"errors"

	"github.com/undersign/undersign/internal/bls12381"
)

// g1 is the arithmetic of G1 of BLS12-381. Scalars are big-endian.
type g1 struct{}

func (g1) pointSize() int { return bls12381.G1Size }

func (g1) parse(b []byte) (*bls12381.G1, error) {
	p := new(bls12381.G1)
	if err := p.SetBytes(b); err != nil {
		return nil, err
	}
	return p, nil
}

func (g1) encode(p *bls12381.G1) []byte { return p.Bytes() }

func (g1) selectPoint(x, y *bls12381.G1, cond int) *bls12381.G1 {
	return new(bls12381.G1).Select(x, y, cond)
}

func (g1) hashVarTime(msg, dst []byte) *bls12381.G1 { return new(bls12381.G1).HashVarTime(msg, dst) }

func (g1) checkScalar(b []byte) error {
	var s bls12381.Scalar
	err := s.SetBytes(b)
	s.Wipe()
	if err != nil {
		return errors.New("not a canonical scalar")
	}
	return nil
}

// g1Scalar decodes a canonical scalar, in constant time.
func g1Scalar(k *scalar) *bls12381.Scalar { return new(bls12381.Scalar).SetWide(k[:]) }

// takeG1 returns the encoding of a scalar and wipes it, and others that it was made of.
func takeG1(s *bls12381.Scalar, others ...*bls12381.Scalar) *scalar {
	k := (*scalar)(s.Bytes())
	s.Wipe()
	for _, x := range others {
		x.Wipe()
	}
	return k
}

func (g1) reduce(wide *[64]byte) *scalar { return takeG1(new(bls12381.Scalar).SetWide(wide[:])) }

func (g1) short(b *[16]byte) *scalar {
	k := new(scalar)
	copy(k[scalarSize-len(b):], b[:])
	return k
}

func (g1) mulAdd(x, y, z *scalar) *scalar {
	s, t, u := g1Scalar(x), g1Scalar(y), g1Scalar(z)
	return takeG1(s.MulAdd(s, t, u), t, u)
}

func (g1) neg(x *scalar) *scalar {
	s := g1Scalar(x)
	return takeG1(s.Neg(s))
}

func (g1) mult(k *scalar, p *bls12381.G1) *bls12381.G1 {
	q, s := new(bls12381.G1), g1Scalar(k)
	if p == nil {
		q.ScalarBaseMult(s)
	} else {
		q.ScalarMult(s, p)
	}
	s.Wipe()
	bls12381.NormalizeG1(q)
	return q
}

func (g1) round(h, y *bls12381.G1) func(s, c *scalar, p *bls12381.G1) (l, r *bls12381.G1) {
	ofH, ofY := bls12381.NewG1Comb(h), bls12381.NewG1Comb(y)
	return func(s, c *scalar, p *bls12381.G1) (l, r *bls12381.G1) {
		bs, bc := g1Scalar(s), g1Scalar(c)
		l = new(bls12381.G1).ScalarBaseMult(bs)
		l.Add(l, new(bls12381.G1).ScalarMult(bc, p))
		r = new(bls12381.G1).CombMult(bs, ofH)
		r.Add(r, new(bls12381.G1).CombMult(bc, ofY))
		bls12381.NormalizeG1(l, r)
		return l, r
	}
}

func (g1) roundVarTime(h, y *bls12381.G1, _ int) func(s, c *scalar, p *bls12381.G1) (l, r *bls12381.G1) {
	ofH, ofY := bls12381.NewG1TableVarTime(h), bls12381.NewG1TableVarTime(y)
	ofG := bls12381.NewG1TableVarTime(bls12381.G1Generator())
	return func(s, c *scalar, p *bls12381.G1) (l, r *bls12381.G1) {
		bs, bc := g1Scalar(s), g1Scalar(c)
		sums := bls12381.G1SumsVarTime(
			[]bls12381.G1Term{bls12381.MulG1Table(bs, ofG), bls12381.MulG1(bc, p)},
			[]bls12381.G1Term{bls12381.MulG1Table(bs, ofH), bls12381.MulG1Table(bc, ofY)})
		return &sums[0], &sums[1]
	}
}

func (g1) sumVarTime(terms []term[bls12381.G1]) *bls12381.G1 {
	list := make([]bls12381.G1Term, len(terms))
	for i, t := range terms {
		if t.p == nil {
			t.p = bls12381.G1Generator()
		}
		list[i] = bls12381.MulG1(g1Scalar(t.k), t.p)
	}
	return new(bls12381.G1).MultiMultVarTime(list...)
}

func (g1) sub(p, q *bls12381.G1) *bls12381.G1 { return new(bls12381.G1).Sub(p, q) }

func (g1) isIdentity(p *bls12381.G1) bool { return p.IsIdentity() }

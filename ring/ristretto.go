// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"errors"

	"filippo.io/edwards25519"

	"github.com/undersign/undersign/internal/edwards"
)

// ristretto is the arithmetic of ristretto255. Scalars are little-endian.
type ristretto struct{}

var errIdentity = errors.New("the identity")

func (ristretto) pointSize() int { return edwards.RistrettoSize }

func (r ristretto) parse(b []byte) (*edwards25519.Point, error) {
	p, err := edwards.DecodeRistretto(b)
	if err == nil && r.isIdentity(p) {
		err = errIdentity
	}
	return p, err
}

func (ristretto) encode(p *edwards25519.Point) []byte {
	b := edwards.EncodeRistretto(p)
	return b[:]
}

func (ristretto) selectPoint(x, y *edwards25519.Point, cond int) *edwards25519.Point {
	return new(edwards25519.Point).Select(x, y, cond)
}

func (ristretto) hashVarTime(msg, dst []byte) *edwards25519.Point {
	return edwards.HashToRistretto(msg, dst)
}

func (ristretto) checkScalar(b []byte) error {
	var s edwards25519.Scalar
	_, err := s.SetCanonicalBytes(b)
	s = edwards25519.Scalar{}
	if err != nil {
		return errors.New("not a canonical scalar")
	}
	return nil
}

// edScalar decodes a canonical scalar, in constant time.
func edScalar(k *scalar) *edwards25519.Scalar {
	var wide [64]byte
	copy(wide[:], k[:])
	s, err := new(edwards25519.Scalar).SetUniformBytes(wide[:])
	clear(wide[:])
	if err != nil {
		panic("ring: " + err.Error())
	}
	return s
}

// take returns the encoding of a scalar and wipes it, and others that it was made of.
func take(s *edwards25519.Scalar, others ...*edwards25519.Scalar) *scalar {
	k := (*scalar)(s.Bytes())
	*s = edwards25519.Scalar{}
	for _, x := range others {
		*x = edwards25519.Scalar{}
	}
	return k
}

func (ristretto) reduce(wide *[64]byte) *scalar {
	s, err := new(edwards25519.Scalar).SetUniformBytes(wide[:])
	if err != nil {
		panic("ring: " + err.Error())
	}
	return take(s)
}

func (ristretto) short(b *[16]byte) *scalar {
	k := new(scalar)
	copy(k[:], b[:])
	return k
}

func (ristretto) mulAdd(x, y, z *scalar) *scalar {
	s, t, u := edScalar(x), edScalar(y), edScalar(z)
	return take(s.MultiplyAdd(s, t, u), t, u)
}

func (ristretto) neg(x *scalar) *scalar {
	s := edScalar(x)
	return take(s.Negate(s))
}

func (ristretto) mult(k *scalar, p *edwards25519.Point) *edwards25519.Point {
	s := edScalar(k)
	defer func() { *s = edwards25519.Scalar{} }()
	if p == nil {
		return new(edwards25519.Point).ScalarBaseMult(s)
	}
	return new(edwards25519.Point).ScalarMult(s, p)
}

func (ristretto) round(h, y *edwards25519.Point) func(s, c *scalar, p *edwards25519.Point) (l, r *edwards25519.Point) {
	return func(s, c *scalar, p *edwards25519.Point) (l, r *edwards25519.Point) {
		es, ec := edScalar(s), edScalar(c)
		l = new(edwards25519.Point).ScalarBaseMult(es)
		l.Add(l, new(edwards25519.Point).ScalarMult(ec, p))
		r = new(edwards25519.Point).MultiScalarMult([]*edwards25519.Scalar{es, ec}, []*edwards25519.Point{h, y})
		return l, r
	}
}

// tableRounds is the number of rounds from which tables of H and Y pay.
const tableRounds = 32

func (ristretto) roundVarTime(h, y *edwards25519.Point, n int) func(s, c *scalar, p *edwards25519.Point) (l, r *edwards25519.Point) {
	sum := func(s, c *edwards25519.Scalar) *edwards25519.Point {
		return new(edwards25519.Point).VarTimeMultiScalarMult([]*edwards25519.Scalar{s, c}, []*edwards25519.Point{h, y})
	}
	if n >= tableRounds {
		ofH, ofY := edwards.NewTableVarTime(h), edwards.NewTableVarTime(y)
		sum = func(s, c *edwards25519.Scalar) *edwards25519.Point {
			var p edwards.Point
			p.SetIdentity()
			p.AddMultVarTime(s, ofH)
			p.AddMultVarTime(c, ofY)
			return p.Library()
		}
	}
	return func(s, c *scalar, p *edwards25519.Point) (l, r *edwards25519.Point) {
		es, ec := edScalar(s), edScalar(c)
		return new(edwards25519.Point).VarTimeDoubleScalarBaseMult(ec, p, es), sum(es, ec)
	}
}

func (ristretto) sumVarTime(terms []term[edwards25519.Point]) *edwards25519.Point {
	list := make([]edwards.Term, len(terms))
	affine := make([]edwards.Affine, len(terms))
	for i, t := range terms {
		list[i].Scalar = *edScalar(t.k)
		list[i].Point = &affine[i]
		if t.p == nil {
			affine[i] = *edwards.Generator()
		} else {
			affine[i].SetLibrary(t.p)
		}
	}
	var p edwards.Point
	p.SumVarTime(list)
	return p.Library()
}

func (ristretto) sub(p, q *edwards25519.Point) *edwards25519.Point {
	return new(edwards25519.Point).Subtract(p, q)
}

func (ristretto) isIdentity(p *edwards25519.Point) bool {
	var e edwards.Point
	e.SetLibrary(p)
	return e.IsRistrettoIdentity()
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls

import (
	"sync"

	"github.com/undersign/undersign/internal/bls12381"
)

// A point is of G1 or of G2: one of the two is set, and isn't changed any more. It
// is public.
type point struct {
	one *bls12381.G1
	two *bls12381.G2
}

func newPoint(g2 bool) point {
	if g2 {
		return point{two: new(bls12381.G2)}
	}
	return point{one: new(bls12381.G1)}
}

func (p point) empty() bool { return p.one == nil && p.two == nil }
func (p point) inG2() bool  { return p.two != nil }

func (p point) isIdentity() bool {
	if p.inG2() {
		return p.two.IsIdentity()
	}
	return p.one.IsIdentity()
}

func (p point) equal(q point) bool {
	if p.empty() || q.empty() || p.inG2() != q.inG2() {
		return false
	}
	if p.inG2() {
		return p.two.Equal(q.two)
	}
	return p.one.Equal(q.one)
}

func (p point) bytes() []byte {
	if p.inG2() {
		return p.two.Bytes()
	}
	return p.one.Bytes()
}

func (p point) uncompressed() []byte {
	if p.inG2() {
		return p.two.UncompressedBytes()
	}
	return p.one.UncompressedBytes()
}

// decode reads a compressed or, by its length, an uncompressed point.
func (p point) decode(b []byte, identity bool) error {
	switch {
	case p.inG2() && len(b) == bls12381.G2SizeUncompressed:
		return p.two.SetUncompressed(b)
	case p.inG2() && identity:
		return p.two.SetBytesOrIdentity(b)
	case p.inG2():
		return p.two.SetBytes(b)
	case len(b) == bls12381.G1SizeUncompressed:
		return p.one.SetUncompressed(b)
	case identity:
		return p.one.SetBytesOrIdentity(b)
	}
	return p.one.SetBytes(b)
}

func (p point) add(q point) point {
	r := newPoint(p.inG2())
	if p.inG2() {
		r.two.Add(p.two, q.two)
	} else {
		r.one.Add(p.one, q.one)
	}
	return r
}

// hashTo is hash_to_curve of RFC 9380 of a text, or the sum for several.
func hashTo(g2 bool, dst string, texts ...[]byte) point {
	p := newPoint(g2)
	if g2 {
		p.two.HashSumVarTime(texts, []byte(dst))
	} else {
		p.one.HashSumVarTime(texts, []byte(dst))
	}
	return p
}

// secretMult returns kp, which is public, for a secret k.
func secretMult(k *bls12381.Scalar, p point) point {
	r := newPoint(p.inG2())
	if p.inG2() {
		r.two.ScalarMult(k, p.two)
		bls12381.NormalizeG2(r.two)
	} else {
		r.one.ScalarMult(k, p.one)
		bls12381.NormalizeG1(r.one)
	}
	return r
}

// sum returns the sum of points of one group, whatever they are: equal ones,
// opposite ones and the identity. There must be one.
func sum(points []point) point {
	if len(points) == 1 {
		return points[0]
	}
	r := newPoint(points[0].inG2())
	if r.inG2() {
		a := make([]bls12381.G2Affine, len(points))
		for i, p := range points {
			a[i].Set(p.two)
		}
		r.two.SumVarTime(a)
	} else {
		a := make([]bls12381.G1Affine, len(points))
		for i, p := range points {
			a[i].Set(p.one)
		}
		r.one.SumVarTime(a)
	}
	return r
}

// weightedSum returns the sum of k_i p_i for points of one group, at least one.
func weightedSum(ks []bls12381.Scalar, points []point) point {
	r := newPoint(points[0].inG2())
	if r.inG2() {
		terms := make([]bls12381.G2Term, len(points))
		for i, p := range points {
			terms[i] = bls12381.MulG2(&ks[i], p.two)
		}
		r.two.MultiMultVarTime(terms...)
	} else {
		terms := make([]bls12381.G1Term, len(points))
		for i, p := range points {
			terms[i] = bls12381.MulG1(&ks[i], p.one)
		}
		r.one.MultiMultVarTime(terms...)
	}
	return r
}

// pair returns the argument e(key, s), or e(s, key) if keys are in G2.
func pair(key, s point) bls12381.Pair {
	if key.inG2() {
		return bls12381.PairOf(s.one, key.two)
	}
	return bls12381.PairOf(key.one, s.two)
}

var (
	minusP1 = sync.OnceValue(func() *bls12381.G1 { return new(bls12381.G1).Neg(bls12381.G1Generator()) })
	minusP2 = sync.OnceValue(func() *bls12381.Lines {
		return bls12381.NewLinesVarTime(new(bls12381.G2).Neg(bls12381.G2Generator()))
	})
)

// pairGenerator returns the argument in which a signature stands: with the
// generator of the other group, negated.
func pairGenerator(sig point) bls12381.Pair {
	if sig.inG2() {
		return bls12381.PairOf(minusP1(), sig.two)
	}
	return bls12381.PairWith(sig.one, minusP2())
}

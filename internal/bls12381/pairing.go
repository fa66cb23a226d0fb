// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"sync"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"

	"github.com/undersign/undersign/internal/opcount"
)

// A Pair is an argument e(P, Q) of a product of pairings. Q is either a point or
// has its lines precomputed.
type Pair struct {
	P     *G1
	Q     *G2
	Lines *Lines
}

// PairOf returns the argument e(p, q).
func PairOf(p *G1, q *G2) Pair { return Pair{P: p, Q: q} }

// PairWith returns the argument e(p, q) for the point q of l.
func PairWith(p *G1, l *Lines) Pair { return Pair{P: p, Lines: l} }

// Lines are the line functions of one point of G2, for many pairings with it. It
// may be used by several goroutines.
type Lines struct {
	q        G2
	identity bool
	table    lineTable
}

type lineTable = [2][len(bls.LoopCounter) - 1]bls.LineEvaluationAff

// NewLinesVarTime prepares pairings with q. It takes 24 KiB.
func NewLinesVarTime(q *G2) *Lines {
	a := q.toAffine()
	l := &Lines{q: g2FromAffine(&a), identity: a.IsInfinity()}
	if !l.identity {
		l.table = bls.PrecomputeLines(a)
	}
	return l
}

// Point returns the point.
func (l *Lines) Point() *G2 { return new(G2).Set(&l.q) }

// The backend evaluates lines in place, and so destroys the table it is given.
// Each call gets copies.
var lineCopies = sync.Pool{New: func() any { return new([]lineTable) }}

// PairingProductVarTime sets z to the product of the pairings. A pairing with the
// identity is 1, and so is the product of none.
//
// The pairing is the optimal ate pairing, with the exponent 3(p¹² - 1)/r in its
// final exponentiation: values of libraries that leave out the 3 are different.
func (z *GT) PairingProductVarTime(pairs ...Pair) *GT {
	f, _ := millerLoops(pairs)
	finalExponentiation(&z.v, &f)
	return z
}

// millerLoops returns the product before the final exponentiation, and the pairs that it
// has taken lines of.
func millerLoops(pairs []Pair) (f fe12, list []miller) {
	opcount.Add(opcount.Pairing, len(pairs))
	opcount.Add(opcount.FinalExp, 1)
	var fixedP []bls.G1Affine
	list = make([]miller, 0, len(pairs))
	copies := lineCopies.Get().(*[]lineTable)
	lines := (*copies)[:0]
	points := normalized(pairs)
	for i, t := range pairs {
		p := points[i]
		if p.IsInfinity() {
			continue
		}
		if t.Lines != nil {
			if !t.Lines.identity {
				fixedP = append(fixedP, p)
				lines = append(lines, t.Lines.table)
			}
			continue
		}
		if q := t.Q.toAffine(); !q.IsInfinity() {
			list = append(list, miller{p: p, q: q})
		}
	}
	f = fe12One()
	if len(fixedP) > 0 {
		f = mustMiller(bls.MillerLoopFixedQ(fixedP, lines))
	}
	if len(list) > 0 {
		g := millerLoop(list)
		f.Mul(&f, &g)
	}
	clear(lines)
	*copies = lines
	lineCopies.Put(copies)
	return f, list
}

// normalized returns the points of G1 in affine form, with one inversion.
func normalized(pairs []Pair) []bls.G1Affine {
	var copies []G1
	var refs []*G1
	for _, t := range pairs {
		copies = append(copies, *t.P)
	}
	for i := range copies {
		if !copies[i].affine {
			refs = append(refs, &copies[i])
		}
	}
	if len(refs) > 0 {
		NormalizeG1(refs...)
	}
	out := make([]bls.G1Affine, len(copies))
	for i := range copies {
		out[i] = copies[i].toAffine()
	}
	return out
}

// mustMiller drops an error that only empty or unequal lists give.
func mustMiller(f bls.GT, err error) bls.GT {
	if err != nil {
		panic("bls12381: " + err.Error())
	}
	return f
}

// PairVarTime sets z = e(p, q).
func (z *GT) PairVarTime(p *G1, q *G2) *GT { return z.PairingProductVarTime(PairOf(p, q)) }

// PairingCheckVarTime reports whether the product of the pairings is 1. It is, if
// there are none.
func PairingCheckVarTime(pairs ...Pair) bool {
	f, _ := millerLoops(pairs)
	return finalIsOne(&f)
}

// PairingCheckUncheckedVarTime reports whether q is in the subgroup, and the product of
// e(p, q) and the pairings is 1, for a point of the curve from [G2.SetBytesUnsafe]. It costs
// no more than without the first.
func PairingCheckUncheckedVarTime(p *G1, q *G2, pairs ...Pair) bool {
	if p.IsIdentity() || q.IsIdentity() { // which the loop leaves out
		return q.InSubgroupVarTime() && PairingCheckVarTime(pairs...)
	}
	f, list := millerLoops(append([]Pair{PairOf(p, q)}, pairs...))
	return list[0].inSubgroup() && finalIsOne(&f)
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"

	"github.com/undersign/undersign/internal/opcount"
)

// A G1Term is a summand K·P of public values. P is either a point or has its
// multiples in a table.
type G1Term struct {
	K     *Scalar
	P     *G1
	Table *G1Table
}

// MulG1 returns the summand k·p.
func MulG1(k *Scalar, p *G1) G1Term { return G1Term{K: k, P: p} }

// MulG1Table returns the summand k·p for the point p of t.
func MulG1Table(k *Scalar, t *G1Table) G1Term { return G1Term{K: k, Table: t} }

// Widths of the digits of public multipliers, for new points and for tables.
const (
	nafPoint = 5
	nafTable = 8
)

// A G1Table holds odd multiples of a public point that many sums have in common,
// in 12 KiB. It may be used by several goroutines.
type G1Table struct {
	p   G1
	odd [2][1 << (nafTable - 2)]bls.G1Affine // of p and of lambda·p
}

// NewG1TableVarTime prepares sums with p.
func NewG1TableVarTime(p *G1) *G1Table {
	t := &G1Table{p: p.normal()}
	jac := make([]bls.G1Jac, len(t.odd[0]))
	g1OddMultiples(jac, &t.p)
	copy(t.odd[0][:], g1BatchAffine(jac))
	g1MulLambda(t.odd[1][:], t.odd[0][:])
	return t
}

// Point returns the point.
func (t *G1Table) Point() *G1 { return new(G1).Set(&t.p) }

// g1OddMultiples sets dst to p, 3p, 5p, ...
func g1OddMultiples(dst []bls.G1Jac, p *G1) {
	dst[0] = p.jacobian()
	twice := dst[0]
	g1DoubleTimes(&twice, 1)
	for i := 1; i < len(dst); i++ {
		dst[i] = dst[i-1]
		g1AddJacobian(&dst[i], &twice)
	}
}

// g1MulLambda sets dst to lambda times src.
func g1MulLambda(dst, src []bls.G1Affine) {
	for i := range src {
		dst[i].X.Mul(&src[i].X, &beta)
		dst[i].Y = src[i].Y
	}
}

// g1BatchAffine returns the points in affine form, with one inversion for many.
func g1BatchAffine(jac []bls.G1Jac) []bls.G1Affine {
	out := make([]bls.G1Affine, len(jac))
	var buf [sumBatch]fe
	for done := 0; done < len(jac); {
		zs := buf[:min(len(buf), len(jac)-done)]
		for i := range zs {
			if zs[i] = jac[done+i].Z; zs[i].IsZero() {
				zs[i] = feOne
			}
		}
		inverseBatch(zs)
		var z2 fe
		for i := range zs {
			if p := &jac[done+i]; !p.Z.IsZero() {
				z2.Square(&zs[i])
				out[done+i].X.Mul(&p.X, &z2)
				z2.Mul(&z2, &zs[i])
				out[done+i].Y.Mul(&p.Y, &z2)
			}
		}
		done += len(zs)
	}
	return out
}

// strausMax is the number of points up to which digits are faster than buckets, and
// g1StrausMax that of halves of scalars that aren't 0.
const (
	strausMax   = 32
	g1StrausMax = 2 * strausMax
)

// MultiMultVarTime sets p to the sum of the terms. Scalars below 2¹²⁸ cost about
// half.
//
// Up to 32 points, or 64 with such scalars, it is Straus's method with non-adjacent
// forms of the two halves of each scalar; beyond, and for terms without a table,
// Pippenger's.
func (p *G1) MultiMultVarTime(terms ...G1Term) *G1 {
	opcount.Add(opcount.MulG1, len(terms))
	var loose []G1Term
	halves := 0
	for _, t := range terms {
		if t.Table == nil {
			loose = append(loose, t)
			halves++
			if w := t.K.words(); w[2]|w[3] != 0 {
				halves++
			}
		}
	}
	if halves <= g1StrausMax {
		sum := g1Straus(terms)
		*p = g1FromJacobian(&sum)
		return p
	}
	var tabled []G1Term
	for _, t := range terms {
		if t.Table != nil {
			tabled = append(tabled, t)
		}
	}
	sum := g1Buckets(loose)
	rest := g1Straus(tabled)
	g1AddJacobian(&sum, &rest)
	*p = g1FromJacobian(&sum)
	return p
}

// g1Row is a multiplier's half with the odd multiples that its digits select.
type g1Row struct {
	digits [130]int8
	odd    []bls.G1Affine
}

func g1Straus(terms []G1Term) bls.G1Jac {
	// Odd multiples of all new points become affine with one inversion.
	const size = 1 << (nafPoint - 2)
	jac := make([]bls.G1Jac, 0, size*len(terms))
	for _, t := range terms {
		if t.Table == nil {
			n := len(jac)
			jac = jac[:n+size]
			g1OddMultiples(jac[n:], t.P)
		}
	}
	odd := g1BatchAffine(jac)
	odd2 := make([]bls.G1Affine, len(odd))
	g1MulLambda(odd2, odd)

	rows := make([]g1Row, 2*len(terms))
	longest, at := 0, 0
	for i, t := range terms {
		k1, k2 := splitGLV(t.K)
		a, b := &rows[2*i], &rows[2*i+1]
		width := nafPoint
		if t.Table != nil {
			width = nafTable
			a.odd, b.odd = t.Table.odd[0][:], t.Table.odd[1][:]
		} else {
			a.odd, b.odd = odd[at:at+size], odd2[at:at+size]
			at += size
		}
		longest = max(longest,
			nafDigits(a.digits[:], [4]uint64{k1[0], k1[1]}, width),
			nafDigits(b.digits[:], [4]uint64{k2[0], k2[1]}, width))
	}
	return g1Rows(rows, longest)
}

// g1Rows sums the multiples that the digits of the rows select.
func g1Rows(rows []g1Row, longest int) (acc bls.G1Jac) {
	acc.FromAffine(&bls.G1Affine{})
	var neg bls.G1Affine
	doublings := 0 // that are due
	for i := longest - 1; i >= 0; i-- {
		doublings++
		for j := range rows {
			d := rows[j].digits[i]
			if d == 0 {
				continue
			}
			g1DoubleTimes(&acc, doublings)
			doublings = 0
			if d > 0 {
				g1AddAffine(&acc, &rows[j].odd[d/2])
			} else {
				neg.Neg(&rows[j].odd[-d/2])
				g1AddAffine(&acc, &neg)
			}
		}
	}
	g1DoubleTimes(&acc, doublings)
	return acc
}

// ScalarMultVarTime sets p = kq for public k and q.
func (p *G1) ScalarMultVarTime(k *Scalar, q *G1) *G1 { return p.MultiMultVarTime(MulG1(k, q)) }

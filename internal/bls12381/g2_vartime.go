// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"

	"github.com/undersign/undersign/internal/opcount"
)

// A G2Term is a summand K·P of public values.
type G2Term struct {
	K *Scalar
	P *G2
}

// MulG2 returns the summand k·p.
func MulG2(k *Scalar, p *G2) G2Term { return G2Term{K: k, P: p} }

// MultiMultVarTime sets p to the sum of the terms: up to 32 by Straus's method
// with non-adjacent forms of the four digits of each scalar to the base seed, and
// beyond by Pippenger's.
func (p *G2) MultiMultVarTime(terms ...G2Term) *G2 {
	opcount.Add(opcount.MulG2, len(terms))
	var sum bls.G2Jac
	if len(terms) <= strausMax {
		sum = g2Straus(terms)
	} else {
		sum = g2Buckets(terms)
	}
	*p = g2FromJacobian(&sum)
	return p
}

// g2Row is a multiplier's digit with the odd multiples that its own digits select.
type g2Row struct {
	digits [66]int8
	odd    []bls.G2Affine
}

func g2Straus(terms []G2Term) (acc bls.G2Jac) {
	acc.FromAffine(&bls.G2Affine{})
	const width = 4
	const size = 1 << (width - 2)
	jac := make([]bls.G2Jac, size*len(terms))
	for i, t := range terms {
		odd := jac[i*size : (i+1)*size]
		odd[0] = t.P.jacobian()
		var twice bls.G2Jac
		twice.Double(&odd[0])
		for j := 1; j < size; j++ {
			odd[j].Set(&odd[j-1]).AddAssign(&twice)
		}
	}
	var odd [4][]bls.G2Affine // of the points, of seed times the points, ...
	odd[0] = g2BatchAffine(jac)
	for i := 1; i < 4; i++ {
		odd[i] = make([]bls.G2Affine, len(jac))
		for j := range odd[i] {
			dst, src := &odd[i][j], &odd[i-1][j]
			dst.X.Conjugate(&src.X).Mul(&dst.X, &psiX)
			dst.Y.Conjugate(&src.Y).Mul(&dst.Y, &psiY)
			dst.Y.Neg(&dst.Y)
		}
	}
	rows := make([]g2Row, 4*len(terms))
	longest := 0
	for i, t := range terms {
		for j, d := range splitSeed(t.K) {
			r := &rows[4*i+j]
			r.odd = odd[j][i*size : (i+1)*size]
			longest = max(longest, nafDigits(r.digits[:], [4]uint64{d}, width))
		}
	}
	var neg bls.G2Affine
	for i := longest - 1; i >= 0; i-- {
		acc.DoubleAssign()
		for j := range rows {
			d := rows[j].digits[i]
			switch {
			case d > 0:
				acc.AddMixed(&rows[j].odd[d/2])
			case d < 0:
				neg.Neg(&rows[j].odd[-d/2])
				acc.AddMixed(&neg)
			}
		}
	}
	return acc
}

// g2BatchAffine returns the points in affine form, with one inversion for many.
func g2BatchAffine(jac []bls.G2Jac) []bls.G2Affine {
	out := make([]bls.G2Affine, len(jac))
	var buf [sumBatch]fe2
	for done := 0; done < len(jac); {
		zs := buf[:min(len(buf), len(jac)-done)]
		for i := range zs {
			if zs[i] = jac[done+i].Z; zs[i].IsZero() {
				zs[i] = fe2One
			}
		}
		inverseBatch2(zs)
		var z2 fe2
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

// g2Buckets leaves the sum to the backend.
func g2Buckets(terms []G2Term) (sum bls.G2Jac) {
	points := make([]bls.G2Affine, len(terms))
	scalars := make([]fr.Element, len(terms))
	for i, t := range terms {
		points[i] = t.P.toAffine()
		scalars[i] = t.K.m
	}
	if _, err := sum.MultiExp(points, scalars, ecc.MultiExpConfig{NbTasks: 1}); err != nil {
		panic("bls12381: " + err.Error())
	}
	return sum
}

// ScalarMultVarTime sets p = kq for public k and q.
func (p *G2) ScalarMultVarTime(k *Scalar, q *G2) *G2 { return p.MultiMultVarTime(MulG2(k, q)) }

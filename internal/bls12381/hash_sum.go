// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"github.com/consensys/gnark-crypto/ecc/bls12-381/hash_to_curve"

	bls "github.com/consensys/gnark-crypto/ecc/bls12-381"

	"github.com/undersign/undersign/internal/opcount"
)

// HashSumVarTime sets p to the sum of the hashes of msgs, each as from
// [G1.HashVarTime]. It clears the cofactor once, of the sum: that is a homomorphism.
// The sum of none is the identity.
func (p *G1) HashSumVarTime(msgs [][]byte, dst []byte) *G1 {
	opcount.Add(opcount.HashG1, len(msgs))
	var sum, q bls.G1Jac
	sum.FromAffine(&bls.G1Affine{})
	for _, msg := range msgs {
		u := hashToField(msg, dst, 2)
		for i := range u {
			a := bls.MapToCurve1(&u[i])
			hash_to_curve.G1Isogeny(&a.X, &a.Y)
			q.FromAffine(&a)
			sum.AddAssign(&q)
		}
	}
	sum.ClearCofactor(&sum)
	*p = g1FromJacobian(&sum)
	return p
}

// HashSumVarTime sets p to the sum of the hashes of msgs, each as from
// [G2.HashVarTime], for less: clearing the cofactor is a third of the work.
func (p *G2) HashSumVarTime(msgs [][]byte, dst []byte) *G2 {
	opcount.Add(opcount.HashG2, len(msgs))
	var sum, q bls.G2Jac
	sum.FromAffine(&bls.G2Affine{})
	for _, msg := range msgs {
		u := hashToField(msg, dst, 4)
		for i := range 2 {
			a := mapToG2VarTime(&fe2{A0: u[2*i], A1: u[2*i+1]})
			q.FromAffine(&a)
			sum.AddAssign(&q)
		}
	}
	sum.ClearCofactor(&sum)
	*p = g2FromJacobian(&sum)
	return p
}

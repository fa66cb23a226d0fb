// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import bls "github.com/consensys/gnark-crypto/ecc/bls12-381"

// Sums of public points in Jacobian coordinates (x/z², y/z³). The assembly knows
// no special cases, and says by z = 0 that it met one; the backend does all.

// g1DoubleTimes doubles p n times.
func g1DoubleTimes(p *bls.G1Jac, n int) {
	if n > 0 && hasKernel {
		doubleTimes(&p.X[0], &p.X[0], n)
		return
	}
	for range n {
		p.DoubleAssign()
	}
}

// g1AddAffine adds q to p.
func g1AddAffine(p *bls.G1Jac, q *bls.G1Affine) {
	if !hasKernel || p.Z.IsZero() || q.IsInfinity() {
		p.AddMixed(q)
		return
	}
	var sum bls.G1Jac
	if addAffine(&sum.X[0], &p.X[0], &q.X[0]); sum.Z.IsZero() {
		p.AddMixed(q)
		return
	}
	*p = sum
}

// g1AddJacobian adds q to p.
func g1AddJacobian(p, q *bls.G1Jac) {
	if !hasKernel || p.Z.IsZero() || q.Z.IsZero() {
		p.AddAssign(q)
		return
	}
	var sum bls.G1Jac
	if addJacobian(&sum.X[0], &p.X[0], &q.X[0]); sum.Z.IsZero() {
		p.AddAssign(q)
		return
	}
	*p = sum
}

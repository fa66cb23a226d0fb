// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"os"

	"golang.org/x/sys/cpu"
)

//go:generate go run -C ../../tools ./sm2gen ../internal/sm2ec

// useADX selects the assembly.
var useADX bool

// available returns the tiers of this processor, of which UNDERSIGN_SM2EC=adx leaves out
// that with lanes, and UNDERSIGN_SM2EC=generic those with assembly.
func available() []tier {
	ts := []tier{genericTier}
	limit := os.Getenv("UNDERSIGN_SM2EC")
	if !cpu.X86.HasADX || !cpu.X86.HasBMI2 || limit == genericTier.name {
		return ts
	}
	ts = append([]tier{adxTier}, ts...)
	if haveIFMA && limit != adxTier.name {
		ts = append([]tier{ifmaTier}, ts...)
	}
	return ts
}

func selectKernels(t *tier) {
	useADX, useIFMA = t.assembly, t.lanes
}

// Mul sets z = xy.
func (z *Element) Mul(x, y *Element) {
	if useADX {
		mulADX(&z[0], &x[0], &y[0])
		return
	}
	mulGeneric(z, x, y)
}

// Sqr sets z = x².
func (z *Element) Sqr(x *Element) {
	if useADX {
		sqrADX(&z[0], &x[0], 1)
		return
	}
	sqrGeneric(z, x)
}

// sqrN squares z n > 0 times.
func (z *Element) sqrN(n int) {
	if useADX {
		sqrADX(&z[0], &z[0], n)
		return
	}
	for range n {
		sqrGeneric(z, z)
	}
}

func differences(q []quotient, a, b []Affine, zero []bool) (zeros int) {
	n := 0
	if useADX && len(a) > 1 {
		n = len(a) &^ 1
		_, _, _ = q[n+1], b[n-1], zero[n-1]
		zeros = differencesADX(&q[0].divisor[0], &a[0].X[0], &b[0].X[0], n/2, &zero[0])
	}
	return zeros + differencesGeneric(q[n:], a[n:], b[n:], zero[n:])
}

func additions(inv *[2]Element, q []quotient, a, b []Affine) {
	if !useADX || len(a) < 2 {
		additionsGeneric(inv, q, a, b)
		return
	}
	n := len(a) &^ 1
	additionsGeneric(inv, q[n:], a[n:], b[n:])
	_, _ = q[n-1], b[n-1]
	additionsADX(&inv[0][0], &q[0].divisor[0], &a[0].X[0], &b[0].X[0], n/2)
}

// sqrVec squares all of zs n > 0 times.
func sqrVec(zs []Element, n int) {
	k := 0
	if useADX && len(zs) > 1 {
		k = len(zs) &^ 1
		sqrVecADX(&zs[0][0], k/2, n)
	}
	sqrVecGeneric(zs[k:], n)
}

// doubleN doubles p n > 0 times.
func (p *Jacobian) doubleN(n int) {
	if useADX {
		doubleADX(&p.X[0], n)
		return
	}
	doubleNGeneric(p, n)
}

func (p *Jacobian) addDistinctAffine(q *Jacobian, r *Affine) bool {
	if useADX {
		return addAffineADX(&p.X[0], &q.X[0], &r.X[0])
	}
	return addDistinctAffineGeneric(p, q, r)
}

func (p *Jacobian) addDistinct(q, r *Jacobian) bool {
	if useADX {
		return addADX(&p.X[0], &q.X[0], &r.X[0])
	}
	return addDistinctGeneric(p, q, r)
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package sm2ec

func available() []tier { return []tier{genericTier} }

func selectKernels(*tier) {}

// Mul sets z = xy.
func (z *Element) Mul(x, y *Element) { mulGeneric(z, x, y) }

// Sqr sets z = x².
func (z *Element) Sqr(x *Element) { sqrGeneric(z, x) }

// sqrN squares z n > 0 times.
func (z *Element) sqrN(n int) {
	for range n {
		sqrGeneric(z, z)
	}
}

func differences(q []quotient, a, b []Affine, zero []bool) (zeros int) {
	return differencesGeneric(q, a, b, zero)
}

func additions(inv *[2]Element, q []quotient, a, b []Affine) {
	additionsGeneric(inv, q, a, b)
}

// sqrVec squares all of zs n > 0 times.
func sqrVec(zs []Element, n int) { sqrVecGeneric(zs, n) }

// doubleN doubles p n > 0 times.
func (p *Jacobian) doubleN(n int) { doubleNGeneric(p, n) }

func (p *Jacobian) addDistinctAffine(q *Jacobian, r *Affine) bool {
	return addDistinctAffineGeneric(p, q, r)
}

func (p *Jacobian) addDistinct(q, r *Jacobian) bool { return addDistinctGeneric(p, q, r) }

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

// nafWidth is the width of the digits of variable multipliers: eight odd
// multiples, and one addition for six doublings.
const nafWidth = 5

// ScalarMult sets p = kq.
func (p *Jacobian) ScalarMult(q *Affine, k *Scalar) {
	var odd [1 << (nafWidth - 2)]Jacobian // q, 3q, 5q, ...
	var q2 Jacobian
	odd[0] = q.Jacobian()
	q2.Double(&odd[0])
	for i := 1; i < len(odd); i++ {
		odd[i].Add(&odd[i-1], &q2)
	}
	var digits [257]int8
	var acc, t Jacobian
	zeros := 0
	for i := k.nafDigits(&digits, nafWidth) - 1; i >= 0; i-- {
		zeros++
		d := digits[i]
		if d == 0 {
			continue
		}
		acc.doubleN(zeros)
		zeros = 0
		if d > 0 {
			acc.Add(&acc, &odd[d/2])
		} else {
			t.Neg(&odd[-d/2])
			acc.Add(&acc, &t)
		}
	}
	if zeros > 0 {
		acc.doubleN(zeros)
	}
	*p = acc
}

// BaseMult sets p = kG.
func (p *Jacobian) BaseMult(k *Scalar) {
	*p = Jacobian{}
	p.addMultiple(smallGenerator(), k)
}

// addMultiple adds kQ to p, where t is the table of Q.
func (p *Jacobian) addMultiple(t *Table, k *Scalar) {
	if k.IsZero() {
		return
	}
	var digits [128]int32
	d := digits[:t.m]
	neg := k.oddDigits(d, t.w)
	var e Affine
	for i, x := range d {
		t.entry(&e, i, x, neg)
		p.AddAffine(p, &e)
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

// Affine additions with a shared inversion (Montgomery 1987, section 10.3.1),
// in two passes: one multiplies the divisors, the other, backwards, divides.
// Products go by two interleaved chains, those of the even and of the odd
// places, for the processor to work on both.

// A quotient is a divisor, and the product of those before it in its chain.
type quotient struct{ divisor, product Element }

// differencesGeneric sets the divisor of q[i] to the difference of the x of b[i]
// and a[i], and the product of q[i+2] to those of q[i]. Where the difference is
// zero it takes 1 instead and sets zero[i]. It returns the number of these. q is
// longer than a by two at least.
func differencesGeneric(q []quotient, a, b []Affine, zero []bool) (zeros int) {
	for i := range a {
		d := &q[i].divisor
		d.Sub(&b[i].X, &a[i].X)
		if d.IsZero() {
			zero[i] = true
			zeros++
			*d = feOne
		}
		q[i+2].product.Mul(&q[i].product, d)
	}
	return zeros
}

// additionsGeneric adds b[i] to a[i], from the last i to the first. On entry inv
// has the inverses of the products of all divisors up to there, in the chains
// of i = 0 and i = 1, and on return of those before i = 0.
func additionsGeneric(inv *[2]Element, q []quotient, a, b []Affine) {
	for i := len(a) - 1; i >= 0; i-- {
		var l, t Element
		l.Mul(&inv[i&1], &q[i].product)
		inv[i&1].Mul(&inv[i&1], &q[i].divisor)
		t.Sub(&b[i].Y, &a[i].Y)
		l.Mul(&l, &t)
		t.Sqr(&l)
		t.Sub(&t, &a[i].X)
		t.Sub(&t, &b[i].X)
		a[i].X.Sub(&a[i].X, &t)
		l.Mul(&l, &a[i].X)
		a[i].Y.Sub(&l, &a[i].Y)
		a[i].X = t
	}
}

// An adder is the memory for batched affine additions.
type adder struct {
	quotients []quotient
	zero      []bool // where the points added last had the same x
}

// addRows adds to each row[0][i] the point row[1][i], with one inversion for
// all. Where both have the same x, it sets the next element of s.zero, and the
// sum is no point. It returns the number of these.
func (s *adder) addRows(rows ...[2][]Affine) (zeros int) {
	n := 0
	for _, r := range rows {
		n += len(r[0])
	}
	s.quotients, s.zero = grow(s.quotients, n+2), grow(s.zero, n)
	clear(s.zero)
	q := s.quotients
	q[0].product, q[1].product = feOne, feOne
	at := 0
	for _, r := range rows {
		zeros += differences(q[at:], r[0], r[1], s.zero[at:])
		at += len(r[0])
	}
	// One inversion for both chains.
	var both Element
	both.Mul(&q[n].product, &q[n+1].product)
	both.Inv(&both)
	var inv [2]Element // of the chains of places at and at+1
	inv[0].Mul(&both, &q[n+1].product)
	inv[1].Mul(&both, &q[n].product)
	for i := len(rows) - 1; i >= 0; i-- {
		a, b := rows[i][0], rows[i][1]
		at -= len(a)
		if len(a)&1 == 1 {
			inv[0], inv[1] = inv[1], inv[0]
		}
		additions(&inv, q[at:], a, b)
	}
	return zeros
}

// grow returns s with length n, its contents undefined.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

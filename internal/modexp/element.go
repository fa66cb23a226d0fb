// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import "math/bits"

// stackLimbs are enough for a product of 4096-bit numbers.
const stackLimbs = 128

// Mul sets z = x·y. z may be x or y, here and below.
func (m *Modulus) Mul(z, x, y *Element) {
	var buf [stackLimbs]uint64
	t := buf[:]
	if len(t) < 2*len(m.n) {
		t = make([]uint64, 2*len(m.n))
	}
	m.mul(z.l, x.l, y.l, t)
	clear(t)
}

// Sqr sets z = x².
func (m *Modulus) Sqr(z, x *Element) {
	var buf [stackLimbs]uint64
	t := buf[:]
	if len(t) < 2*len(m.n) {
		t = make([]uint64, 2*len(m.n))
	}
	m.sqr(z.l, x.l, t)
	clear(t)
}

// Add sets z = x + y.
func (m *Modulus) Add(z, x, y *Element) { m.add(z.l, x.l, y.l) }

// Sub sets z = x - y.
func (m *Modulus) Sub(z, x, y *Element) {
	var b, c uint64
	for i := range z.l {
		z.l[i], b = bits.Sub64(x.l[i], y.l[i], b)
	}
	mask := -b
	for i := range z.l {
		z.l[i], c = bits.Add64(z.l[i], m.n[i]&mask, c)
	}
}

// Equal reports whether x = y. Only the verdict shows in the time.
func (m *Modulus) Equal(x, y *Element) bool {
	return Nat(x.l).Equal(y.l) == 1
}

// mul sets z = x·y/R mod n, with scratch t of at least 2·len(n) limbs. One of x and y
// may be as large as R-1, the other must be reduced.
func (m *Modulus) mul(z, x, y, t []uint64) {
	if m.wide() {
		mulWide(m, z, x, y, t)
		return
	}
	mulLimbs(t, x, y)
	redcLimbs(z, t, m.n, m.k0)
}

// sqr sets z = x²/R mod n.
func (m *Modulus) sqr(z, x, t []uint64) {
	if m.wide() {
		mulWide(m, z, x, x, t)
		return
	}
	sqrLimbs(t, x)
	redcLimbs(z, t, m.n, m.k0)
}

func (m *Modulus) add(z, x, y []uint64) {
	var c uint64
	for i := range z {
		z[i], c = bits.Add64(x[i], y[i], c)
	}
	subIfGreater(z, z, m.n, c)
}

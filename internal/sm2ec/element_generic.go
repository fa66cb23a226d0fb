// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import "math/bits"

// mulGeneric sets z = xy.
func mulGeneric(z, x, y *Element) {
	var c uint64
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	y0, y1, y2, y3 := y[0], y[1], y[2], y[3]

	h0, t0 := bits.Mul64(x0, y0)
	h1, l1 := bits.Mul64(x0, y1)
	h2, l2 := bits.Mul64(x0, y2)
	h3, l3 := bits.Mul64(x0, y3)
	t1, c := bits.Add64(l1, h0, 0)
	t2, c := bits.Add64(l2, h1, c)
	t3, c := bits.Add64(l3, h2, c)
	t4 := h3 + c

	h0, l0 := bits.Mul64(x1, y0)
	h1, l1 = bits.Mul64(x1, y1)
	h2, l2 = bits.Mul64(x1, y2)
	h3, l3 = bits.Mul64(x1, y3)
	t1, c = bits.Add64(t1, l0, 0)
	t2, c = bits.Add64(t2, l1, c)
	t3, c = bits.Add64(t3, l2, c)
	t4, c = bits.Add64(t4, l3, c)
	t5 := h3 + c
	t2, c = bits.Add64(t2, h0, 0)
	t3, c = bits.Add64(t3, h1, c)
	t4, c = bits.Add64(t4, h2, c)
	t5 += c

	h0, l0 = bits.Mul64(x2, y0)
	h1, l1 = bits.Mul64(x2, y1)
	h2, l2 = bits.Mul64(x2, y2)
	h3, l3 = bits.Mul64(x2, y3)
	t2, c = bits.Add64(t2, l0, 0)
	t3, c = bits.Add64(t3, l1, c)
	t4, c = bits.Add64(t4, l2, c)
	t5, c = bits.Add64(t5, l3, c)
	t6 := h3 + c
	t3, c = bits.Add64(t3, h0, 0)
	t4, c = bits.Add64(t4, h1, c)
	t5, c = bits.Add64(t5, h2, c)
	t6 += c

	h0, l0 = bits.Mul64(x3, y0)
	h1, l1 = bits.Mul64(x3, y1)
	h2, l2 = bits.Mul64(x3, y2)
	h3, l3 = bits.Mul64(x3, y3)
	t3, c = bits.Add64(t3, l0, 0)
	t4, c = bits.Add64(t4, l1, c)
	t5, c = bits.Add64(t5, l2, c)
	t6, c = bits.Add64(t6, l3, c)
	t7 := h3 + c
	t4, c = bits.Add64(t4, h0, 0)
	t5, c = bits.Add64(t5, h1, c)
	t6, c = bits.Add64(t6, h2, c)
	t7 += c

	redcGeneric(z, t0, t1, t2, t3, t4, t5, t6, t7)
}

// sqrGeneric sets z = x².
func sqrGeneric(z, x *Element) {
	var c uint64
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]

	// Products of different limbs, each once.
	t2, t1 := bits.Mul64(x0, x1)
	t4, t3 := bits.Mul64(x0, x3)
	t6, t5 := bits.Mul64(x2, x3)
	h, l := bits.Mul64(x0, x2)
	t2, c = bits.Add64(t2, l, 0)
	t3, c = bits.Add64(t3, h, c)
	h, l = bits.Mul64(x1, x3)
	t4, c = bits.Add64(t4, l, c)
	t5, c = bits.Add64(t5, h, c)
	t6 += c
	h, l = bits.Mul64(x1, x2)
	t3, c = bits.Add64(t3, l, 0)
	t4, c = bits.Add64(t4, h, c)
	t5, c = bits.Add64(t5, 0, c)
	t6, c = bits.Add64(t6, 0, c)
	t7 := c

	// Twice that, and the squares.
	t1, c = bits.Add64(t1, t1, 0)
	t2, c = bits.Add64(t2, t2, c)
	t3, c = bits.Add64(t3, t3, c)
	t4, c = bits.Add64(t4, t4, c)
	t5, c = bits.Add64(t5, t5, c)
	t6, c = bits.Add64(t6, t6, c)
	t7 += t7 + c
	h0, t0 := bits.Mul64(x0, x0)
	h1, l1 := bits.Mul64(x1, x1)
	h2, l2 := bits.Mul64(x2, x2)
	h3, l3 := bits.Mul64(x3, x3)
	t1, c = bits.Add64(t1, h0, 0)
	t2, c = bits.Add64(t2, l1, c)
	t3, c = bits.Add64(t3, h1, c)
	t4, c = bits.Add64(t4, l2, c)
	t5, c = bits.Add64(t5, h2, c)
	t6, c = bits.Add64(t6, l3, c)
	t7, _ = bits.Add64(t7, h3, c)

	redcGeneric(z, t0, t1, t2, t3, t4, t5, t6, t7)
}

// redcGeneric sets z = t/2²⁵⁶ mod p, for t below 2²⁵⁶·p.
//
// It takes two limbs at a time. For t = (t1 t0) the multiplier m = -t/p mod 2¹²⁸ is
// (m1 m0) with m0 = t0 and m1 = t1 + t0 - 2³²·t0, since p = -(1 - 2⁶⁴ + 2⁹⁶) modulo 2¹²⁸
// and the square of 2⁶⁴ - 2⁹⁶ vanishes there. So t + mp is 2¹²⁸ times the sum of
// m·2¹²⁸ - m·2⁹⁶ and of what t - m + m·2⁶⁴ - m·2⁹⁶ holds from limb 2 on.
func redcGeneric(z *Element, t0, t1, t2, t3, t4, t5, t6, t7 uint64) {
	v0, v1, v2, v3, k := redcStep(t0, t1)
	t2, c := bits.Add64(t2, v0, k)
	t3, c = bits.Add64(t3, v1, c)
	w0, c := bits.Add64(v2, 0, c)
	w1 := v3 + c

	v0, v1, v2, v3, k = redcStep(t2, t3)
	w0, c = bits.Add64(w0, v0, k)
	w1, c = bits.Add64(w1, v1, c)
	w2, c := bits.Add64(v2, 0, c)
	w3 := v3 + c

	w0, c = bits.Add64(w0, t4, 0)
	w1, c = bits.Add64(w1, t5, c)
	w2, c = bits.Add64(w2, t6, c)
	w3, c = bits.Add64(w3, t7, c)
	z.reduceOnce(w0, w1, w2, w3, c)
}

// redcStep returns v and k with v + k = (t + m·p)/2¹²⁸, for t = (t1 t0).
func redcStep(t0, t1 uint64) (v0, v1, v2, v3, k uint64) {
	a := t0 << 32
	e, b := bits.Sub64(t0, a, 0)
	m1, k := bits.Add64(t1, e, 0)
	mid := m1<<32 | t0>>32
	top := m1 >> 32
	v0, b = bits.Sub64(m1, mid, b)
	v1, b = bits.Sub64(0, a|top, b)
	v2, b = bits.Sub64(t0, mid, b)
	v3, _ = bits.Sub64(m1, top, b)
	return v0, v1, v2, v3, k
}

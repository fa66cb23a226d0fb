// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import "math/bits"

// Inv sets z = 1/x, and 0 if x = 0.
//
// It takes division steps (Bernstein and Yang 2019, "Fast constant-time gcd
// computation and modular inversion"), though not in constant time, 62 of them on the lowest words at
// once. With f = p and g = x at first, and f = dx, g = ex modulo p all the
// time but for known factors, g ends as 0 and f as 1 or -1.
func (z *Element) Inv(x *Element) {
	f := signed320{p0, p1, p2, p3}
	g := signed320{x[0], x[1], x[2], x[3]}
	d, e := Element{}, Element{1}
	delta, turns := 1, 0
	for ; g != (signed320{}); turns++ {
		var m matrix
		delta = m.steps(delta, f[0], g[0])
		f, g = f.turned(&g, m.u, m.v), f.turned(&g, m.q, m.r)
		d, e = turned(&d, &e, m.u, m.v), turned(&d, &e, m.q, m.r)
	}
	if f[4]>>63 == 1 {
		d.Neg(&d)
	}
	z.Mul(&d, &inverseScales[turns])
}

// inverseScales[k] makes up for what k turns have left out: each divides d and e
// by 2²⁵⁶ rather than by 2⁶², and x and the result are in Montgomery form. No
// 256-bit input takes more than 741 steps (section 11 there).
var inverseScales = func() (s [741/62 + 2]Element) {
	turn := feRR // 2⁵¹²/2⁶²
	for range 62 {
		turn.halve(&turn)
	}
	mulGeneric(&s[0], &feRR, &feRR)
	for k := 1; k < len(s); k++ {
		mulGeneric(&s[k], &s[k-1], &turn)
	}
	return s
}()

// turned returns (ud + ve)/2²⁵⁶ mod p.
func turned(d, e *Element, u, v int64) (z Element) {
	var t Element
	z.Mul(d, &Element{magnitude(u)})
	t.Mul(e, &Element{magnitude(v)})
	if u < 0 {
		z.Neg(&z)
	}
	if v < 0 {
		z.Sub(&z, &t)
	} else {
		z.Add(&z, &t)
	}
	return z
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// A matrix says what a run of steps does: f and g become (uf + vg)/2⁶² and
// (qf + rg)/2⁶². |u| + |v| and |q| + |r| are at most 2⁶².
type matrix struct{ u, v, q, r int64 }

// steps sets m to 62 steps from delta and the lowest words of f and g, and
// returns delta after them. One step, for odd g and delta > 0, is
//
//	delta, f, g = 1 - delta, g, (g - f)/2,
//
// and otherwise delta, g = 1 + delta, (g + (g mod 2)·f)/2.
func (m *matrix) steps(delta int, f, g uint64) int {
	u, v, q, r := int64(1), int64(0), int64(0), int64(1)
	for left := 62; ; {
		// Halvings, as doublings of the other row.
		k := min(bits.TrailingZeros64(g), left)
		g >>= k
		u, v = u<<k, v<<k
		delta += k
		if left -= k; left == 0 {
			*m = matrix{u, v, q, r}
			return delta
		}
		if delta > 0 {
			delta = -delta
			f, g = g, -f
			u, v, q, r = q, r, -u, -v
		}
		// Until delta is above 0 again, steps add multiples of f alone: -g/f modulo
		// a power of 2, where f(2 - f²) is 1/f modulo 64.
		w := int64(g * f * (f*f - 2) & (1<<min(1-delta, left, 6) - 1))
		g += uint64(w) * f
		q += w * u
		r += w * v
	}
}

// A signed320 is an integer in two's complement, in words from the lowest.
type signed320 [5]uint64

// turned returns (uf + vg)/2⁶², for f and g of 258 bits with the sign.
func (f *signed320) turned(g *signed320, u, v int64) (z signed320) {
	a, b := f.mul(u), g.mul(v)
	var c uint64
	for i := range a {
		a[i], c = bits.Add64(a[i], b[i], c)
	}
	for i := range 4 {
		z[i] = a[i]>>62 | a[i+1]<<2
	}
	z[4] = uint64(int64(a[4]) >> 62)
	return z
}

// mul returns fm.
func (f *signed320) mul(m int64) (z signed320) {
	h0, l0 := bits.Mul64(f[0], uint64(m))
	h1, l1 := bits.Mul64(f[1], uint64(m))
	h2, l2 := bits.Mul64(f[2], uint64(m))
	h3, l3 := bits.Mul64(f[3], uint64(m))
	l4 := f[4] * uint64(m)
	var c uint64
	z[0] = l0
	z[1], c = bits.Add64(l1, h0, 0)
	z[2], c = bits.Add64(l2, h1, c)
	z[3], c = bits.Add64(l3, h2, c)
	z[4], _ = bits.Add64(l4, h3, c)
	// A negative m was taken for m + 2⁶⁴.
	s := uint64(m >> 63)
	z[1], c = bits.Sub64(z[1], f[0]&s, 0)
	z[2], c = bits.Sub64(z[2], f[1]&s, c)
	z[3], c = bits.Sub64(z[3], f[2]&s, c)
	z[4], _ = bits.Sub64(z[4], f[3]&s, c)
	return z
}

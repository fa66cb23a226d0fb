// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2paper

// extend returns the polynomial whose roots are x(S±Q) for every root x(S) of p, where
// h = x(Q): the resultant
//
//	G(X) = Res_Y(p(Y), S₃(Y, h, X)),
//
// of twice the degree, up to a factor. As a polynomial in Y, S₃(Y, h, X) is
// AY² + BY + C with
//
//	A = (X-h)² = X² - 2hX + h²,
//	B = -2((Xh+a)(X+h) + 2b) = -2(hX² + (h²+a)X + w),  w = ah+2b,
//	C = (Xh-a)² - 4b(X+h) = h²X² - 2wX + a² - 4bh,
//
// so that two multiplications give all coefficients (a = -3). It returns nil if the
// way to G divides by zero, or if one of the roots is infinity.
func (f field) extend(p polynomial, h *element) polynomial {
	s := f.summation(h)
	var g polynomial
	if len(p) == 3 {
		g = f.extendQuadratic(p, s)
	} else {
		g = f.extendByValues(p, s)
	}
	if g == nil || g[len(g)-1].IsZero() {
		return nil
	}
	return g
}

// A summation is what the coefficients of S₃(Y, h, X) are made of.
type summation struct {
	h, h2, w, c0 element // h, h², ah+2b, a²-4bh
}

func (f field) summation(h *element) *summation {
	s := &summation{h: *h, w: sub(curve2B, triple(*h))}
	f.sqr(&s.h2, h)
	f.mul(&s.c0, &curve4B, h)
	s.c0 = sub(newElement(9), s.c0)
	return s
}

// extendQuadratic is extend for p = αY² + βY + γ, where
//
//	G = (αC-γA)² - (αB-βA)(βC-γB),
//
// by 11 multiplications for the three quadratic factors in X, and 12 for their
// square and product.
func (f field) extendQuadratic(p polynomial, s *summation) polynomial {
	var ch, ch2, cw, bh, bh2, bw, bc, ah, ah2, aw, ac element // c, b, a for γ, β, α; bc, ac for βc₀, αc₀
	f.mul(&ch, &p[0], &s.h)
	f.mul(&ch2, &p[0], &s.h2)
	f.mul(&cw, &p[0], &s.w)
	f.mul(&bh, &p[1], &s.h)
	f.mul(&bh2, &p[1], &s.h2)
	f.mul(&bw, &p[1], &s.w)
	f.mul(&bc, &p[1], &s.c0)
	f.mul(&ah, &p[2], &s.h)
	f.mul(&ah2, &p[2], &s.h2)
	f.mul(&aw, &p[2], &s.w)
	f.mul(&ac, &p[2], &s.c0)
	// αC - γA
	u := [3]element{sub(ac, ch2), double(sub(ch, aw)), sub(ah2, p[0])}
	// αB - βA
	v := [3]element{
		neg(add(double(aw), bh2)),
		double(sub(bh, sub(ah2, triple(p[2])))),
		neg(add(double(ah), p[1])),
	}
	// βC - γB
	w := [3]element{
		add(bc, double(cw)),
		double(sub(sub(ch2, triple(p[0])), bw)),
		add(bh2, double(ch)),
	}
	uu, vw := f.squareQuadratic(&u), f.mulQuadratics(&v, &w)
	g := make(polynomial, 5)
	for i := range g {
		g[i] = sub(uu[i], vw[i])
	}
	return g
}

// squareQuadratic returns u² by 6 multiplications.
func (f field) squareQuadratic(u *[3]element) (z [5]element) {
	var t element
	f.sqr(&z[0], &u[0])
	f.mul(&z[1], &u[0], &u[1])
	z[1] = double(z[1])
	f.mul(&z[2], &u[0], &u[2])
	f.sqr(&t, &u[1])
	z[2] = add(double(z[2]), t)
	f.mul(&z[3], &u[1], &u[2])
	z[3] = double(z[3])
	f.sqr(&z[4], &u[2])
	return z
}

// mulQuadratics returns vw by 6 multiplications (Karatsuba).
func (f field) mulQuadratics(v, w *[3]element) (z [5]element) {
	cross := func(i, j int, ii, jj element) (t element) {
		x, y := add(v[i], v[j]), add(w[i], w[j])
		f.mul(&t, &x, &y)
		return sub(sub(t, ii), jj)
	}
	var m [3]element
	for i := range m {
		f.mul(&m[i], &v[i], &w[i])
	}
	z[0] = m[0]
	z[1] = cross(0, 1, m[0], m[1])
	z[2] = add(cross(0, 2, m[0], m[2]), m[1])
	z[3] = cross(1, 2, m[1], m[2])
	z[4] = m[2]
	return z
}

// extendByValues is extend for a p of the degree m, by the values of G at X = 0 … 2m.
// With (u, v) = (p_m, p_(m-1)), and
//
//	(u, v) ← (Av - Bu, A^(m-1-i) p_i - Cu)  for i = m-2 … 0,
//
// A^(m-1) p(Y) is uY+v modulo AY²+BY+C, and G = (Av² - Buv + Cu²) / A^(m-1). All the
// values are multiplied by the product of all A^(m-1) instead of being divided, so
// that there is no inversion: a factor of G doesn't matter.
func (f field) extendByValues(p polynomial, s *summation) polynomial {
	m := len(p) - 1
	n := 2*m + 1
	values, powers := make(polynomial, n), make([]element, n)
	// A, B and C at X, and their first and second differences: additions alone.
	three := newElement(3)
	b1 := sub(s.h2, three)
	qa := differences{s.h2, sub(one, double(s.h)), double(one)}
	qb := differences{double(s.w), double(add(s.h, b1)), quadruple(s.h)} // -B
	qc := differences{s.c0, sub(s.h2, double(s.w)), double(s.h2)}
	for x := range n {
		if qa[0].IsZero() {
			return nil
		}
		values[x], powers[x] = f.reduce(p, &qa[0], &qb[0], &qc[0])
		qa.next()
		qb.next()
		qc.next()
	}
	f.timesOthers(values, powers)
	return f.interpolate(values)
}

// differences are a value of a quadratic polynomial, and its differences there.
type differences [3]element

func (d *differences) next() {
	d[0] = add(d[0], d[1])
	d[1] = add(d[1], d[2])
}

// reduce returns G·A^(m-1) and A^(m-1) at one X, given A, -B and C there, by 4(m-1)
// multiplications, m-2 for the powers of A, and 5.
func (f field) reduce(p polynomial, a, nb, c *element) (value, power element) {
	m := len(p) - 1
	u, v := p[m], p[m-1]
	var t1, t2 element
	for i := m - 2; i >= 0; i-- {
		if i == m-2 {
			power = *a
		} else {
			f.mul(&power, &power, a)
		}
		f.mul(&t1, a, &v)
		f.mul(&t2, nb, &u)
		t1 = add(t1, t2)
		f.mul(&t2, c, &u)
		f.mul(&v, &power, &p[i])
		u, v = t1, sub(v, t2)
	}
	f.mul(&t1, a, &v)
	f.mul(&t2, nb, &u)
	t1 = add(t1, t2)
	f.mul(&value, &t1, &v)
	f.mul(&t2, c, &u)
	f.mul(&t2, &t2, &u)
	return add(value, t2), power
}

// timesOthers multiplies every value by the powers of all others: by 4 multiplications
// each, but for a few at the ends.
func (f field) timesOthers(values, powers []element) {
	before := one
	for i := range values {
		if i == 1 {
			before = powers[0]
		} else if i > 1 {
			f.mul(&before, &before, &powers[i-1])
		}
		if i > 0 {
			f.mul(&values[i], &values[i], &before)
		}
	}
	last := len(values) - 1
	after := powers[last]
	for i := last - 1; i >= 0; i-- {
		f.mul(&values[i], &values[i], &after)
		if i > 0 {
			f.mul(&after, &after, &powers[i])
		}
	}
}

// interpolate returns the polynomial with these values at 0, 1, 2, … times d!, where d
// is its degree. By Newton's formula it is the sum of (d!/j!) Δʲ X(X-1)…(X-j+1), whose
// constants are below 2⁴⁵ for d = 16. It overwrites values.
func (f field) interpolate(values []element) polynomial {
	d := len(values) - 1
	for j := 1; j <= d; j++ {
		for i := d; i >= j; i-- {
			values[i] = sub(values[i], values[i-1])
		}
	}
	factor := uint64(1)
	for j := d; j >= 0; j-- {
		if factor > 1 {
			f.small(&values[j], &values[j], factor)
		}
		if j > 0 {
			factor *= uint64(j)
		}
	}
	// Horner's scheme: g = g (X-j) + Δʲ.
	g := make(polynomial, 1, d+1)
	g[0] = values[d]
	for j := d - 1; j >= 0; j-- {
		g = append(g, g[len(g)-1])
		for i := len(g) - 2; i >= 0; i-- {
			t := g[i]
			if j > 1 {
				f.small(&t, &t, uint64(j))
			}
			low := values[j]
			if i > 0 {
				low = g[i-1]
			}
			if j > 0 {
				low = sub(low, t)
			}
			g[i] = low
		}
	}
	return g
}

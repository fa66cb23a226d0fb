// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2paper

import "github.com/undersign/undersign/internal/sm2ec"

// A polynomial has its coefficients from the lowest, and no zero for the highest.
type polynomial []element

// splits says how many of the h are in the first polynomial of the decision; the
// others are in the second, with x(L).
var splits = [MaxItems + 1]int{2: 2, 3: 2, 4: 3, 5: 3, 6: 4, 7: 4, 8: 5, 9: 5}

// decide reports whether some signs make ±Q₁ … ±Q_t = ±L, where x(Q_i) = h_i. The
// roots of one polynomial are the x-coordinates of ±Q₁ … ±Q_a, those of another are
// those of ±Q_(a+1) … ±Q_t ± L, and they have a common root if and only if there are
// such signs. L stays Jacobian, since the inversion came before.
func (f field) decide(hs []element, l *sm2ec.Jacobian) verdict {
	a := splits[len(hs)]
	p := f.quadratic(&hs[0], &hs[1])
	if len(hs) == 2 {
		if p == nil {
			return undefined
		}
		return verdictOf(f.isRoot(p, l))
	}
	for i := 2; i < a && p != nil; i++ {
		p = f.extend(p, &hs[i])
	}
	q := f.quadraticJacobian(l, &hs[a])
	for i := a + 1; i < len(hs) && q != nil; i++ {
		q = f.extend(q, &hs[i])
	}
	if p == nil || q == nil {
		return undefined
	}
	return verdictOf(!f.coprime(p, q))
}

// quadratic returns the polynomial with the roots x(Q₁±Q₂), which is Semaev's third
// summation polynomial S₃(h₁, h₂, X) = AX² + BX + C with
//
//	A = (h₁-h₂)²,  B = -2((h₁+h₂)(h₁h₂+a) + 2b),  C = (h₁h₂-a)² - 4b(h₁+h₂),
//
// by 5 multiplications, and nil if one of the roots is infinity.
func (f field) quadratic(h1, h2 *element) polynomial {
	var prod, a, b, c, bs element
	sum, diff := add(*h1, *h2), sub(*h1, *h2)
	if diff.IsZero() {
		return nil
	}
	f.sqr(&a, &diff)
	f.mul(&prod, h1, h2)
	t := sub(prod, newElement(3))
	f.mul(&b, &sum, &t)
	b = neg(double(add(b, curve2B)))
	t = add(prod, newElement(3))
	f.sqr(&c, &t)
	f.mul(&bs, &sum, &curve4B)
	return polynomial{sub(c, bs), b, a}
}

// quadraticJacobian is quadratic for h₁ = x(L), times Z⁴, by 9 multiplications.
func (f field) quadraticJacobian(l *sm2ec.Jacobian, h *element) polynomial {
	var w, hw, prod, a, b, c, bw, t element
	f.sqr(&w, &l.Z)
	f.mul(&hw, h, &w)
	diff, sum := sub(l.X, hw), add(l.X, hw)
	if diff.IsZero() {
		return nil
	}
	f.sqr(&a, &diff)
	f.mul(&prod, h, &l.X)
	t = sub(prod, triple(w))
	f.mul(&b, &sum, &t)
	f.mul(&bw, &curve2B, &w)
	f.mul(&t, &bw, &w)
	b = neg(double(add(b, t)))
	t = add(prod, triple(w))
	f.sqr(&c, &t)
	f.mul(&t, &sum, &bw)
	return polynomial{sub(c, double(t)), b, a}
}

// isRoot reports whether x(L) is a root of AX² + BX + C, by 6 multiplications.
func (f field) isRoot(p polynomial, l *sm2ec.Jacobian) bool {
	var w, y, t element
	f.sqr(&w, &l.Z)
	f.mul(&y, &p[2], &l.X)
	f.mul(&t, &p[1], &w)
	y = add(y, t)
	f.mul(&y, &y, &l.X)
	f.mul(&t, &p[0], &w)
	f.mul(&t, &t, &w)
	y = add(y, t)
	return y.IsZero()
}

// coprime reports whether p and q, neither of them zero, have no common root. It is
// Euclid's algorithm without inversions, and spoils both.
func (f field) coprime(p, q polynomial) bool {
	for {
		if len(p) < len(q) {
			p, q = q, p
		}
		switch len(q) {
		case 0:
			return false // p divides what q was
		case 1:
			return true
		}
		// p = lc(q) p - lc(p) X^d q, of a lower degree
		top, d := len(p)-1, len(p)-len(q)
		lp, lq := p[top], q[len(q)-1]
		var t element
		for i := range top {
			f.mul(&p[i], &p[i], &lq)
			if i >= d {
				f.mul(&t, &q[i-d], &lp)
				p[i] = sub(p[i], t)
			}
		}
		p = p[:top]
		for len(p) > 0 && p[len(p)-1].IsZero() {
			p = p[:len(p)-1]
		}
	}
}

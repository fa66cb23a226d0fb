// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

// A listSummer adds up lists of points by affine formulas, all lists at once:
// each round halves them, with one inversion for all its additions. Unlike
// [SumTables] it gives the right sum whatever the points are.
//
// Infinity, which can only come out of opposite points, is (0, 0), not a point
// of the curve.
type listSummer struct {
	a, b  []Affine  // points of a round and of the next
	lens  []int32   // lengths of the lists
	pairs []int32   // places in a of the first of each two points to be added
	outs  []int32   // places in b of their sums
	kinds []uint8   // which formula, if any isn't the usual one
	dens  []Element // denominators
	pre   []Element // products of those before
	inf   bool      // infinity is among the points
}

const (
	addUsual  = iota
	addDouble // equal points
	addLeft   // the second is infinity
	addRight  // the first is infinity
	addZero   // opposite points
)

// isInfinity reports whether p is infinity, as a listSummer writes it.
func (p *Affine) isInfinity() bool { return p.X.IsZero() && p.Y.IsZero() }

// start makes room for n points.
func (l *listSummer) start(n int) {
	l.a = grow(l.a, n)[:0]
	l.lens = l.lens[:0]
	l.inf = false
}

// add appends a point, or its opposite, to the list that end will end.
func (l *listSummer) add(p *Affine, neg bool) {
	l.a = append(l.a, *p)
	if neg {
		q := &l.a[len(l.a)-1]
		q.Y.Neg(&q.Y)
	}
}

// end ends a list of n points.
func (l *listSummer) end(n int) { l.lens = append(l.lens, int32(n)) }

// sum returns the sums of the lists, in their order. They are overwritten when
// the summer is used again.
func (l *listSummer) sum() []Affine {
	for l.round() {
		l.a, l.b = l.b, l.a
	}
	// One point a list is left, or none.
	l.b = grow(l.b, len(l.lens))
	at := 0
	for i, n := range l.lens {
		if n == 0 {
			l.b[i] = Affine{}
			continue
		}
		l.b[i] = l.a[at]
		at++
	}
	return l.b
}

// round adds the points two by two, from a to b. It reports false, having done
// nothing, if there are no two in any list.
func (l *listSummer) round() bool {
	n := len(l.a)/2 + 1
	l.dens, l.pre, l.kinds = grow(l.dens, n), grow(l.pre, n), grow(l.kinds, n)
	l.pairs, l.outs = grow(l.pairs, n), grow(l.outs, n)
	l.b = grow(l.b, len(l.a))
	acc := feOne
	k, in, out := 0, 0, 0
	for i, m := range l.lens {
		half := int(m) / 2
		for range half {
			p, q := &l.a[in], &l.a[in+1]
			d := &l.dens[k]
			d.Sub(&q.X, &p.X)
			l.kinds[k] = addUsual
			if l.inf || d.IsZero() {
				l.kinds[k] = denominator(d, p, q)
			}
			l.pre[k] = acc
			acc.Mul(&acc, d)
			l.pairs[k], l.outs[k] = int32(in), int32(out)
			k++
			in += 2
			out++
		}
		if m&1 == 1 {
			l.b[out] = l.a[in]
			in++
			out++
		}
		l.lens[i] = int32(half) + m&1
	}
	if k == 0 {
		return false
	}
	l.b = l.b[:out]
	acc.Inv(&acc)
	for k--; k >= 0; k-- {
		var inv Element
		inv.Mul(&acc, &l.pre[k])
		acc.Mul(&acc, &l.dens[k])
		p, q, z := &l.a[l.pairs[k]], &l.a[l.pairs[k]+1], &l.b[l.outs[k]]
		switch l.kinds[k] {
		case addUsual:
			addInv(z, p, q, &inv)
		case addDouble:
			doubleInv(z, p, &inv)
		case addLeft:
			*z = *p
		case addRight:
			*z = *q
		case addZero:
			*z = Affine{}
			l.inf = true
		}
	}
	return true
}

// denominator chooses the formula for p + q, and sets d to its denominator:
// initially d is the difference of the x.
func denominator(d *Element, p, q *Affine) uint8 {
	switch {
	case q.isInfinity():
		*d = feOne
		return addLeft
	case p.isInfinity():
		*d = feOne
		return addRight
	case !d.IsZero():
		return addUsual
	case p.Y == q.Y:
		d.Double(&p.Y) // not zero: no point has order two
		return addDouble
	default:
		*d = feOne
		return addZero
	}
}

// addInv sets z = p + q, given the inverse of x(q) - x(p).
func addInv(z, p, q *Affine, inv *Element) {
	var lambda Element
	lambda.Sub(&q.Y, &p.Y)
	lambda.Mul(&lambda, inv)
	chord(z, p, &q.X, &lambda)
}

// doubleInv sets z = 2p, given the inverse of 2y(p).
func doubleInv(z, p *Affine, inv *Element) {
	// lambda = (3x² - 3)/2y
	var lambda, t Element
	lambda.Sqr(&p.X)
	lambda.Sub(&lambda, &feOne)
	t.Double(&lambda)
	lambda.Add(&lambda, &t)
	lambda.Mul(&lambda, inv)
	chord(z, p, &p.X, &lambda)
}

// chord sets z to the sum of p and a point with x = qx, on a line of slope lambda.
func chord(z, p *Affine, qx, lambda *Element) {
	var x, y Element
	x.Sqr(lambda)
	x.Sub(&x, &p.X)
	x.Sub(&x, qx)
	y.Sub(&p.X, &x)
	y.Mul(&y, lambda)
	z.Y.Sub(&y, &p.Y)
	z.X = x
}

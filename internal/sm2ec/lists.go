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
	adder
	points []Affine // of a round, list by list
	next   []Affine // of the next round
	lens   []int32  // lengths of the lists
	a, b   []Affine // pairs to be added
	from   []int32  // places of pairs in points
	to     []int32  // places of their sums in next
	inf    bool     // infinity is among the points
}

// isInfinity reports whether p is infinity, as a listSummer writes it.
func (p *Affine) isInfinity() bool { return p.X.IsZero() && p.Y.IsZero() }

// start makes room for n points.
func (l *listSummer) start(n int) {
	l.points = grow(l.points, n)[:0]
	l.lens = l.lens[:0]
	l.inf = false
}

// add appends a point, or its opposite, to the list that end will end.
func (l *listSummer) add(p *Affine, neg bool) {
	l.points = append(l.points, *p)
	if neg {
		q := &l.points[len(l.points)-1]
		q.Y.Neg(&q.Y)
	}
}

// end ends a list of n points.
func (l *listSummer) end(n int) { l.lens = append(l.lens, int32(n)) }

// sum returns the sums of the lists, in their order. They are overwritten when
// the summer is used again.
func (l *listSummer) sum() []Affine {
	for l.round() {
		l.points, l.next = l.next, l.points
	}
	// One point a list is left, or none.
	l.next = grow(l.next, len(l.lens))
	at := 0
	for i, n := range l.lens {
		if n == 0 {
			l.next[i] = Affine{}
			continue
		}
		l.next[i] = l.points[at]
		at++
	}
	return l.next
}

// round adds the points two by two, into next. It reports false if there are no two in
// any list.
func (l *listSummer) round() bool {
	n := len(l.points)/2 + 1
	l.a, l.b = grow(l.a, n), grow(l.b, n)
	l.from, l.to = grow(l.from, n), grow(l.to, n)
	l.next = grow(l.next, len(l.points))
	k, in, out := 0, 0, 0
	any := false
	for i, m := range l.lens {
		half := int(m) / 2
		any = any || half > 0
		for range half {
			p, q := &l.points[in], &l.points[in+1]
			switch {
			case l.inf && p.isInfinity():
				l.next[out] = *q
			case l.inf && q.isInfinity():
				l.next[out] = *p
			default:
				l.a[k], l.b[k] = *p, *q
				l.from[k], l.to[k] = int32(in), int32(out)
				k++
			}
			in += 2
			out++
		}
		if m&1 == 1 {
			l.next[out] = l.points[in]
			in++
			out++
		}
		l.lens[i] = int32(half) + m&1
	}
	if !any {
		return false
	}
	l.next = l.next[:out]
	if zeros := l.addRows([2][]Affine{l.a[:k], l.b[:k]}); zeros > 0 {
		l.sameX(zeros)
	}
	for i, to := range l.to[:k] {
		l.next[to] = l.a[i]
	}
	return true
}

// sameX sets the sums of pairs with the same x, equal or opposite points.
func (l *listSummer) sameX(zeros int) {
	equal := make([]int, 0, zeros)
	points := make([]Affine, 0, zeros)
	for i, zero := range l.zero {
		if !zero {
			continue
		}
		if p := l.points[l.from[i]]; p == l.b[i] {
			equal, points = append(equal, i), append(points, p)
		} else {
			l.a[i] = Affine{}
			l.inf = true
		}
	}
	doubleAll(points)
	for k, i := range equal {
		l.a[i] = points[k]
	}
}

// doubleAll doubles points, with one inversion. No point has a double that is infinity.
func doubleAll(points []Affine) {
	invs := make([]Element, len(points))
	for i := range points {
		invs[i].Double(&points[i].Y)
	}
	InvBatch(invs)
	for i := range points {
		p := &points[i]
		// lambda = (3x² - 3)/2y
		var lambda, t Element
		lambda.Sqr(&p.X)
		lambda.Sub(&lambda, &feOne)
		t.Double(&lambda)
		lambda.Add(&lambda, &t)
		lambda.Mul(&lambda, &invs[i])
		chord(p, p, &p.X, &lambda)
	}
}

// addInv sets z = p + q, given the inverse of x(q) - x(p).
func addInv(z, p, q *Affine, inv *Element) {
	var lambda Element
	lambda.Sub(&q.Y, &p.Y)
	lambda.Mul(&lambda, inv)
	chord(z, p, &q.X, &lambda)
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

// oddMultiples returns P, 3P, 5P, ... of each point, n of them, n a power of two.
func oddMultiples(points []Affine, n int) []Affine {
	out := make([]Affine, n*len(points))
	var powers []Affine // of each point 2P, 4P, ..., nP
	logs := 0
	for 1<<logs < n {
		logs++
	}
	jac := make([]Jacobian, 0, logs*len(points))
	for i := range points {
		out[n*i] = points[i]
		q := points[i].Jacobian()
		for range logs {
			q.Double(&q)
			jac = append(jac, q)
		}
	}
	powers = make([]Affine, len(jac))
	Normalize(powers, jac)
	// Multiples from 2^k + 1 to 2^(k+1) - 1 are those before plus 2^k.
	var s adder
	rows := make([][2][]Affine, len(points))
	for k := range logs {
		m := 1 << k
		for i := range rows {
			o := out[n*i:]
			for c := range m {
				o[m+c] = powers[logs*i+k]
			}
			rows[i] = [2][]Affine{o[m : 2*m], o[:m]}
		}
		s.addRows(rows...)
	}
	return out
}

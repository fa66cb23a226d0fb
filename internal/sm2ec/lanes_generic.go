// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import "math/bits"

// The twin of the lane kernels in Go, one lane after the other, with the same
// intermediate values to the bit. It is for tests: where there are no vectors, the scalar
// tiers are faster.

// A lane is a residue in limbs of 52 bits, or a sum of such that wasn't carried, in
// two's complement.
type lane [5]uint64

// p = -1 + 2⁵²(u·2¹⁵⁶ - d).
const (
	laneU = 1<<48 - 1<<16
	laneD = 1<<44 - 1<<12
)

var laneP, laneP2 = func() (p, twice lane) {
	p = limbs52(&[4]uint64{p0, p1, p2, p3})
	twice.addTimes(2, &p)
	return p, twice.carried()
}()

func (b *block) lane(j int) (l lane) {
	for i := range l {
		l[i] = b[i][j]
	}
	return l
}

func (b *block) setLane(j int, l *lane) {
	for i := range l {
		b[i][j] = l[i]
	}
}

// mul52 returns both halves of the product of the low 52 bits of x and y.
func mul52(x, y uint64) (hi, lo uint64) {
	hi, lo = bits.Mul64(x&laneMask, y&laneMask)
	return hi<<12 | lo>>52, lo & laneMask
}

// columns are the sums of a product.
type columns [10]uint64

// accumulate adds xy.
func (c *columns) accumulate(x, y *lane) {
	for i, a := range x {
		for j, b := range y {
			hi, lo := mul52(a, b)
			c[i+j] += lo
			c[i+j+1] += hi
		}
	}
}

// reduce returns the columns by 2²⁶⁰, not carried. A step adds m·p for the low bits m of
// the lowest column: m·u four columns above, and -m·d = m'd - (2⁵²-1)d one above, with m' the
// complement of m. The constants cancel but for d in column 1 and -d in column 6.
func (c *columns) reduce() lane {
	c[1] += laneD
	for i := range 5 {
		c[i+1] += c[i] >> 52
		hi, lo := mul52(^c[i], laneD)
		c[i+1] += lo
		c[i+2] += hi
		hi, lo = mul52(c[i], laneU)
		c[i+4] += lo
		c[i+5] += hi
	}
	c[6] -= laneD
	return lane(c[5:])
}

// product returns xy/2²⁶⁰, not carried.
func product(x, y *lane) lane {
	var c columns
	c.accumulate(x, y)
	return c.reduce()
}

// addTimes adds kx.
func (z *lane) addTimes(k int64, x *lane) {
	for i := range z {
		z[i] += uint64(k) * x[i]
	}
}

// carried returns z with limbs of 52 bits.
func (z lane) carried() lane {
	for i := range 4 {
		z[i+1] += uint64(int64(z[i]) >> 52)
		z[i] &= laneMask
	}
	return z
}

// loose returns z with limbs whose low 52 bits are right, for products, which read no others.
func (z lane) loose() lane {
	for i := range 4 {
		z[i+1] += uint64(int64(z[i]) >> 52)
	}
	return z
}

// folded returns z, which is positive, with multiples of 2²⁵⁶ replaced.
func (z lane) folded() lane {
	q := uint64(int64(z[4]) >> 48)
	z[4] &= 1<<48 - 1
	z[0] += q
	_, lo := mul52(q, laneD)
	z[1] += lo
	z[4] += q << 16
	return z.carried()
}

// combine returns x - y + kp, not carried.
func (x lane) minus(y *lane, k int64) lane {
	x.addTimes(-1, y)
	x.addTimes(k, &laneP)
	return x
}

// mulColumnsGeneric sets n blocks of z to the products of those of x and y.
func mulColumnsGeneric(n int, z, x, y column) {
	for i := range n {
		for j := range laneCount {
			l, m := x.b[i*x.step].lane(j), y.b[i*y.step].lane(j)
			l = product(&l, &m).carried()
			z.b[i*z.step].setLane(j, &l)
		}
	}
}

// sqrLanesGeneric squares all n times, for products alone.
func sqrLanesGeneric(z []block, n int) {
	for i := range z {
		for j := range laneCount {
			l := z[i].lane(j)
			for range n {
				l = product(&l, &l).loose()
			}
			z[i].setLane(j, &l)
		}
	}
}

// laneDifferencesGeneric sets the divisor of q[i] to the difference of the x of b[i]
// and a[i], and the product of q[i+chains] to those of q[i]. Where the difference may be
// zero it takes 1 instead, and sets a bit of zero[i]. It reports whether there are any. All
// zeros are found, and others by chance, of which there is one in 2⁵⁰.
func laneDifferencesGeneric(q []laneQuotient, a, b []lanePoint, zero []uint8) (any bool) {
	one := oneBlock.lane(0)
	for i := range a {
		zero[i] = 0
		for j := range laneCount {
			x1, d := a[i].X.lane(j), b[i].X.lane(j)
			d = d.minus(&x1, 2).carried()
			// p, 2p and 3p end like that.
			if d[0] >= 1<<52-3 {
				zero[i] |= 1 << j
				any = true
				d = one
			}
			q[i].divisor.setLane(j, &d)
			m := q[i].product.lane(j)
			m = product(&d, &m).loose()
			q[i+chains].product.setLane(j, &m)
		}
	}
	return any
}

// laneAdditionsGeneric adds b[i] to a[i], from the last i to the first. On entry inv has the
// inverses of the products of all divisors up to there, by chain, i%chains, and on return of
// those before. Lengths are even.
func laneAdditionsGeneric(inv *[chains]block, q []laneQuotient, a, b []lanePoint) {
	for i := len(a) - 1; i >= 0; i-- {
		for j := range laneCount {
			acc := inv[i%chains].lane(j)
			m, d := q[i].product.lane(j), q[i].divisor.lane(j)
			l := product(&acc, &m).loose()
			acc = product(&acc, &d).loose()
			inv[i%chains].setLane(j, &acc)
			x1, y1, x2, y2 := a[i].X.lane(j), a[i].Y.lane(j), b[i].X.lane(j), b[i].Y.lane(j)
			dy := y2.minus(&y1, 2).loose()
			l = product(&dy, &l).loose()
			x3 := product(&l, &l)
			x3.addTimes(-1, &x1)
			x3 = x3.minus(&x2, 4).folded()
			t := x1.minus(&x3, 2).loose()
			y3 := product(&l, &t)
			y3 = y3.minus(&y1, 3).folded()
			a[i].X.setLane(j, &x3)
			a[i].Y.setLane(j, &y3)
		}
	}
}

// laneDoubleGeneric doubles points so many times.
func laneDoubleGeneric(p *[2]laneJacobian, times int) {
	for i := range p {
		for j := range laneCount {
			x, y, z := p[i].X.lane(j), p[i].Y.lane(j), p[i].Z.lane(j)
			for range times {
				b := product(&y, &y)
				b.addTimes(1, &b)
				b = b.loose()
				zz := product(&z, &z)
				u := x.minus(&zz, 2).loose()
				zz.addTimes(1, &x)
				var v lane
				v.addTimes(3, &zz)
				v = v.loose()
				z = product(&y, &z)
				z.addTimes(1, &z)
				z = z.loose()
				m := product(&u, &v).loose()
				c := product(&x, &b).carried()
				x = product(&m, &m)
				x.addTimes(-4, &c)
				x.addTimes(6, &laneP)
				x = x.folded()
				e := x
				e.addTimes(-2, &c)
				e.addTimes(3, &laneP)
				e = e.loose()
				var t columns
				t.accumulate(&b, &b)
				t.accumulate(&b, &b)
				t.accumulate(&m, &e)
				s := t.reduce()
				y = lane{}.minus(&s, 4).folded()
			}
			p[i].X.setLane(j, &x)
			p[i].Y.setLane(j, &y)
			p[i].Z.setLane(j, &z)
		}
	}
}

// laneAddMixedGeneric adds affine points. Where both have the same x, and where Z is zero, the
// sum has a Z of zero.
func laneAddMixedGeneric(p *[2]laneJacobian, q *[2]lanePoint) {
	for i := range p {
		for j := range laneCount {
			x1, y1, z := p[i].X.lane(j), p[i].Y.lane(j), p[i].Z.lane(j)
			x2, y2 := q[i].X.lane(j), q[i].Y.lane(j)
			zz := product(&z, &z).loose()
			h := product(&x2, &zz)
			h = h.minus(&x1, 2).loose()
			zzz := product(&zz, &z).loose()
			hh := product(&h, &h).loose()
			r := product(&y2, &zzz)
			r = r.minus(&y1, 2).loose()
			z = product(&z, &h).loose()
			hhh := product(&h, &hh).carried()
			v := product(&x1, &hh).carried()
			x3 := product(&r, &r)
			x3.addTimes(-1, &hhh)
			x3.addTimes(-2, &v)
			x3.addTimes(4, &laneP)
			x3 = x3.folded()
			e := x3.minus(&v, 2).loose()
			var t columns
			t.accumulate(&r, &e)
			t.accumulate(&y1, &hhh)
			s := t.reduce()
			y3 := lane{}.minus(&s, 3).folded()
			p[i].X.setLane(j, &x3)
			p[i].Y.setLane(j, &y3)
			p[i].Z.setLane(j, &z)
		}
	}
}

// gatherGeneric sets blocks of points to packed ones.
func gatherGeneric(dst []lanePoint, from []pointRef) {
	for i := range dst {
		for j := range laneCount {
			e, negated := from[i*laneCount+j].point()
			x, y := limbs52((*[4]uint64)(e[:4])), limbs52((*[4]uint64)(e[4:]))
			if negated {
				y = lane{}.minus(&y, 2).carried()
			}
			dst[i].X.setLane(j, &x)
			dst[i].Y.setLane(j, &y)
		}
	}
}

// scatterGeneric packs blocks of points.
func scatterGeneric(dst []packedPoint, src []lanePoint) {
	for i := range src {
		for j := range laneCount {
			x, y := src[i].X.lane(j), src[i].Y.lane(j)
			x, y = x.folded().folded(), y.folded().folded()
			e := &dst[i*laneCount+j]
			*(*[4]uint64)(e[:4]), *(*[4]uint64)(e[4:]) = x.words(), y.words()
		}
	}
}

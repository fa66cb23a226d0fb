// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"math"
	"math/bits"
	"sync"
	"unsafe"
)

// A multiple is a point with a multiplier: the sum of k·P over several of them
// is a multi-scalar multiplication. Multipliers of half the length, like random
// weights, cost half as much.
type multiple struct {
	p   *Affine
	k   Scalar
	neg bool // -k·P is meant
	odd oddTable
}

// An oddTable is the odd multiples of a point in packed form, at a distance of step each, or nothing.
type oddTable struct {
	first *packedPoint
	step  int
}

// ref returns the address of a multiple, twice whose place is r.
func (t oddTable) ref(r pointRef) pointRef {
	return refTo(t.first, 0) + r>>1*pointRef(t.step)*pointRef(unsafe.Sizeof(*t.first))
}

// newMultiple returns kP, by n - k where that is smaller.
func newMultiple(p *Affine, k *Scalar) multiple {
	var minus Scalar
	minus.Neg(k)
	if less((*[4]uint64)(&minus), (*[4]uint64)(k)) {
		return multiple{p: p, k: minus, neg: true}
	}
	return multiple{p: p, k: *k}
}

// MultiScalarMult returns the sum of scalars[i]·points[i]. The points may be any
// points of the curve, in any relation to each other.
func MultiScalarMult(points []Affine, scalars []Scalar) Jacobian {
	terms := make([]multiple, len(points))
	for i := range terms {
		terms[i] = newMultiple(&points[i], &scalars[i])
	}
	return current.sumMultiples(terms, 1)
}

// sumMultiples returns the sum of terms, whose multipliers are below 2²⁵⁵. It may
// use several goroutines.
func sumMultiples(terms []multiple, workers int) Jacobian {
	if len(terms) <= strausMax {
		return straus(terms)
	}
	return pippenger(terms, workers)
}

// strausMax is the number of terms up to which Straus' method was measured to be faster.
const strausMax = 64

// scalarSum estimates a sum of terms in nanoseconds.
func scalarSum(long, short int) float64 {
	if long+short <= strausMax {
		return 35_000 + 7_800*float64(long) + 4_900*float64(short)
	}
	_, cost := windowFor(long, short)
	return cost
}

// straus doubles one sum for all terms, to which it adds odd multiples as the
// digits of the multipliers want (Straus 1964).
func straus(terms []multiple) Jacobian {
	const half = 1 << (nafWidth - 2)
	points := make([]Affine, len(terms))
	for i := range terms {
		points[i] = *terms[i].p
	}
	tables := oddMultiples(points, half)
	digits := make([][257]int8, len(terms))
	top := 0
	for i := range terms {
		top = max(top, terms[i].k.nafDigits(&digits[i], nafWidth))
	}
	var acc Jacobian
	for b := top - 1; b >= 0; b-- {
		acc.Double(&acc)
		for i := range terms {
			d := int(digits[i][b])
			if d == 0 {
				continue
			}
			e := tables[i*half+max(d, -d)/2]
			if (d < 0) != terms[i].neg {
				e.Y.Neg(&e.Y)
			}
			acc.AddAffine(&acc, &e)
		}
	}
	return acc
}

// A digitizer cuts multipliers into signed digits of c bits, from -2^(c-1) to
// 2^(c-1) - 1, without carries: digit j is that of k + Σ 2^(c-1)·2^(cj), less
// 2^(c-1). The highest digit takes what is left and may be 2^(c-1).
type digitizer struct {
	c, m int
	add  [5]uint64
}

// newDigitizer returns one for multipliers below 2^n.
func newDigitizer(c, n int) digitizer {
	d := digitizer{c: c, m: (n + c) / c} // so that cm > n
	for j := range d.m {
		b := c*j + c - 1
		d.add[b/64] |= 1 << (b % 64)
	}
	return d
}

// shifted returns k plus the constant.
func (d *digitizer) shifted(k *Scalar) (x [5]uint64) {
	var c uint64
	x[0], c = bits.Add64(k[0], d.add[0], 0)
	x[1], c = bits.Add64(k[1], d.add[1], c)
	x[2], c = bits.Add64(k[2], d.add[2], c)
	x[3], c = bits.Add64(k[3], d.add[3], c)
	x[4] = d.add[4] + c
	return x
}

// digit returns digit j of a multiplier, given as by shifted.
func (d *digitizer) digit(x *[5]uint64, j int) int {
	b := d.c * j
	v := x[b/64] >> (b % 64)
	if b%64 != 0 && b/64 < 4 {
		v |= x[b/64+1] << (64 - b%64)
	}
	if j < d.m-1 {
		v &= 1<<d.c - 1
	}
	return int(v) - 1<<(d.c-1)
}

// halfBits is the length of a short multiplier.
const halfBits = 128

func (k *Scalar) isShort() bool { return k[2]|k[3] == 0 }

// pippenger puts the points of each window of digits into a bucket for each
// digit (Pippenger 1976; Bernstein, Doumen, Lange, Oosterwijk 2012).
// Buckets are added up by affine formulas, many together.
func pippenger(terms []multiple, workers int) Jacobian {
	p := newBuckets(terms, windowFor)
	return p.sum(workers, p.windows)
}

// newBuckets begins a multiplication, with windows of the width that choose says.
func newBuckets(terms []multiple, choose func(long, short int) (int, float64)) *buckets {
	// Long multipliers first.
	sorted := make([]multiple, 0, len(terms))
	for i := range terms {
		if !terms[i].k.isShort() {
			sorted = append(sorted, terms[i])
		}
	}
	long := len(sorted)
	for i := range terms {
		if terms[i].k.isShort() {
			sorted = append(sorted, terms[i])
		}
	}
	c, _ := choose(long, len(terms)-long)
	p := &buckets{terms: sorted, long: long, full: newDigitizer(c, 255), half: newDigitizer(c, halfBits)}
	p.shifted = make([][5]uint64, len(sorted))
	for i := range sorted {
		d := &p.half
		if i < long {
			d = &p.full
		}
		p.shifted[i] = d.shifted(&sorted[i].k)
	}
	return p
}

// sum returns the sum of all windows, given what sets the sums of those from lo to hi-1.
func (p *buckets) sum(workers int, windows func(sums []Jacobian, lo, hi int)) Jacobian {
	m := p.half.m
	if p.long > 0 {
		m = p.full.m
	}
	sums := make([]Jacobian, m)
	parts := min(workers, m)
	parallel(parts, func(i int) {
		windows(sums, m*i/parts, m*(i+1)/parts)
	})
	var acc Jacobian
	for j := m - 1; j >= 0; j-- {
		acc.doubleN(p.full.c)
		acc.Add(&acc, &sums[j])
	}
	return acc
}

// Costs of a sum by buckets, in nanoseconds.
const (
	windowCost = 400 // a window, without
	bucketCost = 300 // its buckets,
	entryCost  = 115 // and an addition into one
	doubleCost = 107
)

// windowFor chooses the width of windows for so many multipliers, and returns an
// estimate of the cost.
func windowFor(long, short int) (c int, cost float64) {
	cost = math.Inf(1)
	for w := 3; w <= 15; w++ {
		full, half := newDigitizer(w, 255).m, newDigitizer(w, halfBits).m
		m := half
		if long > 0 {
			m = full
		}
		x := entryCost*float64(long*full+short*half) +
			float64(m)*(windowCost+bucketCost*float64(int(1)<<(w-1))+doubleCost*float64(w))
		if x < cost {
			c, cost = w, x
		}
	}
	return c, cost
}

// buckets is a multi-scalar multiplication in progress.
type buckets struct {
	terms      []multiple
	long       int // terms before it have long multipliers
	full, half digitizer
	shifted    [][5]uint64
}

// bucketChunk is the number of points that share inversions, so that they stay in
// the second-level cache.
const bucketChunk = 4096

// windows sets sums[lo:hi] to the sums of those windows.
func (p *buckets) windows(sums []Jacobian, lo, hi int) {
	n := 1 << (p.full.c - 1)
	w := bucketers.Get().(*bucketer)
	defer bucketers.Put(w)
	w.sums = grow(w.sums, (hi-lo)*n)
	w.done = 0
	w.lists.start(bucketChunk)
	for j := lo; j < hi; j++ {
		p.sort(w, j, n)
		// Bucket b has the points from starts[b] to starts[b+1].
		for b := 1; b <= n; b++ {
			from, to := w.starts[b], w.starts[b+1]
			for _, e := range w.order[from:to] {
				w.lists.add(p.terms[e>>1].p, e&1 == 1)
			}
			w.lists.end(int(to - from))
			if len(w.lists.points) >= bucketChunk {
				w.flush()
			}
		}
	}
	w.flush()
	for j := lo; j < hi; j++ {
		sums[j] = weigh(w.sums[(j-lo)*n : (j-lo+1)*n])
	}
}

var bucketers = sync.Pool{New: func() any { return new(bucketer) }}

// A bucketer is the memory for the buckets of some windows.
type bucketer struct {
	lists  listSummer
	sums   []Affine // of buckets
	done   int      // how many are there
	digits []int32
	starts []int32
	order  []uint32 // terms by bucket, twice their index, plus one if to be subtracted
}

// flush adds up the lists that were begun.
func (w *bucketer) flush() {
	w.done += copy(w.sums[w.done:], w.lists.sum())
	w.lists.start(bucketChunk)
}

// sort orders the terms by the absolute values of their digits in window j, from 1 to n.
func (p *buckets) sort(w *bucketer, j, n int) {
	count := len(p.terms)
	if j >= p.half.m {
		count = p.long
	}
	w.digits, w.order = grow(w.digits, count), grow(w.order, count)
	w.starts = grow(w.starts, n+2)
	clear(w.starts)
	for i := range count {
		d := &p.half
		if i < p.long {
			d = &p.full
		}
		v := d.digit(&p.shifted[i], j)
		w.digits[i] = int32(v)
		w.starts[max(v, -v)]++
	}
	at := int32(0)
	for b, k := range w.starts {
		w.starts[b] = at
		at += k
	}
	for i, v := range w.digits[:count] {
		neg := p.terms[i].neg
		if v < 0 {
			v, neg = -v, !neg
		}
		e := uint32(i) << 1
		if neg {
			e |= 1
		}
		w.order[w.starts[v]] = e
		w.starts[v]++
	}
	// Each start has moved to the next one.
	copy(w.starts[1:], w.starts[:n+1])
	w.starts[0] = 0
}

// weigh returns the sum of (i+1)·points[i]: that of all sums from i to the end.
func weigh(points []Affine) Jacobian {
	var run, acc Jacobian
	for i := len(points) - 1; i >= 0; i-- {
		if !points[i].isInfinity() {
			run.AddAffine(&run, &points[i])
		}
		acc.Add(&acc, &run)
	}
	return acc
}

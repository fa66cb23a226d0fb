// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"math"
	"runtime"
	"sync"
)

// laneTerms is the number of terms from which on sums are made in lanes.
var laneTerms = 16

// sumMultiplesLanes is [sumMultiples] with the additions in lanes.
func sumMultiplesLanes(terms []multiple, workers int) Jacobian {
	if len(terms) < laneTerms {
		return sumMultiples(terms, workers)
	}
	short := 0
	for i := range terms {
		if terms[i].k.isShort() {
			short++
		}
	}
	if byStraus(len(terms)-short, short) {
		if sum, ok := strausInLanes(terms, workers); ok {
			return sum
		}
	}
	return bucketsInLanes(terms, workers)
}

// bucketsInLanes is [pippenger] in lanes.
func bucketsInLanes(terms []multiple, workers int) Jacobian {
	p := newBuckets(terms, laneWindowFor)
	points := packedTerms.Get().(*[]packedPoint)
	defer packedTerms.Put(points)
	packed := growAligned(*points, len(terms))
	*points = packed
	chunks(len(terms), packChunk, workers, func(lo, hi int) {
		var packer lanePacker
		points := make([]Affine, hi-lo)
		for i := range points {
			points[i] = *p.terms[lo+i].p
		}
		packer.pack(packed[lo:hi], points)
	})
	return p.sum(workers, func(sums []Jacobian, lo, hi int) {
		p.windowsLanes(sums, packed, lo, hi)
	})
}

var packedTerms = sync.Pool{New: func() any { return new([]packedPoint) }}

// Costs of a sum in lanes, in nanoseconds.
const (
	laneStrausCost = 140_000 // by Straus' method, and of its terms
	laneLongCost   = 1_750
	laneShortCost  = 1_150

	laneEntryCost  = 45 // by buckets: an addition,
	laneBucketCost = 80 // a bucket,
	laneWindowCost = 25_000
)

// laneSum returns what a sum in lanes costs.
func laneSum(long, short int) float64 {
	if long+short < laneTerms {
		return scalarSum(long, short)
	}
	_, cost := laneWindowFor(long, short)
	return min(cost, costByStraus(long, short))
}

func costByStraus(long, short int) float64 {
	return laneStrausCost + laneLongCost*float64(long) + laneShortCost*float64(short)
}

// byStraus reports whether Straus' method is the faster one in lanes.
func byStraus(long, short int) bool {
	_, cost := laneWindowFor(long, short)
	return costByStraus(long, short) < cost
}

// laneWindowFor is [windowFor] for lanes.
func laneWindowFor(long, short int) (c int, cost float64) {
	cost = math.Inf(1)
	for w := 3; w <= 15; w++ {
		full, half := newDigitizer(w, 255).m, newDigitizer(w, halfBits).m
		m := half
		if long > 0 {
			m = full
		}
		b := float64(int(1) << (w - 1))
		x := laneEntryCost*float64(long*full+short*half) +
			float64(m)*(laneWindowCost+laneBucketCost*b+600*math.Sqrt(b))
		if x < cost {
			c, cost = w, x
		}
	}
	return c, cost
}

// windowsLanes sets sums[lo:hi] to the sums of those windows.
func (p *buckets) windowsLanes(sums []Jacobian, packed []packedPoint, lo, hi int) {
	n := 1 << (p.full.c - 1)
	w := laneBucketers.Get().(*laneBucketer)
	defer laneBucketers.Put(w)
	for j := lo; j < hi; j++ {
		p.sort(&w.bucketer, j, n)
		w.lists.start()
		for b := 1; b <= n; b++ {
			from, to := w.starts[b], w.starts[b+1]
			for _, e := range w.order[from:to] {
				w.lists.add(refTo(&packed[e>>1], e&1))
			}
			w.lists.end(int(to - from))
		}
		sums[j] = w.weigh(w.lists.sum())
	}
	runtime.KeepAlive(packed)
}

var laneBucketers = sync.Pool{New: func() any { return new(laneBucketer) }}

// A laneBucketer is the memory for the buckets of a window.
type laneBucketer struct {
	bucketer // for the order
	lists    laneLists
	sums     []packedPoint
}

// weigh returns the sum of (i+1)·points[i], of a power of two of points. With i + 1 = u·2^h + v
// that is 2^h·Σ u·(sum of those with this u) + Σ v·(sum of those with this v): two additions in lanes
// for a point, and few of the slower ones that weigh takes.
func (w *laneBucketer) weigh(points []packedPoint) Jacobian {
	n := len(points)
	h := 0
	for 1<<(2*h) < n {
		h++
	}
	w.sums = growAligned(w.sums, n)
	copy(w.sums, points)
	low := 1<<h - 1
	w.lists.start()
	list := func(from, step int) {
		k := 0
		for b := from; b <= n; b += step {
			if b > 0 && (step == 1 && b-from > low) {
				break
			}
			if b > 0 && !w.sums[b-1].isInfinity() {
				w.lists.add(refTo(&w.sums[b-1], 0))
				k++
			}
		}
		w.lists.end(k)
	}
	tops := n >> h
	for u := 1; u <= tops; u++ {
		list(u<<h, 1)
	}
	for v := 1; v <= low; v++ {
		list(v, 1<<h)
	}
	sums := w.lists.sum()
	affine := make([]Affine, len(sums))
	for i := range sums {
		if !sums[i].isInfinity() {
			affine[i] = sums[i].affine()
		}
	}
	runtime.KeepAlive(w)
	acc, rest := weigh(affine[:tops]), weigh(affine[tops:])
	if h > 0 {
		acc.doubleN(h)
	}
	acc.Add(&acc, &rest)
	return acc
}

// laneLists is [listSummer] in lanes: it adds up lists of points, all at once, whatever they
// are. Infinity, as a sum, is (0, 0).
type laneLists struct {
	pairAdder
	lens  []int32
	refs  []pointRef // list by list
	arena []packedPoint
	out   []packedPoint
}

func (l *laneLists) start() {
	l.refs, l.lens = l.refs[:0], l.lens[:0]
}

// add appends a point to the list that end will end. It has to live until sum is called.
func (l *laneLists) add(r pointRef) { l.refs = append(l.refs, r) }

// end ends a list of n points.
func (l *laneLists) end(n int) { l.lens = append(l.lens, int32(n)) }

// sum returns the sums of the lists, until it is called again.
func (l *laneLists) sum() []packedPoint {
	// A round puts its sums, and two blocks at most, after those before, which lists may
	// still refer to.
	l.arena = growAligned(l.arena, len(l.refs)+40*2*laneCount)
	free := l.arena
	inf := false
	for {
		sums, more := l.round(free, inf)
		if !more {
			break
		}
		inf = inf || l.inf
		free = free[sums:]
	}
	l.out = growAligned(l.out, len(l.lens))
	at := 0
	for i, n := range l.lens {
		if n == 0 {
			l.out[i] = packedPoint{}
			continue
		}
		l.out[i] = l.refs[at].value()
		at++
	}
	return l.out
}

// value returns the point, negated if it is meant to be.
func (r pointRef) value() packedPoint {
	p, negated := r.point()
	if !negated || p.isInfinity() {
		return *p
	}
	a := p.affine()
	a.Neg(&a)
	return a.packed()
}

// round adds the points two by two, and reports false if there are no two in any list.
// It returns how much of free it took. inf says that infinity is among the points.
func (l *laneLists) round(free []packedPoint, inf bool) (taken int, more bool) {
	l.pairAdder.start()
	in, out := 0, 0
	for i, m := range l.lens {
		left := int32(0) // of this list
		for range m / 2 {
			a, b := l.refs[in], l.refs[in+1]
			in += 2
			more = true
			if inf {
				pa, _ := a.point()
				if pb, _ := b.point(); pa.isInfinity() || pb.isInfinity() {
					if pa.isInfinity() {
						a = b
					}
					l.refs[out] = a
					out++
					left++
					continue
				}
			}
			l.refs[out] = refTo(&free[l.count()], 0)
			l.pairAdder.add(a, b)
			out++
			left++
		}
		if m&1 == 1 {
			l.refs[out] = l.refs[in]
			in++
			out++
			left++
		}
		l.lens[i] = left
	}
	l.refs = l.refs[:out]
	return l.sumTo(free), more
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package batch finds the bad items of a batch whose joint check failed.
//
// A batch verifier checks a weighted sum of defects, one for each item, that
// is zero if all items are good, and non-zero but for a negligible probability
// if one is bad. If the sum isn't zero, [Locate] bisects: it evaluates the
// left half of a range, and has the right one by subtraction from the sum of
// both (binary quick search in Law and Matt, Finding Invalid Signatures in
// Pairing-Based Batches, 2007). Small ranges are confirmed item by item. Bisecting costs more than it saves when many items are bad, so
// what it may spend is bounded beforehand: a batch made to fail costs its
// verifier little more than no batching.
//
// The package knows nothing of groups, curves or secrets, and its course
// depends on its inputs: it is for public values.
package batch

import "math"

// Defaults of the zero values of a [Problem].
const (
	DefaultLeaf     = 32
	DefaultMaxExtra = 0.15
)

// A Problem is a batch that failed, with sums of type T.
type Problem[T any] struct {
	// N is the number of items. They are numbered from 0.
	N int

	// Sum returns the sum of the weighted defects of the items lo to hi-1.
	// The weights must be those of the total, and mustn't be known to the one
	// who made the items.
	Sum func(lo, hi int) T

	// Sub returns a sum less a part of it. If it is nil, right halves of bad
	// left halves are evaluated.
	Sub func(sum, part T) T

	// IsZero reports whether a sum is that of good items only. It may fail for
	// good items, not the other way: what it refuses is confirmed, what it
	// accepts is good.
	IsZero func(T) bool

	// Confirm returns the bad ones among items, which are given in ascending
	// order, by checks that are exact. It is called once at most.
	Confirm func(items []int) (bad []int)

	// Cost returns what Sum costs for n items, in units of what Confirm costs
	// for one.
	Cost func(n int) float64

	// Leaf is the length from which ranges are confirmed, not bisected.
	Leaf int

	// MaxExtra bounds the cost of all calls of Sum, as a part of the cost of
	// confirming all N items. Zero stands for the default, and a negative
	// number for none.
	MaxExtra float64
}

// A Result says what Locate found, and what it took.
type Result struct {
	Bad       []int   // as Confirm returned them
	Sums      int     // calls of Sum
	Extra     float64 // what they cost, by the function Cost
	Confirmed int     // items given to Confirm
}

// A span is a range of items whose sum isn't zero.
type span[T any] struct {
	lo, hi int
	sum    T
}

// Locate returns the bad items of a batch whose sum is total. If total is zero
// there are none.
func Locate[T any](p Problem[T], total T) Result {
	var res Result
	if p.N <= 0 || p.IsZero(total) {
		return res
	}
	items := p.suspects(total, &res)
	res.Confirmed = len(items)
	res.Bad = p.Confirm(items)
	return res
}

// suspects bisects while it may, and returns what is left to be confirmed.
//
// The widest ranges come first, since they are what a healthy half saves most
// of: all ranges of a generation before those of the next.
func (p *Problem[T]) suspects(total T, res *Result) []int {
	leaf := p.Leaf
	if leaf <= 0 {
		leaf = DefaultLeaf
	}
	extra := p.MaxExtra
	if extra == 0 {
		extra = DefaultMaxExtra
	}
	budget := math.Max(0, extra*float64(p.N))

	suspect := make([]bool, p.N)
	count := 0
	giveUp := func(s span[T]) {
		for i := s.lo; i < s.hi; i++ {
			suspect[i] = true
		}
		count += s.hi - s.lo
	}
	queue := []span[T]{{0, p.N, total}}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if s.hi-s.lo <= leaf {
			giveUp(s)
			continue
		}
		mid := s.lo + (s.hi-s.lo)/2
		if !p.afford(mid-s.lo, budget, res) {
			giveUp(s)
			continue
		}
		left := p.sum(s.lo, mid, res)
		leftGood := p.IsZero(left)
		if !leftGood {
			queue = append(queue, span[T]{s.lo, mid, left})
		}
		right, known := s.sum, true // if the left sum is zero
		if !leftGood {
			if p.Sub != nil {
				right = p.Sub(s.sum, left)
			} else if known = p.afford(s.hi-mid, budget, res); known {
				right = p.sum(mid, s.hi, res)
			}
		}
		switch {
		case !known:
			giveUp(span[T]{lo: mid, hi: s.hi})
		case !p.IsZero(right):
			queue = append(queue, span[T]{mid, s.hi, right})
		}
	}
	items := make([]int, 0, count)
	for i, is := range suspect {
		if is {
			items = append(items, i)
		}
	}
	return items
}

// afford reports whether a sum of n items is within the budget, and worth it:
// a healthy half saves the confirmation of n items at the most.
func (p *Problem[T]) afford(n int, budget float64, res *Result) bool {
	c := p.Cost(n)
	// Written so that a cost that is no number can't be afforded.
	return c >= 0 && c < float64(n) && res.Extra+c <= budget
}

// sum evaluates a range and keeps account of it.
func (p *Problem[T]) sum(lo, hi int, res *Result) T {
	res.Sums++
	res.Extra += p.Cost(hi - lo)
	return p.Sum(lo, hi)
}

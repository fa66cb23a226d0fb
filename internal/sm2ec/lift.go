// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

// Two more kinds of hints, which compare y with p - y.
const (
	HintLow  Hint = 3 + iota // y < p - y
	HintHigh                 // y > p - y
)

// matches reports whether y is the one that the hint means.
func (h Hint) matches(y *Element) bool {
	switch h {
	case HintEven:
		return !y.IsOdd()
	case HintOdd:
		return y.IsOdd()
	}
	// y > p - y if 2y > p, and then 2y - p is the odd one of 2y and 2y - p.
	var d Element
	d.Double(y)
	return d.IsOdd() == (h == HintHigh)
}

// known reports whether the hint is one.
func (h Hint) known() bool { return h >= HintEven && h <= HintHigh }

// opposite returns the hint for -y.
func (h Hint) opposite() Hint {
	switch h {
	case HintEven:
		return HintOdd
	case HintOdd:
		return HintEven
	case HintLow:
		return HintHigh
	case HintHigh:
		return HintLow
	}
	return NoHint
}

// parity returns HintEven or HintOdd.
func parity(y *Element) Hint {
	if y.IsOdd() {
		return HintOdd
	}
	return HintEven
}

// FindHint returns the hint of a valid signature, and false if it isn't valid.
func FindHint(it *Item) (Hint, bool) {
	if _, ok := it.T(); !ok || !it.P.IsOnCurve() {
		return NoHint, false
	}
	var r [1]Jacobian
	current.combine(r[:], []*Item{it})
	if !it.XMatches(&r[0]) {
		return NoHint, false
	}
	a, _ := r[0].Affine()
	return parity(&a.Y), true
}

// smallX reports whether r - e is below p - n, so that two x are possible, which
// only a crafted digest brings about.
func (it *Item) smallX() bool {
	var x Scalar
	x.Sub(&it.R, &it.E)
	return less((*[4]uint64)(&x), &pMinusN)
}

// HasPoint reports whether any point has an x that is r - e modulo n.
func (it *Item) HasPoint() bool {
	x0, x1, two := it.XCandidates()
	return isX(&x0) || two && isX(&x1)
}

// isX reports whether x is that of a point.
func isX(x *Element) bool {
	var y Element
	curveRHS(&y, x)
	return y.Sqrt(&y)
}

// lift sets points[i] to one of the points of items[i], whose x must not be
// small, and ok[i] to whether there are any. With a hint it is the one it means.
func lift(points []Affine, ok []bool, items []*Item) {
	ys := make([]Element, len(items))
	for i, it := range items {
		points[i].X, _, _ = it.XCandidates()
		curveRHS(&ys[i], &points[i].X)
	}
	SqrtBatch(ys, ok)
	for i, it := range items {
		if it.Hint.known() && !it.Hint.matches(&ys[i]) {
			ys[i].Neg(&ys[i])
		}
		points[i].Y = ys[i]
	}
}

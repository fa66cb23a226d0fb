// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

// combineChunk is the number of items that combine takes together, and combineMin
// that from which on inversions pay.
const (
	combineChunk = 64
	combineMin   = 12
)

// combine sets dst[i] to sG + tP of items[i], each for itself: only odd multiples
// and the parts of G have inversions in common. Keys must be on the curve, and t not zero.
func combine(dst []Jacobian, items []*Item) {
	if len(items) < combineMin {
		for i, it := range items {
			t, _ := it.T()
			dst[i].ScalarMult(&it.P, &t)
			dst[i].addMultiple(smallGenerator(), &it.S)
		}
		return
	}
	const odd = 1 << (nafWidth - 2)
	points := make([]Affine, len(items))
	for i, it := range items {
		points[i] = it.P
	}
	tables := oddMultiples(points, odd)

	g := GeneratorTable(len(items))
	var l listSummer
	var gDigits [128]int32
	l.start(g.m * len(items))
	for _, it := range items {
		if it.S.IsZero() {
			l.end(0)
			continue
		}
		neg := it.S.oddDigits(gDigits[:g.m], g.w)
		for k, d := range gDigits[:g.m] {
			e := g.at(k<<(g.w-1) + int(max(d, -d)>>1))
			l.add(&e, (d < 0) != neg)
		}
		l.end(g.m)
	}
	ofG := l.sum()

	var digits [257]int8
	for i, it := range items {
		t, _ := it.T()
		var acc Jacobian
		clear(digits[:])
		for b := t.nafDigits(&digits, nafWidth) - 1; b >= 0; b-- {
			acc.Double(&acc)
			if d := int(digits[b]); d != 0 {
				e := tables[odd*i+max(d, -d)/2]
				if d < 0 {
					e.Y.Neg(&e.Y)
				}
				acc.AddAffine(&acc, &e)
			}
		}
		if !ofG[i].isInfinity() {
			acc.AddAffine(&acc, &ofG[i])
		}
		dst[i] = acc
	}
}

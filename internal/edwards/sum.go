// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package edwards

import (
	"encoding/binary"
	"math"

	"filippo.io/edwards25519"
)

// A Term is a multiple of a point in a sum.
type Term struct {
	Scalar edwards25519.Scalar
	Point  *Affine
}

// leastPippenger is the number of terms from which Pippenger's way pays.
const leastPippenger = 105

// SumVarTime sets p to the sum of the terms.
func (p *Point) SumVarTime(terms []Term) {
	if len(terms) < leastPippenger {
		p.straus(terms)
	} else {
		p.pippenger(terms)
	}
}

// straus shares the doublings of all multiplications.
func (p *Point) straus(terms []Term) {
	scalars := make([]*edwards25519.Scalar, len(terms))
	points := make([]*edwards25519.Point, len(terms))
	for i := range terms {
		scalars[i] = &terms[i].Scalar
		points[i] = terms[i].Point.Library()
	}
	p.SetLibrary(new(edwards25519.Point).VarTimeMultiScalarMult(scalars, points))
}

// pippenger writes scalars in signed digits of w bits, and adds points with equal digits
// at a place up in a bucket first.
func (p *Point) pippenger(terms []Term) {
	w := window(len(terms))
	places := (254 + w - 1) / w
	buckets := make([]Point, 1<<(w-1))
	filled := make([]bool, len(buckets))
	digits := make([]int16, len(terms)*places)
	for i := range terms {
		recode(digits[i*places:(i+1)*places], &terms[i].Scalar, w)
	}
	var s scratch
	p.SetIdentity()
	for place := places - 1; place >= 0; place-- {
		for range w {
			p.double()
		}
		clear(filled)
		for i := range terms {
			d := int(digits[i*places+place])
			at := max(d, -d) - 1
			switch {
			case d == 0:
			case !filled[at]:
				// The first costs less than an addition to the identity.
				filled[at] = true
				buckets[at].setAffine(terms[i].Point, d < 0)
			case d > 0:
				buckets[at].add(terms[i].Point, &s)
			default:
				buckets[at].sub(terms[i].Point, &s)
			}
		}
		// Σ d bucket_d is the sum of all sums from the top.
		var run, total Point
		some := false
		for i := len(buckets) - 1; i >= 0; i-- {
			switch {
			case some && filled[i]:
				run.addPoint(&buckets[i], &s)
			case filled[i]:
				some = true
				run, total = buckets[i], buckets[i]
				continue
			}
			if some {
				total.addPoint(&run, &s)
			}
		}
		if some {
			p.addPoint(&total, &s)
		}
	}
}

// window returns the width of digits for a number of terms, half of which have scalars
// of half the length.
func window(terms int) int {
	best, least := 0, math.Inf(1)
	for w := 4; w <= 14; w++ {
		places := float64(254+w-1) / float64(w)
		// An addition in the sum of buckets costs 5/4 of another; the first in a bucket next to
		// nothing.
		if cost := places * (0.75*float64(terms) + 0.85*float64(int(1)<<w)); cost < least {
			best, least = w, cost
		}
	}
	return best
}

// recode writes a scalar, which is less than 2^253, in digits from 1-2^(w-1) to 2^(w-1),
// the least first.
func recode(digits []int16, scalar *edwards25519.Scalar, w int) {
	b := scalar.Bytes()
	var words [5]uint64
	for i := range 4 {
		words[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	carry := 0
	for i := range digits {
		at := i * w
		v := words[at/64] >> (at % 64)
		if at%64+w > 64 {
			v |= words[at/64+1] << (64 - at%64)
		}
		d := int(v&(1<<w-1)) + carry
		carry = 0
		if d > 1<<(w-1) {
			d -= 1 << w
			carry = 1
		}
		digits[i] = int16(d)
	}
}

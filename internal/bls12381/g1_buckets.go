// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import bls "github.com/consensys/gnark-crypto/ecc/bls12-381"

// g1Buckets returns the sum of terms without tables by Pippenger's method (Bernstein,
// Doumen, Lange and Oosterwijk 2012, section 4) with signed digits of the halves
// that the endomorphism gives. The points of a bucket are summed by the affine
// formulas, with inversions shared by all buckets.
func g1Buckets(terms []G1Term) (acc bls.G1Jac) {
	// The points with the halves of their scalars that aren't 0.
	points := make([]bls.G1Affine, 0, 2*len(terms))
	halves := make([][2]uint64, 0, 2*len(terms))
	for _, t := range terms {
		p := t.P.toAffine()
		k1, k2 := splitGLV(t.K)
		if k, ok := t.K.shortNeg(); ok {
			k1, k2 = k, [2]uint64{}
			p.Y.Neg(&p.Y)
		}
		if k1 != [2]uint64{} {
			points, halves = append(points, p), append(halves, k1)
		}
		if k2 != [2]uint64{} {
			p.X.Mul(&p.X, &beta)
			points, halves = append(points, p), append(halves, k2)
		}
	}
	w := bucketWidth(len(points))
	windows := 128/w + 1
	digits := make([]int16, windows*len(points)) // those of one window together
	for i := range halves {
		k, carry := halves[i][:], 0
		for j := range windows {
			d := int(window(k, j*w, w)) + carry
			carry = 0
			if d > 1<<(w-1) {
				d -= 1 << w
				carry = 1
			}
			digits[j*len(points)+i] = int16(d)
		}
	}

	acc.FromAffine(&bls.G1Affine{})
	sizes := make([]int, 1<<(w-1))
	next := make([]int, len(sizes))
	work := make([]bls.G1Affine, len(points))
	for j := windows - 1; j >= 0; j-- {
		g1DoubleTimes(&acc, w)
		n := g1Sort(work, points, digits[j*len(points):][:len(points)], sizes, next)
		g1SumGroups(work[:n], sizes)
		sum := g1Weighted(work, sizes)
		g1AddJacobian(&acc, &sum)
	}
	return acc
}

// bucketWidth returns the width of digits that costs least for n points, where
// emptying a bucket costs about four affine additions.
func bucketWidth(n int) int {
	best, least := 0, 0
	for w := 3; w <= 14; w++ {
		if cost := (128/w + 1) * (n + 4<<(w-1)); best == 0 || cost < least {
			best, least = w, cost
		}
	}
	return best
}

// g1Sort puts points into buckets by the absolute values of their digits, negated
// where a digit is negative. It sets sizes and returns how many points there are:
// those with digit 0 are left out.
func g1Sort(work, points []bls.G1Affine, digits []int16, sizes, next []int) int {
	clear(sizes)
	for _, d := range digits {
		if d != 0 {
			sizes[max(d, -d)-1]++
		}
	}
	n := 0
	for b, size := range sizes {
		next[b] = n
		n += size
	}
	for i, d := range digits {
		if d == 0 {
			continue
		}
		at := &next[max(d, -d)-1]
		work[*at] = points[i]
		if d < 0 {
			work[*at].Y.Neg(&work[*at].Y)
		}
		*at++
	}
	return n
}

// g1Weighted returns the sum of (b+1)·(point of bucket b), where the points of the
// buckets with size 1 are in sums.
func g1Weighted(sums []bls.G1Affine, sizes []int) (acc bls.G1Jac) {
	n := 0
	for _, size := range sizes {
		n += size
	}
	var run bls.G1Jac
	run.FromAffine(&bls.G1Affine{})
	acc = run
	for b := len(sizes) - 1; b >= 0; b-- {
		if sizes[b] == 1 {
			n--
			g1AddAffine(&run, &sums[n])
		}
		g1AddJacobian(&acc, &run)
	}
	return acc
}

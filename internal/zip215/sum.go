// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package zip215

import "encoding/binary"

// A term is a multiple of a point in a sum. The scalar is little-endian, and less than
// 2^253.
type term struct {
	scalar [32]byte
	point  *affine
}

// sumTerms sets p to the sum, after Pippenger: with scalars written in signed digits of
// w bits, points with equal digits at a place are added up in a bucket first.
func (p *extended) sumTerms(terms []term) {
	w := windowFor(len(terms))
	places := (254 + w - 1) / w
	buckets := make([]extended, 1<<(w-1))
	digits := make([]int16, len(terms)*places)
	used := 0 // places
	for i := range terms {
		used = max(used, recode(digits[i*places:(i+1)*places], &terms[i].scalar, w))
	}
	p.setIdentity()
	for place := used - 1; place >= 0; place-- {
		for range w {
			p.double()
		}
		for i := range buckets {
			buckets[i].setIdentity()
		}
		for i := range terms {
			switch d := digits[i*places+place]; {
			case d > 0:
				buckets[d-1].add(terms[i].point)
			case d < 0:
				buckets[-d-1].sub(terms[i].point)
			}
		}
		// Σ d bucket_d is the sum of all sums from the top.
		var run, total extended
		run.setIdentity()
		total.setIdentity()
		for i := len(buckets) - 1; i >= 0; i-- {
			run.addExtended(&buckets[i])
			total.addExtended(&run)
		}
		p.addExtended(&total)
	}
}

// windowFor returns the width of digits for a number of terms, as measured.
func windowFor(n int) int {
	for w, limit := range [...]int{4: 16, 5: 60, 6: 180, 7: 500, 8: 1500, 9: 4000, 10: 12000, 11: 40000} {
		if n < limit {
			return w
		}
	}
	return 12
}

// recode writes a scalar in digits from -2^(w-1) to 2^(w-1), the least first, and returns
// how many there are without leading zeros.
func recode(digits []int16, scalar *[32]byte, w int) (used int) {
	var words [5]uint64
	for i := range 4 {
		words[i] = binary.LittleEndian.Uint64(scalar[8*i:])
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
		if d != 0 {
			used = i + 1
		}
	}
	return used
}

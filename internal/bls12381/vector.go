// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import "math/big"

const (
	lanes       = 8
	vectorLimbs = 8
	limbBits    = 52
)

// An octet is eight elements of the base field, multiplied by 2⁴¹⁶ in Montgomery's way. Limbs
// of 52 bits come first, of all elements the lowest ones. It is for processors that multiply
// such limbs, eight at a time.
type octet [vectorLimbs][lanes]uint64

// set sets a lane to x, as it is.
func (v *octet) set(lane int, x *fe) {
	const m = 1<<limbBits - 1
	v[0][lane] = x[0] & m
	v[1][lane] = (x[0]>>52 | x[1]<<12) & m
	v[2][lane] = (x[1]>>40 | x[2]<<24) & m
	v[3][lane] = (x[2]>>28 | x[3]<<36) & m
	v[4][lane] = (x[3]>>16 | x[4]<<48) & m
	v[5][lane] = x[4] >> 4 & m
	v[6][lane] = (x[4]>>56 | x[5]<<8) & m
	v[7][lane] = x[5] >> 44
}

// get sets x to a lane, which is below 2p.
func (v *octet) get(x *fe, lane int) {
	l := func(i int) uint64 { return v[i][lane] }
	feReduce(x, &[6]uint64{
		l(0) | l(1)<<52,
		l(1)>>12 | l(2)<<40,
		l(2)>>24 | l(3)<<28,
		l(3)>>36 | l(4)<<16,
		l(4)>>48 | l(5)<<4 | l(6)<<56,
		l(6)>>8 | l(7)<<44,
	})
}

// Products with vectorIn are elements that were multiplied by 2³⁸⁴, as they are elsewhere, and
// those with vectorOut are what they are to be elsewhere.
var vectorIn, vectorOut = vectorOf(448), vectorOf(384)

// vectorOf returns 2ⁿ mod p in all lanes.
func vectorOf(n uint) (v octet) {
	x := feFromBig(new(big.Int).Lsh(big.NewInt(1), n))
	feMul(&x, &x, &fe{1})
	for i := range lanes {
		v.set(i, &x)
	}
	return v
}

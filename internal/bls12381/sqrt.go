// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
)

// sqrtWindow is the width of the windows that the exponent is cut into.
const sqrtWindow = 5

// A sqrtStep is a part of an exponentiation: square so often, and then multiply by
// this odd power.
type sqrtStep struct{ squares, odd int }

// sqrtSteps are those of (p+1)/4, by windows that begin and end with a one. The first
// has nothing to square; zeros at the end are a step without a power.
var sqrtSteps = func() (steps []sqrtStep) {
	e := new(big.Int).Add(fp.Modulus(), big.NewInt(1))
	e.Rsh(e, 2)
	squares := 0
	for i := e.BitLen() - 1; i >= 0; {
		squares++
		if e.Bit(i) == 0 {
			i--
			continue
		}
		low := max(0, i-sqrtWindow+1)
		for e.Bit(low) == 0 {
			low++
		}
		odd := 0
		for j := i; j >= low; j-- {
			odd = 2*odd + int(e.Bit(j))
		}
		steps = append(steps, sqrtStep{squares + i - low, odd})
		squares, i = 0, low-1
	}
	if squares > 0 {
		steps = append(steps, sqrtStep{squares, 0})
	}
	return steps
}()

// feSqrtVarTime sets z to a square root of x, x^((p+1)/4) as p = 3 mod 4, and reports
// whether there is one.
func feSqrtVarTime(z, x *fe) bool {
	var odd [1 << (sqrtWindow - 1)]fe // x, x³, ...
	var t, r fe
	odd[0] = *x
	feSquareTimes(&t, x, 1)
	for i := 1; i < len(odd); i++ {
		feMul(&odd[i], &odd[i-1], &t)
	}
	r = odd[sqrtSteps[0].odd/2]
	for _, s := range sqrtSteps[1:] {
		if s.odd != 0 {
			feSquareTimesMul(&r, &r, s.squares, &odd[s.odd/2])
		} else {
			feSquareTimes(&r, &r, s.squares)
		}
	}
	feSquareTimes(&t, &r, 1)
	*z = r
	return t == *x
}

// feSquareTimes sets z = x^(2ⁿ), for n > 0.
func feSquareTimes(z, x *fe, n int) {
	if hasKernel {
		squareTimes(&z[0], &x[0], n)
		return
	}
	feMul(z, x, x)
	for range n - 1 {
		feMul(z, z, z)
	}
}

// feSquareTimesMul sets z = x^(2ⁿ)·y, for n > 0.
func feSquareTimesMul(z, x *fe, n int, y *fe) {
	if hasKernel {
		squareTimesMul(&z[0], &x[0], &y[0], n)
		return
	}
	m := *y // which may be z
	feSquareTimes(z, x, n)
	feMul(z, z, &m)
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2paper

import (
	"encoding/binary"

	"github.com/undersign/undersign/internal/sm2ec"
)

type element = sm2ec.Element

// A Cost is a number of operations in the field. Additions are free, as they
// are in the paper, and with them multiplications by 2, 3, 4 and 8.
type Cost struct {
	Mul   int `json:"mul"`   // multiplications and squarings
	Small int `json:"small"` // multiplications by a constant below 2⁶⁴
	Inv   int `json:"inv"`   // inversions
}

// mulPerInv is the cost of an inversion in multiplications, as the paper has it.
const mulPerInv = 270

// Muls returns the cost in multiplications, with 270 of them for an inversion.
// Those by small constants are left out.
func (c Cost) Muls() int { return c.Mul + mulPerInv*c.Inv }

// Add returns c + d.
func (c Cost) Add(d Cost) Cost {
	return Cost{c.Mul + d.Mul, c.Small + d.Small, c.Inv + d.Inv}
}

// A field does arithmetic at a cost. All multiplications and inversions of this
// package are made by its methods.
type field struct{ cost *Cost }

// mul sets z = xy.
func (f field) mul(z, x, y *element) {
	f.cost.Mul++
	z.Mul(x, y)
}

// sqr sets z = x².
func (f field) sqr(z, x *element) {
	f.cost.Mul++
	z.Sqr(x)
}

// small sets z = kx.
func (f field) small(z, x *element, k uint64) {
	f.cost.Small++
	ke := newElement(k)
	z.Mul(x, &ke)
}

// invert inverts all of xs, of which none may be zero, by one inversion and
// 3(n-1) multiplications.
func (f field) invert(xs []element) {
	if len(xs) == 0 {
		return
	}
	prefix := make([]element, len(xs))
	prefix[0] = xs[0]
	for i := 1; i < len(xs); i++ {
		f.mul(&prefix[i], &prefix[i-1], &xs[i])
	}
	var acc element
	f.cost.Inv++
	acc.Inv(&prefix[len(xs)-1])
	for i := len(xs) - 1; i > 0; i-- {
		x := xs[i]
		f.mul(&xs[i], &acc, &prefix[i-1])
		f.mul(&acc, &acc, &x)
	}
	xs[0] = acc
}

// isSquare reports whether x is one, for x != 0: whether x^((p+1)/4), the only
// candidate, is a root. The exponent is 31 ones, a zero, 128 ones, 31 zeros, a one
// and 62 zeros.
func (f field) isSquare(x *element) bool {
	chain := func(y element, n int, by *element) element {
		for range n {
			f.sqr(&y, &y)
		}
		if by != nil {
			f.mul(&y, &y, by)
		}
		return y
	}
	x2 := chain(*x, 1, x)
	x3 := chain(x2, 1, x)
	x6 := chain(x3, 3, &x3)
	x12 := chain(x6, 6, &x6)
	x24 := chain(x12, 12, &x12)
	x30 := chain(x24, 6, &x6)
	x31 := chain(x30, 1, x)
	y := chain(x31, 1, nil)
	x32 := y
	f.mul(&x32, &x32, x)
	for range 4 {
		y = chain(y, 32, &x32)
	}
	y = chain(y, 32, x)
	y = chain(y, 63, nil) // 62, and one for the square of the root
	return y.Equal(x)
}

// The following cost nothing, or are for constants.

func newElement(k uint64) (z element) {
	var b [32]byte
	binary.BigEndian.PutUint64(b[24:], k)
	z.SetBytes(&b)
	return z
}

func add(x, y element) (z element) {
	z.Add(&x, &y)
	return z
}

func sub(x, y element) (z element) {
	z.Sub(&x, &y)
	return z
}

func neg(x element) (z element) {
	z.Neg(&x)
	return z
}

func double(x element) element { return add(x, x) }

func triple(x element) element { return add(x, add(x, x)) }

func quadruple(x element) element { return double(double(x)) }

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"math/big"

	"github.com/undersign/undersign/internal/opcount"
)

// MultiExpVarTime sets z to the product of the powers xs[i]^es[i], with public
// exponents es[i] >= 0. No powers at all give 1.
//
// It is Straus's method with sliding windows: one run of squarings for all, and
// odd powers of each base. Bucket methods overtake it only beyond about a
// thousand bases.
func (m *Modulus) MultiExpVarTime(z *Element, xs []*Element, es []*big.Int) error {
	if len(xs) != len(es) {
		return errLengths
	}
	for _, e := range es {
		if e == nil || e.Sign() < 0 {
			return errNegative
		}
	}
	m.straus(z, xs, es)
	return nil
}

func (m *Modulus) straus(z *Element, xs []*Element, es []*big.Int) {
	opcount.Add(opcount.ExpZn, len(xs))
	top := 0
	for _, e := range es {
		top = max(top, e.BitLen())
	}
	l := len(m.n)
	t := make([]uint64, 2*l)

	// at[i] lists what is to be multiplied in when bit i is reached.
	at := make([][]factor, top)
	for k, e := range es {
		if e.Sign() == 0 {
			continue
		}
		w := slidingWindow(e.BitLen())
		odd := m.oddPowers(xs[k].l, 1<<(w-1), t)
		for i := e.BitLen() - 1; i >= 0; {
			if e.Bit(i) == 0 {
				i--
				continue
			}
			lo := max(i-w+1, 0)
			for e.Bit(lo) == 0 {
				lo++
			}
			v := uint(0)
			for j := i; j >= lo; j-- {
				v = v<<1 | e.Bit(j)
			}
			at[lo] = append(at[lo], factor{odd, int(v / 2)})
			i = lo - 1
		}
	}

	acc := make([]uint64, l)
	started := false
	for i := top - 1; i >= 0; i-- {
		if started {
			m.sqr(acc, acc, t)
		}
		for _, f := range at[i] {
			p := f.odd[f.i*l : (f.i+1)*l]
			if started {
				m.mul(acc, acc, p, t)
			} else {
				copy(acc, p)
				started = true
			}
		}
	}
	if !started {
		copy(acc, m.one)
	}
	copy(z.l, acc)
}

// factor is the power 2i+1 of a base.
type factor struct {
	odd []uint64
	i   int
}

// oddPowers returns x, x³, x⁵, ..., count of them.
func (m *Modulus) oddPowers(x []uint64, count int, t []uint64) []uint64 {
	l := len(x)
	odd := make([]uint64, count*l)
	copy(odd, x)
	if count > 1 {
		sq := make([]uint64, l)
		m.sqr(sq, x, t)
		for i := 1; i < count; i++ {
			m.mul(odd[i*l:(i+1)*l], odd[(i-1)*l:i*l], sq, t)
		}
	}
	return odd
}

// slidingWindow returns the window that costs the fewest products for an
// exponent of that many bits: 2^(w-1) for the table and bits/(w+1) to use it.
func slidingWindow(bits int) int {
	w := 1
	for w < 8 && 1<<w+bits/(w+2) < 1<<(w-1)+bits/(w+1) {
		w++
	}
	return w
}

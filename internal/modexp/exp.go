// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"math/big"

	"github.com/undersign/undersign/internal/opcount"
)

// Exp sets z = x^e. Its time depends on the width of e, not on its value.
func (m *Modulus) Exp(z, x *Element, e Nat) {
	m.ExpBits(z, x, e, 64*len(e))
}

// ExpBits sets z = x^(e mod 2^bits), where bits is public: a caller who knows a
// bound on e that is finer than its width saves the time above it.
func (m *Modulus) ExpBits(z, x *Element, e Nat, bits int) {
	bits = min(bits, 64*len(e))
	if bits <= 0 {
		copy(z.l, m.one)
		return
	}
	opcount.Add(opcount.ExpZn, 1)
	l := len(m.n)
	w := fixedWindow(bits)
	buf := make([]uint64, (1<<w+4)*l)
	t, acc, f := buf[:2*l], buf[2*l:3*l], buf[3*l:4*l]
	table := buf[4*l:]

	copy(table, m.one)
	copy(table[l:], x.l)
	for i := 2; i < 1<<w; i++ {
		p := table[i*l : (i+1)*l]
		if i%2 == 0 {
			m.sqr(p, table[i/2*l:(i/2+1)*l], t)
		} else {
			m.mul(p, table[(i-1)*l:i*l], x.l, t)
		}
	}

	// Windows are aligned to bit 0, so the top one may be narrower.
	i := (bits - 1) / w * w
	selectLimbs(acc, table, e.window(i, bits-i))
	for i -= w; i >= 0; i -= w {
		for range w {
			m.sqr(acc, acc, t)
		}
		selectLimbs(f, table, e.window(i, w))
		m.mul(acc, acc, f, t)
	}
	copy(z.l, acc)
	clear(buf)
}

// fixedWindow returns the window for constant-time powers of that many bits.
func fixedWindow(bits int) int {
	switch {
	case bits <= 8:
		return 1
	case bits <= 32:
		return 2
	case bits <= 128:
		return 3
	case bits <= 640:
		return 4
	case bits <= 1800:
		return 5
	}
	return 6
}

// ExpVarTime sets z = x^e for a public e >= 0; it panics if e is negative.
func (m *Modulus) ExpVarTime(z, x *Element, e *big.Int) {
	if e.Sign() < 0 {
		panic(errNegative)
	}
	if !fast() {
		opcount.Add(opcount.ExpZn, 1)
		v := new(big.Int).Exp(m.BigVarTime(x), e, m.Big())
		m.toMont(z.l, natFromBig(v, len(z.l)))
		return
	}
	m.straus(z, []*Element{x}, []*big.Int{e})
}

// InverseVarTime sets z = 1/x. It is an error if gcd(x, n) != 1.
func (m *Modulus) InverseVarTime(z, x *Element) error {
	v := new(big.Int).ModInverse(m.BigVarTime(x), m.Big())
	if v == nil {
		return errInverse
	}
	y, err := m.SetBig(v)
	if err != nil {
		return err
	}
	z.Set(y)
	return nil
}

// InvertVarTime replaces all of xs by their inverses, or none if one has none. It costs
// one inversion and three products each.
func (m *Modulus) InvertVarTime(xs []*Element) error {
	if len(xs) == 0 {
		return nil
	}
	before := make([]*Element, len(xs)) // the products of xs[:i]
	acc := m.One()
	for i, x := range xs {
		before[i] = m.NewElement()
		before[i].Set(acc)
		m.Mul(acc, acc, x)
	}
	if err := m.InverseVarTime(acc, acc); err != nil {
		return err
	}
	for i := len(xs) - 1; i >= 0; i-- {
		m.Mul(before[i], before[i], acc)
		m.Mul(acc, acc, xs[i])
		xs[i].Set(before[i])
	}
	return nil
}

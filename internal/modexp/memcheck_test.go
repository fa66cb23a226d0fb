// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"math/big"
	"os"
	"testing"

	"github.com/undersign/undersign/internal/cttest"
)

func TestMain(m *testing.M) { cttest.Main(m, memcheckCases) }

// Each kernel by itself. Valgrind hides ADX from the program but executes it, so
// the switch is set by hand. It can't execute the lane kernels: what is around them
// is checked with their twin.
func TestConstantTime(t *testing.T) {
	for _, kernel := range append(kernels(), "twin", "twin4") {
		if kernel == "ifma" {
			continue
		}
		t.Run("kernel="+kernel, func(t *testing.T) {
			cttest.Memcheck(t, "UNDERSIGN_MODEXP="+kernel)
		})
	}
}

func memcheckCases(c *cttest.Checker) {
	kernel := os.Getenv("UNDERSIGN_MODEXP")
	setKernel(kernel)
	switch kernel {
	case "twin":
		memcheckLanes(c, 8, 600, 70)
		return
	case "twin4":
		memcheckLanes(c, 4, 600, 70)
		return
	}
	memcheckNat(c)
	n := new(big.Int).Sub(pow2(1024), big.NewInt(105))
	memcheckModulus(c, n)
	memcheckPowers(c, n, 192)
	// Not a whole number of limbs.
	n = new(big.Int).Sub(pow2(1100), big.NewInt(101))
	memcheckModulus(c, n)
	memcheckPowers(c, n, 70)
	memcheckPowers(c, new(big.Int).Sub(pow2(2048), big.NewInt(1)), 64)
}

// tainted checks that x is undefined: that the secret got there, so that the
// case before has tested something.
func tainted[E byte | uint64](c *cttest.Checker, x []E) {
	c.Leaks("  depends on the secret", func() {
		if x[0]&1 == 1 {
			branches++
		}
	})
	cttest.Public(x)
}

var branches int

func secretNat(limbs int) Nat {
	x := make(Nat, limbs)
	for i := range x {
		x[i] = 0x9e3779b97f4a7c15 * uint64(i+1)
	}
	cttest.Secret(x)
	return x
}

func memcheckNat(c *cttest.Checker) {
	x, y := secretNat(10), secretNat(7)
	z := make(Nat, 17)
	c.Clean("Nat.Mul", func() { z.Mul(x, y) })
	tainted(c, z)
	c.Clean("Nat.Add", func() { z[0] = z.Add(x, y) })
	tainted(c, z)
	c.Clean("Nat.Sub", func() { z[0] = z.Sub(x, y) })
	tainted(c, z)
	c.Clean("Nat.Less", func() { z[0] = x.Less(y) })
	tainted(c, z)
	c.Clean("Nat.Equal", func() { z[0] = x.Equal(y) })
	tainted(c, z)
	buf := make([]byte, 80)
	c.Clean("Nat.FillBytes", func() {
		if err := x.FillBytes(buf); err != nil {
			panic(err)
		}
	})
	c.Clean("Nat.SetBytes", func() {
		if err := z.SetBytes(buf); err != nil {
			panic(err)
		}
	})
	tainted(c, z)
	tainted(c, buf)
	c.Clean("Nat.Wipe", func() { x.Wipe() })
	c.Clean("wiped", func() {
		if x[0] != 0 {
			panic("not wiped")
		}
	})
}

func memcheckModulus(c *cttest.Checker, n *big.Int) {
	secret := new(big.Int).Set(n)
	// The lowest limb is known to be odd and the highest gives the length.
	cttest.Secret(secret.Bits()[1 : len(secret.Bits())-1])
	var m *Modulus
	c.Clean("NewModulus", func() {
		var err error
		if m, err = NewModulus(secret); err != nil {
			panic(err)
		}
	})
	x := secretNat(len(m.n) + 3)
	var a, b *Element
	c.Clean("SetNat", func() { a = m.SetNat(x) })
	b = m.SetNat(x[:2])
	z := m.NewElement()
	c.Clean("Mul", func() { m.Mul(z, a, b) })
	tainted(c, z.l)
	c.Clean("Sqr", func() { m.Sqr(z, a) })
	tainted(c, z.l)
	c.Clean("Add", func() { m.Add(z, a, b) })
	tainted(c, z.l)
	c.Clean("Sub", func() { m.Sub(z, a, b) })
	tainted(c, z.l)
	var buf []byte
	c.Clean("Bytes", func() { buf = m.Bytes(a) })
	tainted(c, buf)
}

func memcheckPowers(c *cttest.Checker, n *big.Int, bits int) {
	m, err := NewModulus(n)
	if err != nil {
		panic(err)
	}
	base := m.SetNat(Nat{0xfedcba9876543210, 5, 6, 7})
	e := NewNat(bits)
	for i := range e {
		e[i] = 0xd1342543de82ef95 * uint64(i+1)
	}
	e[len(e)-1] >>= (64 - bits%64) % 64
	want := m.NewElement()
	m.ExpVarTime(want, base, toBig(e))

	z := m.NewElement()
	run := func(name string, f func()) {
		z.Wipe()
		cttest.Secret(e)
		c.Clean(name, f)
		tainted(c, z.l)
		cttest.Public(e)
		c.Check(name+" result", m.Equal(z, want))
	}
	run("Exp", func() { m.Exp(z, base, e) })
	run("ExpBits", func() { m.ExpBits(z, base, e, bits) })
	pair, long := m.NewTable(base, bits, 2), m.NewTable(base, bits, 1000)
	run("Table.Exp, pair", func() { pair.Exp(z, e) })
	run("Table.Exp, long", func() { long.Exp(z, e) })

	cttest.Secret(e)
	c.Leaks("square and multiply", func() { leakyExp(m, z, base, e) })
	c.Leaks("table without a scan", func() { leakyLookup(m, z, base, e) })
	cttest.Public(e)
}

func memcheckLanes(c *cttest.Checker, lanes, size, bits int) {
	if lanesFor(size, lanes) != lanes {
		panic("not the lanes to be checked")
	}
	var ms []*Modulus
	var xs, zs, want []*Element
	var es []Nat
	for i := range lanes {
		m, err := NewModulus(new(big.Int).Sub(pow2(size), big.NewInt(int64(2*i+1))))
		if err != nil {
			panic(err)
		}
		e := NewNat(bits)
		for k := range e {
			e[k] = 0xd1342543de82ef95 * uint64(i+k+1)
		}
		x := m.SetNat(Nat{uint64(i) + 7, 5, 6, 7})
		w := m.NewElement()
		m.ExpBits(w, x, e, bits)
		ms, xs, zs, es, want = append(ms, m), append(xs, x), append(zs, m.NewElement()), append(es, e), append(want, w)
	}
	for i := range xs {
		cttest.Secret(xs[i].l)
		cttest.Secret(es[i])
		cttest.Secret(ms[i].n[1:5])
	}
	c.Clean("ExpLanes", func() { ExpLanes(zs, xs, ms, es, bits) })
	for i, z := range zs {
		tainted(c, z.l)
		cttest.Public(es[i])
		cttest.Public(ms[i].n)
		c.Check("ExpLanes result", ms[i].Equal(z, want[i]))
	}
	for i := range es {
		cttest.Secret(es[i])
	}
	shared := make([]*Element, lanes)
	for i := range shared {
		shared[i] = ms[0].NewElement()
		xs[i] = ms[0].SetNat(Nat{uint64(i) + 7, 5})
		ms[0].ExpBits(want[i], xs[i], es[i], bits)
	}
	c.Clean("ExpShared", func() { ms[0].ExpShared([][]*Element{zs, shared}, xs, [][]Nat{es, es}, bits) })
	for i, z := range shared {
		cttest.Public(want[i].l)
		tainted(c, zs[i].l)
		tainted(c, z.l)
		c.Check("ExpShared result", ms[0].Equal(z, want[i]) && ms[0].Equal(zs[i], want[i]))
	}
	table := make([]uint64, 16*lanes)
	index := secretNat(lanes)
	c.Leaks("pick without a scan", func() { table[0] = table[index[0]%16] })
	cttest.Public(index)
}

// leakyExp multiplies only where a bit is set.
func leakyExp(m *Modulus, z, x *Element, e Nat) {
	acc := m.One()
	for i := 64*len(e) - 1; i >= 0; i-- {
		m.Sqr(acc, acc)
		if e.bit(i) == 1 {
			m.Mul(acc, acc, x)
		}
	}
}

// leakyLookup reads the entry that a window of the exponent names.
func leakyLookup(m *Modulus, z, x *Element, e Nat) {
	table := []*Element{m.One(), x}
	m.Mul(z, z, table[e.window(3, 1)])
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"math/big"
	"math/bits"
)

// lanesPay returns the number of powers from which on eight lanes are faster than
// one power after the other. Measured on Zen 4, which starts half as many vector
// multiplications in a cycle as others do, for one number or eight.
func lanesPay(bits int) int {
	switch l := limbsFor(bits); {
	case !haveWide(l):
		return 3
	case l < 64:
		return 5
	}
	return 6
}

// ExpLanes sets zs[i] = xs[i]^(es[i] mod 2^bits) mod ms[i], for public bits.
// Where there is a kernel for it, it computes eight powers at once. Its time
// depends on the sizes of the moduli, on bits and on the number of powers. All
// slices have the same length, or it panics. zs may be xs.
func ExpLanes(zs, xs []*Element, ms []*Modulus, es []Nat, bits int) {
	if len(zs) != len(xs) || len(ms) != len(xs) || len(es) != len(xs) {
		panic(errLengths)
	}
	for len(xs) > 0 {
		n := min(Lanes, len(xs))
		expLanes(zs[:n], xs[:n], ms[:n], es[:n], bits)
		zs, xs, ms, es = zs[n:], xs[n:], ms[n:], es[n:]
	}
}

func expLanes(zs, xs []*Element, ms []*Modulus, es []Nat, bits int) {
	size := 0
	for _, m := range ms {
		size = max(size, m.bits)
	}
	if len(xs) < lanesPay(size) || !HaveLanes(size) || bits <= 0 {
		for i, m := range ms {
			m.ExpBits(zs[i], xs[i], es[i], bits)
		}
		return
	}

	w := min(fixedWindow(bits), 5) // the table should stay in the second-level cache
	blocks := laneBlocks(size)
	l := blocks * blockLimbs
	m := newLaneModuli(blocks, (1<<w+3)*l+1)
	defer m.wipe()
	acc, f, in := m.number(), m.number(), m.number()
	index := m.take(1)
	table := m.take(l << w)
	entry := func(i int) []uint64 { return table[Lanes*l*i : Lanes*l*(i+1)] }

	// An element is x·R64, and a lane x·R. In is R²/R64, and takes one to the
	// other.
	var c []uint64
	for j := range Lanes {
		i := min(j, len(ms)-1) // lanes that aren't needed repeat the last power
		mod := ms[i]
		if j == 0 || mod != ms[min(j-1, len(ms)-1)] {
			c = mod.powerOfTwo(2*blockBits*blocks - 64*len(mod.n))
		}
		m.setModulus(j, mod.n)
		toLane(in, j, c)
		toLane(entry(0), j, mod.one)
		toLane(entry(1), j, xs[i].l)
	}
	m.mul(entry(0), entry(0), in)
	m.mul(entry(1), entry(1), in)
	for i := 2; i < 1<<w; i++ {
		if i%2 == 0 {
			m.sqr(entry(i), entry(i/2), m.zero, 0)
		} else {
			m.mul(entry(i), entry(i-1), entry(1))
		}
	}

	// As in ExpBits.
	window := func(at, width int) {
		for j := range index {
			index[j] = es[min(j, len(es)-1)].window(at, width)
		}
	}
	i := (bits - 1) / w * w
	window(i, bits-i)
	m.pick(acc, table, index)
	for i -= w; i >= 0; i -= w {
		for range w {
			m.sqr(acc, acc, m.zero, 0)
		}
		window(i, w)
		m.pick(f, table, index)
		m.mul(acc, acc, f)
	}

	// acc·R64/R is the element, but for a multiple of n.
	for j := range Lanes {
		toLane(in, j, ms[min(j, len(ms)-1)].one)
	}
	m.mul(acc, acc, in)
	for j, mod := range ms {
		v := make([]uint64, len(mod.n)+1)
		fromLane(v, acc, j)
		subIfGreater(zs[j].l, v[:len(mod.n)], mod.n, v[len(mod.n)])
		clear(v)
	}
}

// powerOfTwo returns 2^e mod n for public e.
func (m *Modulus) powerOfTwo(e int) Nat {
	z := m.NewElement()
	m.powTwo(z.l, uint64(e))
	return m.Nat(z)
}

// FermatLanes sets ok[i] to [FermatBase2] of ns[i], for numbers of any count.
// Eight of about the same size are tested at once. Its time shows them.
func FermatLanes(ns []*big.Int, ok []bool) {
	for len(ns) > 0 {
		n := min(Lanes, len(ns))
		fermatLanes(ns[:n], ok[:n])
		ns, ok = ns[n:], ok[n:]
	}
}

func fermatLanes(ns []*big.Int, ok []bool) {
	top, served := 0, true
	for _, n := range ns {
		top = max(top, n.BitLen())
		served = served && n.Sign() > 0 && n.BitLen() >= 3 && n.Bit(0) == 1
	}
	if !served || len(ns) < lanesPay(top) || !HaveLanes(top) {
		for i, n := range ns {
			ok[i] = FermatBase2(n)
		}
		return
	}

	blocks := laneBlocks(top)
	words := (top + 63) / 64
	m := newLaneModuli(blocks, 2*blocks*blockLimbs+words)
	unit, z, e := m.number(), m.number(), m.take(words)
	x := make([]uint64, words)
	for j := range Lanes {
		n := ns[min(j, len(ns)-1)]
		setBig(x, n)
		m.setModulus(j, x)
		for i, v := range x {
			e[Lanes*i+j] = v
		}
		e[j]-- // n is odd
		m.setUnit(unit, j, n)
	}
	// A squaring a bit, with a doubling where the bit is set.
	copy(z, unit)
	for i := top - 1; i >= 0; i-- {
		m.sqr(z, z, e[i/64*Lanes:], i%64)
	}
	// z is below 4n and unit below 2n, so they differ by -n, 0, .. or 3n if z is 1.
	// Mostly the lowest limb says no.
	for j, n := range ns {
		ok[j] = false
		d := z[j] - unit[j] + m.n[j]
		for range 5 {
			if d&laneMask == 0 {
				d := m.value(z, j)
				d.Sub(d, m.value(unit, j))
				ok[j] = d.Mod(d, n).Sign() == 0
				break
			}
			d -= m.n[j]
		}
	}
}

// setUnit sets lane j of z to R - q·n, below 2n, for n of that lane.
func (m *laneModuli) setUnit(z []uint64, j int, n *big.Int) {
	shift := blockBits*m.blocks - n.BitLen() // 2^shift < R/n <= 2^(shift+1)
	if shift > 50 {
		r := new(big.Int).Lsh(one, uint(blockBits*m.blocks))
		toLane(z, j, natFromBig(r.Mod(r, n), (n.BitLen()+63)/64))
		return
	}
	// With the highest 64 bits of n, h <= n/2^k < h+1, and q = 2^(shift+64)/(h+1)
	// rounded down, R/n - q < 1 + 2^(shift+64)/h(h+1) < 2.
	w := natFromBig(n, (n.BitLen()+63)/64) // of more than 64 bits, as shift is small
	h := w[len(w)-1]
	if s := n.BitLen() % 64; s != 0 {
		h = h<<(64-s) | w[len(w)-2]>>s
	}
	q := uint64(1) << shift
	if h+1 != 0 {
		q, _ = bits.Div64(1<<shift, 0, h+1)
	}
	// -q·n mod R
	var carry uint64 // of q·n, and the borrow
	for i := j; i < len(z); i += Lanes {
		hi, lo := bits.Mul64(q, m.n[i])
		lo, c := bits.Add64(lo, carry, 0)
		hi += c
		z[i] = -lo & laneMask
		carry = hi<<(64-laneBits) | lo>>laneBits
		if z[i] != 0 {
			carry++
		}
	}
}

// value returns lane j of x.
func (m *laneModuli) value(x []uint64, j int) *big.Int {
	v := make([]uint64, (blockBits*m.blocks+63)/64)
	fromLane(v, x, j)
	return toBig(v)
}

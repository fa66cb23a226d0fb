// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"math/big"
	"math/bits"

	"github.com/undersign/undersign/internal/opcount"
)

// ExpLanes sets zs[i] = xs[i]^(es[i] mod 2^bits) mod ms[i], for public bits.
// Where there are kernels for it, it computes eight powers at once, or four. Its time
// depends on the sizes of the moduli, on bits and on the number of powers. All
// slices have the same length, or it panics. zs may be xs.
func ExpLanes(zs, xs []*Element, ms []*Modulus, es []Nat, bits int) {
	if len(zs) != len(xs) || len(ms) != len(xs) || len(es) != len(xs) {
		panic(errLengths)
	}
	for len(xs) > 0 {
		n := min(Lanes, len(xs))
		lanes := 1
		if bits > 0 {
			lanes = lanesFor(largest(ms[:n]), n)
		}
		n = min(n, lanes)
		if n == 1 {
			ms[0].ExpBits(zs[0], xs[0], es[0], bits)
		} else {
			expLanes(lanes, zs[:n], xs[:n], ms[:n], es[:n], bits)
		}
		zs, xs, ms, es = zs[n:], xs[n:], ms[n:], es[n:]
	}
}

// largest returns the bits of the largest modulus.
func largest(ms []*Modulus) int {
	size := 0
	for _, m := range ms {
		size = max(size, m.bits)
	}
	return size
}

func expLanes(lanes int, zs, xs []*Element, ms []*Modulus, es []Nat, bits int) {
	opcount.Add(opcount.ExpZn, len(xs))
	w := min(fixedWindow(bits), 5) // the table should stay in the second-level cache
	p := newLanePowers(lanes, ms, 1<<w)
	defer p.wipe()
	p.enter(1, xs)
	for i := 2; i < 1<<w; i++ {
		if i%2 == 0 {
			p.sqr(p.entry(i), p.entry(i/2), p.zero, 0)
		} else {
			p.mul(p.entry(i), p.entry(i-1), p.entry(1))
		}
	}

	// As in ExpBits.
	window := func(at, width int) {
		for j := range p.index {
			p.index[j] = es[min(j, len(es)-1)].window(at, width)
		}
	}
	i := (bits - 1) / w * w
	window(i, bits-i)
	p.pick(p.acc, p.table, p.index)
	for i -= w; i >= 0; i -= w {
		for range w {
			p.sqr(p.acc, p.acc, p.zero, 0)
		}
		window(i, w)
		p.pick(p.factor, p.table, p.index)
		p.mul(p.acc, p.acc, p.factor)
	}
	p.leave(zs)
}

// ExpShared sets zs[k][i] = xs[i]^(es[k][i] mod 2^bits), for public bits: several
// powers of each base share squarings. Where there are kernels for it, it takes
// eight bases at once, or four. Its time depends on the numbers of bases and powers, and on
// bits. The slices fit each other, or it panics.
func (m *Modulus) ExpShared(zs [][]*Element, xs []*Element, es [][]Nat, bits int) {
	if len(zs) != len(es) {
		panic(errLengths)
	}
	for k := range es {
		if len(zs[k]) != len(xs) || len(es[k]) != len(xs) {
			panic(errLengths)
		}
	}
	for at := 0; at < len(xs); {
		lanes := 1
		if bits > 0 {
			lanes = lanesFor(m.bits, len(xs)-at)
		}
		end := min(at+lanes, len(xs))
		if lanes == 1 {
			table := m.NewTable(xs[at], bits, len(es))
			for k := range es {
				table.ExpBits(zs[k][at], es[k][at], bits)
			}
		} else {
			m.expShared(lanes, zs, xs, es, at, end, bits)
		}
		at = end
	}
}

// expShared serves the bases from at to end. It takes a comb of few teeth, as a
// table of eight bases is large: see [Table].
func (m *Modulus) expShared(lanes int, zs [][]*Element, xs []*Element, es [][]Nat, at, end, bits int) {
	opcount.Add(opcount.ExpZn, len(es)*(end-at))
	const teeth = 5
	cols := (bits + teeth - 1) / teeth
	ms := make([]*Modulus, end-at)
	for i := range ms {
		ms[i] = m
	}
	p := newLanePowers(lanes, ms, 1<<teeth)
	defer p.wipe()
	p.enter(1, xs[at:end])
	for row := 1; row < teeth; row++ {
		z := p.entry(1 << row)
		copy(z, p.entry(1<<(row-1)))
		for range cols {
			p.sqr(z, z, p.zero, 0)
		}
	}
	for i := 3; i < 1<<teeth; i++ {
		if rest := i & (i - 1); rest != 0 {
			p.mul(p.entry(i), p.entry(rest), p.entry(i^rest))
		}
	}
	for k := range es {
		p.copyUnit(p.acc)
		for col := cols - 1; col >= 0; col-- {
			if col != cols-1 {
				p.sqr(p.acc, p.acc, p.zero, 0)
			}
			for j := range p.index {
				e := es[k][min(at+j, end-1)]
				p.index[j] = 0
				for row := range teeth {
					if i := row*cols + col; i < bits {
						p.index[j] |= e.bit(i) << row
					}
				}
			}
			p.pick(p.factor, p.table, p.index)
			p.mul(p.acc, p.acc, p.factor)
		}
		p.leave(zs[k][at:end])
	}
}

// lanePowers are what powers in lanes need.
type lanePowers struct {
	*laneModuli
	ms                      []*Modulus
	acc, factor, in, out, x []uint64
	index                   []uint64
	table                   []uint64
}

// newLanePowers makes room for a table of count entries, the first of which is 1.
// Lanes that aren't needed repeat the last modulus.
func newLanePowers(lanes int, ms []*Modulus, count int) *lanePowers {
	blocks := laneBlocks(largest(ms))
	l := blocks * blockLimbs
	m := newLaneModuli(lanes, blocks, (count+5)*l+1)
	p := &lanePowers{laneModuli: m, ms: ms}
	p.acc, p.factor, p.in, p.out, p.x = m.number(), m.number(), m.number(), m.number(), m.number()
	p.index = m.take(1)
	p.table = m.take(l * count)

	// An element is x·R64, and in a lane x·R. In is R²/R64, and takes one to the
	// other; out is R64, and takes it back.
	var in []uint64
	for j := range m.lanes {
		mod := p.modulus(j)
		if j == 0 || mod != p.modulus(j-1) {
			in = mod.powerOfTwo(2*blockBits*blocks - 64*len(mod.n))
		}
		m.setModulus(j, mod.n)
		m.toLane(p.in, j, in)
		m.toLane(p.out, j, mod.one)
	}
	m.mul(p.entry(0), p.out, p.in)
	return p
}

func (p *lanePowers) modulus(j int) *Modulus { return p.ms[min(j, len(p.ms)-1)] }

func (p *lanePowers) entry(i int) []uint64 {
	size := p.lanes * p.limbs
	return p.table[size*i : size*(i+1)]
}

func (p *lanePowers) copyUnit(z []uint64) { copy(z, p.entry(0)) }

// enter sets an entry of the table to elements.
func (p *lanePowers) enter(i int, xs []*Element) {
	for j := range p.lanes {
		p.toLane(p.x, j, xs[min(j, len(xs)-1)].l)
	}
	p.mul(p.entry(i), p.x, p.in)
}

// leave sets zs to the lanes of acc, and wants acc no more.
func (p *lanePowers) leave(zs []*Element) {
	p.mul(p.acc, p.acc, p.out) // below 5n/4
	for j, z := range zs {
		m := p.ms[j]
		l := len(m.n)
		v := make([]uint64, l+1)
		p.fromLane(v, p.acc, j)
		subIfGreater(z.l, v[:l], m.n, v[l])
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
// Eight of about the same size are tested at once, or four. Its time shows them.
func FermatLanes(ns []*big.Int, ok []bool) {
	for len(ns) > 0 {
		n := min(Lanes, len(ns))
		top, served := 0, true
		for _, n := range ns[:n] {
			top = max(top, n.BitLen())
			served = served && n.Sign() > 0 && n.BitLen() >= 3 && n.Bit(0) == 1
		}
		lanes := 1
		if served {
			lanes = lanesFor(top, n)
		}
		n = min(n, lanes)
		if n == 1 {
			ok[0] = FermatBase2(ns[0])
		} else {
			fermatLanes(lanes, ns[:n], ok[:n], top)
		}
		ns, ok = ns[n:], ok[n:]
	}
}

// fermatLanes tests odd numbers of at most top bits.
func fermatLanes(lanes int, ns []*big.Int, ok []bool, top int) {
	blocks := laneBlocks(top)
	words := (top + 63) / 64
	m := newLaneModuli(lanes, blocks, 2*blocks*blockLimbs+words)
	unit, z, e := m.number(), m.number(), m.take(words)
	x := make([]uint64, words)
	for j := range lanes {
		n := ns[min(j, len(ns)-1)]
		setBig(x, n)
		m.setModulus(j, x)
		for i, v := range x {
			e[lanes*i+j] = v
		}
		e[j]-- // n is odd
		m.setUnit(unit, j, n)
	}
	// A squaring a bit, with a doubling where the bit is set.
	copy(z, unit)
	for i := top - 1; i >= 0; i-- {
		m.sqr(z, z, e[i/64*lanes:], i%64)
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
		m.toLane(z, j, natFromBig(r.Mod(r, n), (n.BitLen()+63)/64))
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
	for i := j; i < len(z); i += m.lanes {
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
	m.fromLane(v, x, j)
	return toBig(v)
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"fmt"
	"math/big"
	"slices"
	"testing"
)

// allKernels are the kernels of both kinds: ExpLanes and FermatLanes give the
// same with each.
func allKernels() []string {
	names := kernels()
	for _, name := range laneKernels() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		names = append(names, name+"4")
	}
	return names
}

func TestExpLanes(t *testing.T) { on(t, allKernels(), testExpLanes) }

func testExpLanes(t *testing.T) {
	r := newRand(t)
	for _, c := range []struct{ size, bits, count int }{
		{21, 0, 8}, {21, 1, 8}, {512, 70, 1}, {513, 64, 2}, {514, 65, 3}, {515, 7, 8}, {1000, 130, 7}, {1024, 40, 9},
		{1024, 700, 8}, {512, 66, 5}, {514, 70, 6}, {1024, 128, 12}, {1536, 100, 4}, {2048, 130, 17}, {3072, 33, 8}, {4096, 130, 8}, {8192, 20, 8}, {8192, 20, 3}, {8320, 5, 8},
	} {
		if (c.size > 2048 || c.bits > 500) && (laneTwin && !long() || testing.Short()) {
			continue
		}
		var zs, xs []*Element
		var ms []*Modulus
		var es []Nat
		var want []*big.Int
		for i := range c.count {
			moduli := testModuli(r, c.size-i%3)
			n := moduli[i%len(moduli)]
			values := testValues(r, n)
			x := values[r.IntN(len(values))]
			// Wider than bits, and what is above doesn't count.
			e := randBits(r, c.bits+100)
			switch i % 5 {
			case 0:
				e.Sub(pow2(c.bits), one)
			case 1:
				e = pow2(c.bits)
			case 2:
				e = randBits(r, c.bits) // a narrower Nat
			}
			m := mustModulus(t, n)
			ms, xs, zs = append(ms, m), append(xs, mustElement(t, m, x)), append(zs, m.NewElement())
			es = append(es, natOf(e, max(e.BitLen(), 1)))
			e.Mod(e, pow2(c.bits))
			want = append(want, new(big.Int).Exp(x, e, n))
		}
		ExpLanes(zs, xs, ms, es, c.bits)
		for i := range zs {
			check(t, fmt.Sprintf("%+v, power %d", c, i), ms[i].BigVarTime(zs[i]), want[i])
			if Nat(zs[i].l).Less(ms[i].n) != 1 {
				t.Fatalf("%+v: not reduced", c)
			}
		}
		ExpLanes(xs, xs, ms, es, c.bits)
		for i := range xs {
			check(t, fmt.Sprintf("%+v, z = x, power %d", c, i), ms[i].BigVarTime(xs[i]), want[i])
		}
	}
}

// One modulus for all, and one for two of them.
func TestExpLanesShared(t *testing.T) { on(t, allKernels(), testExpLanesShared) }

func testExpLanesShared(t *testing.T) {
	r := newRand(t)
	a, b := mustModulus(t, testModuli(r, 700)[0]), mustModulus(t, testModuli(r, 900)[0])
	for _, ms := range [][]*Modulus{
		{a, a, a, a, a, a, a, a}, {a, b, b, a, a, a, b, a}, {b, b, a}, {a, a, a, b}, {b, a, b},
	} {
		var zs, xs []*Element
		var es []Nat
		for _, m := range ms {
			zs, xs, es = append(zs, m.NewElement()), append(xs, mustElement(t, m, randBelow(r, m.Big()))), append(es, natOf(randBits(r, 90), 90))
		}
		ExpLanes(zs, xs, ms, es, 90)
		for i, m := range ms {
			check(t, fmt.Sprint("power ", i), m.BigVarTime(zs[i]), new(big.Int).Exp(m.BigVarTime(xs[i]), toBig(es[i]), m.Big()))
		}
	}
}

func TestExpLanesLengths(t *testing.T) {
	ExpLanes(nil, nil, nil, nil, 100)
	m := mustModulus(t, big.NewInt(1000003))
	x, e := m.One(), Nat{1}
	for i, f := range []func(){
		func() { ExpLanes([]*Element{x}, []*Element{x, x}, []*Modulus{m, m}, []Nat{e, e}, 1) },
		func() { ExpLanes([]*Element{x, x}, []*Element{x, x}, []*Modulus{m}, []Nat{e, e}, 1) },
		func() { ExpLanes([]*Element{x, x}, []*Element{x, x}, []*Modulus{m, m}, []Nat{e}, 1) },
		func() { ExpLanes([]*Element{x}, nil, []*Modulus{m}, []Nat{e}, 1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("case %d: no panic", i)
				}
			}()
			f()
		}()
	}
}

func TestFermatLanes(t *testing.T) { on(t, allKernels(), testFermatLanes) }

func testFermatLanes(t *testing.T) {
	r := newRand(t)
	mersenne := func(k int) *big.Int { return new(big.Int).Sub(pow2(k), big.NewInt(1)) }
	small := []*big.Int{
		big.NewInt(5), big.NewInt(7), big.NewInt(9), big.NewInt(341), big.NewInt(561), big.NewInt(15), big.NewInt(1000003), big.NewInt(11),
		big.NewInt(1000001), big.NewInt(13),
	}
	odd := []*big.Int{
		big.NewInt(-7), big.NewInt(4), mersenne(521), new(big.Int), big.NewInt(2), big.NewInt(3), mersenne(607), big.NewInt(1),
	}
	mixed := []*big.Int{mersenne(521), mersenne(523), mersenne(607), big.NewInt(341), mersenne(1279), big.NewInt(21), mersenne(11), mersenne(1277)}
	for _, ns := range [][]*big.Int{nil, small[:1], small[:3], small[:4], small[:6], small[:8], small, odd, mixed, mixed[:5]} {
		testFermat(t, ns)
	}
	for _, bits := range []int{64, 512, 1023, 2048} {
		if (bits > 1023 || bits > 64 && useFour) && laneTwin && !long() {
			continue
		}
		var ns []*big.Int
		for range 5 {
			n := randBits(r, bits)
			ns = append(ns, n.SetBit(n, 0, 1).SetBit(n, bits-1, 1))
		}
		testFermat(t, append(ns, testModuli(r, bits)[:3]...))
	}
	// Too long for the kernel.
	testFermat(t, []*big.Int{mersenne(61), testModuli(r, 8400)[2], mersenne(89)})
}

func testFermat(t *testing.T, ns []*big.Int) {
	t.Helper()
	before := make([]string, len(ns))
	got, want := make([]bool, len(ns)), make([]bool, len(ns))
	for i, n := range ns {
		before[i] = n.String()
		got[i] = i%2 == 0
		want[i] = FermatBase2(n)
	}
	FermatLanes(ns, got)
	if !slices.Equal(got, want) {
		t.Errorf("%v: got %v, want %v", ns, got, want)
	}
	for i, n := range ns {
		if n.String() != before[i] {
			t.Errorf("%s changed", before[i])
		}
	}
}

func TestLaneUnit(t *testing.T) {
	r := newRand(t)
	for _, bits := range []int{64, 100, 464, 470, 480, 512, 514, 984, 990, 1023, 1024, 1034, 1536, 2047, 2048, 3072, 4096} {
		ns := testModuli(r, bits)
		low := new(big.Int).Sub(pow2(bits), pow2(bits-64)) // 64 ones, and then the least
		ns = append(ns, low.SetBit(low, 0, 1), new(big.Int).Add(pow2(bits-1), big.NewInt(1)))
		for j, n := range ns {
			m := newLaneModuli(laneCounts[j%2], laneBlocks(bits), laneBlocks(bits)*blockLimbs)
			z := m.number()
			j %= m.lanes
			m.setModulus(j, natFromBig(n, (bits+63)/64))
			m.setUnit(z, j, n)
			v := m.value(z, j)
			if v.Cmp(new(big.Int).Lsh(n, 1)) >= 0 {
				t.Fatalf("%x isn't below 2·%x", v, n)
			}
			want := pow2(m.blocks * blockBits)
			check(t, fmt.Sprintf("mod %x", n), v.Mod(v, n), want.Mod(want, n))
		}
	}
}

func TestExpShared(t *testing.T) { on(t, allKernels(), testExpShared) }

func testExpShared(t *testing.T) {
	r := newRand(t)
	for _, c := range []struct{ size, bits, bases, powers int }{
		{512, 0, 8, 2}, {512, 1, 8, 1}, {512, 4, 9, 2}, {700, 5, 3, 3}, {1024, 64, 8, 2}, {1024, 131, 17, 2}, {2048, 66, 7, 2}, {4096, 40, 8, 2}, {4096, 40, 4, 2}, {1024, 70, 14, 2},
		{512, 90, 1, 2}, {512, 90, 0, 2}, {512, 90, 8, 0}, {1024, 63, 1, 1},
	} {
		if c.size > 1024 && laneTwin && !long() {
			continue
		}
		n := testModuli(r, c.size)[0]
		m := mustModulus(t, n)
		values := testValues(r, n)
		var xs []*Element
		var bases []*big.Int
		for i := range c.bases {
			bases = append(bases, values[i%len(values)])
			xs = append(xs, mustElement(t, m, bases[i]))
		}
		zs, es := make([][]*Element, c.powers), make([][]Nat, c.powers)
		for k := range es {
			for i := range c.bases {
				e := randBits(r, c.bits+70*((i+k)%2))
				if i == 3 {
					e = new(big.Int).Sub(pow2(c.bits), one)
				}
				es[k], zs[k] = append(es[k], natOf(e, e.BitLen())), append(zs[k], m.NewElement())
			}
		}
		m.ExpShared(zs, xs, es, c.bits)
		for k := range es {
			for i := range c.bases {
				e := toBig(es[k][i])
				e.Mod(e, pow2(c.bits))
				check(t, fmt.Sprintf("%+v: base %d, power %d", c, i, k), m.BigVarTime(zs[k][i]), new(big.Int).Exp(bases[i], e, n))
			}
		}
	}
	m := mustModulus(t, big.NewInt(1000003))
	x := m.One()
	for i, f := range []func(){
		func() { m.ExpShared([][]*Element{{x}}, []*Element{x}, nil, 5) },
		func() { m.ExpShared([][]*Element{{x}}, []*Element{x}, [][]Nat{{}}, 5) },
		func() { m.ExpShared([][]*Element{{}}, []*Element{x}, [][]Nat{{{1}}}, 5) },
		func() { m.ExpShared([][]*Element{{x, x}}, []*Element{x}, [][]Nat{{{1}, {1}}}, 5) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("case %d: no panic", i)
				}
			}()
			f()
		}()
	}
}

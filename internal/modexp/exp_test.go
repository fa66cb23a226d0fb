// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"fmt"
	"math/big"
	"testing"
)

func TestExp(t *testing.T) { onKernels(t, testExp) }

func testExp(t *testing.T) {
	for _, bits := range testSizes {
		t.Run(fmt.Sprintf("bits=%d", bits), func(t *testing.T) {
			r := newRand(t)
			for _, n := range testModuli(r, bits) {
				x := randBelow(r, n)
				sizes := []int{0, 1, 2, 63, 64, 65, 130, 200, 300}
				if bits >= 1536 && !long() {
					sizes = []int{130}
				}
				for _, eb := range sizes {
					testPowers(t, n, x, randBits(r, eb), 300)
				}
			}
		})
	}
}

// testPowers compares every way to compute x^e mod n with math/big.
func testPowers(t *testing.T, n, x, e *big.Int, width int) {
	t.Helper()
	m := mustModulus(t, n)
	ex, z := mustElement(t, m, x), m.NewElement()
	en := natOf(e, max(width, e.BitLen()))
	want := new(big.Int).Exp(x, e, n)

	m.Exp(z, ex, en)
	check(t, "Exp", m.BigVarTime(z), want)
	m.ExpBits(z, ex, en, e.BitLen())
	check(t, "ExpBits", m.BigVarTime(z), want)
	m.ExpVarTime(z, ex, e)
	check(t, "ExpVarTime", m.BigVarTime(z), want)
	table := m.NewTable(ex, width, 2)
	table.Exp(z, en)
	check(t, "Table.Exp", m.BigVarTime(z), want)
	table.ExpVarTime(z, e)
	check(t, "Table.ExpVarTime", m.BigVarTime(z), want)
	check(t, "PowTwoMod", PowTwoMod(e, n), new(big.Int).Exp(big.NewInt(2), e, n))
}

func TestExpFullWidth(t *testing.T) { onKernels(t, testExpFullWidth) }

func testExpFullWidth(t *testing.T) {
	sizes := []int{1024, 1031, 2048}
	if long() {
		sizes = append(sizes, 3072, 4096, 8192)
	}
	for _, bits := range sizes {
		r := newRand(t)
		n := testModuli(r, bits)[0]
		x := randBelow(r, n)
		ones := new(big.Int).Sub(pow2(bits), big.NewInt(1))
		for _, e := range []*big.Int{randBits(r, bits), ones, pow2(bits - 1)} {
			testPowers(t, n, x, e, bits)
		}
	}
}

// A width is a bound for ExpBits: bits above it are left out.
func TestExpBitsBound(t *testing.T) {
	m := mustModulus(t, big.NewInt(1000003))
	x, z := mustElement(t, m, big.NewInt(2)), m.NewElement()
	e := Nat{0x1f, 1}
	for bits, want := range map[int]int64{-1: 1, 0: 1, 1: 2, 3: 128, 5: 1 << 31 % 1000003, 64: 1 << 31 % 1000003} {
		m.ExpBits(z, x, e, bits)
		check(t, fmt.Sprint("bits=", bits), m.BigVarTime(z), big.NewInt(want))
	}
	want := new(big.Int).Exp(big.NewInt(2), toBig(e), big.NewInt(1000003))
	m.ExpBits(z, x, e, 1000)
	check(t, "bits=1000", m.BigVarTime(z), want)
	m.Exp(z, x, nil)
	check(t, "no limbs", m.BigVarTime(z), big.NewInt(1))
}

func TestExpAliasing(t *testing.T) { onKernels(t, testExpAliasing) }

func testExpAliasing(t *testing.T) {
	r := newRand(t)
	n := testModuli(r, 1024)[0]
	m := mustModulus(t, n)
	x, y, e := randBelow(r, n), randBelow(r, n), randBits(r, 100)
	want := new(big.Int).Exp(x, e, n)
	for name, f := range map[string]func(z *Element){
		"Exp":        func(z *Element) { m.Exp(z, z, natOf(e, 128)) },
		"ExpVarTime": func(z *Element) { m.ExpVarTime(z, z, e) },
		"MultiExpVarTime": func(z *Element) {
			if err := m.MultiExpVarTime(z, []*Element{m.One(), z}, []*big.Int{e, e}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		z := mustElement(t, m, x)
		f(z)
		check(t, name, m.BigVarTime(z), want)
	}

	// z is x, y or both.
	mod := func(v *big.Int) *big.Int { return v.Mod(v, n) }
	ops := []struct {
		name string
		f    func(z, x, y *Element)
		want func(x, y *big.Int) *big.Int
	}{
		{"Mul", m.Mul, func(x, y *big.Int) *big.Int { return mod(new(big.Int).Mul(x, y)) }},
		{"Add", m.Add, func(x, y *big.Int) *big.Int { return mod(new(big.Int).Add(x, y)) }},
		{"Sub", m.Sub, func(x, y *big.Int) *big.Int { return mod(new(big.Int).Sub(x, y)) }},
	}
	for _, op := range ops {
		ex, ey := mustElement(t, m, x), mustElement(t, m, y)
		op.f(ex, ex, ey)
		check(t, op.name+" z=x", m.BigVarTime(ex), op.want(x, y))
		ex = mustElement(t, m, x)
		op.f(ey, ex, ey)
		check(t, op.name+" z=y", m.BigVarTime(ey), op.want(x, y))
		op.f(ex, ex, ex)
		check(t, op.name+" z=x=y", m.BigVarTime(ex), op.want(x, x))
	}
	ex := mustElement(t, m, x)
	m.Sqr(ex, ex)
	check(t, "Sqr", m.BigVarTime(ex), mod(new(big.Int).Mul(x, x)))
}

func TestMulAllocations(t *testing.T) {
	m := mustModulus(t, testModuli(newRand(t), 4096)[0])
	z := m.One()
	if n := testing.AllocsPerRun(10, func() { m.Mul(z, z, z); m.Sqr(z, z); m.Add(z, z, z) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestTableShapes(t *testing.T) {
	r := newRand(t)
	n := testModuli(r, 512)[0]
	m := mustModulus(t, n)
	x := randBelow(r, n)
	ex, z := mustElement(t, m, x), m.NewElement()
	for _, bits := range []int{0, 1, 64, 100, 512, 1024, 4600} {
		for _, uses := range []int{1, 2, 5, 100, 100000} {
			name := fmt.Sprintf("bits=%d uses=%d", bits, uses)
			table := m.NewTable(ex, bits, uses)
			sh := table.shape
			if sh.bits < bits || sh.cols*sh.teeth < sh.bits || sh.subs*sh.width < sh.cols ||
				sh.subs<<sh.teeth > maxTableEntries {
				t.Fatalf("%s: shape %+v", name, sh)
			}
			for _, e := range []*big.Int{
				new(big.Int), big.NewInt(1), randBits(r, bits), new(big.Int).Sub(pow2(sh.bits), big.NewInt(1)),
				pow2(sh.bits - 1),
				pow2(sh.bits), // too wide: served without the table
			} {
				want := new(big.Int).Exp(x, e, n)
				table.Exp(z, natOf(e, e.BitLen()))
				check(t, name+" Exp", m.BigVarTime(z), want)
				table.ExpVarTime(z, e)
				check(t, name+" ExpVarTime", m.BigVarTime(z), want)
			}
		}
	}
}

// A table keeps its own copy of the base.
func TestTableCopiesBase(t *testing.T) {
	m := mustModulus(t, big.NewInt(1000003))
	x := mustElement(t, m, big.NewInt(5))
	table := m.NewTable(x, 64, 2)
	x.Wipe()
	z := m.NewElement()
	for _, e := range []Nat{{3}, {3, 0}} {
		table.Exp(z, e)
		check(t, fmt.Sprint(e), m.BigVarTime(z), big.NewInt(125))
	}
}

func TestMultiExp(t *testing.T) { onKernels(t, testMultiExp) }

func testMultiExp(t *testing.T) {
	r := newRand(t)
	for _, c := range []struct{ count, bits, top int }{
		{0, 512, 0}, {1, 512, 300}, {2, 1024, 300}, {3, 21, 70}, {20, 513, 200}, {255, 512, 40},
	} {
		n := testModuli(r, c.bits)[0]
		m := mustModulus(t, n)
		want := big.NewInt(1)
		var xs []*Element
		var es []*big.Int
		for i := range c.count {
			x, e := randBelow(r, n), randBits(r, c.top/(1+i%3))
			if i%7 == 6 {
				e.SetInt64(0)
			}
			xs, es = append(xs, mustElement(t, m, x)), append(es, e)
			want.Mul(want, x.Exp(x, e, n)).Mod(want, n)
		}
		z := m.NewElement()
		if err := m.MultiExpVarTime(z, xs, es); err != nil {
			t.Fatal(err)
		}
		check(t, fmt.Sprintf("%+v", c), m.BigVarTime(z), want)
	}
}

func TestMultiExpErrors(t *testing.T) {
	m := mustModulus(t, big.NewInt(1000003))
	x, one := mustElement(t, m, big.NewInt(5)), big.NewInt(1)
	z := mustElement(t, m, big.NewInt(7))
	for name, c := range map[string]struct {
		xs []*Element
		es []*big.Int
	}{
		"more bases":     {[]*Element{x, x}, []*big.Int{one}},
		"more exponents": {[]*Element{x}, []*big.Int{one, one}},
		"negative":       {[]*Element{x, x}, []*big.Int{one, big.NewInt(-1)}},
		"nil":            {[]*Element{x}, []*big.Int{nil}},
	} {
		if err := m.MultiExpVarTime(z, c.xs, c.es); err == nil {
			t.Errorf("%s: no error", name)
		}
		check(t, name, m.BigVarTime(z), big.NewInt(7))
	}
}

func TestInverse(t *testing.T) {
	r := newRand(t)
	p := big.NewInt(1000003)
	n := new(big.Int).Mul(p, big.NewInt(999983))
	m := mustModulus(t, n)
	for range 100 {
		x := randBelow(r, n)
		ex := mustElement(t, m, x)
		z := m.NewElement()
		err := m.InverseVarTime(z, ex)
		if want := new(big.Int).ModInverse(x, n); want == nil {
			if err == nil {
				t.Fatalf("inverse of %v: no error", x)
			}
			continue
		} else if err != nil {
			t.Fatal(err)
		} else {
			check(t, "inverse", m.BigVarTime(z), want)
		}
		m.Mul(z, z, ex)
		if !m.Equal(z, m.One()) {
			t.Fatal("x·(1/x) is not 1")
		}
	}
	z := mustElement(t, m, big.NewInt(9))
	for _, x := range []*big.Int{new(big.Int), p, new(big.Int).Mul(p, big.NewInt(3))} {
		if err := m.InverseVarTime(z, mustElement(t, m, x)); err == nil {
			t.Errorf("inverse of %v: no error", x)
		}
	}
	check(t, "unchanged", m.BigVarTime(z), big.NewInt(9))
}

func TestFermatBase2(t *testing.T) { onKernels(t, testFermatBase2) }

func testFermatBase2(t *testing.T) {
	for _, n := range []int64{-7, 0, 1, 2, 3, 4, 9, 15, 21, 340, 1000001} {
		if FermatBase2(big.NewInt(n)) {
			t.Errorf("FermatBase2(%d) = true", n)
		}
	}
	// 341 and 561 are the smallest pseudoprimes to base 2.
	for _, n := range []int64{5, 7, 11, 341, 561, 1000003} {
		if !FermatBase2(big.NewInt(n)) {
			t.Errorf("FermatBase2(%d) = false", n)
		}
	}
	for _, k := range []int{521, 607, 1279, 2203} {
		p := new(big.Int).Sub(pow2(k), big.NewInt(1))
		if !FermatBase2(p) {
			t.Errorf("FermatBase2(2^%d-1) = false", k)
		}
		if FermatBase2(p.Sub(p, big.NewInt(4))) {
			t.Errorf("FermatBase2(2^%d-5) = true", k)
		}
	}
	// RFC 2409, section 6.2: a safe prime of 1024 bits.
	p, _ := new(big.Int).SetString("FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74"+
		"020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6"+
		"F44C42E9A637ED6B0BFF5CB6F406B7EDEE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF", 16)
	q := new(big.Int).Rsh(p, 1)
	if !FermatBase2(p) || !FermatBase2(q) {
		t.Error("the group of RFC 2409 fails")
	}
	check(t, "2^q mod p", PowTwoMod(q, p), big.NewInt(1))
}

func TestPowTwoModErrors(t *testing.T) {
	one, even := big.NewInt(1), big.NewInt(1000)
	for _, c := range [][2]*big.Int{{one, even}, {one, one}, {one, new(big.Int)}, {one, big.NewInt(-7)}, {big.NewInt(-1), big.NewInt(7)}} {
		if z := PowTwoMod(c[0], c[1]); z != nil {
			t.Errorf("PowTwoMod(%v, %v) = %v", c[0], c[1], z)
		}
	}
	check(t, "2^0 mod 7", PowTwoMod(new(big.Int), big.NewInt(7)), one)
}

// All inverses at once, or none.
func TestInvertVarTime(t *testing.T) {
	p, q := big.NewInt(1_000_003), big.NewInt(1_000_033)
	m := mustModulus(t, new(big.Int).Mul(p, q))
	for _, c := range []struct {
		xs []int64
		ok bool
	}{
		{nil, true},
		{[]int64{1}, true},
		{[]int64{2, 2, 7, 1_000_004}, true},
		{[]int64{0}, false},
		{[]int64{3, 1_000_003, 5}, false},
		{[]int64{1_000_033, 1_000_003}, false},
	} {
		var xs []*Element
		for _, x := range c.xs {
			xs = append(xs, mustElement(t, m, big.NewInt(x)))
		}
		if err := m.InvertVarTime(xs); (err == nil) != c.ok {
			t.Errorf("%v: %v", c.xs, err)
		}
		for i, x := range c.xs {
			want := big.NewInt(x)
			if c.ok {
				want.ModInverse(want, m.Big())
			}
			if got := m.BigVarTime(xs[i]); got.Cmp(want) != 0 {
				t.Errorf("%v, %d: %v, not %v", c.xs, i, got, want)
			}
		}
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A fixture is a batch of integers: an item is bad if its defect isn't zero.
// Weights modulo a prime stand for those of a verifier.
type fixture struct {
	t       *testing.T
	defects []uint64
	wary    []bool // items whose defect isn't zero though they are good: wrong hints
	sums    [][2]int
	confirm [][]int
}

const modulus = 1<<61 - 1

func newFixture(t *testing.T, n int, bad ...int) *fixture {
	f := &fixture{t: t, defects: make([]uint64, n), wary: make([]bool, n)}
	for _, i := range bad {
		f.defects[i] = 1 + rand.Uint64N(modulus-1)
	}
	return f
}

func (f *fixture) sum(lo, hi int) uint64 {
	if lo < 0 || hi <= lo || hi > len(f.defects) {
		f.t.Errorf("Sum(%d, %d) of %d", lo, hi, len(f.defects))
	}
	f.sums = append(f.sums, [2]int{lo, hi})
	var s uint64
	for _, d := range f.defects[lo:hi] {
		s = (s + d) % modulus
	}
	return s
}

func (f *fixture) bad() []int {
	var bad []int
	for i, d := range f.defects {
		if d != 0 && !f.wary[i] {
			bad = append(bad, i)
		}
	}
	return bad
}

func (f *fixture) problem() (Problem[uint64], uint64) {
	var total uint64
	for _, d := range f.defects {
		total = (total + d) % modulus
	}
	return Problem[uint64]{
		N:      len(f.defects),
		Sum:    f.sum,
		Sub:    func(a, b uint64) uint64 { return (a + modulus - b) % modulus },
		IsZero: func(x uint64) bool { return x == 0 },
		Confirm: func(items []int) (bad []int) {
			f.confirm = append(f.confirm, slices.Clone(items))
			for _, i := range items {
				if f.defects[i] != 0 && !f.wary[i] {
					bad = append(bad, i)
				}
			}
			return bad
		},
		Cost: func(n int) float64 { return 0.1 * float64(n) },
	}, total
}

// check runs Locate and compares all that must hold of every run.
func (f *fixture) check(p Problem[uint64], total uint64) Result {
	f.t.Helper()
	res := Locate(p, total)
	if want := f.bad(); !slices.Equal(res.Bad, want) {
		f.t.Errorf("bad %v, want %v", res.Bad, want)
	}
	if len(f.confirm) > 1 {
		f.t.Errorf("Confirm called %d times", len(f.confirm))
	}
	confirmed := 0
	for _, items := range f.confirm {
		confirmed += len(items)
		if !slices.IsSorted(items) || len(slices.Compact(slices.Clone(items))) != len(items) {
			f.t.Errorf("items to confirm aren't ascending: %v", items)
		}
	}
	cost := 0.0
	for _, s := range f.sums {
		cost += p.Cost(s[1] - s[0])
	}
	if confirmed != res.Confirmed || len(f.sums) != res.Sums || math.Abs(cost-res.Extra) > 1e-9*(1+cost) {
		f.t.Errorf("result says %d confirmed, %d sums, cost %v; seen %d, %d, %v",
			res.Confirmed, res.Sums, res.Extra, confirmed, len(f.sums), cost)
	}
	extra := p.MaxExtra
	if extra == 0 {
		extra = DefaultMaxExtra
	}
	if limit := math.Max(0, extra*float64(p.N)); cost > limit*(1+1e-9) {
		f.t.Errorf("sums cost %v, above %v", cost, limit)
	}
	return res
}

func TestLocateOne(t *testing.T) {
	for _, n := range []int{1, 2, 31, 32, 33, 63, 64, 65, 100, 1000, 1023, 1024, 1025} {
		for _, bad := range []int{0, n / 3, n / 2, n - 1} {
			t.Run(fmt.Sprintf("n=%d/bad=%d", n, bad), func(t *testing.T) {
				f := newFixture(t, n, bad)
				p, total := f.problem()
				res := f.check(p, total)
				if res.Confirmed > DefaultLeaf {
					t.Errorf("%d items confirmed for one that is bad", res.Confirmed)
				}
			})
		}
	}
}

// One bad item takes one evaluation a generation, of a left half each.
func TestLocateCountsOne(t *testing.T) {
	f := newFixture(t, 1024, 1023)
	p, total := f.problem()
	res := f.check(p, total)
	want := [][2]int{{0, 512}, {512, 768}, {768, 896}, {896, 960}, {960, 992}}
	if !slices.Equal(f.sums, want) {
		t.Errorf("sums %v, want %v", f.sums, want)
	}
	if res.Confirmed != 32 {
		t.Errorf("%d confirmed, want 32", res.Confirmed)
	}
	if want := 0.1 * (512 + 256 + 128 + 64 + 32); math.Abs(res.Extra-want) > 1e-9 {
		t.Errorf("extra %v, want %v", res.Extra, want)
	}
}

// Without a difference of sums only right halves of bad left halves cost more.
func TestLocateWithoutSub(t *testing.T) {
	for _, c := range []struct {
		bad  []int
		sums [][2]int
	}{
		{[]int{255}, [][2]int{{0, 128}, {128, 192}, {192, 224}}},
		{[]int{0}, [][2]int{{0, 128}, {128, 256}, {0, 64}, {64, 128}, {0, 32}, {32, 64}}},
	} {
		f := newFixture(t, 256, c.bad...)
		p, total := f.problem()
		p.Sub, p.MaxExtra = nil, 1
		f.check(p, total)
		if !slices.Equal(f.sums, c.sums) {
			t.Errorf("bad %v: sums %v, want %v", c.bad, f.sums, c.sums)
		}
	}
}

// When the budget ends between a left half and its right one, the latter is
// confirmed unseen.
func TestLocateBudgetEndsBetweenHalves(t *testing.T) {
	f := newFixture(t, 256, 0)
	p, total := f.problem()
	p.Sub, p.MaxExtra = nil, 0.06 // of 256: enough for one half, at 12.8
	if res := f.check(p, total); res.Confirmed != 256 || res.Sums != 1 {
		t.Errorf("%d confirmed after %d sums, want 256 after 1", res.Confirmed, res.Sums)
	}
}

func TestLocateNothing(t *testing.T) {
	f := newFixture(t, 100)
	p, total := f.problem()
	if res := f.check(p, total); res.Sums != 0 || res.Confirmed != 0 {
		t.Errorf("a good batch took %d sums, and %d confirmations", res.Sums, res.Confirmed)
	}
	for _, n := range []int{0, -1} {
		p.N = n
		if res := Locate(p, 1); res.Bad != nil || res.Sums != 0 || res.Confirmed != 0 {
			t.Errorf("N = %d: %+v", n, res)
		}
	}
}

// All bad, every second one, one in each leaf: the cost stays within one by one
// and the bound.
func TestLocateManyBad(t *testing.T) {
	const n = 4096
	for name, step := range map[string]int{"all": 1, "second": 2, "leaf": 32, "spread": 256} {
		t.Run(name, func(t *testing.T) {
			var bad []int
			for i := 0; i < n; i += step {
				bad = append(bad, i)
			}
			f := newFixture(t, n, bad...)
			p, total := f.problem()
			res := f.check(p, total)
			if cost := res.Extra + float64(res.Confirmed); cost > (1+DefaultMaxExtra)*n {
				t.Errorf("costs %v of one by one", cost/n)
			}
			if step == 1 && res.Confirmed != n {
				t.Errorf("%d confirmed of %d bad", res.Confirmed, n)
			}
		})
	}
}

// Few bad items cost less than one by one, whatever their places.
func TestLocateFewBad(t *testing.T) {
	const n = 4096
	rng := rand.New(rand.NewPCG(1, 2))
	for k := 1; k <= 3; k++ {
		for range 50 {
			f := newFixture(t, n, rng.Perm(n)[:k]...)
			p, total := f.problem()
			res := f.check(p, total)
			// Each of k bad ones costs at most a path, and the leaf at its end.
			if res.Confirmed > k*n/8 {
				t.Errorf("%d bad: %d confirmed", k, res.Confirmed)
			}
		}
	}
}

// Sums that cancel in a half must not hide bad items in the other one. (Those
// that cancel within a half are what weights are for.)
func TestLocateAcrossHalves(t *testing.T) {
	f := newFixture(t, 128, 3, 70)
	f.defects[70] = f.defects[3]
	p, total := f.problem()
	f.check(p, total)
}

// Good items whose sum isn't zero, like those with a wrong hint, are confirmed
// and found good.
func TestLocateWrongHints(t *testing.T) {
	const n = 2048
	rng := rand.New(rand.NewPCG(3, 4))
	for _, k := range []int{1, 3, 100, n} {
		f := newFixture(t, n, rng.Perm(n)[:k]...)
		for i := range f.wary {
			f.wary[i] = f.defects[i] != 0 && i%2 == 0
		}
		p, total := f.problem()
		f.check(p, total)
	}
}

// A test that refuses all sums costs time, not verdicts.
func TestLocateRefuseAll(t *testing.T) {
	f := newFixture(t, 1000, 7)
	p, total := f.problem()
	p.IsZero = func(uint64) bool { return false }
	if res := f.check(p, total); res.Confirmed != 1000 {
		t.Errorf("%d confirmed, want all", res.Confirmed)
	}
}

// A test that refuses healthy sums at random never makes a verdict wrong.
func TestLocateRefuseSome(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		n := 1 + rng.IntN(600)
		f := newFixture(t, n, rng.Perm(n)[:1+rng.IntN(min(n, 5))]...)
		p, total := f.problem()
		p.IsZero = func(x uint64) bool { return x == 0 && rng.IntN(3) > 0 }
		if rng.IntN(2) == 0 {
			p.Sub = nil
		}
		p.MaxExtra = rng.Float64()
		p.Leaf = 1 + rng.IntN(40)
		f.check(p, total)
	}
}

// Costs that make no sense, or make bisecting senseless, end it.
func TestLocateCosts(t *testing.T) {
	for name, cost := range map[string]func(int) float64{
		"nan":      func(int) float64 { return math.NaN() },
		"infinite": func(int) float64 { return math.Inf(1) },
		"negative": func(int) float64 { return -1 },
		"equal":    func(n int) float64 { return float64(n) },
		"dear":     func(n int) float64 { return 2 * float64(n) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, 500, 3)
			p, total := f.problem()
			p.Cost, p.MaxExtra = cost, 1e9
			if res := f.check(p, total); res.Sums != 0 || res.Confirmed != 500 {
				t.Errorf("%d sums, %d confirmed, want 0 and 500", res.Sums, res.Confirmed)
			}
		})
	}
}

func TestLocateNoExtra(t *testing.T) {
	f := newFixture(t, 500, 3)
	p, total := f.problem()
	p.MaxExtra = -1
	if res := f.check(p, total); res.Sums != 0 || res.Confirmed != 500 {
		t.Errorf("%d sums, %d confirmed, want 0 and 500", res.Sums, res.Confirmed)
	}
}

// With a fixed part in the price of a sum, small ranges aren't evaluated.
func TestLocateFixedCost(t *testing.T) {
	f := newFixture(t, 1024, 0)
	p, total := f.problem()
	p.Leaf, p.MaxExtra = 1, 1
	p.Cost = func(n int) float64 { return 20 + 0.1*float64(n) }
	f.check(p, total)
	for _, s := range f.sums {
		if n := s[1] - s[0]; p.Cost(n) >= float64(n) {
			t.Errorf("a sum of %d items cost more than their confirmation", n)
		}
	}
	if len(f.sums) == 0 {
		t.Error("no sums")
	}
}

func FuzzLocate(f *testing.F) {
	f.Add(uint16(100), uint64(1), uint8(3), uint8(32), uint8(15), true)
	f.Add(uint16(1), uint64(2), uint8(1), uint8(0), uint8(0), false)
	f.Fuzz(func(t *testing.T, n uint16, seed uint64, k, leaf, extra uint8, sub bool) {
		n = n%2000 + 1
		rng := rand.New(rand.NewPCG(seed, 0))
		fx := newFixture(t, int(n), rng.Perm(int(n))[:min(int(k), int(n))]...)
		for i := range fx.wary {
			fx.wary[i] = rng.IntN(4) == 0
		}
		p, total := fx.problem()
		p.Leaf, p.MaxExtra = int(leaf), float64(extra)/100
		if !sub {
			p.Sub = nil
		}
		if total != 0 || len(fx.bad()) == 0 {
			fx.check(p, total)
		}
	})
}

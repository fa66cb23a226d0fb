// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"
)

func testTable(t testing.TB, bound uint32) *primeTable {
	t.Helper()
	table, err := newPrimeTable(context.Background(), bound)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// primes lists the table.
func (t *primeTable) primes() []uint32 {
	var ps []uint32
	p := uint32(3)
	for _, g := range t.gaps {
		p += 2 * uint32(g)
		ps = append(ps, p)
	}
	return ps
}

func TestPrimeTable(t *testing.T) {
	// Around segment borders (multiples of 2^16), squares and tiny bounds.
	bounds := []uint32{5, 6, 7, 8, 12, 13, 16, 17, 25, 288, 289, 290, 361, 65535, 65536, 65537, 65538, 131071, 131072, 131073,
		257 * 257, 257*257 - 1, 1 << 20, 1<<20 + 7}
	for b := uint32(5); b < 400; b++ {
		bounds = append(bounds, b)
	}
	all := smallPrimes(1<<20 + 8)[1:]
	for _, bound := range bounds {
		n, _ := slices.BinarySearch(all, bound+1)
		table := testTable(t, bound)
		if got := table.primes(); !slices.Equal(got, all[:n]) {
			t.Errorf("bound %d: %d primes, want %d", bound, len(got), n)
		}
		if limit := primeCountBound(bound); len(table.gaps) > limit {
			t.Errorf("bound %d: %d primes, above the bound %d", bound, len(table.gaps), limit)
		}
	}
	// pi(2^24) and pi(2^26), less the primes 2 and 3.
	if got := len(testTable(t, 1<<24).gaps); got != 1077871-2 {
		t.Errorf("%d primes from 5 to 2^24, want %d", got, 1077871-2)
	}
	if got := len(testTable(t, 1<<26).gaps); got != 3957809-2 {
		t.Errorf("%d primes from 5 to 2^26, want %d", got, 3957809-2)
	}
}

func TestPrimeTableCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newPrimeTable(ctx, 1<<20); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestResidues(t *testing.T) {
	primes := testTable(t, 1<<27).primes() // the largest bound in use
	groups := [][8]uint32{
		{5, 7, 11, 13, 17, 19, 23, 29}, {4057, 4073, 4079, 4091, 4093, 4099, 4111, 4127}, [8]uint32(primes[len(primes)-8:]),
	}
	for i := 0; i+8 < len(primes); i += 1 + len(primes)/3000*(1+i%3) {
		groups = append(groups, [8]uint32(primes[i:]))
	}
	one := big.NewInt(1)
	for _, bits := range []uint{1, 12, 63, 64, 65, 128, 500, 1021, 1024, 2045, 4093} {
		top := new(big.Int).Lsh(one, bits)
		x, err := rand.Int(rand.Reader, top)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []*big.Int{x, new(big.Int).Sub(top, one), top, new(big.Int), one} {
			ls := limbs(x)
			for _, ps := range groups {
				g := primeGroup{p: ps}
				g.reduce(ls)
				for i, p := range ps {
					want := uint32(new(big.Int).Mod(x, big.NewInt(int64(p))).Uint64())
					if g.r[i] != want {
						t.Fatalf("%x mod %d = %d, want %d", x, p, g.r[i], want)
					}
					if got := residue(ls, p); got != want {
						t.Fatalf("%x mod %d = %d by residue, want %d", x, p, got, want)
					}
				}
			}
		}
	}
	// Multiples, and their neighbours, of both primes of a pair.
	for _, ps := range groups {
		x := new(big.Int).Lsh(one, 1000)
		m := new(big.Int).SetUint64(uint64(ps[0]) * uint64(ps[1]))
		x.Mul(x, m)
		for d := range int64(5) {
			g := primeGroup{p: ps}
			y := new(big.Int).Add(x, big.NewInt(d-2))
			g.reduce(limbs(y))
			for i, p := range ps {
				if want := uint32(new(big.Int).Mod(y, big.NewInt(int64(p))).Uint64()); g.r[i] != want {
					t.Fatalf("%x mod %d = %d, want %d", y, p, g.r[i], want)
				}
			}
		}
	}
}

func TestMod(t *testing.T) {
	for _, p := range []uint32{5, 4093, 4099, 65537, 1<<28 - 57, 1<<30 - 35} {
		top := uint64(1<<63-1) / uint64(p) * uint64(p)
		for _, base := range []uint64{0, uint64(p), 1 << 52, 1 << 53 / uint64(p) * uint64(p), 1 << 62 / uint64(p) * uint64(p), top} {
			for d := uint64(0); d < 5; d++ {
				for _, x := range []uint64{base + d, base - d} {
					if x < 1<<63 && mod(x, p) != uint32(x%uint64(p)) {
						t.Errorf("mod(%d, %d) = %d, want %d", x, p, mod(x, p), x%uint64(p))
					}
				}
			}
		}
	}
}

// TestWindow compares windows with trial division of every candidate.
func TestWindow(t *testing.T) {
	for _, tt := range []struct {
		bits, width int
		bound       uint32
	}{
		{32, 512, 1 << 10},
		{64, 1024, 1 << 12},
		{128, 2048, 1000},
		{200, 256, 1 << 16},
		{1024, 4096, 5000},
		{1024, 64, 1 << 15},
		{2048, 2048, 1 << 12},
	} {
		t.Run(fmt.Sprintf("bits=%d/width=%d/bound=%d", tt.bits, tt.width, tt.bound), func(t *testing.T) {
			pr := paramsFor(tt.bits)
			pr.bound, pr.width = tt.bound, tt.width
			table := testTable(t, tt.bound)
			w := newWindow(pr, table)
			primes := table.primes()
			for range 3 {
				if err := w.draw(t.Context()); err != nil {
					t.Fatal(err)
				}
				left := make(map[uint32]bool)
				for _, k := range w.survivors {
					left[k] = true
				}
				var q, p, r big.Int
				for k := range uint32(tt.width) {
					w.candidate(&q, k)
					p.Lsh(&q, 1).Add(&p, one)
					var divisor uint32
					for _, s := range primes {
						m := big.NewInt(int64(s))
						if r.Mod(&q, m).Sign() == 0 || r.Mod(&p, m).Sign() == 0 {
							divisor = s
							break
						}
					}
					if left[k] && divisor != 0 {
						t.Errorf("candidate %d of start %v survived, but %d divides it", k, w.start, divisor)
					}
					if !left[k] && divisor == 0 {
						t.Errorf("candidate %d of start %v was struck, but no prime divides it", k, w.start)
					}
				}
			}
		})
	}
}

// TestWindowCoversAll sieves all candidates of a size: no safe prime may be
// lost, and each must be among those Find can return.
func TestWindowCoversAll(t *testing.T) {
	for _, bits := range []int{16, 18, 20} {
		var want []int64
		for p := int64(3) << (bits - 2); p < 1<<bits; p++ {
			if big.NewInt(p).ProbablyPrime(0) && big.NewInt(p/2).ProbablyPrime(0) {
				want = append(want, p)
			}
		}
		if bits == 16 && len(want) != 87 {
			t.Errorf("%d safe primes of 16 bits, want 87", len(want))
		}
		pr := paramsFor(bits)
		w := newWindow(pr, testTable(t, pr.bound))
		var got []int64
		end := new(big.Int).Add(pr.min, pr.span)
		for x := new(big.Int).Set(pr.min); x.Cmp(end) < 0; x = new(big.Int).Add(x, big.NewInt(int64(pr.width))) {
			if err := w.sieve(t.Context(), x); err != nil {
				t.Fatal(err)
			}
			for _, k := range w.survivors {
				var q big.Int
				w.candidate(&q, k)
				p := 2*q.Int64() + 1
				if q.ProbablyPrime(0) && big.NewInt(p).ProbablyPrime(0) && p < 1<<bits {
					got = append(got, p)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d bits: windows contain %d safe primes, want %d\n%v\n%v", bits, len(got), len(want), got, want)
		}
	}
}

// TestParams checks that no window leaves the range of its size, and that a
// candidate is never a sieving prime.
func TestParams(t *testing.T) {
	for bits := MinBits; bits <= MaxBits; bits += 2 {
		pr := paramsFor(bits)
		lo := new(big.Int).Lsh(big.NewInt(3), uint(bits-2))
		hi := new(big.Int).Lsh(big.NewInt(1), uint(bits))
		value := func(x *big.Int) *big.Int { // 12x+11
			p := new(big.Int).Mul(x, big.NewInt(12))
			return p.Add(p, big.NewInt(11))
		}
		first, last := pr.min, new(big.Int).Add(pr.min, pr.span)
		before := new(big.Int).Sub(first, one)
		if value(before).Cmp(lo) >= 0 || value(first).Cmp(lo) < 0 || value(last).Cmp(hi) < 0 || value(last.Sub(last, one)).Cmp(hi) >= 0 {
			t.Errorf("%d bits: x from %v to %v don't give all p from %v to %v", bits, first, last, lo, hi)
		}
		if q := new(big.Int).Rsh(lo, 1); q.Cmp(big.NewInt(int64(pr.bound))) <= 0 {
			t.Errorf("%d bits: candidates below the bound %d", bits, pr.bound)
		}
		if pr.width%64 != 0 || pr.width < 64 || pr.span.Cmp(big.NewInt(4*int64(pr.width))) < 0 {
			t.Errorf("%d bits: window of %d among %v", bits, pr.width, pr.span)
		}
		if pr.bound > 1<<28 {
			t.Errorf("%d bits: bound %d", bits, pr.bound)
		}
	}
}

func TestWindowNext(t *testing.T) {
	pr := paramsFor(64)
	pr.width = 4096
	w := newWindow(pr, testTable(t, 1<<10))
	if err := w.draw(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := len(w.survivors)
	seen := make(map[string]bool)
	var q, last big.Int
	ascending := true
	for w.next(&q) {
		seen[q.String()] = true
		ascending = ascending && q.Cmp(&last) > 0
		last.Set(&q)
	}
	if len(seen) != want || want < 100 {
		t.Errorf("next handed out %d different candidates, want %d", len(seen), want)
	}
	if ascending {
		t.Error("candidates came in ascending order")
	}
}

func TestWindowCancel(t *testing.T) {
	pr := paramsFor(1024)
	w := newWindow(pr, testTable(t, 1<<16))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.draw(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

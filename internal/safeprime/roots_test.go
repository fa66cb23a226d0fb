// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// The kernel and its twin on small and large primes, and on numbers of zeros and
// ones.
func TestRoots(t *testing.T) {
	table := testTable(t, rootsBound)
	var primes []uint64
	p := uint64(3)
	for _, g := range table.gaps {
		p += 2 * uint64(g)
		primes = append(primes, p)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var numbers []*big.Int
	for _, bits := range []uint{1, 23, 24, 25, 480, 1020, 2045} {
		ones := new(big.Int).Lsh(one, bits)
		numbers = append(numbers, ones, new(big.Int).Sub(ones, one))
		x := new(big.Int)
		for range bits {
			x.Lsh(x, 1).Add(x, big.NewInt(r.Int64N(2)))
		}
		numbers = append(numbers, x)
	}
	numbers = append(numbers, new(big.Int))
	starts := []int{0, 1, 200, len(primes) / 2, len(primes) - rootsLen}
	for range 40 {
		starts = append(starts, r.IntN(len(primes)-rootsLen))
	}
	for _, x := range numbers {
		for _, from := range starts {
			d := cut(x, digitBits(uint32(primes[from+rootsLen-1])))
			var g, h rootGroup
			copy(g.p[:], primes[from:])
			h.p = g.p
			width := 1 << r.IntN(21)
			got, want := g.find(d, width), h.findGeneric(d, width)
			if got != want || g != h {
				t.Fatalf("x = %v, primes from %d on, width %d:\n got %x %v\nwant %x %v", x, primes[from], width, got, g.root, want, h.root)
			}
			for i, p := range g.p {
				k := new(big.Int).SetUint64(g.root[i])
				k.Add(k, x).Mul(k, big.NewInt(6)).Add(k, big.NewInt(5))
				l := new(big.Int).SetUint64(g.root[rootsLen+i])
				l.Add(l, x).Mul(l, big.NewInt(12)).Add(l, big.NewInt(11))
				m := new(big.Int).SetUint64(p)
				if k.Mod(k, m).Sign() != 0 || l.Mod(l, m).Sign() != 0 || g.root[i] >= p || g.root[rootsLen+i] >= p {
					t.Fatalf("x = %v, p = %d: no multiples at %d, %d", x, p, g.root[i], g.root[rootsLen+i])
				}
			}
		}
	}
}

// A window is the same with groups of primes and without.
func TestStrikeGroups(t *testing.T) {
	for _, bits := range []int{128, 512, 1024} {
		pr := paramsFor(bits)
		w := newWindow(pr, testTable(t, pr.bound))
		if err := w.draw(t.Context()); err != nil {
			t.Fatal(err)
		}
		struck := slices.Clone(w.struck)
		clear(w.struck)
		p, gaps, err := w.strikeRanges(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(gaps) >= rootsLen {
			t.Errorf("%d bits: %d primes left from %d on", bits, len(gaps), p)
		}
		x := limbs(w.start)
		for _, g := range gaps {
			p += 2 * uint32(g)
			w.strike(p, residue(x, p))
		}
		if !slices.Equal(struck, w.struck) {
			t.Errorf("%d bits: other survivors", bits)
		}
	}
}

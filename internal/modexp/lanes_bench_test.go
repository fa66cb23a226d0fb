// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"fmt"
	"math/big"
	"testing"
	"time"
)

func BenchmarkWide(b *testing.B) {
	for _, bits := range []int{1536, 2048, 2560, 3072, 3584, 4096} {
		n, x, _ := benchModulus(b, bits)
		m := mustModulus(b, n)
		ex, z := mustElement(b, m, x), m.NewElement()
		t := make([]uint64, 2*len(m.n))
		b.Run(fmt.Sprintf("bits=%d", bits), func(b *testing.B) {
			f := func() { m.mul(z.l, ex.l, ex.l, t) }
			for b.Loop() {
				f()
			}
			c := cyclesPer(f)
			limbs := len(m.n) * 10 / 8
			b.ReportMetric(c, "cycles")
			b.ReportMetric(c/float64(4*limbs*((limbs+7)/8)), "cycles/multiplication")
		})
	}
}

// cyclesPer measures f in cycles of the core: the least of many short runs,
// against a chain of multiplications of three cycles each.
func cyclesPer(f func()) float64 {
	const chain = 1 << 16
	ghz := 0.0
	x := uint64(3)
	for range 50 {
		start := time.Now()
		for range chain {
			x *= x
		}
		ghz = max(ghz, 3*chain/float64(time.Since(start).Nanoseconds()))
	}
	sink = x
	best := time.Duration(1 << 60)
	for range 400 {
		start := time.Now()
		for range 20 {
			f()
		}
		best = min(best, time.Since(start))
	}
	return float64(best.Nanoseconds()) / 20 * ghz
}

var sink uint64

func BenchmarkLanes(b *testing.B) {
	for _, lanes := range []int{4, 8} {
		for _, bits := range []int{1024, 1536, 2048, 3072, 4096} {
			benchmarkLanes(b, lanes, bits)
		}
	}
}

func benchmarkLanes(b *testing.B, lanes, bits int) {
	n, x, _ := benchModulus(b, bits)
	m := newLaneModuli(lanes, laneBlocks(bits), 2*laneBlocks(bits)*blockLimbs)
	lx, z := m.number(), m.number()
	w := make([]uint64, (bits+63)/64)
	for j := range lanes {
		setBig(w, n)
		m.setModulus(j, w)
		setBig(w, x)
		m.toLane(lx, j, w)
	}
	l := m.limbs
	for _, op := range []struct {
		name  string
		floor int // vector multiplications
		f     func()
	}{
		{"mul", 4 * l * l, func() { m.mul(z, lx, lx) }},
		{"sqr", 3*l*l + l, func() { m.sqr(z, lx, m.zero, 0) }},
	} {
		b.Run(fmt.Sprintf("op=%s/lanes=%d/bits=%d", op.name, lanes, bits), func(b *testing.B) {
			for b.Loop() {
				op.f()
			}
			c := cyclesPer(op.f)
			b.ReportMetric(c, "cycles")
			b.ReportMetric(c/float64(op.floor), "cycles/multiplication")
		})
	}
}

// One power, four and eight at once, and pairs of powers of as many bases: what
// lanesPay is made from.
func BenchmarkExpLanes(b *testing.B) {
	for _, bits := range []int{512, 1024, 1536, 2048, 3072, 4096} {
		n, x, e := benchModulus(b, bits)
		m := mustModulus(b, n)
		var zs, xs []*Element
		var ms []*Modulus
		var es []Nat
		for range Lanes {
			zs, xs, ms, es = append(zs, m.NewElement()), append(xs, mustElement(b, m, x)), append(ms, m), append(es, natOf(e, bits))
		}
		pairs, pairExps := [][]*Element{zs, zs}, [][]Nat{es, es}
		names := []string{"ms/1", "ms/4", "ms/8", "ms/1-pair", "ms/4-pairs", "ms/8-pairs"}
		ops := []func(){
			func() { m.Exp(zs[0], xs[0], es[0]) },
			func() { expLanes(4, zs[:4], xs[:4], ms[:4], es[:4], bits) },
			func() { expLanes(8, zs, xs, ms, es, bits) },
			func() {
				table := m.NewTable(xs[0], bits, 2)
				table.Exp(zs[0], es[0])
				table.Exp(zs[0], es[0])
			},
			func() { m.expShared(4, pairs, xs, pairExps, 0, 4, bits) },
			func() { m.expShared(8, pairs, xs, pairExps, 0, 8, bits) },
		}
		b.Run(fmt.Sprintf("bits=%d", bits), func(b *testing.B) {
			best := make([]time.Duration, len(ops))
			for b.Loop() {
				for i, f := range ops {
					start := time.Now()
					f()
					if d := time.Since(start); best[i] == 0 || d < best[i] {
						best[i] = d
					}
				}
			}
			for i, d := range best {
				b.ReportMetric(d.Seconds()*1e3, names[i])
			}
		})
	}
}

func BenchmarkFermatLanes(b *testing.B) {
	for _, bits := range []int{1024, 1536, 2048} {
		n, _, _ := benchModulus(b, bits)
		ns := []*big.Int{n, n, n, n, n, n, n, n}
		ok := make([]bool, Lanes)
		b.Run(fmt.Sprintf("bits=%d", bits), func(b *testing.B) {
			best := time.Duration(1 << 60)
			for b.Loop() {
				start := time.Now()
				FermatLanes(ns, ok)
				best = min(best, time.Since(start))
			}
			b.ReportMetric(best.Seconds()*1e6/Lanes, "us/number")
		})
	}
}

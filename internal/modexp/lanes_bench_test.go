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
	for _, bits := range []int{1024, 1536, 2048, 3072, 4096} {
		n, x, _ := benchModulus(b, bits)
		m := newLaneModuli(laneBlocks(bits), 2*laneBlocks(bits)*blockLimbs)
		lx, z := m.number(), m.number()
		w := make([]uint64, (bits+63)/64)
		for j := range Lanes {
			setBig(w, n)
			m.setModulus(j, w)
			setBig(w, x)
			toLane(lx, j, w)
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
			b.Run(fmt.Sprintf("op=%s/bits=%d", op.name, bits), func(b *testing.B) {
				for b.Loop() {
					op.f()
				}
				c := cyclesPer(op.f)
				b.ReportMetric(c, "cycles")
				b.ReportMetric(c/float64(op.floor), "cycles/multiplication")
			})
		}
	}
}

func BenchmarkExpLanes(b *testing.B) {
	for _, bits := range []int{1024, 1536, 2048, 3072, 4096} {
		n, x, e := benchModulus(b, bits)
		m := mustModulus(b, n)
		var zs, xs []*Element
		var ms []*Modulus
		var es []Nat
		for range Lanes {
			zs, xs, ms, es = append(zs, m.NewElement()), append(xs, mustElement(b, m, x)), append(ms, m), append(es, natOf(e, bits))
		}
		b.Run(fmt.Sprintf("bits=%d", bits), func(b *testing.B) {
			best := time.Duration(1 << 60)
			single := best
			for b.Loop() {
				start := time.Now()
				ExpLanes(zs, xs, ms, es, bits)
				best = min(best, time.Since(start))
				start = time.Now()
				m.Exp(zs[0], xs[0], es[0])
				single = min(single, time.Since(start))
			}
			b.ReportMetric(best.Seconds()*1e3/Lanes, "ms/power")
			b.ReportMetric(single.Seconds()*1e3, "ms/single")
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

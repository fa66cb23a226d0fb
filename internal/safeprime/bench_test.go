// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"fmt"
	"math/big"
	"sync/atomic"
	"testing"
	"time"

	"github.com/undersign/undersign/internal/cputime"
)

// A clock measures processor time, which depends less on what else the machine
// does.
type clock struct{ start time.Duration }

func startClock() clock {
	return clock{cputime.Process()}
}

// report adds the processor time for each of n things.
func (c clock) report(b *testing.B, n float64, unit string) float64 {
	if !cputime.Known {
		return 0
	}
	s := (cputime.Process() - c.start).Seconds() / n
	b.ReportMetric(s*1e6, "cpu-us/"+unit)
	return s
}

func BenchmarkFind(b *testing.B) {
	for _, bits := range []int{512, 1024} {
		b.Run(fmt.Sprintf("bits=%d", bits), func(b *testing.B) {
			c := startClock()
			for b.Loop() {
				if _, err := Find(b.Context(), bits, 1, nil); err != nil {
					b.Fatal(err)
				}
			}
			c.report(b, float64(b.N), "prime")
		})
	}
}

// BenchmarkCandidate measures a candidate with its share of the tests that
// follow the first, and gives the mean of the tests for one prime.
func BenchmarkCandidate(b *testing.B) {
	for _, bits := range []int{1024, 1536, 2048} {
		b.Run(fmt.Sprintf("bits=%d", bits), func(b *testing.B) {
			pr := paramsFor(bits)
			w := newWindow(pr, testTable(b, pr.bound))
			if err := w.draw(b.Context()); err != nil {
				b.Fatal(err)
			}
			k := kernelFor(bits)
			ts := newTester(k)
			var tested atomic.Uint64
			all := append([]uint32(nil), w.survivors...)
			c := startClock()
			for b.Loop() {
				if len(w.survivors) < 16*k.lanes {
					w.survivors = append(w.survivors[:0], all...)
				}
				n := 0
				ts.search(b.Context(), func(q *big.Int) bool {
					n++
					return n <= 16*k.lanes && w.next(q)
				}, &tested)
			}
			b.ReportMetric(pr.meanCandidates(), "candidates/prime")
			b.ReportMetric(c.report(b, float64(tested.Load()), "candidate")*pr.meanCandidates(), "cpu-s/prime")
		})
	}
}

func BenchmarkWindow(b *testing.B) {
	for _, bits := range []int{1024, 1536, 2048} {
		b.Run(fmt.Sprintf("bits=%d", bits), func(b *testing.B) {
			pr := paramsFor(bits)
			table := testTable(b, pr.bound)
			w := newWindow(pr, table)
			c := startClock()
			for b.Loop() {
				if err := w.draw(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			c.report(b, float64(b.N), "window")
			c.report(b, float64(b.N)*float64(len(table.gaps))/1e3, "1000-primes")
		})
	}
}

func BenchmarkReduce(b *testing.B) {
	for _, bits := range []int{1024, 2048} {
		b.Run(fmt.Sprintf("bits=%d", bits), func(b *testing.B) {
			x := limbs(paramsFor(bits).min)
			g := primeGroup{p: [8]uint32{16777213, 16777199, 16777183, 16777153, 16777141, 16777139, 16777127, 16777121}}
			c := startClock()
			for b.Loop() {
				g.reduce(x)
			}
			c.report(b, float64(b.N)*float64(len(g.p))/1e3, "1000-primes")
		})
	}
}

func BenchmarkPrimeTable(b *testing.B) {
	for _, log := range []int{22, 24, 26} {
		b.Run(fmt.Sprintf("bound=2^%d", log), func(b *testing.B) {
			c := startClock()
			for b.Loop() {
				testTable(b, 1<<log)
			}
			c.report(b, float64(b.N), "table")
		})
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"runtime"
	"testing"
	"time"

	"github.com/undersign/undersign/internal/cputime"
)

func benchTiers(b *testing.B, f func(b *testing.B)) {
	for _, name := range Tiers() {
		b.Run("tier="+name, func(b *testing.B) {
			defer ForceTier(name)()
			f(b)
		})
	}
}

func BenchmarkMul(b *testing.B) {
	benchTiers(b, func(b *testing.B) {
		x, y := randPoint(newRand(b)).X, feRR
		for b.Loop() {
			x.Mul(&x, &y) // each waits for the one before
		}
	})
}

func BenchmarkMulThroughput(b *testing.B) {
	benchTiers(b, func(b *testing.B) {
		p := randPoint(newRand(b))
		var z [4]Element
		n := 0
		for b.Loop() {
			z[n&3].Mul(&p.X, &p.Y)
			n++
		}
	})
}

func BenchmarkSqr(b *testing.B) {
	benchTiers(b, func(b *testing.B) {
		x := randPoint(newRand(b)).X
		for b.Loop() {
			x.Sqr(&x)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	p := randPoint(newRand(b))
	for b.Loop() {
		p.X.Add(&p.X, &p.Y)
	}
}

func BenchmarkSub(b *testing.B) {
	p := randPoint(newRand(b))
	for b.Loop() {
		p.X.Sub(&p.X, &p.Y)
	}
}

func BenchmarkInv(b *testing.B) {
	benchTiers(b, func(b *testing.B) {
		x := randPoint(newRand(b)).X
		for b.Loop() {
			x.Inv(&x)
		}
	})
}

func BenchmarkScalarMul(b *testing.B) {
	r := newRand(b)
	x, y := randScalar(r), randScalar(r)
	for b.Loop() {
		x.Mul(&x, &y)
	}
}

func BenchmarkDouble(b *testing.B) {
	benchTiers(b, func(b *testing.B) {
		a := randPoint(newRand(b))
		p := a.Jacobian()
		for b.Loop() {
			p.Double(&p)
		}
	})
}

func BenchmarkAddAffine(b *testing.B) {
	benchTiers(b, func(b *testing.B) {
		a := randPoint(newRand(b))
		p := generator.Jacobian()
		for b.Loop() {
			p.AddAffine(&p, &a)
		}
	})
}

// best runs f, and reports the processor time of its fastest run by the count of
// things that it does: the machine may be busy otherwise.
func best(b *testing.B, count int, f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	times := 1 + 4096/count // the clock is coarse
	least := time.Duration(1<<63 - 1)
	for b.Loop() {
		start := cputime.Thread()
		for range times {
			f()
		}
		least = min(least, cputime.Thread()-start)
	}
	b.ReportMetric(float64(least.Nanoseconds())/float64(times*count), "ns/least")
}

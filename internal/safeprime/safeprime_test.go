// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// checkSafePrime verifies p without anything of this package.
func checkSafePrime(t testing.TB, p *big.Int, bits int) {
	t.Helper()
	if p.BitLen() != bits || p.Bit(bits-2) != 1 {
		t.Errorf("%v: %d bits, second bit %d; want %d bits, second bit 1", p, p.BitLen(), p.Bit(bits-2), bits)
	}
	if m := new(big.Int).Mod(p, big.NewInt(12)); m.Int64() != 11 {
		t.Errorf("%v = %v mod 12, want 11", p, m)
	}
	if !p.ProbablyPrime(32) {
		t.Errorf("%v is composite", p)
	}
	q := new(big.Int).Sub(p, big.NewInt(1))
	if q.Rsh(q, 1); !q.ProbablyPrime(32) {
		t.Errorf("(p-1)/2 is composite for p = %v", p)
	}
}

func TestFind(t *testing.T) {
	for _, tt := range []struct{ bits, count int }{
		{16, 1}, {16, 16}, {18, 32}, {20, 20}, {22, 5}, {24, 100}, {26, 3}, {32, 50}, {40, 50}, {62, 10}, {64, 20}, {66, 10},
		{96, 10}, {128, 20}, {130, 3}, {192, 3}, {256, 5}, {512, 3}, {768, 2}, {1024, 2},
	} {
		t.Run(fmt.Sprintf("bits=%d/count=%d", tt.bits, tt.count), func(t *testing.T) {
			ps, err := Find(t.Context(), tt.bits, tt.count, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(ps) != tt.count {
				t.Fatalf("found %d primes, want %d", len(ps), tt.count)
			}
			seen := make(map[string]bool)
			for _, p := range ps {
				checkSafePrime(t, p, tt.bits)
				if seen[p.String()] {
					t.Errorf("%v found twice", p)
				}
				seen[p.String()] = true
			}
		})
	}
}

// TestFindProduct checks the promise that a modulus has its full length.
func TestFindProduct(t *testing.T) {
	ps, err := Find(t.Context(), 64, 30, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range ps {
		for _, q := range ps[:i] {
			if n := new(big.Int).Mul(p, q); n.BitLen() != 128 {
				t.Errorf("%v * %v has %d bits, want 128", p, q, n.BitLen())
			}
		}
	}
}

func TestFindArguments(t *testing.T) {
	for _, tt := range []struct {
		bits, count int
		want        string
	}{
		{0, 1, "not between"},
		{-1024, 1, "not between"},
		{MinBits - 1, 1, "not between"},
		{MinBits - 2, 1, "not between"},
		{MaxBits + 2, 1, "not between"},
		{math.MaxInt, 1, "not between"},
		{math.MinInt, 1, "not between"},
		{17, 1, "is odd"},
		{1025, 1, "is odd"},
		{1024, 0, "cannot find 0 primes"},
		{1024, -1, "cannot find -1 primes"},
		{1024, maxCount + 1, "are more than"},
		{16, 17, "are more than"},
		{64, math.MaxInt, "are more than"},
		{64, math.MinInt, "cannot find"},
	} {
		ps, err := Find(t.Context(), tt.bits, tt.count, func(Progress) {
			t.Errorf("Find(%d, %d) reported progress", tt.bits, tt.count)
		})
		if err == nil || ps != nil {
			t.Errorf("Find(%d, %d) = %v, %v; want an error", tt.bits, tt.count, ps, err)
			continue
		}
		if !strings.HasPrefix(err.Error(), "safeprime: ") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Find(%d, %d): %q, want safeprime: ... %q", tt.bits, tt.count, err, tt.want)
		}
	}
}

// waitGoroutines fails unless the number of goroutines returns to before.
func waitGoroutines(t *testing.T, before int) {
	t.Helper()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

func TestFindCancel(t *testing.T) {
	for _, bits := range []int{1024, 2048, 3072} {
		// The delays fall into the making of the table, the sieve and the tests.
		for _, delay := range []time.Duration{0, 5 * time.Millisecond, 60 * time.Millisecond, 400 * time.Millisecond} {
			t.Run(fmt.Sprintf("bits=%d/after=%v", bits, delay), func(t *testing.T) {
				before := runtime.NumGoroutine()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var cancelled time.Time
				timer := time.AfterFunc(delay, func() {
					cancelled = time.Now()
					cancel()
				})
				defer timer.Stop()
				ps, err := Find(ctx, bits, 100, nil)
				latency := time.Since(cancelled)
				if !errors.Is(err, context.Canceled) || ps != nil {
					t.Fatalf("got %d primes, error %v; want context.Canceled", len(ps), err)
				}
				if !strings.HasPrefix(err.Error(), "safeprime: ") {
					t.Errorf("error %q lacks the prefix", err)
				}
				// The promise is a tenth of that, but the machine may be busy.
				if latency > time.Second {
					t.Errorf("returned %v after the cancellation", latency)
				}
				waitGoroutines(t, before)
			})
		}
	}
}

func TestFindDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := Find(ctx, 2048, 1000, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want context.DeadlineExceeded", err)
	}
}

func TestFindCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, bits := range []int{16, 64, 1024} {
		if ps, err := Find(ctx, bits, 1, nil); !errors.Is(err, context.Canceled) || ps != nil {
			t.Errorf("%d bits: got %v, %v; want context.Canceled", bits, ps, err)
		}
	}
}

func TestFindLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		if _, err := Find(t.Context(), 128, 2, nil); err != nil {
			t.Fatal(err)
		}
	}
	waitGoroutines(t, before)
}

func TestFindProgress(t *testing.T) {
	const bits, count = 768, 4
	var inside atomic.Int32
	var last Progress
	calls := 0
	_, err := Find(t.Context(), bits, count, func(p Progress) {
		if inside.Add(1) != 1 {
			t.Error("two calls at a time")
		}
		defer inside.Add(-1)
		calls++
		if p.Wanted != count || p.Found < last.Found || p.Candidates < last.Candidates {
			t.Errorf("progress %+v after %+v", p, last)
		}
		if calls > 1 && p.Expected != last.Expected {
			t.Errorf("expectation changed from %d to %d", last.Expected, p.Expected)
		}
		last = p
	})
	if err != nil {
		t.Fatal(err)
	}
	if last.Found != count || last.Candidates == 0 || last.Expected == 0 {
		t.Errorf("last progress was %+v, want %d found", last, count)
	}
	if calls > 1000 {
		t.Errorf("%d calls", calls)
	}
}

// TestFindProgressPanic checks that no worker outlives a panicking callback.
func TestFindProgressPanic(t *testing.T) {
	before := runtime.NumGoroutine()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic got lost")
			}
		}()
		Find(t.Context(), 64, 1, func(Progress) { panic("test") })
	}()
	waitGoroutines(t, before)
}

// TestExpected compares the expectation with what searches need.
func TestExpected(t *testing.T) {
	const count = 200
	for _, bits := range []int{128, 256} {
		var last Progress
		if _, err := Find(t.Context(), bits, count, func(p Progress) { last = p }); err != nil {
			t.Fatal(err)
		}
		// The standard deviation of the ratio is 1/sqrt(count) = 0.07.
		ratio := float64(last.Candidates) / float64(last.Expected)
		t.Logf("%d bits: %d candidates for %d primes, %d expected (ratio %.3f)", bits, last.Candidates, count, last.Expected, ratio)
		if ratio < 0.65 || ratio > 1.35 {
			t.Errorf("%d bits: %d candidates for %d primes, %d expected", bits, last.Candidates, count, last.Expected)
		}
	}
}

type brokenReader struct{}

var errBroken = errors.New("broken")

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

func TestFindWithoutRandomness(t *testing.T) {
	before := runtime.NumGoroutine()
	defer func(r io.Reader) { rand.Reader = r }(rand.Reader)
	rand.Reader = brokenReader{}
	if ps, err := Find(t.Context(), 64, 1, nil); !errors.Is(err, errBroken) || ps != nil {
		t.Errorf("got %v, %v; want an error", ps, err)
	}
	waitGoroutines(t, before)
}

// TestWorkerOnePerWindow checks that every prime has a window of its own.
func TestWorkerOnePerWindow(t *testing.T) {
	pr := paramsFor(128)
	var tested atomic.Uint64
	w := newWorker(pr, newSource(pr, testTable(t, pr.bound)), &tested, nil)
	starts := make(map[string]bool)
	for range 50 {
		p, err := w.search(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if s := w.source.window.start.String(); starts[s] {
			t.Errorf("a second result from the window at %s", s)
		} else {
			starts[s] = true
		}
		if p == nil {
			continue
		}
		checkSafePrime(t, p, 128)
		k := new(big.Int).Div(p, big.NewInt(12)) // p = 12(start+k)+11
		if k.Sub(k, w.source.window.start); k.Sign() < 0 || k.Cmp(big.NewInt(int64(pr.width))) >= 0 {
			t.Errorf("%v isn't in the window at %v", p, w.source.window.start)
		}
	}
}

// TestWorkerUniform searches one window again and again: each of its safe
// primes must be found equally often.
func TestWorkerUniform(t *testing.T) {
	pr := paramsFor(48)
	pr.width, pr.bound = 4096, 1<<10
	table := testTable(t, pr.bound)
	w := newWindow(pr, table)
	if err := w.draw(t.Context()); err != nil {
		t.Fatal(err)
	}
	all := append([]uint32(nil), w.survivors...)
	counts := make(map[uint64]int)
	for _, k := range all {
		var q big.Int
		w.candidate(&q, k)
		p := new(big.Int).Lsh(&q, 1)
		if p.SetBit(p, 0, 1); q.ProbablyPrime(20) && p.ProbablyPrime(20) {
			counts[p.Uint64()] = 0
		}
	}
	if len(counts) == 0 {
		t.Skip("the window has no safe prime")
	}
	const each = 100
	ts := newTester(kernelFor(48))
	var tested atomic.Uint64
	for range each * len(counts) {
		w.survivors = append(w.survivors[:0], all...)
		p, err := ts.search(t.Context(), w.next, &tested)
		if err != nil || p == nil {
			t.Fatalf("got %v, %v", p, err)
		}
		if _, ok := counts[p.Uint64()]; !ok {
			t.Fatalf("%v isn't a safe prime of the window", p)
		}
		counts[p.Uint64()]++
	}
	// Chi-square with n degrees of freedom: mean n, variance 2n.
	var chi float64
	for _, c := range counts {
		chi += float64((c-each)*(c-each)) / each
	}
	n := float64(len(counts) - 1)
	t.Logf("%d safe primes, chi-square %.1f", len(counts), chi)
	if chi > n+7*math.Sqrt(2*n)+7 {
		t.Errorf("chi-square of %d counts is %.1f: %v", len(counts), chi, counts)
	}
}

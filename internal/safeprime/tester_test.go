// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"context"
	"errors"
	"math/big"
	"sync/atomic"
	"testing"
)

// feed returns a next function for the numbers given.
func feed(qs ...int64) func(*big.Int) bool {
	return func(q *big.Int) bool {
		if len(qs) == 0 {
			return false
		}
		q.SetInt64(qs[0])
		qs = qs[1:]
		return true
	}
}

// probeEuler tests whether 2^((n-1)/2) = 1 or -1 mod n.
func probeEuler(ns []*big.Int, ok []bool) {
	for i, n := range ns {
		e := new(big.Int).Rsh(n, 1)
		e.Exp(big.NewInt(2), e, n)
		ok[i] = e.Cmp(one) == 0 || e.Add(e, one).Cmp(n) == 0
	}
}

// kernels are all kernels, and some to test the tester by.
func kernels() map[string]kernel {
	return map[string]kernel{
		"default": kernelFor(MaxBits / 2),
		"euler":   {1, probeEuler},
		"lanes=3": {3, probeEuler},
		"lanes=8": {8, probeEuler},
		// The least that is asked of a kernel.
		"fermat": {8, func(ns []*big.Int, ok []bool) {
			for i, n := range ns {
				e := new(big.Int).Sub(n, one)
				ok[i] = e.Exp(big.NewInt(2), e, n).Cmp(one) == 0
			}
		}},
		// One that lets everything pass: only the final test stands.
		"blind": {8, func(ns []*big.Int, ok []bool) {
			for i := range ns {
				ok[i] = true
			}
		}},
	}
}

// Composite numbers that pass a Fermat test to base 2.
var pseudoprimes = []int64{
	341, 561, 645, 1105, 1387, 1729, 1905, 2047, 2465, 2701, 2821, 3277, 4033, 4369, 4681, 6601, 8911, 10585, 15841, 29341,
	// Strong pseudoprimes to the bases 2; 2, 3; 2, 3, 5; and 2, 3, 5, 7.
	42799, 1373653, 25326001, 3215031751,
	// Carmichael numbers.
	41041, 825265, 321197185, 5394826801, 9746347772161,
}

func TestTesterRefuses(t *testing.T) {
	cases := map[string][]int64{
		"pseudoprimes":   pseudoprimes,
		"composites":     {9, 15, 25, 35, 49, 1000001, 999999999999},
		"p composite":    {7, 13, 17, 19, 31, 37, 43, 47, 59, 61, 67, 71, 101, 1000000007},
		"no candidate":   nil,
		"all of a batch": {9, 15, 21, 25, 27, 33, 35, 39, 341, 561, 645, 1105, 1387, 1729, 1905, 2047},
	}
	for name, k := range kernels() {
		for what, qs := range cases {
			if name == "blind" && what == "p composite" {
				continue
			}
			var tested atomic.Uint64
			p, err := newTester(k).search(t.Context(), feed(qs...), &tested)
			if p != nil || err != nil {
				t.Errorf("%s, %s: got %v, %v", name, what, p, err)
			}
			if tested.Load() != uint64(len(qs)) {
				t.Errorf("%s, %s: counted %d candidates, want %d", name, what, tested.Load(), len(qs))
			}
		}
	}
}

// TestPseudoprimesReachTheEnd makes sure that the numbers above test what they
// should: 341 passes both probes, since 683 is prime.
func TestPseudoprimesReachTheEnd(t *testing.T) {
	both := 0
	for _, q := range pseudoprimes {
		ns := []*big.Int{big.NewInt(q)}
		if e := big.NewInt(q - 1); e.Exp(big.NewInt(2), e, ns[0]).Cmp(one) != 0 {
			t.Errorf("%d isn't a pseudoprime", q)
		}
		if ns[0].ProbablyPrime(20) {
			t.Errorf("%d is prime", q)
		}
		ok := make([]bool, 1)
		probeEuler(ns, ok)
		if !ok[0] {
			continue
		}
		if ns[0] = big.NewInt(2*q + 1); !ns[0].ProbablyPrime(20) {
			continue
		}
		if probeEuler(ns, ok); ok[0] {
			both++
		}
	}
	if both == 0 {
		t.Error("none passes both probes")
	}
}

func TestTesterFinds(t *testing.T) {
	for name, k := range kernels() {
		if name == "blind" {
			continue
		}
		for _, qs := range [][]int64{
			{11},
			{341, 11},
			{11, 341, 7, 9, 13, 15, 17, 19, 21, 25, 27, 31},
			{7, 13, 17, 9, 341, 561, 25, 27, 31, 37, 1105, 2047, 11},
			{9, 15, 21, 25, 27, 33, 35, 11},
			{9, 15, 21, 25, 27, 33, 35, 39, 11},
		} {
			var tested atomic.Uint64
			p, err := newTester(k).search(t.Context(), feed(qs...), &tested)
			if err != nil || p == nil || p.Int64() != 23 {
				t.Errorf("%s, %v: got %v, %v; want 23", name, qs, p, err)
			}
		}
	}
}

// TestTesterForgets checks that nothing is left over from a window that
// ended with a prime.
func TestTesterForgets(t *testing.T) {
	for name, k := range kernels() {
		if name == "blind" {
			continue
		}
		ts := newTester(k)
		var tested atomic.Uint64
		if p, err := ts.search(t.Context(), feed(11, 23, 29, 41, 53, 83, 89, 113), &tested); p == nil || err != nil {
			t.Fatalf("%s: got %v, %v", name, p, err)
		}
		if p, err := ts.search(t.Context(), feed(9, 15), &tested); p != nil || err != nil {
			t.Errorf("%s: got %v, %v from candidates without a safe prime", name, p, err)
		}
	}
}

func TestTesterCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var tested atomic.Uint64
	calls := 0
	next := func(q *big.Int) bool {
		if calls++; calls == 100 {
			cancel()
		}
		q.SetInt64(341)
		return true
	}
	p, err := newTester(kernel{1, probeEuler}).search(ctx, next, &tested)
	if p != nil || !errors.Is(err, context.Canceled) || calls != 100 {
		t.Errorf("got %v, %v after %d candidates; want context.Canceled after 100", p, err, calls)
	}
}

// TestKernels compares all kernels with the definition.
func TestKernels(t *testing.T) {
	for name, k := range kernels() {
		if name == "blind" {
			continue
		}
		for base := int64(5); base < 6000; base += 2 * int64(k.lanes) {
			var ns []*big.Int
			for i := range int64(k.lanes) {
				ns = append(ns, big.NewInt(base+2*i))
			}
			ok := make([]bool, len(ns))
			k.probe(ns, ok)
			for i, n := range ns {
				if n.Int64() != base+2*int64(i) {
					t.Fatalf("%s: changed its input", name)
				}
				e := new(big.Int).Sub(n, one)
				fermat := e.Exp(big.NewInt(2), e, n).Cmp(one) == 0
				if n.ProbablyPrime(0) && !ok[i] {
					t.Errorf("%s refuses the prime %v", name, n)
				}
				if ok[i] && !fermat {
					t.Errorf("%s accepts %v", name, n)
				}
			}
		}
	}
}

// modpPrime returns the safe prime of n bits of RFC 2409, section 6.2, and
// RFC 3526: 2^n - 2^(n-64) - 1 + 2^64 (floor(2^(n-130) pi) + c).
func modpPrime(n uint, c int64) *big.Int {
	// pi = 16 arctan(1/5) - 4 arctan(1/239), with 64 bits to spare.
	unit := new(big.Int).Lsh(one, n-130+64)
	arctan := func(x int64) *big.Int {
		sum, square := new(big.Int), big.NewInt(x*x)
		term := new(big.Int).Div(unit, big.NewInt(x))
		for i := int64(1); term.Sign() != 0; i += 2 {
			t := new(big.Int).Div(term, big.NewInt(i))
			if i%4 == 1 {
				sum.Add(sum, t)
			} else {
				sum.Sub(sum, t)
			}
			term.Div(term, square)
		}
		return sum
	}
	pi := new(big.Int).Mul(arctan(5), big.NewInt(16))
	pi.Sub(pi, new(big.Int).Lsh(arctan(239), 2)).Rsh(pi, 64)
	p := pi.Add(pi, big.NewInt(c)).Lsh(pi, 64)
	p.Add(p, new(big.Int).Lsh(one, n))
	p.Sub(p, new(big.Int).Lsh(one, n-64))
	return p.Sub(p, one)
}

// TestKnownSafePrimes hands known safe primes to the tester, alone, among
// other candidates, and slightly changed.
func TestKnownSafePrimes(t *testing.T) {
	for _, tt := range []struct {
		bits uint
		c    int64
	}{{1024, 129093}, {1536, 741804}, {2048, 124476}} {
		p := modpPrime(tt.bits, tt.c)
		checkSafePrime(t, p, int(tt.bits))
		q := new(big.Int).Rsh(p, 1)
		for name, k := range kernels() {
			if name != "default" && (name != "lanes=3" || tt.bits > 1024) {
				continue
			}
			for _, steps := range [][]int64{{0}, {1, 2, 0}, {1, 2, 3, 4, 5, 6, 7, 8, 0, 9}, {1, -1, 2, -2}} {
				good := false
				rest := steps
				next := func(z *big.Int) bool {
					if len(rest) == 0 {
						return false
					}
					z.Add(q, big.NewInt(6*rest[0]))
					good = good || rest[0] == 0
					rest = rest[1:]
					return true
				}
				var tested atomic.Uint64
				got, err := newTester(k).search(t.Context(), next, &tested)
				if err != nil {
					t.Fatal(err)
				}
				if good && (got == nil || got.Cmp(p) != 0) {
					t.Errorf("%s, %d bits, %v: didn't find the safe prime", name, tt.bits, steps)
				}
				if !good && got != nil {
					t.Errorf("%s, %d bits, %v: found %v", name, tt.bits, steps, got)
				}
			}
		}
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"math/big"
	"slices"
	"testing"
)

// Composite numbers that fool single tests, and primes.
func TestIsPrime(t *testing.T) {
	mersenne := func(k uint) *big.Int {
		p := new(big.Int).Lsh(one, k)
		return p.Sub(p, one)
	}
	var composite []*big.Int
	for _, n := range pseudoprimes {
		composite = append(composite, big.NewInt(n))
	}
	for n := int64(9); n < 1000; n += 2 {
		if n := big.NewInt(n); !n.ProbablyPrime(0) {
			composite = append(composite, n)
		}
	}
	composite = append(composite, new(big.Int).Mul(mersenne(521), mersenne(607)), mersenne(523), mersenne(1277),
		new(big.Int).Mul(mersenne(607), mersenne(607)))
	for _, n := range composite {
		if isPrime(n) || IsPrime(n) {
			t.Errorf("%v passes", n)
		}
		if n.BitLen() > 16 && millerRabin(n) {
			t.Errorf("%v passes the tests of Miller and Rabin", n)
		}
	}
	primes := []*big.Int{mersenne(521), mersenne(607), mersenne(1279), mersenne(2203), big.NewInt(1<<16 + 1), big.NewInt(1000003)}
	p := new(big.Int).Mul(mersenne(61), big.NewInt(1<<20)) // p-1 = 2^20·...
	for p.Add(p, one); !p.ProbablyPrime(10); p.Add(p, big.NewInt(1<<20)) {
	}
	primes = append(primes, p)
	for n := int64(5); n < 1000; n += 2 {
		if n := big.NewInt(n); n.ProbablyPrime(0) {
			primes = append(primes, n)
		}
	}
	for _, n := range primes {
		if !isPrime(n) || !IsPrime(n) {
			t.Errorf("%v doesn't pass", n)
		}
		if n.BitLen() >= 16 && !millerRabin(n) {
			t.Errorf("%v doesn't pass the tests of Miller and Rabin", n)
		}
	}
}

// A Carmichael number with few small factors passes one test in up to four, but not
// all of them.
func TestMillerRabinCarmichael(t *testing.T) {
	// (6k+1)(12k+1)(18k+1) with three primes (Chernick 1939).
	found := 0
	for k := int64(1 << 20); found < 5; k++ {
		a, b, c := big.NewInt(6*k+1), big.NewInt(12*k+1), big.NewInt(18*k+1)
		if !a.ProbablyPrime(0) || !b.ProbablyPrime(0) || !c.ProbablyPrime(0) {
			continue
		}
		found++
		n := new(big.Int).Mul(a, b)
		n.Mul(n, c)
		if new(big.Int).Exp(two, new(big.Int).Sub(n, one), n).Cmp(one) != 0 {
			t.Errorf("%v is no Carmichael number", n)
		}
		if millerRabin(n) || isPrime(n) {
			t.Errorf("%v passes", n)
		}
	}
}

// All odd numbers up to 80000: primes pass the Lucas test, and of the others only the
// twelve known ones (OEIS A217719).
func TestLucas(t *testing.T) {
	var passed []int64
	for n := int64(5); n < 80000; n += 2 {
		q := big.NewInt(n)
		prime := q.ProbablyPrime(0) // exact below 2^64
		switch got := lucas(q); {
		case prime && !got:
			t.Fatalf("the prime %d doesn't pass", n)
		case !prime && got:
			passed = append(passed, n)
		}
	}
	want := []int64{989, 3239, 5777, 10877, 27971, 29681, 30739, 31631, 39059, 72389, 73919, 75077}
	if !slices.Equal(passed, want) {
		t.Errorf("composite numbers that pass: %d, want %d", passed, want)
	}
	for _, p := range []*big.Int{modpPrime(1024, 129093), modpPrime(1536, 741804), modpPrime(2048, 124476)} {
		for _, q := range []*big.Int{p, new(big.Int).Rsh(p, 1)} {
			if !lucas(q) {
				t.Errorf("%v doesn't pass", q)
			}
			for _, d := range []int64{6, 12, -6, -12} {
				n := new(big.Int).Add(q, big.NewInt(d))
				if got, want := lucas(n), n.ProbablyPrime(5); got != want {
					t.Errorf("%v: %v", n, got)
				}
			}
			if lucas(new(big.Int).Mul(q, q)) || lucas(new(big.Int).Mul(p, q)) {
				t.Error("a product passes")
			}
		}
	}
}

// What isn't an odd number above 3 has an answer too.
func TestIsPrimeAnything(t *testing.T) {
	for n := int64(-100); n < 100; n++ {
		if got, want := IsPrime(big.NewInt(n)), big.NewInt(n).ProbablyPrime(0); got != want {
			t.Errorf("%d: %v", n, got)
		}
	}
	even := new(big.Int).Lsh(one, 1023)
	if IsPrime(even) || IsPrime(even.Neg(even)) || IsPrime(new(big.Int).Neg(big.NewInt(1_000_003))) {
		t.Error("an even or negative number passes")
	}
}

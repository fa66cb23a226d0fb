// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"bytes"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/undersign/undersign/internal/cputime"
	"github.com/undersign/undersign/internal/modexp"
)

// TestLongOpenSSL draws 100 safe primes of 1024 bits, one at a time, and has
// openssl do the same. The time of a draw is geometric, so the mean of 100
// has a standard deviation of a tenth.
func TestLongOpenSSL(t *testing.T) {
	if os.Getenv("UNDERSIGN_LONG") == "" {
		t.Skip("set UNDERSIGN_LONG=1 to compare with openssl")
	}
	const bits, draws = 1024, 100
	wanted := 2.5
	if modexp.HaveLanes(bits) {
		wanted = 20 // on average it is more
	}
	if !cputime.Known {
		t.Skip("cannot measure processor time")
	}
	before := cputime.Process()
	var primes []*big.Int
	var tested, expected uint64
	var wall time.Duration
	for range draws {
		var last Progress
		start := time.Now()
		ps, err := Find(t.Context(), bits, 1, func(p Progress) { last = p })
		if err != nil {
			t.Fatal(err)
		}
		wall += time.Since(start)
		primes = append(primes, ps...)
		tested += last.Candidates
		expected += last.Expected
	}
	after := cputime.Process()
	ours := after - before
	for _, p := range primes {
		checkSafePrime(t, p, bits)
	}
	t.Logf("%d draws at %d bits: %v CPU, %v elapsed a prime; %d candidates, %d expected; %v CPU a prime at the mean number of candidates",
		draws, bits, ours/draws, wall/draws, tested, expected,
		time.Duration(float64(ours)/draws*float64(expected)/float64(tested)))

	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Log("openssl isn't installed")
		return
	}
	before = cputime.Children()
	for range draws {
		out, err := exec.CommandContext(t.Context(), openssl, "prime", "-generate", "-safe", "-bits", fmt.Sprint(bits)).Output()
		if err != nil {
			t.Fatal(err)
		}
		p, ok := new(big.Int).SetString(string(bytes.TrimSpace(out)), 10)
		if !ok || p.BitLen() != bits {
			t.Fatalf("openssl printed %q", out)
		}
	}
	after = cputime.Children()
	theirs := after - before
	ratio := float64(theirs) / float64(ours) * float64(tested) / float64(expected)
	t.Logf("openssl: %v CPU a prime, %.2f times as much as ours at the mean number", theirs/draws, ratio)
	if ratio < wanted {
		t.Errorf("openssl takes %.2f times as much processor time, want %.1f at least", ratio, wanted)
	}
}

// TestLong2048 draws the two primes of a key of 4096 bits a few times.
func TestLong2048(t *testing.T) {
	if os.Getenv("UNDERSIGN_LONG") == "" {
		t.Skip("set UNDERSIGN_LONG=1 to draw primes of 2048 bits")
	}
	const bits, draws = 2048, 12
	before := cputime.Process()
	var tested, expected uint64
	var wall time.Duration
	var primes []*big.Int
	for range draws {
		var last Progress
		start := time.Now()
		ps, err := Find(t.Context(), bits, 2, func(p Progress) { last = p })
		if err != nil {
			t.Fatal(err)
		}
		wall += time.Since(start)
		primes = append(primes, ps...)
		tested += last.Candidates
		expected += last.Expected
	}
	after := cputime.Process()
	for _, p := range primes {
		checkSafePrime(t, p, bits)
	}
	t.Logf("%d pairs at %d bits: %v CPU, %v elapsed a pair; %d candidates, %d expected", draws, bits, (after-before)/draws, wall/draws, tested, expected)
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"context"
	"math/big"
	"sync/atomic"

	"github.com/undersign/undersign/internal/modexp"
)

var one = big.NewInt(1)

// A kernel tests numbers by a power of two, several at a time.
type kernel struct {
	// lanes is the number of numbers that are best tested together.
	lanes int
	// probe sets ok[i] if ns[i] is an odd prime > 3, and doesn't set it unless
	// 2^(ns[i]-1) = 1 mod ns[i]. It doesn't keep or change ns.
	probe func(ns []*big.Int, ok []bool)
}

// kernelFor returns what all workers use for primes of that many bits. For a prime
// p = 2q'+1 its Fermat test comes to 2^q' = 1 or -1 mod p, and one squaring.
func kernelFor(bits int) kernel {
	k := kernel{lanes: 1, probe: modexp.FermatLanes}
	// Few are tested for a small prime, and a batch that has one is tested to its end.
	if bits > 320 && modexp.HaveLanes(bits) {
		k.lanes = modexp.Lanes
	}
	return k
}

// A tester looks for a safe prime among candidates.
//
// First q' is probed. If it passes, p = 2q'+1 is probed among the next
// candidates, so that a kernel with many lanes has none idle. If p passes,
// q' gets a thorough test; once q' is prime, p is proven prime by the
// theorem of Pocklington: p-1 = 2q' with a prime q' > sqrt(p)-1,
// 2^(p-1) = 1 mod p, and gcd(2^((p-1)/q')-1, p) = gcd(3, p) = 1. (Let r be
// the least prime factor of p. The order of 2 mod r divides 2q' but not 2,
// as r isn't 3, so q' divides r-1, and r > sqrt(p).)
type tester struct {
	kernel
	batch   []*big.Int // the first numbers are p, the others q'
	ok      []bool
	pending []*big.Int // values of p whose q' passed
	claims  *claims    // of the search, or nil
}

func newTester(k kernel) *tester {
	t := &tester{kernel: k, batch: make([]*big.Int, k.lanes), ok: make([]bool, k.lanes)}
	for i := range t.batch {
		t.batch[i] = new(big.Int)
	}
	return t
}

// search returns the first safe prime p = 2q'+1 of the candidates q' that next
// hands out, nil when there is none. A prime is claimed. It adds the number of candidates to
// tested. The candidates are odd, and p isn't divisible by 3.
func (t *tester) search(ctx context.Context, next func(q *big.Int) bool, tested *atomic.Uint64) (*big.Int, error) {
	t.pending = t.pending[:0]
	for {
		t.claims.wait(ctx)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := 0
		for ; n < t.lanes && len(t.pending) > 0; n++ {
			last := len(t.pending) - 1
			t.batch[n].Set(t.pending[last])
			t.pending = t.pending[:last]
		}
		second := n
		for n < t.lanes && next(t.batch[n]) {
			n++
		}
		if n == 0 {
			return nil, nil
		}
		clear(t.ok)
		t.probe(t.batch[:n], t.ok[:n])
		tested.Add(uint64(n - second))
		for i, b := range t.batch[:n] {
			switch {
			case !t.ok[i]:
			case i < second:
				t.claims.take()
				if isPrime(new(big.Int).Rsh(b, 1)) {
					return new(big.Int).Set(b), nil
				}
				t.claims.giveBack()
			default:
				p := new(big.Int).Lsh(b, 1)
				t.pending = append(t.pending, p.Add(p, one))
			}
		}
	}
}

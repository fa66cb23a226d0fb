// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"math/big"
	"sync"
	"testing"
)

// A modulus and a table serve several goroutines.
func TestConcurrent(t *testing.T) {
	r := newRand(t)
	n := testModuli(r, 512)[0]
	m := mustModulus(t, n)
	x := randBelow(r, n)
	table := m.NewTable(mustElement(t, m, x), 128, 2)
	var wg sync.WaitGroup
	for range 4 {
		e := randBits(r, 128)
		want := new(big.Int).Exp(x, e, n)
		wg.Go(func() {
			z := m.NewElement()
			for range 50 {
				table.Exp(z, natOf(e, 128))
				if m.BigVarTime(z).Cmp(want) != 0 {
					t.Error("wrong power")
				}
			}
		})
	}
	wg.Wait()
}

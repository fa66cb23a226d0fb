// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"math/big"
	"testing"

	"github.com/undersign/undersign/internal/opcount"
)

// Each power is reported once, by whichever name and kernel it is computed.
func TestPowersAreCounted(t *testing.T) { on(t, allKernels(), testPowersAreCounted) }

func testPowersAreCounted(t *testing.T) {
	n := new(big.Int).Lsh(big.NewInt(1), 1536)
	m, err := NewModulus(n.Sub(n, big.NewInt(1)))
	if err != nil {
		t.Fatal(err)
	}
	const count = Lanes + 5
	var xs, zs []*Element
	var es []Nat
	var ms []*Modulus
	var bigs []*big.Int
	for i := range count {
		x, err := m.SetBig(big.NewInt(int64(i + 2)))
		if err != nil {
			t.Fatal(err)
		}
		xs, zs, ms = append(xs, x), append(zs, m.NewElement()), append(ms, m)
		es, bigs = append(es, Nat{uint64(i), 5}), append(bigs, big.NewInt(int64(i)))
	}
	short, long := m.NewTable(xs[0], 64, 2), m.NewTable(xs[0], 128, 2)
	for name, c := range map[string]struct {
		f    func()
		want int
	}{
		"Exp":                       {func() { m.Exp(zs[0], xs[0], es[0]) }, 1},
		"ExpBits":                   {func() { m.ExpBits(zs[0], xs[0], es[0], 70) }, 1},
		"ExpVarTime":                {func() { m.ExpVarTime(zs[0], xs[0], bigs[3]) }, 1},
		"MultiExpVarTime":           {func() { m.MultiExpVarTime(zs[0], xs[:3], bigs[:3]) }, 3},
		"Table.Exp":                 {func() { long.Exp(zs[0], es[0]) }, 1},
		"Table.ExpBits":             {func() { long.ExpBits(zs[0], es[0], 70) }, 1},
		"Table.Exp, wide":           {func() { short.Exp(zs[0], es[0]) }, 1},
		"Table.ExpVarTime":          {func() { short.ExpVarTime(zs[0], bigs[3]) }, 1},
		"Table.ExpVarTime, wide":    {func() { short.ExpVarTime(zs[0], new(big.Int).Lsh(big.NewInt(3), 100)) }, 1},
		"ExpLanes":                  {func() { ExpLanes(zs, xs, ms, es, 128) }, count},
		"ExpShared":                 {func() { m.ExpShared([][]*Element{zs, zs}, xs, [][]Nat{es, es}, 128) }, 2 * count},
		"tables, products, squares": {func() { m.NewTable(xs[0], 128, 2); m.Mul(zs[0], xs[0], xs[1]) }, 0},
	} {
		if got := opcount.Count(c.f); got != (opcount.Counts{opcount.ExpZn: c.want}) {
			t.Errorf("%s: %v, want %d", name, got, c.want)
		}
	}
}

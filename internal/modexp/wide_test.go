// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"fmt"
	"math/big"
	"slices"
	"testing"
)

// The wide kernel against the generic one: one operand up to R-1, the other
// reduced, and moduli that strain carries.
func TestWide(t *testing.T) {
	if !slices.Contains(kernels(), "ifma") {
		t.Skip("no wide kernel")
	}
	for _, l := range []int{24, 32, 40, 48, 56, 64} {
		t.Run(fmt.Sprintf("limbs=%d", l), func(t *testing.T) {
			r := newRand(t)
			var ns []*big.Int
			for _, p := range limbPatterns(r, l) {
				n := toBig(p)
				ns = append(ns, n.SetBit(n, 0, 1).SetBit(n, 64*(l-chunk), 1))
			}
			for _, bits := range []int{64*(l-chunk) + 1, 64*l - 63, 64*l - 1, 64 * l} {
				ns = append(ns, testModuli(r, bits)...)
			}
			for k, n := range ns {
				if testing.Short() && k%4 != 0 {
					continue
				}
				m := mustModulus(t, n)
				if !m.wide() {
					t.Fatal("the kernel isn't used")
				}
				var ys [][]uint64
				for _, v := range testValues(r, n) {
					ys = append(ys, natFromBig(v, l))
				}
				for i, x := range limbPatterns(r, l) {
					for _, y := range ys[i%2:] {
						got, want := make([]uint64, l), make([]uint64, l)
						scratch := make([]uint64, 2*l)
						mulGeneric(scratch, x, y)
						redcGeneric(want, scratch, m.n, m.k0)
						for i := range scratch {
							scratch[i] = r.Uint64()
						}
						mulWide(m, got, x, y, scratch)
						if !slices.Equal(got, want) {
							t.Fatalf("mod %x: %x times %x\n got %x\nwant %x", m.n, x, y, got, want)
						}
						mulWide(m, got, y, x, scratch)
						if !slices.Equal(got, want) {
							t.Fatalf("mod %x: %x times %x, the other way round", m.n, y, x)
						}
						alias := slices.Clone(x)
						if mulWide(m, alias, alias, y, scratch); !slices.Equal(alias, want) {
							t.Fatal("z = x")
						}
						alias = slices.Clone(y)
						if mulWide(m, alias, x, alias, scratch); !slices.Equal(alias, want) {
							t.Fatal("z = y")
						}
					}
				}
			}
		})
	}
}

// A modulus made without the kernel serves with it, and the other way round.
func TestWideSwitch(t *testing.T) {
	defer resetKernel()
	r := newRand(t)
	n := testModuli(r, 2048)[0]
	x, y := randBelow(r, n), randBelow(r, n)
	want := new(big.Int).Mul(x, y)
	want.Mod(want, n)
	for _, before := range kernels() {
		for _, after := range kernels() {
			setKernel(before)
			m := mustModulus(t, n)
			ex := mustElement(t, m, x)
			setKernel(after)
			ey, z := mustElement(t, m, y), m.NewElement()
			m.Mul(z, ex, ey)
			check(t, before+" and "+after, m.BigVarTime(z), want)
		}
	}
}

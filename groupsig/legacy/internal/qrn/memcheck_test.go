// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package qrn

import (
	"math/big"
	"testing"

	"github.com/undersign/undersign/internal/cttest"
)

func TestMain(m *testing.M) { cttest.Main(m, memcheckCases) }

func TestConstantTime(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	t.Parallel()
	cttest.Memcheck(t)
}

var branches int

// memcheckCases takes a root with an order that is undefined. The primes are safe ones,
// found once.
func memcheckCases(c *cttest.Checker) {
	p, _ := new(big.Int).SetString("d014f807833cbc7455c71aad55936cbb", 16)
	q, _ := new(big.Int).SetString("f947cd1ca7fc27174eafcef351614217", 16)
	f, err := FactorsOf(small, p, q)
	if err != nil {
		panic(err)
	}
	g, err := NewSigned(f.N(), small.Modulus)
	if err != nil {
		panic(err)
	}
	e := NatOf(big.NewInt(1<<40+15), 41) // prime
	x := g.Hash(nil, "x")
	cttest.Secret(f.order)
	var b []byte
	c.Clean("root", func() {
		y, err := f.Root(g, x, e, 41)
		if err != nil {
			panic(err)
		}
		b = g.M.Bytes(y)
	})
	c.Leaks("  depends on the order", func() {
		if b[0]&1 == 1 {
			branches++
		}
	})
	cttest.Public(b)
	y, err := g.M.SetBytes(b)
	c.Check("root result", err == nil && g.Equal(g.Pow(y, e), x))
}

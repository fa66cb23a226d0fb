// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"bytes"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
)

var testSizes = []int{2, 3, 21, 63, 64, 65, 511, 512, 513, 1023, 1024, 1536, 2048, 2049, 3000, 4096, 8192}

// newRand returns a generator that differs from test to test but not from run
// to run.
func newRand(t testing.TB) *rand.Rand {
	var seed [32]byte
	copy(seed[:], t.Name())
	return rand.New(rand.NewChaCha8(seed))
}

func randBits(r *rand.Rand, bits int) *big.Int {
	b := make([]byte, (bits+7)/8)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	x := new(big.Int).SetBytes(b)
	return x.Rsh(x, uint(8*len(b)-bits))
}

func randBelow(r *rand.Rand, n *big.Int) *big.Int {
	x := randBits(r, n.BitLen()+64)
	return x.Mod(x, n)
}

func pow2(k int) *big.Int {
	return new(big.Int).Lsh(big.NewInt(1), uint(k))
}

// testModuli returns odd moduli of exactly that many bits: random ones and
// those that strain carries.
func testModuli(r *rand.Rand, bits int) []*big.Int {
	one := big.NewInt(1)
	random := randBits(r, bits)
	random.SetBit(random, 0, 1).SetBit(random, bits-1, 1)
	ms := []*big.Int{random, new(big.Int).Sub(pow2(bits), one)}
	if bits > 2 {
		ms = append(ms, new(big.Int).Add(pow2(bits-1), one), new(big.Int).Sub(pow2(bits), big.NewInt(3)))
	}
	if bits > 64 {
		// An all-ones low limb, and an all-zero middle.
		x := new(big.Int).Add(pow2(bits-1), new(big.Int).SetUint64(1<<64-1))
		ms = append(ms, x)
	}
	return ms
}

// testValues returns residues mod n, edge cases first.
func testValues(r *rand.Rand, n *big.Int) []*big.Int {
	half := new(big.Int).Rsh(n, 1)
	ones := new(big.Int).Sub(pow2(n.BitLen()-1), big.NewInt(1))
	return []*big.Int{
		new(big.Int), big.NewInt(1), new(big.Int).Sub(n, big.NewInt(1)), half, ones,
		randBelow(r, n), randBelow(r, n),
	}
}

func mustModulus(t testing.TB, n *big.Int) *Modulus {
	t.Helper()
	m, err := NewModulus(n)
	if err != nil {
		t.Fatalf("NewModulus(%v): %v", n, err)
	}
	return m
}

func mustElement(t testing.TB, m *Modulus, x *big.Int) *Element {
	t.Helper()
	e, err := m.SetBig(x)
	if err != nil {
		t.Fatalf("SetBig(%v): %v", x, err)
	}
	return e
}

func natOf(x *big.Int, bits int) Nat {
	z := NewNat(bits)
	setBig(z, x)
	return z
}

// onKernels runs f once with each kernel for one number.
func onKernels(t *testing.T, f func(t *testing.T)) { on(t, kernels(), f) }

// onLanes runs f once with each kernel for lanes.
func onLanes(t *testing.T, f func(t *testing.T)) { on(t, laneKernels(), f) }

func on(t *testing.T, kernels []string, f func(t *testing.T)) {
	defer resetKernel()
	for _, k := range kernels {
		setKernel(k)
		t.Run("kernel="+k, f)
	}
}

func check(t *testing.T, what string, got, want *big.Int) {
	t.Helper()
	if got.Cmp(want) != 0 {
		t.Fatalf("%s\n got %x\nwant %x", what, got, want)
	}
}

func TestArithmetic(t *testing.T) { onKernels(t, testArithmetic) }

func testArithmetic(t *testing.T) {
	for _, bits := range testSizes {
		t.Run(fmt.Sprintf("bits=%d", bits), func(t *testing.T) {
			r := newRand(t)
			for _, n := range testModuli(r, bits) {
				m := mustModulus(t, n)
				check(t, "Big", m.Big(), n)
				check(t, "One", m.BigVarTime(m.One()), big.NewInt(1))
				vs := testValues(r, n)
				for _, x := range vs {
					ex := mustElement(t, m, x)
					check(t, "BigVarTime", m.BigVarTime(ex), x)
					if got := m.Bytes(ex); !bytes.Equal(got, x.FillBytes(make([]byte, m.Size()))) {
						t.Fatalf("Bytes: got %x", got)
					}
					z := m.NewElement()
					m.Sqr(z, ex)
					want := new(big.Int)
					check(t, "Sqr", m.BigVarTime(z), want.Mod(want.Mul(x, x), n))
					for _, y := range vs {
						ey := mustElement(t, m, y)
						m.Mul(z, ex, ey)
						check(t, "Mul", m.BigVarTime(z), want.Mod(want.Mul(x, y), n))
						m.Add(z, ex, ey)
						check(t, "Add", m.BigVarTime(z), want.Mod(want.Add(x, y), n))
						m.Sub(z, ex, ey)
						check(t, "Sub", m.BigVarTime(z), want.Mod(want.Sub(x, y), n))
						if got, want := m.Equal(ex, ey), x.Cmp(y) == 0; got != want {
							t.Fatalf("Equal: got %v", got)
						}
					}
				}
			}
		})
	}
}

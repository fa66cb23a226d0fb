// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// limbPatterns returns operands of l limbs that strain carries, then random ones.
func limbPatterns(r *rand.Rand, l int) [][]uint64 {
	zero, ones, low, high := make([]uint64, l), make([]uint64, l), make([]uint64, l), make([]uint64, l)
	for i := range ones {
		ones[i] = 1<<64 - 1
	}
	low[0], high[l-1] = 1, 1<<63
	ps := [][]uint64{zero, ones, low, high}
	for range 4 {
		x, sparse := make([]uint64, l), make([]uint64, l)
		for i := range x {
			x[i] = r.Uint64()
			sparse[i] = [...]uint64{0, 1, 1<<64 - 1, 1 << 63}[r.IntN(4)]
		}
		ps = append(ps, x, sparse)
	}
	return ps
}

func TestKernels(t *testing.T) { onKernels(t, testKernels) }

func testKernels(t *testing.T) {
	for _, l := range []int{8, 16, 24, 32, 40, 64, 72, 128, 256} {
		t.Run(fmt.Sprintf("limbs=%d", l), func(t *testing.T) {
			r := newRand(t)
			ps := limbPatterns(r, l)
			got, want := make([]uint64, 2*l), make([]uint64, 2*l)
			dirty := func() {
				for i := range got {
					got[i] = r.Uint64()
				}
			}
			for _, x := range ps {
				dirty()
				sqrLimbs(got, x)
				setBig(want, new(big.Int).Mul(toBig(x), toBig(x)))
				if !slices.Equal(got, want) {
					t.Fatalf("sqr %x\n got %x\nwant %x", x, got, want)
				}
				for _, y := range ps {
					dirty()
					mulLimbs(got, x, y)
					setBig(want, new(big.Int).Mul(toBig(x), toBig(y)))
					if !slices.Equal(got, want) {
						t.Fatalf("mul %x %x\n got %x\nwant %x", x, y, got, want)
					}
				}
			}
			testReduction(t, r, l, ps)
		})
	}
}

func testReduction(t *testing.T, r *rand.Rand, l int, ps [][]uint64) {
	one := big.NewInt(1)
	for _, p := range ps {
		n := slices.Clone(p)
		n[0] |= 1
		bn := toBig(n)
		if bn.Cmp(one) == 0 {
			continue
		}
		limit := new(big.Int).Mul(bn, pow2(64*l)) // R·n
		inv := new(big.Int).ModInverse(pow2(64*l), bn)
		for _, v := range []*big.Int{
			new(big.Int), one, new(big.Int).Sub(limit, one), new(big.Int).Sub(limit, bn),
			new(big.Int).Sub(bn, one), bn, new(big.Int).Lsh(bn, uint(64*l-1)),
			randBelow(r, limit), randBelow(r, limit), randBelow(r, limit),
		} {
			in, z, want := make([]uint64, 2*l), make([]uint64, l), make([]uint64, l)
			setBig(in, v)
			redcLimbs(z, in, n, negInverse(n[0]))
			w := new(big.Int).Mul(v, inv)
			setBig(want, w.Mod(w, bn))
			if !slices.Equal(z, want) {
				t.Fatalf("redc of %x mod %x\n got %x\nwant %x", v, bn, z, want)
			}
		}
		z := make([]uint64, l)
		for _, v := range []*big.Int{new(big.Int), one, new(big.Int).Sub(bn, one), new(big.Int).Rsh(bn, 1),
			new(big.Int).Add(new(big.Int).Rsh(bn, 1), one), randBelow(r, bn)} {
			setBig(z, v)
			doubleLimbs(z, n)
			w := new(big.Int).Lsh(v, 1)
			check(t, "double", toBig(z), w.Mod(w, bn))
		}
	}
}

func TestSelect(t *testing.T) { onKernels(t, testSelect) }

func testSelect(t *testing.T) {
	r := newRand(t)
	for _, l := range []int{8, 16, 24, 64} {
		for _, count := range []int{1, 2, 3, 32, 512} {
			table := make([]uint64, l*count)
			for i := range table {
				table[i] = r.Uint64()
			}
			z := make([]uint64, l)
			for i := range count {
				z[0] = 1
				selectLimbs(z, table, uint64(i))
				if !slices.Equal(z, table[i*l:(i+1)*l]) {
					t.Fatalf("limbs=%d count=%d: entry %d differs", l, count, i)
				}
			}
			selectLimbs(z, table, uint64(count))
			if Nat(z).Equal(nil) != 1 {
				t.Fatalf("limbs=%d count=%d: entry past the end is not zero", l, count)
			}
		}
	}
}

func FuzzPowers(f *testing.F) {
	f.Add([]byte{0x0f, 0xff, 0xf1}, []byte{2}, []byte{0x10, 0x01})
	f.Add([]byte{3}, []byte{1}, []byte{})
	f.Add(slices.Repeat([]byte{0xff}, 128), slices.Repeat([]byte{0xff}, 127), slices.Repeat([]byte{0xff}, 9))
	f.Fuzz(func(t *testing.T, nb, xb, eb []byte) {
		if len(nb) > 300 || len(xb) > 1000 || len(eb) > 40 {
			return
		}
		n, x, e := new(big.Int).SetBytes(nb), new(big.Int).SetBytes(xb), new(big.Int).SetBytes(eb)
		m, err := NewModulus(n)
		if bad := n.BitLen() < 2 || n.Bit(0) == 0; bad != (err != nil) {
			t.Fatalf("NewModulus(%v): %v", n, err)
		} else if bad {
			return
		}
		defer setKernel(kernels()[0])
		for _, k := range kernels() {
			setKernel(k)
			r := new(big.Int).Mod(x, n)
			check(t, "SetNat", m.BigVarTime(m.SetNat(natOf(x, x.BitLen()))), r)
			testPowers(t, n, r, e, 8*len(eb))
		}
	})
}

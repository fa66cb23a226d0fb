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

// laneSizes are sizes of moduli for tests: small ones, those that just fit their
// blocks and those that just don't, and those that matter.
var laneSizes = []int{3, 100, 514, 515, 1023, 1024, 1034, 1035, 1536, 2048, 2074, 3072, 4096, 4154, 8192, 8314}

// laneCounts are the numbers of lanes for which there are kernels.
var laneCounts = []int{4, 8}

// laneTest are moduli of one size, with numbers below 4n.
type laneTest struct {
	*laneModuli
	ns []*big.Int
}

func newLaneTest(r *rand.Rand, lanes, bits int) *laneTest {
	m := newLaneModuli(lanes, laneBlocks(bits), 4*laneBlocks(bits)*blockLimbs)
	ns := testModuli(r, bits)
	for len(ns) < Lanes {
		n := randBits(r, bits)
		ns = append(ns, n.SetBit(n, 0, 1).SetBit(n, bits-1, 1))
	}
	r.Shuffle(Lanes, func(i, j int) { ns[i], ns[j] = ns[j], ns[i] })
	lt := &laneTest{m, ns[:lanes]}
	for j, n := range lt.ns {
		m.setModulus(j, natFromBig(n, (bits+63)/64))
	}
	return lt
}

// operands returns values below 4n for each lane, edge cases first.
func (lt *laneTest) operands(r *rand.Rand, j int) []*big.Int {
	n := lt.ns[j]
	add := func(k, d int64) *big.Int {
		x := new(big.Int).Mul(n, big.NewInt(k))
		return x.Add(x, big.NewInt(d))
	}
	ones := new(big.Int).Sub(pow2(n.BitLen()), big.NewInt(1))
	return []*big.Int{
		new(big.Int), big.NewInt(1), add(1, -1), add(1, 0), add(1, 1), add(2, -1), add(3, 0), add(4, -1), ones,
		randBelow(r, add(4, 0)), randBelow(r, n), randBelow(r, add(4, 0)),
	}
}

// load sets all lanes of z, lane j to value (i+j) of its operands.
func (lt *laneTest) load(z []uint64, ops [][]*big.Int, i int) (xs []*big.Int) {
	for j := range lt.lanes {
		xs = append(xs, ops[j][(i+j)%len(ops[j])])
		lt.toLane(z, j, natFromBig(xs[j], (lt.blocks*blockBits+63)/64))
	}
	return xs
}

// checkLane compares lane j of z with x·2^shift/R mod n, and its size with quarters of n.
func (lt *laneTest) checkLane(t *testing.T, what string, z []uint64, j int, x *big.Int, quarters int64) {
	t.Helper()
	n := lt.ns[j]
	for i := j; i < len(z); i += lt.lanes {
		if z[i] > laneMask {
			t.Fatalf("%s: limb of more than 52 bits", what)
		}
	}
	v := lt.value(z, j)
	if new(big.Int).Lsh(v, 2).Cmp(new(big.Int).Mul(n, big.NewInt(quarters))) >= 0 {
		t.Fatalf("%s, lane %d: %x isn't below %d/4 of %x", what, j, v, quarters, n)
	}
	inv := new(big.Int).ModInverse(pow2(lt.blocks*blockBits), n)
	want := new(big.Int).Mul(x, inv)
	check(t, fmt.Sprintf("%s, lane %d, mod %x", what, j, n), v.Mod(v, n), want.Mod(want, n))
}

func TestLaneProducts(t *testing.T) { onLanes(t, testLaneProducts) }

func testLaneProducts(t *testing.T) {
	for _, bits := range laneSizes {
		if bits > 1035 && laneTwin && !long() || bits > 515 && testing.Short() && bits != 1024 {
			continue
		}
		for _, lanes := range laneCounts {
			t.Run(fmt.Sprintf("lanes=%d/bits=%d", lanes, bits), func(t *testing.T) {
				r := newRand(t)
				testLaneProductsOf(t, r, newLaneTest(r, lanes, bits))
			})
		}
	}
}

func testLaneProductsOf(t *testing.T, r *rand.Rand, lt *laneTest) {
	bits := lt.ns[0].BitLen()
	x, y, z, w := lt.number(), lt.number(), lt.number(), lt.number()
	var ops [][]*big.Int
	for j := range lt.lanes {
		ops = append(ops, lt.operands(r, j))
	}
	e := make([]uint64, lt.lanes)
	for i := range ops[0] {
		xs := lt.load(x, ops, i)
		for j := range e {
			e[j] = r.Uint64()
		}
		bit := r.IntN(64)
		for i := range z {
			z[i] = r.Uint64() // what was there before must not matter
		}
		for i := range lt.t {
			lt.t[i] = r.Uint64()
		}
		lt.sqr(z, x, e, bit)
		for j := range lt.lanes {
			v := new(big.Int).Mul(xs[j], xs[j])
			v.Lsh(v, uint(e[j]>>bit&1))
			lt.checkLane(t, fmt.Sprintf("sqr, %d bits", bits), z, j, v, 16)
		}
		copy(w, x)
		if lt.sqr(w, w, e, bit); !slices.Equal(w, z) {
			t.Fatalf("%d bits: x² differs with z = x", bits)
		}
		for k := range ops[0] {
			if k > i && bits > 2048 {
				continue // for the time it takes
			}
			ys := lt.load(y, ops, k)
			lt.mul(z, x, y)
			for j := range lt.lanes {
				lt.checkLane(t, fmt.Sprintf("mul, %d bits", bits), z, j, new(big.Int).Mul(xs[j], ys[j]), 5)
			}
			copy(w, x)
			if lt.mul(w, w, y); !slices.Equal(w, z) {
				t.Fatalf("%d bits: x·y differs with z = x", bits)
			}
		}
	}
}

// The kernels and their twin agree to the limb.
func TestLaneTwin(t *testing.T) {
	if len(laneKernels()) < 2 {
		t.Skip("no kernels of lanes")
	}
	defer resetKernel()
	for _, bits := range laneSizes {
		if bits > 2048 && testing.Short() {
			continue
		}
		for _, lanes := range laneCounts {
			r := newRand(t)
			testLaneTwin(t, r, newLaneTest(r, lanes, bits))
		}
	}
}

func testLaneTwin(t *testing.T, r *rand.Rand, lt *laneTest) {
	x, y, z, w := lt.number(), lt.number(), lt.number(), lt.number()
	ops := make([][]*big.Int, lt.lanes)
	e := make([]uint64, lt.lanes)
	for range 3 {
		for j := range ops {
			ops[j] = []*big.Int{randBelow(r, new(big.Int).Lsh(lt.ns[j], 2))}
			e[j] = r.Uint64()
		}
		lt.load(x, ops, 0)
		for j := range ops {
			ops[j] = []*big.Int{randBelow(r, new(big.Int).Lsh(lt.ns[j], 2))}
		}
		lt.load(y, ops, 0)
		for name, f := range map[string]func(z []uint64){
			"mul": func(z []uint64) { lt.mul(z, x, y) },
			"sqr": func(z []uint64) { lt.sqr(z, x, e, 17) },
		} {
			setKernel("ifma")
			f(z)
			setKernel("twin")
			if f(w); !slices.Equal(z, w) {
				t.Fatalf("%s of %d bits in %d lanes differs", name, lt.ns[0].BitLen(), lt.lanes)
			}
		}
	}
}

func TestPick(t *testing.T) { onLanes(t, testPick) }

func testPick(t *testing.T) {
	for _, lanes := range laneCounts {
		t.Run(fmt.Sprintf("lanes=%d", lanes), func(t *testing.T) { testPickOf(t, lanes) })
	}
}

func testPickOf(t *testing.T, lanes int) {
	r := newRand(t)
	for _, blocks := range []int{1, 2, 4, 8, 16} {
		for _, count := range []int{1, 2, 32} {
			m := newLaneModuli(lanes, blocks, (count+1)*blocks*blockLimbs+1)
			z, table, index := m.number(), m.take(count*m.limbs), m.take(1)
			for i := range table {
				table[i] = r.Uint64()
			}
			for round := range 2 * count {
				for j := range index {
					index[j] = uint64((round + j*j) % count)
				}
				for i := range z {
					z[i] = r.Uint64()
				}
				m.pick(z, table, index)
				for i, v := range z {
					if want := table[int(index[i%m.lanes])*len(z)+i]; v != want {
						t.Fatalf("%d blocks, %d entries: got %x, want %x", blocks, count, v, want)
					}
				}
			}
		}
	}
}

func TestLaneFormat(t *testing.T) {
	r := newRand(t)
	for k, limbs := range []int{10, 20, 40, 80, 10, 20, 40, 80} {
		m := &laneModuli{lanes: laneCounts[k/4]}
		lane := m.lanes - 3
		for words := 1; words <= laneBits*limbs/64; words++ {
			z := make([]uint64, m.lanes*limbs)
			for i := range z {
				z[i] = r.Uint64()
			}
			other := slices.Clone(z)
			x := natFromBig(randBits(r, 64*words), words)
			if words%3 == 0 {
				for i := range x {
					x[i] = 1<<64 - 1
				}
			}
			m.toLane(z, lane, x)
			back := make([]uint64, words+1)
			m.fromLane(back, z, lane)
			if !slices.Equal(back[:words], x) || back[words] != 0 {
				t.Fatalf("%d limbs, %x comes back as %x", limbs, x, back)
			}
			for i := range z {
				if i%m.lanes != lane && z[i] != other[i] {
					t.Fatal("another lane changed")
				}
			}
		}
	}
}

func TestLaneBlocks(t *testing.T) {
	for bits, want := range map[int]int{2: 1, 514: 1, 515: 2, 1024: 2, 1536: 3, 2048: 4, 3072: 6, 4096: 8, 8314: 16, 8315: 0, MaxBits: 0} {
		if got := laneBlocks(bits); got != want {
			t.Errorf("%d bits: %d blocks, want %d", bits, got, want)
		}
	}
	if HaveLanes(MaxBits) {
		t.Error("lanes for the largest modulus")
	}
}

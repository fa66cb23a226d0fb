// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/emmansun/gmsm/sm2"
)

var (
	bigP = sm2.P256().Params().P
	bigN = sm2.P256().Params().N
)

func newRand(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// onTiers runs a test on every tier of this processor.
func onTiers(t *testing.T, f func(t *testing.T)) {
	for _, name := range Tiers() {
		t.Run(name, func(t *testing.T) {
			defer ForceTier(name)()
			f(t)
		})
	}
}

// onScalars runs a test on the best tier without lanes.
func onScalars(t *testing.T) {
	for i := range tiers {
		if !tiers[i].lanes {
			t.Cleanup(ForceTier(tiers[i].name))
			return
		}
	}
}

func toBig(x [4]uint64) *big.Int {
	var b [32]byte
	putLimbs(&b, x)
	return new(big.Int).SetBytes(b[:])
}

func limbs(x *big.Int) [4]uint64 {
	var b [32]byte
	x.FillBytes(b[:])
	return limbsOf(&b)
}

func elementOf(x *big.Int) (z Element) {
	x = new(big.Int).Mod(x, bigP)
	l := limbs(x)
	z.setPlain(&l)
	return z
}

func bigOf(x *Element) *big.Int {
	b := x.Bytes()
	return new(big.Int).SetBytes(b[:])
}

func scalarOf(x *big.Int) Scalar {
	return limbs(new(big.Int).Mod(x, bigN))
}

// edges are integers of at most 256 bits that strain carries, then random ones.
func edges(r *rand.Rand) []*big.Int {
	one := big.NewInt(1)
	var xs []*big.Int
	for _, m := range []*big.Int{new(big.Int), bigP, bigN, new(big.Int).Lsh(one, 128), new(big.Int).Lsh(one, 255), new(big.Int).Sub(bigP, bigN)} {
		for d := int64(-3); d <= 3; d++ {
			if x := new(big.Int).Add(m, big.NewInt(d)); x.Sign() >= 0 {
				xs = append(xs, x)
			}
		}
	}
	words := [...]uint64{0, 1, 1<<64 - 1, 1 << 63, 1<<32 - 1, 1 << 32, 0xffffffff00000000, 0xfffffffeffffffff}
	n := 60
	if testing.Short() {
		n = 15
	}
	for range n {
		var x, y [4]uint64
		for i := range x {
			x[i] = words[r.IntN(len(words))]
			y[i] = r.Uint64()
		}
		xs = append(xs, toBig(x), toBig(y))
	}
	return append(xs, toBig([4]uint64{1<<64 - 1, 1<<64 - 1, 1<<64 - 1, 1<<64 - 1}))
}

func randScalar(r *rand.Rand) Scalar {
	return scalarOf(toBig([4]uint64{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}))
}

// bigMultiple returns kG by gmsm.
func bigMultiple(k *big.Int) Affine {
	k = new(big.Int).Mod(k, bigN)
	//lint:ignore SA1019 gmsm has no other multiplication that takes any scalar
	x, y := sm2.P256().ScalarBaseMult(k.FillBytes(make([]byte, 32)))
	var xb, yb [32]byte
	x.FillBytes(xb[:])
	y.FillBytes(yb[:])
	var p Affine
	if !p.SetBytes(&xb, &yb) {
		panic("not a finite point")
	}
	return p
}

func randPoint(r *rand.Rand) Affine { s := randScalar(r); return bigMultiple(toBig(s)) }

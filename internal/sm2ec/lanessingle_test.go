// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"math/big"
	"strconv"
	"testing"
)

// Sums in lanes against those of the scalar code, where tP and sG are equal or opposite
// among them, and where P is a small multiple of G.
func TestCombineLanes(t *testing.T) {
	onLanes(t)
	r := newRand(t)
	for _, n := range []int{1, singleMin - 1, singleMin, 17, 64, singleChunk + singleMin + 3} {
		items := make([]*Item, n)
		for i := range items {
			d, u := randInt(r), randScalar(r)
			s := randScalar(r)
			switch r.IntN(8) {
			case 0: // 2sG
				s = scalarOf(new(big.Int).Mul(d, toBig(u)))
			case 1: // infinity
				s = scalarOf(new(big.Int).Neg(new(big.Int).Mul(d, toBig(u))))
			case 2:
				d = big.NewInt(1 << r.IntN(20))
			case 3:
				d = new(big.Int).Sub(bigN, big.NewInt(1<<r.IntN(20)))
				u, s = Scalar{uint64(1 + r.IntN(70))}, Scalar{uint64(1 + r.IntN(70))}
			case 4:
				u.Sub(&Scalar{}, &Scalar{uint64(1 + r.IntN(70))})
			case 5:
				s = Scalar{}
			}
			it := withNumbers(r, d, &s, &u)
			items[i] = &it
		}
		got, want := make([]Jacobian, n), make([]Jacobian, n)
		combineLanes(got, items)
		combine(want, items)
		for i := range got {
			if !got[i].Equal(&want[i]) {
				t.Errorf("%d items: item %d is wrong", n, i)
			}
		}
	}
}

func TestNormalizeLanes(t *testing.T) {
	onLanes(t)
	r := newRand(t)
	var norm laneNormalizer
	for _, n := range []int{1, 3, 4, 9} {
		ps := aligned[laneJacobian](n)
		want := make([]Affine, n*laneCount)
		for j := range want {
			want[j] = randPoint(r)
			// Another Z: (x·z², y·z³, z).
			z := randPoint(r).X
			var z2, z3 Element
			z2.Sqr(&z)
			z3.Mul(&z2, &z)
			p := Affine{}
			p.X.Mul(&want[j].X, &z2)
			p.Y.Mul(&want[j].Y, &z3)
			q, qz := p.packed(), Affine{z, z}.packed()
			at := &ps[j/laneCount]
			for k, b := range []*block{&at.X, &at.Y} {
				l := limbs52((*[4]uint64)(q[4*k:]))
				b.setLane(j%laneCount, &l)
			}
			l := limbs52((*[4]uint64)(qz[:4]))
			at.Z.setLane(j%laneCount, &l)
		}
		dst := aligned[lanePoint](n)
		norm.normalize(dst, ps)
		out := aligned[packedPoint](n * laneCount)
		scatter(out, dst)
		for j := range want {
			if out[j].affine() != want[j] {
				t.Fatalf("%d blocks: point %d is wrong", n, j)
			}
		}
	}
}

func BenchmarkCombine(b *testing.B) {
	benchTiers(b, func(b *testing.B) {
		items := ordinary(newRand(b), 256, 256)
		var ptrs []*Item
		for i := range items {
			ptrs = append(ptrs, &items[i])
		}
		dst := make([]Jacobian, len(items))
		for _, n := range []int{1, 4, 8, 16, 64, 256} {
			b.Run("n="+strconv.Itoa(n), func(b *testing.B) {
				best(b, n, func() { current.combine(dst[:n], ptrs[:n]) })
			})
		}
	})
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"math/big"
	"math/rand/v2"
	"runtime"
	"testing"
)

func (l *lane) big() *big.Int {
	x := new(big.Int)
	for i := 4; i >= 0; i-- {
		x.Lsh(x, 52)
		x.Add(x, big.NewInt(int64(l[i])))
	}
	return x
}

func laneOf(x *big.Int) (l lane) {
	mask := big.NewInt(laneMask)
	x = new(big.Int).Set(x)
	for i := range l {
		l[i] = new(big.Int).And(x, mask).Uint64()
		x.Rsh(x, 52)
	}
	return l
}

// laneEdges are integers that kernels are given: residues, multiples of p, and others up
// to limit·p, with all bits of limbs set or none.
func laneEdges(r *rand.Rand, limit int64) []lane {
	top := new(big.Int).Mul(bigP, big.NewInt(limit))
	var ls []lane
	add := func(x *big.Int) {
		if x.Sign() >= 0 && x.Cmp(top) < 0 {
			ls = append(ls, laneOf(x))
		}
	}
	for k := int64(0); k <= limit; k++ {
		for d := int64(-2); d <= 2; d++ {
			add(new(big.Int).Add(new(big.Int).Mul(bigP, big.NewInt(k)), big.NewInt(d)))
		}
	}
	for _, x := range edges(r) {
		add(x)
		for k := int64(1); k < limit; k++ {
			add(new(big.Int).Add(x, new(big.Int).Mul(bigP, big.NewInt(k))))
		}
	}
	words := [...]uint64{0, 1, laneMask, laneMask - 1, 1 << 51, 1<<48 - 1}
	for range 60 {
		var l lane
		for i := range l {
			l[i] = words[r.IntN(len(words))]
			if r.IntN(3) == 0 {
				l[i] = r.Uint64() & laneMask
			}
		}
		l[4] &= 1<<50 - 1
		if l.big().Cmp(top) < 0 {
			ls = append(ls, l)
		}
	}
	return ls
}

// blocksOf fills n blocks with such integers.
func blocksOf(r *rand.Rand, from []lane, n int) []block {
	bs := aligned[block](n)
	for i := range bs {
		for j := range laneCount {
			bs[i].setLane(j, &from[r.IntN(len(from))])
		}
	}
	return bs
}

func pointsOf(r *rand.Rand, xs, ys []lane, n int) []lanePoint {
	ps := aligned[lanePoint](n)
	for i := range ps {
		ps[i] = lanePoint{blocksOf(r, xs, 1)[0], blocksOf(r, ys, 1)[0]}
	}
	return ps
}

// R⁻¹ mod p, of Montgomery's form in lanes.
var bigRInv = new(big.Int).ModInverse(new(big.Int).Lsh(big.NewInt(1), 260), bigP)

func isCarried(l *lane) bool {
	for _, x := range l {
		if x > laneMask {
			return false
		}
	}
	return true
}

// The twin's arithmetic against math/big, with bounds.
func TestLaneArithmetic(t *testing.T) {
	r := newRand(t)
	full := new(big.Int).Lsh(big.NewInt(1), 260)
	fold := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 256), new(big.Int).Lsh(big.NewInt(1), 231))
	ls := laneEdges(r, 4)
	for range 20000 {
		x, y := ls[r.IntN(len(ls))], ls[r.IntN(len(ls))]
		bx, by := x.big(), y.big()
		z := product(&x, &y).carried()
		want := new(big.Int).Mul(bx, by)
		bound := new(big.Int).Add(new(big.Int).Div(want, full), bigP)
		want.Mul(want, bigRInv).Mod(want, bigP)
		bz := z.big()
		if !isCarried(&z) || bz.Cmp(bound) > 0 || new(big.Int).Mod(bz, bigP).Cmp(want) != 0 {
			t.Fatalf("%x · %x = %x", bx, by, bz)
		}
		// x - y + 5p, as a sum that wasn't carried.
		d := x.minus(&y, 5)
		want.Sub(bx, by).Mod(want, bigP)
		f := d.folded()
		c := d.carried()
		if new(big.Int).Mod(f.big(), bigP).Cmp(want) != 0 || new(big.Int).Mod(c.big(), bigP).Cmp(want) != 0 {
			t.Fatalf("%x - %x = %x, %x", bx, by, f.big(), c.big())
		}
		if !isCarried(&f) || !isCarried(&c) || f.big().Cmp(fold) >= 0 {
			t.Fatalf("%x - %x = %x, not folded", bx, by, f.big())
		}
		w := f.folded()
		if got := toBig(w.words()); w.big().Cmp(got) != 0 || w.big().BitLen() > 256 {
			t.Fatalf("%x folded again: %x", f.big(), w.big())
		}
	}
}

// onLanes runs a test in the lane tier, if there is one.
func onLanes(t *testing.T) {
	for _, name := range Tiers() {
		if name == "ifma" {
			t.Cleanup(ForceTier(name))
			return
		}
	}
	t.Skip("no vectors here")
}

// Kernels against their twins, to the bit.
func TestLaneKernels(t *testing.T) {
	onLanes(t)
	r := newRand(t)
	tmp := &aligned[laneScratch](1)[0]
	small, wide, any := laneEdges(r, 1), laneEdges(r, 2), laneEdges(r, 4)
	for round := range 300 {
		n := 1 + round%5
		x, y := blocksOf(r, any, n), blocksOf(r, any, n)
		z, want := aligned[block](n), aligned[block](n)
		mulLanes(z, x, y)
		mulColumnsGeneric(n, column{want, 1}, column{x, 1}, column{y, 1})
		compare(t, "mul", z, want)
		mulLanes(z, x, y[:1])
		mulColumnsGeneric(n, column{want, 1}, column{x, 1}, column{y, 0})
		compare(t, "mul by one", z, want)
		far := blocksOf(r, any, 3*n)
		mulColumns(n, column{far[1:], 3}, column{far[2:], 3}, column{far, 3})
		mulColumnsGeneric(n, column{want, 1}, column{far[2:], 3}, column{far, 3})
		for i := range want {
			if far[3*i+1] != want[i] {
				t.Fatal("mul of columns differs")
			}
		}

		x = blocksOf(r, any, 2*n)
		want = append([]block(nil), x...)
		sqrLanes(x, n)
		sqrLanesGeneric(want, n)
		compare(t, "sqr", x, want)

		packed, packedWant := aligned[packedPoint](2*n*laneCount), aligned[packedPoint](2*n*laneCount)
		refs := make([]pointRef, 2*n*laneCount)
		for i := range refs {
			refs[i] = refTo(&packed[r.IntN(len(packed))], uint32(r.IntN(2)))
		}
		a, b := pointsOf(r, small, wide, 2*n), pointsOf(r, small, wide, 2*n)
		for i := range a {
			if r.IntN(8) == 0 {
				j := r.IntN(laneCount)
				l := a[i].X.lane(j)
				b[i].X.setLane(j, &l)
			}
		}
		q, qw := aligned[laneQuotient](2*n+chains), aligned[laneQuotient](2*n+chains)
		for i := range q[:chains] {
			q[i].product = blocksOf(r, wide, 1)[0]
			qw[i].product = q[i].product
		}
		zero, zw := make([]uint8, 2*n), make([]uint8, 2*n)
		if laneDifferences(q, a, b, zero, [][]pointRef{refs, nil}[round%2]) != laneDifferencesGeneric(qw, a, b, zw) {
			t.Fatal("zeros differ")
		}
		compare(t, "zeros", zero, zw)
		compare(t, "quotients", q, qw)
		for i := range zero {
			for j := range laneCount {
				x1, x2 := a[i].X.lane(j), b[i].X.lane(j)
				d := new(big.Int).Sub(x1.big(), x2.big())
				if is := d.Mod(d, bigP).Sign() == 0; is && zero[i]>>j&1 == 0 {
					t.Fatal("zero not seen")
				}
			}
		}
		inv := [chains]block(blocksOf(r, wide, chains))
		iw := inv
		aw := append([]lanePoint(nil), a...)
		laneAdditions(&inv, q, a, b, tmp, [][]pointRef{nil, refs}[round%2])
		laneAdditionsGeneric(&iw, q, aw, b)
		compare(t, "inverses", inv[:], iw[:])
		compare(t, "sums", a, aw)

		var p [2]laneJacobian
		for i := range p {
			c := pointsOf(r, small, small, 1)[0]
			p[i] = laneJacobian{c.X, c.Y, blocksOf(r, wide, 1)[0]}
		}
		pw := p
		laneDouble(&p, tmp, n)
		laneDoubleGeneric(&pw, n)
		compare(t, "double", p[:], pw[:])
		laneAddMixed(&p, (*[2]lanePoint)(b), tmp)
		laneAddMixedGeneric(&pw, (*[2]lanePoint)(b))
		compare(t, "mixed", p[:], pw[:])

		scatter(packed, b)
		scatterGeneric(packedWant, b)
		compare(t, "scatter", packed, packedWant)
		gather(a, refs)
		gatherGeneric(aw, refs)
		compare(t, "gather", a, aw)
		runtime.KeepAlive(packed)
	}
}

func compare[T comparable](t *testing.T, name string, got, want []T) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: %d differs: %v, want %v", name, i, got[i], want[i])
		}
	}
}

func BenchmarkLanes(b *testing.B) {
	for _, name := range Tiers() {
		if name == "ifma" {
			defer ForceTier(name)()
		}
	}
	r := newRand(b)
	small := laneEdges(r, 1)
	tmp := &aligned[laneScratch](1)[0]
	const n = 64
	x, y, z := blocksOf(r, small, n), blocksOf(r, small, n), aligned[block](n)
	b.Run("mul", func(b *testing.B) { best(b, n, func() { mulLanes(z, x, y) }) })
	b.Run("sqr", func(b *testing.B) { best(b, 4*100, func() { sqrLanes(z[:4], 100) }) })
	ps, qs := pointsOf(r, small, small, n), pointsOf(r, small, small, n)
	q := aligned[laneQuotient](n + chains)
	for i := range chains {
		q[i].product = x[i]
	}
	zero := make([]uint8, n)
	inv := [chains]block(x[:chains])
	b.Run("differences", func(b *testing.B) { best(b, n, func() { laneDifferences(q, ps, qs, zero, nil) }) })
	b.Run("additions", func(b *testing.B) { best(b, n, func() { laneAdditions(&inv, q, ps, qs, tmp, nil) }) })
	var p [2]laneJacobian
	for i := range p {
		p[i] = laneJacobian{ps[i].X, ps[i].Y, z[i]}
	}
	b.Run("double", func(b *testing.B) { best(b, 2*10, func() { laneDouble(&p, tmp, 10) }) })
	b.Run("mixed", func(b *testing.B) { best(b, 2, func() { laneAddMixed(&p, (*[2]lanePoint)(qs), tmp) }) })
	packed := aligned[packedPoint](n * laneCount)
	b.Run("scatter", func(b *testing.B) { best(b, n, func() { scatter(packed, ps) }) })
	refs := make([]pointRef, n*laneCount)
	for i := range refs {
		refs[i] = refTo(&packed[i], 0)
	}
	b.Run("gather", func(b *testing.B) { best(b, n, func() { gather(ps, refs) }) })
	runtime.KeepAlive(packed)
}

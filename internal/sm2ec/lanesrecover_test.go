// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestLaneGroups(t *testing.T) {
	for n := laneGroupMin; n < 70000; n += 1 + n/50 {
		count, cost := laneGroups(n)
		if count%laneGroupUnit != 0 || (n+count-1)/count > laneGroupMost || n < count || cost <= 0 {
			t.Errorf("%d items in %d groups, for %f", n, count, cost)
		}
	}
	for n := 1; n <= laneGroupMost; n++ {
		if l, r := halves(n); l+r != n || r > l || r == l && n > 1 {
			t.Errorf("%d in %d and %d", n, l, r)
		}
	}
}

// recovered returns the points of items after the recovery of signs, which begin at random.
func recovered(t *testing.T, r *rand.Rand, items []Item, workers int) (points []Affine, ok []bool) {
	for i := range items {
		items[i].Hint = HintEven + Hint(r.IntN(2))
	}
	ps, points := lifted(t, items)
	ok = make([]bool, len(items))
	odd, release := recoverSigns(points, ok, ps, workers)
	for i := range odd {
		if odd[i].first == nil {
			continue
		}
		for k := range pointRef(1 << (laneWidth - 1)) {
			p, _ := odd[i].ref(2 * k).point()
			var want Jacobian
			want.ScalarMult(&ps[i].P, &Scalar{2*uint64(k) + 1})
			if w, _ := want.Affine(); p.affine() != w {
				t.Fatalf("multiple %d of key %d is wrong", 2*k+1, i)
			}
		}
	}
	if release != nil {
		release()
	}
	return points, ok
}

func TestRecoverSignsLanes(t *testing.T) {
	onLanes(t)
	r := newRand(t)
	for _, c := range []struct{ n, signers, workers int }{
		{64, 64, 1}, {79, 1, 1}, {100, 100, 2}, {101, 7, 1}, {177, 177, 1}, {209, 30, 2}, {224, 224, 1}, {353, 353, 1},
	} {
		js := goodItems(t, r, c.n, c.signers)
		slices.SortFunc(js, func(a, b judged) int { return cmp.Compare(a.P.X[0], b.P.X[0]) }) // by signer
		items := make([]Item, c.n)
		for i := range js {
			items[i] = js[i].Item
		}
		points, ok := recovered(t, r, items, c.workers)
		for i := range items {
			if !ok[i] || parity(&points[i].Y) != js[i].hint {
				t.Fatalf("%d items of %d: sign %d is wrong: %v", c.n, c.signers, i, ok[i])
			}
		}

		// Bad items spoil their own groups, and no others.
		count, _ := laneGroups(c.n)
		groupOf := func(i int) int {
			for g := range count {
				if i < c.n*(g+1)/count {
					return g
				}
			}
			return count
		}
		bad := map[int]bool{}
		for range 3 {
			i := r.IntN(c.n)
			items[i].S.Add(&items[i].S, &Scalar{1})
			bad[groupOf(i)] = true
		}
		points, ok = recovered(t, r, items, c.workers)
		for i := range items {
			if ok[i] == bad[groupOf(i)] || ok[i] && parity(&points[i].Y) != js[i].hint {
				t.Fatalf("%d items of %d: sign %d is %v", c.n, c.signers, i, ok[i])
			}
		}
	}
}

// What no honest signers do: keys that are opposite, or multiples of G and of each other,
// multipliers that cancel, equal signatures. Signs are found, or the group is left to others.
func TestRecoverSignsLanesCrafted(t *testing.T) {
	onLanes(t)
	r := newRand(t)
	for round := range 6 {
		js := goodItems(t, r, 96, 96)
		items := make([]Item, len(js))
		for i := range js {
			items[i] = js[i].Item
		}
		spoilt := map[int]bool{}
		for g := 0; g < 96; g += 12 {
			i, k := g+r.IntN(12), g+r.IntN(12)
			spoilt[i/6], spoilt[k/6] = true, true
			switch (round + g/12) % 6 {
			case 0:
				items[i] = items[k]
			case 1: // the same key, so that t cancels
				items[i].P = items[k].P
				t, _ := items[k].T()
				t.Neg(&t)
				items[i].S.Sub(&t, &items[i].R)
			case 2:
				items[i] = items[k]
				items[i].P.Neg(&items[i].P)
			case 3:
				items[i].P = generator
			case 4: // one that stands for another
				items[i].P = standIn(1 + r.IntN(padPlace)).affine()
			case 5:
				t, _ := items[i].T()
				items[i].S, items[i].P = Scalar{1}, items[k].P
				items[i].R.Sub(&t, &Scalar{1})
			}
		}
		// One group has no multiplier of G left.
		var s Scalar
		for i := 90; i < 95; i++ {
			s.Sub(&s, &items[i].S)
		}
		items[95].S = s
		spoilt[15] = true
		for i := range items {
			if items[i].smallX() || !items[i].HasPoint() {
				items[i] = js[i].Item
			}
		}
		points, ok := recovered(t, r, items, 1)
		for i := range items {
			if good := VerifySingle(&items[i]); !spoilt[i/6] && (!good || !ok[i] || parity(&points[i].Y) != js[i].hint) {
				t.Errorf("round %d: item %d: signs found: %v", round, i, ok[i])
			}
		}
		res, _ := Verify(items, &Config{Force: Recovered})
		for i := range items {
			if got, want := res[i].Verdict == Valid, VerifySingle(&items[i]); got != want {
				t.Errorf("round %d: item %d: %v, want %v", round, i, got, want)
			}
		}
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

var halfP = new(big.Int).Rsh(bigP, 1)

// lifted returns the items with the points that their hints mean.
func lifted(t testing.TB, items []Item) ([]*Item, []Affine) {
	ps := make([]*Item, len(items))
	for i := range items {
		ps[i] = &items[i]
	}
	points, ok := make([]Affine, len(items)), make([]bool, len(items))
	lift(points, ok, ps)
	for i := range ok {
		if !ok[i] || items[i].smallX() {
			t.Fatal("an item that can't be lifted")
		}
	}
	return ps, points
}

// unrandomised reports whether a batch passes with all weights one.
func unrandomised(items []*Item, points []Affine) bool {
	j := newJoint(items, points, new([32]byte), 1)
	for i, it := range items {
		j.weights[i] = weight{k: Scalar{1}}
		j.zs[i] = it.S
		j.zt[i], _ = it.T()
	}
	sum := j.sum(0, len(items))
	return sum.IsInfinity()
}

// An attack is a batch of items all of which are invalid, the sum of whose defects
// is zero.
type attack func(t testing.TB, r *rand.Rand) []Item

// cancelling moves a difference from one s to another, of the same signer.
func cancelling(t testing.TB, r *rand.Rand) []Item {
	d := randInt(r)
	items := []Item{signed(d, randInt(r), randInt(r)), signed(d, randInt(r), randInt(r))}
	for i := range items {
		items[i].Hint, _ = FindHint(&items[i])
	}
	delta := randScalar(r)
	for i := range items {
		// r stays, and with it the point; t changes as s does.
		items[i].S.Add(&items[i].S, &delta)
		delta.Neg(&delta)
	}
	return items
}

// rogue forges anything for a victim's key, and makes up for its defect with a
// signature under a key of the attacker's, whose digest is chosen at the end.
func rogue(t testing.TB, r *rand.Rand) []Item {
	victim, own := randPoint(r), randPoint(r)
	for {
		it := Item{P: victim, E: randScalar(r), R: randScalar(r), S: randScalar(r), Hint: HintEven}
		var point [1]Affine
		var ok [1]bool
		if lift(point[:], ok[:], []*Item{&it}); !ok[0] {
			continue
		}
		// The defect sG + tP - R.
		var sum [1]Jacobian
		combine(sum[:], []*Item{&it})
		point[0].Neg(&point[0])
		defect := sum[0]
		defect.AddAffine(&defect, &point[0])

		second := Item{P: own, R: randScalar(r), S: randScalar(r)}
		combine(sum[:], []*Item{&second})
		sum[0].Add(&sum[0], &defect)
		r2, _ := sum[0].Affine()
		x := elementBigScalar(&r2.X)
		second.E.Sub(&second.R, &x)
		second.Hint = parity(&r2.Y)
		return []Item{it, second}
	}
}

// swapped exchanges the points of two signatures, and keeps the sums of s and t.
func swapped(t testing.TB, r *rand.Rand) []Item {
	d := randInt(r)
	a, b := signed(d, randInt(r), randInt(r)), signed(d, randInt(r), randInt(r))
	a.Hint, _ = FindHint(&a)
	b.Hint, _ = FindHint(&b)
	a.E, b.E = b.E, a.E
	a.R, b.R = b.R, a.R
	a.Hint, b.Hint = b.Hint, a.Hint
	return []Item{a, b}
}

var attacks = map[string]attack{"cancelling": cancelling, "rogue": rogue, "swapped": swapped}

// Batches that pass without weights must fail with them, alone and among good items.
func TestAttacks(t *testing.T) {
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			r := newRand(t)
			bad := attack(t, r)
			for i := range bad {
				if oracle(&bad[i]) {
					t.Fatalf("item %d is valid", i)
				}
			}
			if items, points := lifted(t, bad); !unrandomised(items, points) {
				t.Fatal("the attack doesn't work without weights either")
			}
			js := goodItems(t, r, 60, 60)
			all := withHints(r, js, 0)
			for _, it := range bad {
				js = append(js, judged{Item: it})
				all = append(all, it)
			}
			for _, path := range forced {
				for _, items := range [][2]int{{60, 62}, {50, 62}, {0, 62}} {
					lo, hi := items[0], items[1]
					got, _ := Verify(all[lo:hi], &Config{Seed: randSeed(r), Force: path})
					checkResults(t, path.String(), all[lo:hi], js[lo:hi], got)
				}
			}
			// The equation itself must notice, not the confirmation after it.
			items, points := lifted(t, bad)
			for range 50 {
				seed := randSeed(r)
				j := newJoint(items, points, &seed, 1)
				if sum := j.sum(0, len(bad)); sum.IsInfinity() {
					t.Fatal("the weighted sum is zero")
				}
			}
		})
	}
}

// Signs can be found for the attacks too: they prove nothing.
func TestAttacksRecoverSigns(t *testing.T) {
	r := newRand(t)
	for name, attack := range attacks {
		items, points := lifted(t, attack(t, r))
		ok := make([]bool, len(items))
		recoverSigns(points, ok, items, 1)
		for i := range ok {
			if !ok[i] {
				t.Errorf("%s: no signs", name)
			}
		}
		if !unrandomised(items, points) {
			t.Errorf("%s: the signs don't solve the equation", name)
		}
	}
}

// Weights depend on all that was chosen, and on the seed.
func TestWeights(t *testing.T) {
	r := newRand(t)
	js := goodItems(t, r, 3, 2)
	base := withHints(r, js, 0)
	_, points := lifted(t, base)
	seed := randSeed(r)
	draw := func(items []Item, points []Affine, seed [32]byte) [3]weight {
		ps := []*Item{&items[0], &items[1], &items[2]}
		return [3]weight(drawWeights(&seed, ps, points))
	}
	want := draw(base, points, seed)
	if draw(base, points, seed) != want {
		t.Fatal("not deterministic")
	}
	seen := map[weight]bool{}
	note := func(what string, got [3]weight) {
		t.Helper()
		for _, w := range got {
			if seen[w] {
				t.Errorf("%s: a weight occurs again", what)
			}
			seen[w] = true
		}
	}
	note("base", want)
	change := func(what string, f func(items []Item, points []Affine, seed *[32]byte)) {
		t.Helper()
		items, pts, s := append([]Item(nil), base...), append([]Affine(nil), points...), seed
		f(items, pts, &s)
		note(what, draw(items, pts, s))
	}
	change("seed", func(_ []Item, _ []Affine, s *[32]byte) { s[31] ^= 1 })
	for i := range 3 {
		change("e", func(it []Item, _ []Affine, _ *[32]byte) { it[i].E[3] ^= 1 })
		change("r", func(it []Item, _ []Affine, _ *[32]byte) { it[i].R[0] ^= 1 })
		change("s", func(it []Item, _ []Affine, _ *[32]byte) { it[i].S[1] ^= 1 })
		change("key", func(it []Item, _ []Affine, _ *[32]byte) { it[i].P.Neg(&it[i].P) })
		change("hint", func(it []Item, _ []Affine, _ *[32]byte) { it[i].Hint = 5 })
		change("sign", func(_ []Item, p []Affine, _ *[32]byte) { p[i].Neg(&p[i]) })
	}
	change("order", func(it []Item, p []Affine, _ *[32]byte) { it[0], it[1], p[0], p[1] = it[1], it[0], p[1], p[0] })
}

// Weights are odd, and lie from 1 to 2¹²⁸-1 with either sign. Each bit but the lowest is as often set as not.
func TestWeightsRange(t *testing.T) {
	r := newRand(t)
	n := 4096
	it := signed(randInt(r), randInt(r), randInt(r))
	items := make([]*Item, n)
	for i := range items {
		items[i] = &it
	}
	seed := randSeed(r)
	var counts [128]int
	for _, w := range drawWeights(&seed, items, make([]Affine, n)) {
		k := toBig(w.k)
		if k.Bit(0) == 0 || k.BitLen() > 128 {
			t.Fatalf("weight %x", k)
		}
		if !w.neg {
			k.SetBit(k, 0, 0) // the sign is counted in place of the lowest bit
		}
		for b := range counts {
			counts[b] += int(k.Bit(b))
		}
		z := w.scalar()
		want := toBig(w.k)
		if w.neg {
			want.Neg(want)
		}
		if z != scalarOf(want) {
			t.Fatalf("weight %x as a scalar: %x", want, z)
		}
	}
	for b, c := range counts {
		if c < n/2-400 || c > n/2+400 { // 12 standard deviations
			t.Errorf("bit %d is set in %d of %d", b, c, n)
		}
	}
}

func TestRecoverSigns(t *testing.T) { onTiers(t, testRecoverSigns) }

func testRecoverSigns(t *testing.T) {
	r := newRand(t)
	for _, signers := range []int{1, 5, 60} {
		js := goodItems(t, r, 60, signers)
		items := make([]Item, len(js))
		for n := range 3*groupSize + 3 {
			for i := range js[:n] {
				items[i] = js[i].Item
				items[i].Hint = HintEven + Hint(r.IntN(2)) // the signs to begin with
			}
			ps, points := lifted(t, items[:n])
			ok := make([]bool, n)
			recoverSigns(points, ok, ps, 1)
			for i := range n {
				if !ok[i] || parity(&points[i].Y) != js[i].hint {
					t.Errorf("%d signers, %d items: sign %d is wrong", signers, n, i)
				}
			}
		}
		// A bad item spoils its own group, and no other.
		n := 3 * groupSize
		for i := range js[:n] {
			items[i] = js[i].Item
		}
		items[groupSize].S.Add(&items[groupSize].S, &Scalar{1})
		ps, points := lifted(t, items[:n])
		ok := make([]bool, n)
		recoverSigns(points, ok, ps, 2)
		for i := range n {
			if want := i/groupSize != 1; ok[i] != want {
				t.Errorf("item %d: signs found: %v", i, ok[i])
			}
		}
	}
}

// A failing batch spends within its bounds, and confirms little for few bad items.
func TestJointLocates(t *testing.T) {
	onScalars(t)
	r := newRand(t)
	js := goodItems(t, r, 256, 256)
	for _, k := range []int{0, 1, 2, 256} {
		items := withHints(r, js, 0)
		want := append([]judged(nil), js...)
		for _, i := range r.Perm(len(js))[:k] {
			items[i].S.Add(&items[i].S, &Scalar{1})
			want[i].good, want[i].hint = false, NoHint
		}
		got, stats := Verify(items, &Config{Seed: randSeed(r), Force: Joint})
		checkResults(t, "joint", items, want, got)
		t.Logf("%d bad: %+v", k, stats)
		if k == 0 && stats.Confirmed+stats.Sums != 0 {
			t.Errorf("%+v though all are good", stats)
		}
		if k == 1 && stats.Confirmed > 128 {
			t.Errorf("%d confirmed for one bad", stats.Confirmed)
		}
		if k == 256 && stats.Confirmed != 256 {
			t.Errorf("%d confirmed", stats.Confirmed)
		}
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"sync"
	"testing"
)

// A row is the sum of some entries of tables: g·G + p·P.
type row struct{ g, p *big.Int }

// entriesOf returns what SumTables adds up for sG + tP, by tables of these widths.
func entriesOf(s, t *Scalar, wg, wp int) (rows []row) {
	digits := func(k *Scalar, w int, put func(x *big.Int)) {
		d := make([]int32, windows(w))
		neg := k.oddDigits(d, w)
		for i, x := range d {
			v := new(big.Int).Lsh(big.NewInt(int64(x)), uint(w*i))
			if neg {
				v.Neg(v)
			}
			put(v)
		}
	}
	digits(s, wg, func(x *big.Int) { rows = append(rows, row{x, new(big.Int)}) })
	digits(t, wp, func(x *big.Int) { rows = append(rows, row{new(big.Int), x}) })
	return rows
}

// meeting returns a key dG with which two operands of an addition in the sum of
// sG + tP, the one at place i of the given level of the tree, are equal or
// opposite, and false if there is no such addition or key.
func meeting(s, t *Scalar, wg, wp, level, i int, opposite bool) (d *big.Int, ok bool) {
	rows := entriesOf(s, t, wg, wp)
	for ; len(rows) > 1; level-- {
		half := len(rows) / 2
		from := len(rows) - half
		if level == 0 {
			a, b := rows[i%half], rows[from+i%half]
			if opposite {
				b = row{new(big.Int).Neg(b.g), new(big.Int).Neg(b.p)}
			}
			// a.g + a.p·d = b.g + b.p·d
			den := new(big.Int).Sub(a.p, b.p)
			if den.Mod(den, bigN).Sign() == 0 {
				return nil, false
			}
			d = new(big.Int).Sub(b.g, a.g)
			d.Mul(d, den.ModInverse(den, bigN)).Mod(d, bigN)
			return d, d.Sign() != 0
		}
		for k := range half {
			rows[k] = row{new(big.Int).Add(rows[k].g, rows[from+k].g), new(big.Int).Add(rows[k].p, rows[from+k].p)}
		}
		rows = rows[:from]
	}
	return nil, false
}

// withNumbers returns an item with these s and t and the key dG, valid unless sG + tP is infinity.
func withNumbers(r *rand.Rand, d *big.Int, s, t *Scalar) Item {
	it := Item{P: bigMultiple(d), S: *s, E: randScalar(r)}
	it.R.Sub(t, s)
	sum := new(big.Int).Mul(toBig(*t), d)
	sum.Add(sum, toBig(*s))
	if sum.Mod(sum, bigN).Sign() != 0 {
		x := scalarOf(multipleX(sum))
		it.E.Sub(&it.R, &x)
	}
	return it
}

// Keys that make operands meet at any addition of the tree of a sum: the item is
// flagged, or right, and its neighbours are right.
func TestSumTablesMeetings(t *testing.T) { onTiers(t, testSumTablesMeetings) }

func testSumTablesMeetings(t *testing.T) {
	r := newRand(t)
	for _, wg := range []int{smallWidth, largeWidth} {
		g := NewTable(&generator, wg)
		for wp := minTable; wp <= 8; wp++ {
			var items []Item
			var crafted []bool
			tables := map[Affine]*Table{}
			honest := randInt(r)
			for level := range 7 {
				for k := range 4 {
					s, u := randScalar(r), randScalar(r)
					if d, ok := meeting(&s, &u, wg, wp, level, r.IntN(64), k%2 == 1); ok {
						items, crafted = append(items, withNumbers(r, d, &s, &u)), append(crafted, true)
					}
					items, crafted = append(items, signed(honest, randInt(r), randInt(r))), append(crafted, false)
				}
			}
			terms := make([]Term, len(items))
			for i := range items {
				tb := tables[items[i].P]
				if tb == nil {
					tb = NewTable(&items[i].P, wp)
					tables[items[i].P] = tb
				}
				u, _ := items[i].T()
				terms[i] = Term{items[i].S, u, tb}
			}
			sums, flagged := make([]Jacobian, len(items)), make([]bool, len(items))
			SumTables(sums, flagged, g, terms)
			flags := 0
			for i := range items {
				it := &items[i]
				if flagged[i] {
					flags++
					if !crafted[i] {
						t.Errorf("widths %d and %d: item %d is flagged", wg, wp, i)
					}
					continue
				}
				if got, want := it.XMatches(&sums[i]), oracle(it); got != want {
					t.Errorf("widths %d and %d: item %d, crafted %v: %v, gmsm says %v", wg, wp, i, crafted[i], got, want)
				}
			}
			if flags < 8 {
				t.Errorf("widths %d and %d: only %d items flagged", wg, wp, flags)
			}
		}
	}
}

// Signatures by one's own keys with nonces in simple relations: equal points and
// sums that meet in buckets, tables and sets of sums, and signs that aren't unique.
func TestVerifyRelatedNonces(t *testing.T) { onTiers(t, testVerifyRelatedNonces) }

func testVerifyRelatedNonces(t *testing.T) {
	r := newRand(t)
	k := randInt(r)
	var items []Item
	for i := range 150 {
		d := big.NewInt(int64(1 + i%5))
		if i%3 == 0 {
			d = k
		}
		nonce := new(big.Int).Mul(k, big.NewInt([]int64{1, 2, 3, -1, -2, 4, 8}[i%7]))
		switch {
		case i >= 60 && i < 90:
			nonce = big.NewInt(int64(1 + i%4))
		case i >= 90 && i < 100:
			nonce = d
		case i >= 120:
			nonce = randInt(r)
		}
		it := signed(d, nonce.Mod(nonce, bigN), randInt(r))
		if i%37 == 36 {
			it.S.Add(&it.S, &Scalar{1})
		}
		items = append(items, it)
	}
	js := judgeAll(t, items)
	for _, wrong := range []float64{0, 0.05} {
		items := withHints(r, js, wrong)
		for _, path := range forced {
			got, _ := Verify(items, &Config{Seed: randSeed(r), Force: path, Workers: 1 + r.IntN(3)})
			for i := range got {
				if (got[i].Verdict == Valid) != js[i].good {
					t.Errorf("%s: item %d: verdict %d, gmsm says %v", path, i, got[i].Verdict, js[i].good)
				}
			}
		}
	}
}

// The verdicts of batches that share a cache too small for their keys, all at once.
func TestVerifyEvictions(t *testing.T) {
	r := newRand(t)
	var items []Item
	for range 12 {
		d := randInt(r)
		for range 7 {
			it := signed(d, randInt(r), randInt(r))
			if r.IntN(5) == 0 {
				it.S.Add(&it.S, &Scalar{1})
			}
			items = append(items, it)
		}
	}
	js := judgeAll(t, items)
	cache := NewCache(3*TableSize(4) + 20*countCost)
	var wg sync.WaitGroup
	errs := make(chan error, 8)
	for range 4 {
		mine := rand.New(rand.NewPCG(r.Uint64(), 2))
		wg.Go(func() {
			for range 10 {
				order := mine.Perm(len(items))[:20+mine.IntN(len(items)-20)]
				some := make([]Item, len(order))
				for k, o := range order {
					some[k] = items[o]
					some[k].Hint = Hint(mine.IntN(6))
				}
				got, _ := Verify(some, &Config{Seed: randSeed(mine), Cache: cache, Workers: 2})
				for k, o := range order {
					if (got[k].Verdict == Valid) != js[o].good {
						select {
						case errs <- fmt.Errorf("item %d: verdict %d, gmsm says %v", o, got[k].Verdict, js[o].good):
						default:
						}
					}
				}
				if size := cache.Size(); size > 3*TableSize(4)+20*countCost {
					select {
					case errs <- fmt.Errorf("the cache has %d bytes", size):
					default:
					}
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	if cache.Len() == 0 {
		t.Error("no table was ever kept")
	}
}

// Many keys that have become worth a table in the same batch get it over several,
// so that none takes much longer than by the single path.
func TestPlanInvestments(t *testing.T) {
	const signers = 400
	cache := NewCache(64 << 20)
	items := plannedItems(signers, signers, NoHint)
	kept, rounds := 0, 0
	for ; kept < signers && rounds < 200; rounds++ {
		v := verifier{cfg: &Config{Cache: cache}, workers: 1, items: items, results: make([]Result, len(items))}
		v.plan(v.screen())
		cost, jobs := 0.0, 0
		for _, j := range v.tableJobs {
			if j.tables != nil {
				jobs++
				continue
			}
			for _, s := range j.signers {
				cost += v.costs().table(j.width)
				cache.Put(&s.key, &Table{w: j.width})
				kept++
			}
		}
		// What is made goes without other costs, but not many times.
		if bound := v.costs().singles(signers); cost > 0.6*bound {
			t.Errorf("batch %d: tables for %.0f µs, one by one is %.0f µs", rounds, cost/1000, bound/1000)
		}
		if jobs > 1 {
			t.Errorf("batch %d: %d jobs of tables there are", rounds, jobs)
		}
	}
	if kept < signers || rounds < 5 || rounds > 150 {
		t.Errorf("%d tables after %d batches", kept, rounds)
	}
}

// Without room in the cache, tables are for the batch alone, if that has a use for them.
func TestPlanNoRoom(t *testing.T) {
	for _, budget := range []int64{0, 1 << 10, 64 << 10} {
		cache := NewCache(budget)
		for range 3 {
			if tables, _, _, _ := planned(plannedItems(2000, 2, NoHint), &Config{Cache: cache}); tables != 2000 {
				t.Errorf("budget %d: %d of 2000 items by tables", budget, tables)
			}
		}
	}
	cache := NewCache(8 * countCost) // for one count
	for range 200 {
		if tables, _, _, _ := planned(plannedItems(1, 1, NoHint), &Config{Cache: cache}); tables != 0 {
			t.Fatal("a table for one item")
		}
	}
	w, _ := (&verifier{cfg: &Config{Cache: NewCache(64 << 10)}}).tableFor(1<<14, 1<<14)
	if TableSize(w) < 64<<10 {
		t.Errorf("width %d for many items of one key, for want of room to keep a wider one", w)
	}
}

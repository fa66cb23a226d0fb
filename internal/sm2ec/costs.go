// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import "math"

// Costs in nanoseconds, as measured on a server of 2024. Only their ratios matter.
type costs struct {
	single      float64 // an item by itself,
	singleLanes int     // of which so many cost as much as one

	lift float64 // an item's root and weight

	weighted func(long, short int) float64 // a sum of terms, some with weights
	signer   float64                       // of which a signer's share is about this

	recover func(signers, n int) float64 // signs

	build, entry float64 // a table, and its entries
	maxTable     int     // the widest
	hot          int64   // bytes of all recurring keys' tables beyond which wide ones don't pay
	sum, add     float64 // an item by tables, and each of its entries
}

// scalarCosts are those with assembly, but for vectors. Ratios are about the same without it.
var scalarCosts = costs{
	single: 38_000, singleLanes: 1,
	lift:     3_800,
	weighted: scalarSum, signer: 25 * entryCost,
	recover: scalarRecover,
	build:   50_000, entry: 115, maxTable: 10, hot: math.MaxInt64,
	sum: 1_700, add: 85,
}

// laneCosts are those in lanes.
var laneCosts = costs{
	single: 8_000, singleLanes: 2 * laneCount,
	lift:     1_250,
	weighted: laneSum, signer: laneLongCost,
	recover: laneRecover,
	build:   90_000, entry: 52, maxTable: 13, hot: 12 << 20,
	sum: 450, add: 25,
}

// costsFor returns those of a batch of n items.
func costsFor(n int) *costs {
	if current.lanes && n >= singleMin {
		return &laneCosts
	}
	return &scalarCosts
}

// singles estimates n items by themselves.
func (c *costs) singles(n int) float64 {
	k := c.singleLanes
	return c.single * float64((n+k-1)/k*k)
}

// joint estimates a weighted sum of n items by so many signers.
func (c *costs) joint(signers, n int) float64 {
	return c.weighted(signers+1, n)
}

// scalarRecover estimates the recovery of the signs of n items: what a group costs, a signer in it, and an
// item.
func scalarRecover(signers, n int) float64 {
	groups := (n + groupSize - 1) / groupSize
	return 37_000*float64(groups) + 9_500*float64(max(signers, groups)) + 2_500*float64(n)
}

// laneRecover is scalarRecover in lanes. It takes off what kept tables save later.
func laneRecover(signers, n int) float64 {
	if n < laneGroupMin {
		return scalarRecover(signers, n)
	}
	groups, cost := laneGroups(n)
	member := 1_200.
	if n > laneKeep {
		member += 750
	}
	return cost + member*float64(max(signers, groups)) + 300*float64(n)
}

// table estimates the making of a table.
func (c *costs) table(w int) float64 { return c.build + c.entry*float64(tableLen(w)) }

// uses estimates n items by a table.
func (c *costs) uses(w int, n int64) float64 {
	return float64(n) * (c.sum + c.add*float64(windows(largeWidth)+windows(w)))
}

// width returns the best width of a table that is used n times, and what
// making and using it costs. Tables that are to be kept must fit into the cache, and large
// ones as many times as there are recurring keys, or else they would push each other out.
func (c *costs) width(n int64, cache *Cache, keys int) (w int, cost float64) {
	cost = math.Inf(1)
	for x := minTable; x <= c.maxTable; x++ {
		share := TableSize(x)
		if x > smallTable {
			share = int64(keys) * (share + countCost)
			if share > c.hot {
				break
			}
		}
		if cache != nil && !cache.Room(share) || cache == nil && TableSize(x) > tempTables {
			break
		}
		if all := c.table(x) + c.uses(x, n); all < cost {
			w, cost = x, all
		}
	}
	return w, cost
}

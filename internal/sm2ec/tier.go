// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import "fmt"

// A tier is a way to do the heavy work, by whole slices so that one with
// vectors can take its items in lanes. All tiers give the same results.
type tier struct {
	name         string
	assembly     bool // the field's multiplication is assembly
	lanes        bool // and there is that for vectors
	newTables    func(ts []*Table, ps []Affine, w int)
	sumTables    func(dst []Jacobian, flagged []bool, g *Table, terms []Term)
	combine      func(dst []Jacobian, items []*Item)
	combineChunk int // what combine takes at once
	sqrtBatch    func(xs []Element, ok []bool)
	sumMultiples func(terms []multiple, workers int) Jacobian
}

var genericTier = tier{
	name:         "generic",
	newTables:    newTables,
	sumTables:    sumTables,
	combine:      combine,
	combineChunk: combineChunk,
	sqrtBatch:    sqrtBatch,
	sumMultiples: sumMultiples,
}

var adxTier, ifmaTier = func() (adx, ifma tier) {
	adx = genericTier
	adx.name, adx.assembly = "adx", true
	ifma = adx
	ifma.name, ifma.lanes = "ifma", true
	ifma.newTables, ifma.sumTables = newTablesLanes, sumTablesLanes
	ifma.combine, ifma.combineChunk = combineLanes, singleChunk
	ifma.sqrtBatch, ifma.sumMultiples = sqrtBatchLanes, sumMultiplesLanes
	return adx, ifma
}()

// tiers are those that this processor can run, the best first.
var tiers = available()

var current = begin(&tiers[0])

// laneTables is set in tiers with lanes.
var laneTables bool

// begin has the tier's kernels used.
func begin(t *tier) *tier {
	selectKernels(t)
	laneTables = t.lanes
	return t
}

func use(t *tier) { current = begin(t) }

// Tiers returns the names of the tiers of this processor, the best first.
func Tiers() []string {
	names := make([]string, len(tiers))
	for i := range tiers {
		names[i] = tiers[i].name
	}
	return names
}

// HasAssembly reports whether the tier in use does the field's arithmetic in assembly.
func HasAssembly() bool { return current.assembly }

// ForceTier makes everything use one of the [Tiers], until restore is called. It is for
// tests, and not while anything else of this package runs.
func ForceTier(name string) (restore func()) {
	old := current
	for i := range tiers {
		if tiers[i].name == name {
			use(&tiers[i])
			return func() { use(old) }
		}
	}
	panic(fmt.Sprintf("sm2ec: no tier %q", name))
}

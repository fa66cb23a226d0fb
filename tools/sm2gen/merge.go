// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/mmcloughlin/avo/ir"
)

// Marks in what is generated, around two pieces that are to be merged.
const (
	mergeFirst  = "merge: first"
	mergeSecond = "merge: second"
	mergeEnd    = "merge: end"
)

// merge writes two pieces of code that have no registers in common but constants, and nothing
// in memory, with the instructions of both mixed.
func (f laneField) merge(a, b func()) {
	f.Comment(mergeFirst)
	a()
	f.Comment(mergeSecond)
	b()
	f.Comment(mergeEnd)
}

// mergeMarked mixes the pieces in a file that merge has marked. Each begins in its own
// order; both end together.
func mergeMarked(file *ir.File) {
	for _, fn := range file.Functions() {
		var out, first, second []ir.Node
		to := &out
		for _, n := range fn.Nodes {
			switch mark(n) {
			case mergeFirst:
				first, second = nil, nil
				to = &first
			case mergeSecond:
				to = &second
			case mergeEnd:
				out = append(out, mix(first, second)...)
				to = &out
			default:
				*to = append(*to, n)
			}
		}
		fn.Nodes = out
	}
}

// mark returns the mark that a node is, or an empty string.
func mark(n ir.Node) string {
	c, ok := n.(*ir.Comment)
	if !ok || len(c.Lines) != 1 {
		return ""
	}
	return c.Lines[0]
}

func mix(a, b []ir.Node) []ir.Node {
	var out []ir.Node
	i, k := 0, 0
	for i < len(a) || k < len(b) {
		if k == len(b) || i < len(a) && i*len(b) <= k*len(a) {
			out = append(out, a[i])
			i++
		} else {
			out = append(out, b[k])
			k++
		}
	}
	return out
}

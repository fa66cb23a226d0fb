// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

// lanesPay returns the numbers of powers from which on four lanes, and eight, are
// faster than one power after the other, for [ExpLanes] and for pairs of powers by
// [Modulus.ExpShared]. Measured on Zen 4, which starts half as many vector
// multiplications in a cycle as others do, for one number or eight.
func lanesPay(bits int) (four, eight int) {
	switch l := limbsFor(bits); {
	case !haveWide(l):
		return 2, 3
	case l == 24:
		return 2, 4
	case l < 64:
		return 3, 5
	}
	return 4, 6
}

// lanesFor returns in how many lanes the first of count powers are computed: eight,
// four, or 1 for one by one.
func lanesFor(bits, count int) int {
	four, eight := lanesPay(bits)
	switch {
	case !HaveLanes(bits):
		return 1
	case count >= Lanes:
		return Lanes
	case !useFour && count >= eight:
		return Lanes
	case !useFour || count < four:
		return 1
	case count >= 4+min(four, 3):
		return Lanes // less than four lanes and the rest would take
	}
	return 4
}

// InLanes returns how many of count powers modulo m [ExpLanes] computes several at
// once. They are the first ones, and what is left is computed one by one.
func (m *Modulus) InLanes(count int) int {
	n := 0
	for n < count {
		lanes := lanesFor(m.bits, count-n)
		if lanes == 1 {
			break
		}
		n = min(n+lanes, count)
	}
	return n
}

// Split divides count powers modulo m among cores: parts are the sizes of pieces, for
// one call of [ExpLanes] or [Modulus.ExpShared] each, of which the first are the
// largest. They take hardly more processor time than all in one call.
func (m *Modulus) Split(count, cores int) (parts []int) {
	for count > 0 {
		n := min(lanesFor(m.bits, count), count)
		if n > 4 && useFour && cores > 1 && count < Lanes*cores {
			n = 4
		}
		parts = append(parts, n)
		count -= n
	}
	return parts
}

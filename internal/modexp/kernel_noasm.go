// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package modexp

// fast reports whether the kernel is faster than math/big.
func fast() bool { return false }

func mulLimbs(t, x, y []uint64) { mulGeneric(t, x, y) }

func sqrLimbs(t, x []uint64) { sqrGeneric(t, x) }

func redcLimbs(z, t, n []uint64, k0 uint64) { redcGeneric(z, t, n, k0) }

func doubleLimbs(z, n []uint64) { doubleGeneric(z, n) }

func selectLimbs(z, table []uint64, i uint64) { selectGeneric(z, table, i) }

// useFour is for the twin of the kernel of four lanes, in tests.
var useFour bool

// useLanes reports whether there are kernels of lanes.
func useLanes() bool { return laneTwin }

func mulLanes(m *laneModuli, z, x, y []uint64) { mulLanesGeneric(m, z, x, y) }

func sqrLanes(m *laneModuli, z, x, e []uint64, bit uint) { sqrLanesGeneric(m, z, x, e, bit) }

func selectLanes(m *laneModuli, z, table, index []uint64) {
	m.selectGeneric(z[:m.lanes*m.limbs], table, index)
}

func haveWide(int) bool { return false }

func (m *Modulus) wide() bool { return false }

func mulWide(m *Modulus, z, x, y, t []uint64) { panic("modexp: no wide kernel") }

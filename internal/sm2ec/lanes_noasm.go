// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package sm2ec

// mulColumns is [mulColumnsGeneric].
func mulColumns(n int, z, x, y column) { mulColumnsGeneric(n, z, x, y) }

// sqrLanes squares an even number of blocks so many times, above zero.
func sqrLanes(z []block, times int) { sqrLanesGeneric(z, times) }

// laneDifferences is [laneDifferencesGeneric]. Lengths are even.
func laneDifferences(q []laneQuotient, a, b []lanePoint, zero []uint8, _ []pointRef) bool {
	return laneDifferencesGeneric(q, a, b, zero)
}

// laneAdditions is [laneAdditionsGeneric].
func laneAdditions(inv *[chains]block, q []laneQuotient, a, b []lanePoint, _ *laneScratch, _ []pointRef) {
	laneAdditionsGeneric(inv, q, a, b)
}

// laneDouble doubles two blocks of points so many times, above zero.
func laneDouble(p *[2]laneJacobian, _ *laneScratch, times int) { laneDoubleGeneric(p, times) }

// laneAddMixed is [laneAddMixedGeneric].
func laneAddMixed(p *[2]laneJacobian, q *[2]lanePoint, _ *laneScratch) { laneAddMixedGeneric(p, q) }

// gather is [gatherGeneric].
func gather(dst []lanePoint, from []pointRef) { gatherGeneric(dst, from) }

// scatter is [scatterGeneric].
func scatter(dst []packedPoint, src []lanePoint) { scatterGeneric(dst, src) }

// fetchRows fetches points where that can be had.
func fetchRows([]pointRef, int, int) {}

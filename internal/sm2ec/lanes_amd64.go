// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var haveIFMA = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512IFMA

// useIFMA selects the kernels of eight lanes.
var useIFMA bool

// mulColumns is [mulColumnsGeneric].
func mulColumns(n int, z, x, y column) {
	if !useIFMA || n == 0 {
		mulColumnsGeneric(n, z, x, y)
		return
	}
	_, _, _ = z.b[(n-1)*z.step], x.b[(n-1)*x.step], y.b[(n-1)*y.step]
	const size = int(unsafe.Sizeof(block{}))
	mulIFMA(&z.b[0][0][0], &x.b[0][0][0], &y.b[0][0][0], z.step*size, x.step*size, y.step*size, n)
}

// sqrLanes squares an even number of blocks so many times, above zero, for products alone.
func sqrLanes(z []block, times int) {
	if !useIFMA {
		sqrLanesGeneric(z, times)
		return
	}
	if fours := len(z) / 4; fours > 0 {
		sqr4IFMA(&z[0][0][0], fours, times)
	}
	if rest := z[len(z)&^3:]; len(rest) >= 2 {
		sqr2IFMA(&rest[0][0][0], 1, times)
	}
}

// fetched returns the argument of kernels for what they fetch for n blocks, or nil.
func fetched(next []pointRef, n int) *uintptr {
	if len(next) == 0 {
		return nil
	}
	_ = next[laneCount*n-1]
	return (*uintptr)(&next[0])
}

// laneDifferences is [laneDifferencesGeneric]. Lengths are even. Meanwhile it fetches the points
// next, eight for each block, or none.
func laneDifferences(q []laneQuotient, a, b []lanePoint, zero []uint8, next []pointRef) bool {
	n := len(a)
	if !useIFMA {
		return laneDifferencesGeneric(q, a, b, zero)
	}
	_, _, _ = q[n+chains-1], b[:n], zero[:n]
	var zeros uint64
	if fours := n / 4; fours > 0 {
		zeros = differences4IFMA(&q[0].divisor[0][0], &a[0].X[0][0], &b[0].X[0][0], fours, &zero[0], fetched(next, 4*fours))
	}
	if at := n &^ 3; at < n {
		if len(next) > 0 {
			next = next[laneCount*at:]
		}
		zeros |= differences2IFMA(&q[at].divisor[0][0], &a[at].X[0][0], &b[at].X[0][0], 1, &zero[at], fetched(next, 2))
	}
	return zeros != 0
}

// laneAdditions is [laneAdditionsGeneric]. It fetches the points next, too.
func laneAdditions(inv *[chains]block, q []laneQuotient, a, b []lanePoint, tmp *laneScratch, next []pointRef) {
	n := len(a)
	if !useIFMA {
		laneAdditionsGeneric(inv, q, a, b)
		return
	}
	_, _ = q[:n], b[:n]
	if at := n &^ 3; at < n {
		additions2IFMA(&inv[0][0][0], &q[at].divisor[0][0], &a[at].X[0][0], &b[at].X[0][0], &tmp[0][0][0], 1, nil)
	}
	if fours := n / 4; fours > 0 {
		additions4IFMA(&inv[0][0][0], &q[0].divisor[0][0], &a[0].X[0][0], &b[0].X[0][0], &tmp[0][0][0], fours, fetched(next, 4*fours))
	}
}

// laneDouble doubles two blocks of points so many times, above zero.
func laneDouble(p *[2]laneJacobian, tmp *laneScratch, times int) {
	if !useIFMA {
		laneDoubleGeneric(p, times)
		return
	}
	double2IFMA(&p[0].X[0][0], &tmp[0][0][0], times)
}

// laneAddMixed is [laneAddMixedGeneric].
func laneAddMixed(p *[2]laneJacobian, q *[2]lanePoint, tmp *laneScratch) {
	if !useIFMA {
		laneAddMixedGeneric(p, q)
		return
	}
	addMixed2IFMA(&p[0].X[0][0], &q[0].X[0][0], &tmp[0][0][0])
}

// gather is [gatherGeneric].
func gather(dst []lanePoint, from []pointRef) {
	n := len(dst)
	if !useIFMA || n == 0 {
		gatherGeneric(dst, from)
		return
	}
	_ = from[laneCount*n-1]
	gatherIFMA(&dst[0].X[0][0], (*uintptr)(&from[0]), n)
}

// scatter is [scatterGeneric].
func scatter(dst []packedPoint, src []lanePoint) {
	n := len(src)
	if !useIFMA || n == 0 {
		scatterGeneric(dst, src)
		return
	}
	_ = dst[laneCount*n-1]
	scatterIFMA(&dst[0][0], &src[0].X[0][0], n)
}

// fetchRows fetches eight points of each of the first rows, which have so many.
func fetchRows(refs []pointRef, row, rows int) {
	if !useIFMA || rows == 0 {
		return
	}
	_ = refs[row*(rows-1)+laneCount-1]
	fetchIFMA((*uintptr)(&refs[0]), row*int(unsafe.Sizeof(refs[0])), rows)
}

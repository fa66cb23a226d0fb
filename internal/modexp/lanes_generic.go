// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import "math/bits"

// The twin of the lane kernels in Go. It is for tests: where there are no kernels
// of lanes, powers are computed one by one.

// laneTwin has the twin used nevertheless.
var laneTwin bool

// mulLanesGeneric sets z = x·y/R mod n, below 5n/4, for x and y below 4n.
func mulLanesGeneric(m *laneModuli, z, x, y []uint64) {
	for j := range m.lanes {
		clear(m.t)
		for i := j; i < len(x); i += m.lanes {
			for k := j; k < len(y); k += m.lanes {
				hi, lo := mul52(x[i], y[k])
				m.t[i+k-j] += lo
				m.t[i+k-j+m.lanes] += hi
			}
		}
		redcLaneGeneric(m, z, j, 0)
	}
}

// sqrLanesGeneric sets z = 2^b·x²/R mod n, below 4n as x is. b is a bit of e.
func sqrLanesGeneric(m *laneModuli, z, x, e []uint64, bit uint) {
	for j := range m.lanes {
		clear(m.t)
		for i := j; i < len(x); i += m.lanes {
			for k := j; k < len(x); k += m.lanes {
				hi, lo := mul52(x[i], x[k])
				m.t[i+k-j] += lo
				m.t[i+k-j+m.lanes] += hi
			}
		}
		redcLaneGeneric(m, z, j, uint(e[j]>>bit)&1)
	}
}

// mul52 returns both halves of the product of the low 52 bits of x and y.
func mul52(x, y uint64) (hi, lo uint64) {
	hi, lo = bits.Mul64(x&laneMask, y&laneMask)
	return hi<<(64-laneBits) | lo>>laneBits, lo & laneMask
}

// redcLaneGeneric sets lane j of z to 2^shift·t/R mod n.
func redcLaneGeneric(m *laneModuli, z []uint64, j int, shift uint) {
	t := m.t
	for i := j; i < len(z); i += m.lanes {
		_, d := mul52(t[i], m.k0[j])
		for k := j; k < len(m.n); k += m.lanes {
			hi, lo := mul52(d, m.n[k])
			t[i+k-j] += lo
			t[i+k-j+m.lanes] += hi
		}
		t[i+m.lanes] += t[i] >> laneBits
	}
	var carry uint64
	for i := j; i < len(z); i += m.lanes {
		v := t[i+len(z)]<<shift + carry
		z[i], carry = v&laneMask, v>>laneBits
	}
}

// selectLanesGeneric sets each lane of z to that of an entry of table.
func (m *laneModuli) selectGeneric(z, table, index []uint64) {
	clear(z)
	for k := uint64(0); len(table) >= len(z); k++ {
		for i, v := range table[:len(z)] {
			z[i] |= v & -isZero(k^index[i%m.lanes])
		}
		table = table[len(z):]
	}
}

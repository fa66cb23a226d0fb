// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

import (
	"encoding/binary"
	"os"

	"golang.org/x/sys/cpu"
)

//go:generate go run -C ../../tools ./modexpgen ../internal/modexp

var haveADX = cpu.X86.HasADX && cpu.X86.HasBMI2 && cpu.X86.HasAVX2

var haveIFMA = haveADX && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL &&
	cpu.X86.HasAVX512VBMI && cpu.X86.HasAVX512IFMA

// useADX and useIFMA select the assembly kernels, the scalar one and those of
// vectors, and useFour that of four lanes among these. UNDERSIGN_MODEXP=generic turns
// all off, adx the second and with it the third, and eight the third.
var (
	useADX  = haveADX && os.Getenv("UNDERSIGN_MODEXP") != "generic"
	useIFMA = haveIFMA && useADX && os.Getenv("UNDERSIGN_MODEXP") != "adx"
	useFour = haveHalves() && os.Getenv("UNDERSIGN_MODEXP") != "eight"
)

// haveHalves reports whether the processor does an operation on eight lanes as two on
// four, so that four lanes take half the time of eight. Of those with AVX-512 that's
// Zen 4, which is family 25 of AMD. Others start as many multiplications of eight
// lanes in a cycle as of four: those of Intel for servers and Zen 5, family 26. Some
// for laptops don't, but nothing that shows through a hypervisor tells them from
// their kin, and eight lanes are right on them too, if not the best.
func haveHalves() bool {
	vendor, family := processor()
	return vendor == "AuthenticAMD" && family == 25
}

// processor returns the vendor of the processor, in his spelling, and its family.
func processor() (vendor string, family int) {
	_, b, c, d := cpuid(0)
	var name []byte
	for _, r := range []uint32{b, d, c} {
		name = binary.LittleEndian.AppendUint32(name, r)
	}
	a, _, _, _ := cpuid(1)
	family = int(a >> 8 & 15)
	if family == 15 {
		family += int(a >> 20 & 255)
	}
	return string(name), family
}

// fast reports whether the kernel is faster than math/big.
func fast() bool { return useADX }

func mulLimbs(t, x, y []uint64) {
	l := len(x)
	if !useADX {
		mulGeneric(t, x, y)
		return
	}
	_, _ = t[2*l-1], y[l-1]
	mulADX(&t[0], &x[0], &y[0], l)
}

func sqrLimbs(t, x []uint64) {
	l := len(x)
	if !useADX {
		sqrGeneric(t, x)
		return
	}
	_ = t[2*l-1]
	sqrADX(&t[0], &x[0], l)
}

func redcLimbs(z, t, n []uint64, k0 uint64) {
	l := len(n)
	if !useADX {
		redcGeneric(z, t, n, k0)
		return
	}
	_, _ = t[2*l-1], z[l-1]
	redcADX(&z[0], &t[0], &n[0], k0, l)
}

func doubleLimbs(z, n []uint64) {
	if !useADX {
		doubleGeneric(z, n)
		return
	}
	_ = z[len(n)-1]
	doubleADX(&z[0], &n[0], len(n))
}

func selectLimbs(z, table []uint64, i uint64) {
	l := len(z)
	if !useADX {
		selectGeneric(z, table, i)
		return
	}
	_ = table[l-1]
	selectAVX2(&z[0], &table[0], l, len(table)/l, i)
}

// useLanes reports whether there are kernels of lanes.
func useLanes() bool { return useIFMA || laneTwin }

func mulLanes(m *laneModuli, z, x, y []uint64) {
	switch {
	case !useIFMA:
		mulLanesGeneric(m, z, x, y)
	case m.lanes == 4:
		mulIFMA4(&z[0], &x[0], &y[0], &m.n[0], &m.k0[0], &m.t[0], m.blocks)
	default:
		mulIFMA8(&z[0], &x[0], &y[0], &m.n[0], &m.k0[0], &m.t[0], m.blocks)
	}
}

func sqrLanes(m *laneModuli, z, x, e []uint64, bit uint) {
	switch {
	case !useIFMA:
		sqrLanesGeneric(m, z, x, e, bit)
	case m.lanes == 4:
		sqrIFMA4(&z[0], &x[0], &m.n[0], &m.k0[0], &m.t[0], &e[0], uint64(bit), m.blocks)
	default:
		sqrIFMA8(&z[0], &x[0], &m.n[0], &m.k0[0], &m.t[0], &e[0], uint64(bit), m.blocks)
	}
}

func selectLanes(m *laneModuli, z, table, index []uint64) {
	size := m.lanes * m.limbs
	switch {
	case !useIFMA:
		m.selectGeneric(z[:size], table, index)
	case m.lanes == 4:
		selectIFMA4(&z[0], &table[0], &index[0], m.limbs, len(table)/size)
	default:
		selectIFMA8(&z[0], &table[0], &index[0], m.limbs, len(table)/size)
	}
}

// haveWide reports whether the wide kernel serves numbers of l limbs.
func haveWide(l int) bool {
	return useIFMA && l%8 == 0 && l >= 24 && l <= 64
}

func (m *Modulus) wide() bool { return useIFMA && m.n52 != nil }

// mulWide sets z = x·y/R mod n.
func mulWide(m *Modulus, z, x, y, t []uint64) {
	l := len(m.n)
	_, _, _, _ = z[l-1], x[l-1], y[l-1], t[2*l-1]
	switch l {
	case 24:
		mulWide24(&z[0], &x[0], &y[0], &m.n[0], &m.n52[0], &m.k0, &t[0])
	case 32:
		mulWide32(&z[0], &x[0], &y[0], &m.n[0], &m.n52[0], &m.k0, &t[0])
	case 40:
		mulWide40(&z[0], &x[0], &y[0], &m.n[0], &m.n52[0], &m.k0, &t[0])
	case 48:
		mulWide48(&z[0], &x[0], &y[0], &m.n[0], &m.n52[0], &m.k0, &t[0])
	case 56:
		mulWide56(&z[0], &x[0], &y[0], &m.n[0], &m.n52[0], &m.k0, &t[0])
	case 64:
		mulWide64(&z[0], &x[0], &y[0], &m.n[0], &m.n52[0], &m.k0, &t[0])
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !purego

package bls12381

import (
	"os"
	"strings"
	_ "unsafe" // for go:linkname

	_ "github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/utils/cpu"
)

// The backend's switches, so that its assembly runs under valgrind.
//
//go:linkname fpADX github.com/consensys/gnark-crypto/ecc/bls12-381/fp.supportAdx
var fpADX bool

//go:linkname frADX github.com/consensys/gnark-crypto/ecc/bls12-381/fr.supportAdx
var frADX bool

//go:linkname fptowerADX github.com/consensys/gnark-crypto/ecc/bls12-381/internal/fptower.supportAdx
var fptowerADX bool

// haveAssembly reports whether the processor has what the assembly needs.
func haveAssembly() bool {
	info, _ := os.ReadFile("/proc/cpuinfo")
	return strings.Contains(string(info), " adx") && strings.Contains(string(info), " bmi2") && strings.Contains(string(info), " avx2")
}

// useAssembly switches assembly on or off, here and in the backend.
func useAssembly(on bool) {
	fpADX, frADX, fptowerADX = on, on, on
	hasMul, hasMul2, haveSelect, hasKernel = on, on, on, on
	hasVector = on && cpu.SupportAVX512IFMA
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

// kernels names the kernels for one number that can be tested here.
func kernels() []string {
	switch {
	case haveIFMA:
		return []string{"ifma", "adx", "generic"}
	case haveADX:
		return []string{"adx", "generic"}
	}
	return []string{"generic"}
}

// laneKernels names those for eight.
func laneKernels() []string {
	if haveIFMA {
		return []string{"ifma", "twin"}
	}
	return []string{"twin"}
}

// setKernel selects a kernel, even one that the processor does not announce, and
// no other but what the default has beside it.
func setKernel(name string) {
	useIFMA = name == "ifma"
	useADX = name == "adx" || useIFMA
	laneTwin = name == "twin"
}

// resetKernel undoes setKernel.
func resetKernel() { useADX, useIFMA, laneTwin = haveADX, haveIFMA, false }

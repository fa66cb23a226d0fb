// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package modexp

// kernels names the kernels that can be tested here.
func kernels() []string {
	if haveADX {
		return []string{"adx", "generic"}
	}
	return []string{"generic"}
}

// setKernel selects a kernel, even one that the processor does not announce.
func setKernel(name string) { useADX = name == "adx" }

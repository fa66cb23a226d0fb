// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package modexp

import "strings"

func kernels() []string { return []string{"generic"} }

func laneKernels() []string { return []string{"twin"} }

func setKernel(name string) {
	name, useFour = strings.CutSuffix(name, "4")
	laneTwin = name == "twin"
}

func resetKernel() { laneTwin, useFour = false, false }

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package modexp

func kernels() []string { return []string{"generic"} }

func laneKernels() []string { return []string{"twin"} }

func setKernel(name string) { laneTwin = name == "twin" }

func resetKernel() { laneTwin = false }

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package modexp

func kernels() []string { return []string{"generic"} }

func setKernel(string) {}

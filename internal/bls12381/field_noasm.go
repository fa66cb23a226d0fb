// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build purego || !(amd64 || arm64)

package bls12381

// The backend's products are portable here, and branch in their last step.
var (
	hasMul  = false
	hasMul2 = false
)

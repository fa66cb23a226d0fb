// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !purego

package bls12381

import "github.com/consensys/gnark-crypto/utils/cpu"

// hasMul says that the backend's products are assembly without branches, in both
// fields; hasMul2 says so of products, sums and differences in Fp2.
var (
	hasMul  = cpu.SupportADX
	hasMul2 = cpu.SupportADX
)

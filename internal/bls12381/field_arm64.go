// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !purego

package bls12381

// hasMul says that the backend's products are assembly without branches; hasMul2
// says so of products, sums and differences in Fp2.
var (
	hasMul  = true
	hasMul2 = false
)

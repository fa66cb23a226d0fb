// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build purego || !amd64

package bls12381

// haveSelect says that selectBlocks may be called.
var haveSelect = false

func selectBlocks(z, table *uint64, blocks, count int, i uint64) {
	panic("bls12381: no assembly")
}

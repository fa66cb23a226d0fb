// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !purego

package bls12381

import "golang.org/x/sys/cpu"

//go:generate go run -C ../../tools ./blsgen ../internal/bls12381

// haveSelect says that selectBlocks may be called.
var haveSelect = cpu.X86.HasAVX2

// selectBlocks sets z to entry i of the count entries of table, or to zeros, where
// an entry has 96 bytes a block.
func selectBlocks(z, table *uint64, blocks, count int, i uint64) {
	selectAVX2(z, table, blocks, count, i)
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build purego || !amd64

package bls12381

// hasVector stays false without assembly: the functions below aren't called.
var hasVector = false

func vectorMul(z, x, y *octet)         { panic("bls12381: no assembly") }
func vectorCompressed(z *octet, n int) { panic("bls12381: no assembly") }

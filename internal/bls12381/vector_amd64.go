// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !purego

package bls12381

import "github.com/consensys/gnark-crypto/utils/cpu"

// hasVector says that the functions below may be called. They are constant time.
var hasVector = cpu.SupportAVX512IFMA

// vectorMul sets z = xy. The result is little more than p at most.
func vectorMul(z, x, y *octet) { vectorMulIFMA(&z[0][0], &x[0][0], &y[0][0]) }

// vectorCompressed squares a [compressed] n times, for n > 0.
func vectorCompressed(z *octet, n int) { vectorCompressedIFMA(&z[0][0], n) }

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !purego

package hashpairs

import (
	"sync"

	"github.com/klauspost/cpuid/v2"
	"github.com/prysmaticlabs/gohashtree"
)

// fast reports whether the assembly may be used: if the processor has what its best kernel
// needs, and it gives what crypto/sha256 gives.
//
// The library is cautiously used. It has no release that isn't a beta, and doesn't
// build for processors other than amd64 and arm64. Its kernels for vectors leave the
// upper halves of registers dirty, and its portable code is slower than crypto/sha256: so
// neither is reached. And a validator that computes other hashes than the rest would be
// on its own.
var fast = sync.OnceValue(func() bool {
	if !cpuid.CPU.Supports(cpuid.SHA, cpuid.AVX) { // as gohashtree asks
		return false
	}
	const n = 7
	var src [2 * n][32]byte
	for i := range src {
		for j := range src[i] {
			src[i][j] = byte(i*37 + j*101)
		}
	}
	var want, got [n][32]byte
	generic(want[:], src[:])
	assembly(got[:], src[:])
	return want == got
})

func assembly(dst, src [][32]byte) { gohashtree.HashChunks(dst, src) }

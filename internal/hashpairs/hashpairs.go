// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package hashpairs computes SHA-256 of many messages of 64 bytes, which is what the nodes
// of Merkle trees are. Where the processor has instructions for SHA-256 and the assembly
// of gohashtree can be used, a hash takes 33 ns instead of the 122 ns of crypto/sha256: the
// second block, which is the same for all, is prepared, and two hashes are interleaved.
package hashpairs

import "crypto/sha256"

// Sum sets dst[i] to the hash of src[2i] and src[2i+1]. It panics unless src has twice the
// length of dst. They may begin at the same place, and mustn't overlap in another way.
func Sum(dst, src [][32]byte) {
	if len(src) != 2*len(dst) {
		panic("hashpairs: twice as many sources as results are needed")
	}
	if !fast() {
		generic(dst, src)
		return
	}
	// A goroutine can't be stopped in assembly: let it be some 35 µs at most.
	const chunk = 1024
	for len(dst) > 0 {
		n := min(chunk, len(dst))
		assembly(dst[:n], src[:2*n])
		dst, src = dst[n:], src[2*n:]
	}
}

func generic(dst, src [][32]byte) {
	var b [64]byte
	for i := range dst {
		copy(b[:32], src[2*i][:])
		copy(b[32:], src[2*i+1][:])
		dst[i] = sha256.Sum256(b[:])
	}
}

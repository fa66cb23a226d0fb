// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm3lanes

import (
	"os"

	"golang.org/x/sys/cpu"
)

//go:generate go run -C ../../tools ./sm3gen ../internal/sm3lanes

var haveAVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW

// useAVX512 selects the kernel. UNDERSIGN_SM2EC with the name of a tier without lanes,
// as for the arithmetic of SM2, turns it off.
var useAVX512 = haveAVX512 && os.Getenv("UNDERSIGN_SM2EC") != "adx" && os.Getenv("UNDERSIGN_SM2EC") != "generic"

func useLanes() bool { return useAVX512 || laneTwin }

// compress takes n blocks of each lane into the state.
func compress(v *state, blocks *[maxSteps * lanes]*[blockSize]byte, n int) {
	if !useAVX512 {
		compressGeneric(v, blocks, n)
		return
	}
	_ = blocks[lanes*n-1]
	blocksAVX512(&v[0], &blocks[0], n)
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package sm3lanes

func useLanes() bool { return laneTwin }

func compress(v *state, blocks *[maxSteps * lanes]*[blockSize]byte, n int) {
	compressGeneric(v, blocks, n)
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package safeprime

import (
	"golang.org/x/sys/cpu"

	"github.com/undersign/undersign/internal/modexp"
)

//go:generate go run -C ../../tools ./safeprimegen ../internal/safeprime

// haveRoots reports whether there is a kernel that finds the roots. It goes with
// the tier of package modexp.
var haveRoots = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512IFMA && modexp.HaveLanes(2048)

func (g *rootGroup) find(start number, width int) uint64 {
	return rootsIFMA(&g.root[0], &g.p[0], &start.digits[0], len(start.digits), uint64(start.bits), uint64(width))
}

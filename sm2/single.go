// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2

import (
	"runtime"
	"slices"

	"github.com/emmansun/gmsm/sm2"

	"github.com/undersign/undersign/internal/sm2ec"
)

// gmsmAssembly are the architectures for which gmsm v0.41.1 has assembly.
var gmsmAssembly = []string{"amd64", "arm64", "loong64", "ppc64le", "riscv64", "s390x"}

// singles returns what verifies one by one: gmsm where it has assembly and we
// don't, or nil for our own.
func singles() func(ok []bool, items []*sm2ec.Item) {
	if purego || sm2ec.HasAssembly() || !slices.Contains(gmsmAssembly, runtime.GOARCH) {
		return nil
	}
	return gmsmSingles
}

func gmsmSingles(ok []bool, items []*sm2ec.Item) {
	for i, it := range items {
		var xy [64]byte
		x, y := it.P.X.Bytes(), it.P.Y.Bytes()
		copy(xy[:], x[:])
		copy(xy[32:], y[:])
		z := signature{it.R.Bytes(), it.S.Bytes()}
		e := it.E.Bytes()
		ok[i] = sm2.VerifyASN1(publicKey(&xy), e[:], z.appendDER(nil))
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import "testing"

// TestCompareSizes shows what the compact mode saves.
func TestCompareSizes(t *testing.T) {
	for _, late := range []int{0, 1, 10} { // percent
		for _, payload := range []int{8, 16, 64, 256} {
			const n = 65_536
			x, err := CompareSizes(n, payload, n*late/100, 10_000)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%3d bytes, %2d %% late: in a batch %6.2f, compact %6.2f (%4.1f %% less); submitted %d, compact %d",
				payload, late, x.Batch, x.CompactBatch, 100*(1-x.CompactBatch/x.Batch), x.Submit, x.CompactSubmit)
			saved := x.Batch - x.CompactBatch
			if saved <= 0 || saved > 3 || x.CompactSubmit <= x.Submit || x.Numbers <= x.CompactNumbers {
				t.Errorf("%+v", x)
			}
		}
	}
}

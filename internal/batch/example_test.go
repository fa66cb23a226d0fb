// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package batch_test

import (
	"fmt"

	"github.com/undersign/undersign/internal/batch"
)

// Weighted defects of a thousand items, two of which are bad.
func ExampleLocate() {
	defects := make([]int, 1000)
	defects[123], defects[777] = 5, 11
	sum := func(lo, hi int) (s int) {
		for _, d := range defects[lo:hi] {
			s += d
		}
		return s
	}
	res := batch.Locate(batch.Problem[int]{
		N:      len(defects),
		Sum:    sum,
		Sub:    func(sum, part int) int { return sum - part },
		IsZero: func(s int) bool { return s == 0 },
		Confirm: func(items []int) (bad []int) {
			for _, i := range items {
				if defects[i] != 0 {
					bad = append(bad, i)
				}
			}
			return bad
		},
		Cost: func(n int) float64 { return 0.05 * float64(n) },
	}, sum(0, len(defects)))
	fmt.Println(res.Bad, "after", res.Sums, "sums and", res.Confirmed, "confirmations")
	// Output: [123 777] after 9 sums and 63 confirmations
}

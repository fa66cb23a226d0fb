// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bls12381

import (
	"fmt"
	"testing"
)

// TestHashSum compares sums of hashes with hashes that are added up, equal ones among
// them.
func TestHashSum(t *testing.T) {
	dst := []byte("undersign test of sums of hashes")
	for n := range 6 {
		var msgs [][]byte
		sum1, sum2 := NewG1(), NewG2()
		for i := range n {
			msgs = append(msgs, fmt.Appendf(nil, "message %d", i/2))
			sum1.Add(sum1, new(G1).HashVarTime(msgs[i], dst))
			sum2.Add(sum2, new(G2).HashVarTime(msgs[i], dst))
		}
		if p := new(G1).HashSumVarTime(msgs, dst); !p.Equal(sum1) || !p.InSubgroupVarTime() {
			t.Errorf("G1: the sum of %d hashes is wrong", n)
		}
		if p := new(G2).HashSumVarTime(msgs, dst); !p.Equal(sum2) || !p.InSubgroupVarTime() {
			t.Errorf("G2: the sum of %d hashes is wrong", n)
		}
		if n > 0 {
			msgs[n-1] = []byte("another")
			if new(G1).HashSumVarTime(msgs, dst).Equal(sum1) || new(G2).HashSumVarTime(msgs, dst).Equal(sum2) {
				t.Errorf("the sum of %d hashes doesn't depend on the last", n)
			}
		}
	}
}

func BenchmarkHashSum(b *testing.B) {
	for _, n := range []int{1, 8, 64} {
		msgs := make([][]byte, n)
		for i := range msgs {
			msgs[i] = []byte{byte(i)}
		}
		b.Run(fmt.Sprintf("G2/n=%d", n), func(b *testing.B) {
			for b.Loop() {
				new(G2).HashSumVarTime(msgs, []byte("tag"))
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "us/message")
		})
	}
}

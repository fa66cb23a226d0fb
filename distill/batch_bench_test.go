// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

import (
	"fmt"
	"testing"
)

func everyThird(n int) []int {
	list := upTo(n)
	for i := range list {
		list[i] *= 3
	}
	return list
}

func BenchmarkVerify(b *testing.B) {
	for _, n := range []int{1, 128, 1024, 8192, 65536} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			// One in three of those registered, so that the sum of all keys is of no use.
			net := newBatchNet(b, 3*n)
			encoded := net.sign(b, net.batch(b, ModeEd25519, everyThird(n)))
			b.ReportMetric(float64(len(encoded))/float64(n), "B/leaf")
			for b.Loop() {
				if _, err := net.verifier.Verify(encoded, net.view); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	const n = 65536
	net := newBatchNet(b, n)
	encoded := net.sign(b, net.batch(b, ModeEd25519, upTo(n)))
	for b.Loop() {
		if _, err := DecodeBatch(encoded, &net.genesis.Params); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHashLeaves(b *testing.B) {
	const n = 65536
	net := newBatchNet(b, n)
	v := &Verified{Batch: net.batch(b, ModeEd25519, upTo(n))}
	for b.Loop() {
		v.hashLeaves()
	}
}

func BenchmarkKeySum(b *testing.B) {
	const n = 65536
	net := newBatchNet(b, 3*n)
	batch := net.batch(b, ModeEd25519, everyThird(n))
	for b.Loop() {
		if _, err := net.view.SumKeys(batch.IDs); err != nil {
			b.Fatal(err)
		}
	}
}

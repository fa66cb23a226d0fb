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

func BenchmarkVerifyStragglers(b *testing.B) {
	const n = 4096
	net := newBatchNet(b, n)
	for _, mode := range []Mode{ModeEd25519, ModeFolded} {
		for _, percent := range []int{0, 1, 10} {
			b.Run(fmt.Sprintf("%v/percent=%d", mode, percent), func(b *testing.B) {
				encoded := net.sign(b, net.batch(b, mode, upTo(n), upTo32(n*percent/100)...))
				for b.Loop() {
					if _, err := net.verifier.Verify(encoded, net.view); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkVerifyAll(b *testing.B) {
	const n = 37
	net := newBatchNet(b, n)
	encoded := net.sign(b, net.batch(b, ModeEd25519, upTo(n)))
	for _, batches := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("batches=%d", batches), func(b *testing.B) {
			list, views := make([][]byte, batches), make([]View, batches)
			for i := range list {
				list[i], views[i] = encoded, net.view
			}
			for b.Loop() {
				_, errs := net.verifier.VerifyAll(list, views)
				for _, err := range errs {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(batches), "us/batch")
		})
	}
}

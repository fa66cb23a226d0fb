// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package nats

import (
	"crypto/rand"
	"fmt"
	"testing"

	"github.com/undersign/undersign/internal/relay"
	"github.com/undersign/undersign/internal/relay/nats/natstest"
)

// BenchmarkPublish is of 64 publishers at a time, as a validator has batches in flight.
func BenchmarkPublish(b *testing.B) {
	for _, n := range []int{1, 3} {
		b.Run(fmt.Sprintf("replicas=%d", n), func(b *testing.B) {
			r := newCluster(b, natstest.Config{N: n}).open(b)
			data := make([]byte, 200)
			b.ResetTimer() // servers take seconds to find together
			b.SetParallelism(32)
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					e := relay.NewChange([]byte(rand.Text() + string(data)))
					if err := r.Publish(b.Context(), e); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// BenchmarkRead reads from the beginning.
func BenchmarkRead(b *testing.B) {
	r := newCluster(b, natstest.Config{N: 1}).open(b)
	publishAll(b, r, ticks(0, 2000)...)
	for b.Loop() {
		readAll(b, r, 0, 2000, 64)
	}
	b.ReportMetric(float64(b.N)*2000/b.Elapsed().Seconds(), "entries/s")
}

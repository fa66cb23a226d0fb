// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package load

import (
	"math"
	"sync/atomic"
	"time"
)

// A histogram counts times in buckets, each four percent longer than the one before.
type histogram struct {
	buckets [512]atomic.Uint64
	max     atomic.Int64
}

const bucketRatio = 1.04

// Times from a tenth of a millisecond on are told apart.
const shortest = 100 * time.Microsecond

func (h *histogram) add(d time.Duration) {
	i := 0
	if d > shortest {
		i = min(int(math.Log(float64(d)/float64(shortest))/math.Log(bucketRatio))+1, len(h.buckets)-1)
	}
	h.buckets[i].Add(1)
	for {
		old := h.max.Load()
		if int64(d) <= old || h.max.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}

func (h *histogram) percentiles() Percentiles {
	total := uint64(0)
	for i := range h.buckets {
		total += h.buckets[i].Load()
	}
	longest := float64(h.max.Load()) / 1e6
	at := func(q float64) float64 {
		sum := uint64(0)
		for i := range h.buckets {
			sum += h.buckets[i].Load()
			if total > 0 && float64(sum) >= q*float64(total) {
				// The end of the bucket, which may be beyond all that is in it.
				return min(float64(shortest)*math.Pow(bucketRatio, float64(i))/1e6, longest)
			}
		}
		return 0
	}
	return Percentiles{at(0.5), at(0.9), at(0.99), longest}
}

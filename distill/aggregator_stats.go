// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distill

// waits says how long to wait for reductions: somewhat longer than 19 of 20 clients have
// taken of late, those among them that came too late.
type waits struct {
	wait   int64
	counts [waitBuckets]uint32
	total  uint32
}

const (
	waitBucket  = 20 // milliseconds
	waitBuckets = 512
	waitEnough  = 20 // times, before anything is concluded from them
)

// note counts the time that a reduction took.
func (w *waits) note(ms int64) {
	w.counts[min(max(ms, 0)/waitBucket, waitBuckets-1)]++
	w.total++
}

// update sets the time for the next batches. Older times count less each time.
//
// It is half as much again as 95 of 100 took. Without that margin the slowest would be
// cut off each time, and what remains would look faster and faster.
func (w *waits) update(l *AggregatorLimits) {
	if w.total < waitEnough {
		return
	}
	rest := w.total - w.total*19/20
	bucket := waitBuckets
	for sum := uint32(0); sum < rest && bucket > 0; {
		bucket--
		sum += w.counts[bucket]
	}
	w.wait = min(max(int64(bucket+1)*waitBucket*3/2, l.MinWait), l.MaxWait)
	w.total = 0
	for i := range w.counts {
		w.counts[i] /= 2
		w.total += w.counts[i]
	}
}

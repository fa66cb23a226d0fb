// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2stream

import (
	"context"
	"sync"
)

// pipeline has workers work on jobs side by side, and hands on the results in
// the order of the jobs. feed makes jobs until emit returns false; workers are as
// many as newWorker is called. No more than depth jobs are anywhere between emit
// and the end of consume, so that memory is bounded whatever the speeds.
//
// It returns the first error of consume, else that of feed, else that of ctx, when
// all goroutines have ended.
func pipeline[J, R any](ctx context.Context, workers, depth int, feed func(emit func(J) bool) error,
	newWorker func() func(J) R, consume func(R) error) error {
	type job struct {
		in  J
		out chan R
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	jobs := make(chan job)
	queue := make(chan job, depth-1) // in order; the consumer holds one more

	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for range workers {
		wg.Go(func() {
			work := newWorker()
			for j := range jobs {
				j.out <- work(j.in)
			}
		})
	}
	var feedErr error
	wg.Go(func() {
		defer close(queue)
		defer close(jobs)
		feedErr = feed(func(in J) bool {
			j := job{in, make(chan R, 1)}
			select {
			case queue <- j:
			case <-ctx.Done():
				return false
			}
			select {
			case jobs <- j:
				return true
			case <-ctx.Done():
				close(j.out) // nobody works on it
				return false
			}
		})
	})
	for j := range queue {
		r, ok := <-j.out
		if !ok || ctx.Err() != nil {
			break
		}
		if err := consume(r); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// The queue was closed after the feeder had set its error.
	return feedErr
}

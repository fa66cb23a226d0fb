// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package distillsim

import "sync"

// Campaign runs n simulations, from the seed of cfg on, several at a time. Each is called
// with every report, in the order of the seeds; it ends the campaign by returning false.
// Trace should be nil: the lines of several simulations would be mixed up.
func (r *Runner) Campaign(cfg Config, n uint64, workers int, each func(*Report) bool) error {
	type outcome struct {
		report *Report
		err    error
	}
	workers = max(workers, 1)
	results := make(chan chan outcome, workers) // in the order of the seeds
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(results)
		slots := make(chan struct{}, workers)
		for i := range n {
			one := make(chan outcome, 1)
			select {
			case slots <- struct{}{}:
			case <-stop:
				return
			}
			x := cfg
			x.Seed += i
			wg.Go(func() {
				report, err := r.Run(x)
				one <- outcome{report, err}
				<-slots
			})
			select {
			case results <- one:
			case <-stop:
				return
			}
		}
	})
	defer wg.Wait()
	defer close(stop)
	for one := range results {
		x := <-one
		if x.err != nil {
			return x.err
		}
		if !each(x.report) {
			return nil
		}
	}
	return nil
}

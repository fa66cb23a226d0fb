// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sm2ec

import "sync"

// parallel calls f for 0 to n-1, each in its own goroutine, and waits for all.
func parallel(n int, f func(i int)) {
	if n == 1 {
		f(0)
		return
	}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// chunks cuts n things into pieces of at most size, and works on them with so
// many goroutines.
func chunks(n, size, workers int, f func(lo, hi int)) {
	count := (n + size - 1) / size
	if count == 0 {
		return
	}
	workers = min(max(workers, 1), count)
	parallel(workers, func(w int) {
		for i := count * w / workers; i < count*(w+1)/workers; i++ {
			f(i*size, min(n, (i+1)*size))
		}
	})
}

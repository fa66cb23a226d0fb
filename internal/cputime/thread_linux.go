// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cputime

import (
	"time"

	"golang.org/x/sys/unix"
)

// thread doesn't ask getrusage, whose times of threads have steps of 4 ms.
func thread() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

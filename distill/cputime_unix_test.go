// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package distill

import (
	"syscall"
	"time"
)

// processorTime returns the time that processors spent on this process: other
// processes count for less in it than in the time of day.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

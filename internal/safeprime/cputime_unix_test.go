// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package safeprime

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time used by this process, or by its children
// that have been waited for.
func cpuTime(children bool) (time.Duration, bool) {
	who := syscall.RUSAGE_SELF
	if children {
		who = syscall.RUSAGE_CHILDREN
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Known reports whether the system tells the processor time of processes.
const Known = true

func process() time.Duration { return usage(syscall.RUSAGE_SELF) }

func children() time.Duration { return usage(syscall.RUSAGE_CHILDREN) }

// usage can't fail with these arguments.
func usage(who int) time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package cli

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic returns the time since the machine's start, as systemd counts it.
func monotonic() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

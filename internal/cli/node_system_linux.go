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

// fileSystem returns what kind of file system a folder is on, how many bytes are free on
// it, and whether it is in memory only. free of 0 isn't known.
func fileSystem(dir string) (kind string, free uint64, volatile bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return "", 0, false
	}
	switch st.Type {
	case unix.TMPFS_MAGIC:
		kind, volatile = "tmpfs", true
	case unix.RAMFS_MAGIC:
		kind, volatile = "ramfs", true
	}
	return kind, st.Bavail * uint64(st.Bsize), volatile
}

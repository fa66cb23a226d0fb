// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold_test

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A process with shares leaves no copy of them behind when it dies.
func TestNoDumps(t *testing.T) {
	newCluster(t, 2, 2, nil)
	if n, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || n != 0 {
		t.Errorf("dumpable: %d, %v", n, err)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &limit); err != nil || limit.Cur != 0 {
		t.Errorf("limit: %+v, %v", limit, err)
	}
}

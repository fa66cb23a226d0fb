// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// noDumps keeps the process's memory out of core dumps. Nor can others of the same user
// look into it.
func noDumps() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("core dumps: %w", err)
	}
	// A program that takes dumps by a pipe gets them whatever the limit is (core(5)).
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("core dumps: %w", err)
	}
	return nil
}

// lockMemory keeps the process's memory out of swap space and core dumps.
func lockMemory() error {
	if err := noDumps(); err != nil {
		return err
	}
	// Go reserves far more addresses than it uses, and all of them count.
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
		return err
	}
	if limit.Cur != unix.RLIM_INFINITY && !unlimited() {
		if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}); err != nil {
			return errors.New("the limit of locked memory isn't unlimited (ulimit -l)")
		}
	}
	return unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE | unix.MCL_ONFAULT)
}

// unlimited reports whether the limit of locked memory doesn't hold for the process.
func unlimited() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return false
	}
	return data[0].Effective&(1<<unix.CAP_IPC_LOCK) != 0
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package cli

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFile keeps other processes of this program from changing path at the same
// time. The lock goes with the process, however that ends.
func lockFile(path string) (unlock func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, inputError(path, err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.ENOSYS) {
		err = nil // this file system has no locks
	}
	if err == nil {
		// Whoever held it may have replaced the file in the meantime.
		var now, locked os.FileInfo
		if locked, err = f.Stat(); err == nil {
			if now, err = os.Stat(path); err == nil && !os.SameFile(locked, now) {
				err = syscall.EWOULDBLOCK
			}
		}
	}
	if err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, failf(ExitError, "wait for it to end", "another undersign is changing %s", path)
		}
		return nil, fmt.Errorf("can't lock %s: %w", path, err)
	}
	return func() { f.Close() }, nil
}

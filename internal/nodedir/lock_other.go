// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package nodedir

import "errors"

// ErrRunning is in the error about a folder that a process has already.
var ErrRunning = errors.New("nodedir: the node runs already")

// A Lock keeps other processes from using the folder.
type Lock struct{}

// An Owner is what a process says that has the folder.
type Owner struct {
	PID     int
	Address string
}

var errNoLocks = errors.New("nodedir: nodes don't run on this system, which has no flock")

// Acquire takes the folder for this process.
func Acquire(dir string) (*Lock, error) { return nil, errNoLocks }

// Announce says where the process listens.
func (l *Lock) Announce(address string) error { return errNoLocks }

// Close gives the folder back.
func (l *Lock) Close() error { return nil }

// Running returns who has the folder.
func Running(dir string) (*Owner, error) { return nil, errNoLocks }

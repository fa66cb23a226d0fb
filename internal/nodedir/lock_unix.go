// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package nodedir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrRunning is in the error about a folder that a process has already.
var ErrRunning = errors.New("nodedir: the node runs already")

// A Lock keeps other processes from using the folder. It goes with the process, however
// that ends.
type Lock struct{ f *os.File }

// An Owner is what a process says that has the folder.
type Owner struct {
	PID     int    `json:"pid"`
	Address string `json:"address,omitempty"` // where it listens, once it does
}

// Acquire takes the folder for this process.
func Acquire(dir string) (*Lock, error) {
	f, err := os.OpenFile(filepath.Join(dir, LockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("nodedir: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w in %s", ErrRunning, dir)
		}
		return nil, fmt.Errorf("nodedir: can't lock %s: %w", dir, err)
	}
	l := &Lock{f}
	if err := l.Announce(""); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// Announce says where the process listens, to those who look for it.
func (l *Lock) Announce(address string) error {
	data, err := json.Marshal(Owner{os.Getpid(), address})
	if err == nil {
		err = l.f.Truncate(0)
	}
	if err == nil {
		_, err = l.f.WriteAt(append(data, '\n'), 0)
	}
	if err != nil {
		return fmt.Errorf("nodedir: %w", err)
	}
	return nil
}

// Close gives the folder back.
func (l *Lock) Close() error {
	l.f.Truncate(0)
	return l.f.Close()
}

// Running returns who has the folder, or nil if nobody does.
func Running(dir string) (*Owner, error) {
	f, err := os.Open(filepath.Join(dir, LockName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("nodedir: %w", err)
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if err == nil {
		return nil, nil // the lock goes with f
	}
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("nodedir: can't lock %s: %w", dir, err)
	}
	o := new(Owner)
	data, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return nil, fmt.Errorf("nodedir: %w", err)
	}
	if json.Unmarshal(data, o) != nil {
		return new(Owner), nil // it is about to start or to end
	}
	return o, nil
}

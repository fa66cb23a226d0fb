// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package cli

// lockFile does nothing where there are no advisory locks.
func lockFile(path string) (unlock func(), err error) { return func() {}, nil }

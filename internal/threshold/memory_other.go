// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package threshold

import "errors"

// noDumps isn't known here: systems differ in what they dump.
func noDumps() error { return nil }

// lockMemory isn't known here.
func lockMemory() error { return errors.New("not on this system") }

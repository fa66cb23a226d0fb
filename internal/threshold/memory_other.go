// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package threshold

import "errors"

// lockMemory isn't known here.
func lockMemory() error { return errors.New("not on this system") }

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package sm2stream

import "time"

var began = time.Now()

// threadTime is the clock where threads have no time of their own.
func threadTime() time.Duration { return time.Since(began) }

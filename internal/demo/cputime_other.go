// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package demo

import "time"

var began = time.Now()

// cpuTime isn't known here: the clock has to do.
func cpuTime() time.Duration { return time.Since(began) }

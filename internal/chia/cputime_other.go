// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package chia

import "time"

var began = time.Now()

// threadTime isn't known here: the clock has to do.
func threadTime() time.Duration { return time.Since(began) }

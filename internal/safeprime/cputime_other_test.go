// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package safeprime

import "time"

func cpuTime(children bool) (time.Duration, bool) { return 0, false }

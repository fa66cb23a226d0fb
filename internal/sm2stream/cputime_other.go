// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package sm2stream

import "time"

// cpuTime isn't known here: it is zero, and the clock has to do.
func cpuTime() time.Duration { return 0 }

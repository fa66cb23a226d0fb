// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package cputime

import "time"

// Known reports whether the system tells the processor time of processes.
const Known = false

func process() time.Duration { return clock() }

func children() time.Duration { return 0 }

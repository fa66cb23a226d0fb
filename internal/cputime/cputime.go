// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package cputime reads how long processors have worked. Differences of its times say what
// something costs, and are disturbed less than those of the clock where other work shares
// the machine.
package cputime

import "time"

// Process returns the processor time of this process, of all its threads. If it isn't
// [Known] it is the clock's time since the process began.
func Process() time.Duration { return process() }

// Children returns the processor time of this process's children that have ended and were
// waited for, or 0 if it isn't [Known].
func Children() time.Duration { return children() }

// Thread returns the processor time of the calling thread, to which the caller has locked
// its goroutine. Where threads have no time of their own it is the clock's, as for
// [Process].
func Thread() time.Duration { return thread() }

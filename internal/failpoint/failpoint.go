// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package failpoint names the places where tests let a process die or fail: before and
// after each step that must survive a crash. Without the build tag failpoints it does
// nothing.
//
// With the tag, the environment variable UNDERSIGN_FAILPOINT says what happens where:
// place=action or place=action@n, separated by commas, where action is kill (the process
// ends as by SIGKILL) or error (an error is returned), at the nth time, or else at
// every time. [Set] says it to a process that runs.
package failpoint

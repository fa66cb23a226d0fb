// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package natstest

import "os"

// Elsewhere a process can't be stopped for a while: [Server.Pause] fails the test.
var stop, resume os.Signal = os.Interrupt, os.Interrupt

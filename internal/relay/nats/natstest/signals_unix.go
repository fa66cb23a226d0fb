// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package natstest

import (
	"os"
	"syscall"
)

var stop, resume os.Signal = syscall.SIGSTOP, syscall.SIGCONT

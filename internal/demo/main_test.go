// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package demo_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/undersign/undersign/internal/cli"
)

// TestMain is the undersign command in the processes that demos start.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "undersign" {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	// Under the race detector a program sleeps for a second at its end.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	os.Exit(m.Run())
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Command undersign makes and checks signatures by many: threshold RSA today,
// group signatures, distilled aggregates and batch verification to come.
//
// Run undersign help for its commands.
package main

import (
	"os"

	"github.com/undersign/undersign/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

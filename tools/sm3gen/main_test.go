// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

// The committed kernel must be what this generator writes.
func TestCurrent(t *testing.T) {
	if err := run("../../internal/sm3lanes", true); err != nil {
		t.Fatal(err)
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !failpoints

package failpoint

// Enabled says whether failpoints are built in.
const Enabled = false

// Hit does nothing.
func Hit(place string) error { return nil }

// Set does nothing.
func Set(spec string) {}

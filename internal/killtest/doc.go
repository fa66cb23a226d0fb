// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package killtest has no code but tests: of all roles as processes, which are killed
// under load, whose disks fail and fill up, and whose network is cut.
package killtest

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package cli

import "time"

func monotonic() time.Duration { return 0 }

func fileSystem(string) (kind string, free uint64, volatile bool) { return "", 0, false }

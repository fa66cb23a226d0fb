// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package cli

import "time"

func monotonic() time.Duration { return 0 }

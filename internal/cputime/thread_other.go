// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package cputime

import "time"

func thread() time.Duration { return clock() }

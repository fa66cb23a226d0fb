// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package cputime

import "time"

var began = time.Now()

func clock() time.Duration { return time.Since(began) }

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package distill

import "time"

var began = time.Now()

func processorTime() time.Duration { return time.Since(began) }

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package demo

import (
	"context"
	"fmt"
	"io"
	"runtime"
)

// errSystem is the error of what nodes would do.
var errSystem = fmt.Errorf("demo: nodes don't run on %s: they take a Unix system", runtime.GOOS)

// Threshold is about nodes, which don't run here.
func Threshold(context.Context, Options) (*Result, error) { return nil, errSystem }

// playService says that its processes aren't there.
func playService(_ context.Context, s *stage) error {
	fmt.Fprintf(s.Out, "There is no aggregator of its own here, nor a validator: %v.\n", errSystem)
	return nil
}

// Lie is a process of a demo that isn't here.
func Lie(context.Context, string, io.Writer) error { return errSystem }

// Load is a process of a demo that isn't here.
func Load(context.Context, string, io.Writer) error { return errSystem }

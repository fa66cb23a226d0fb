// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package demo

import (
	"context"
	"fmt"
	"io"
)

// Threshold is about nodes, which don't run here.
func Threshold(context.Context, Options) (*Result, error) { return nil, ErrSystem }

// playService says that its processes aren't there.
func playService(_ context.Context, s *stage) error {
	fmt.Fprintf(s.Out, "An aggregator and a validator that are killed aren't shown: nodes don't run on this system.\n")
	return nil
}

// Lie is a process of a demo that isn't here.
func Lie(context.Context, string, io.Writer) error { return ErrSystem }

// Load is a process of a demo that isn't here.
func Load(context.Context, string, io.Writer) error { return ErrSystem }

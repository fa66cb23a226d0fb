// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package demo shows undersign's capabilities on real files, step by step, and
// ends with a tool that the user knows already. Every demo is also a test.
package demo

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// ErrSystem is the error of a demo of nodes on a system where they don't run.
var ErrSystem = fmt.Errorf("demo: nodes don't run on %s, which has no flock: the demos group, aggregate and batch do without", runtime.GOOS)

// Options of a demo.
type Options struct {
	// Dir is an existing folder for all files, which stay there.
	Dir string
	// File is a file to sign; empty for one that the demo brings.
	File string
	// Records is how many signatures there are where that is to be chosen; 0 is the
	// usual number.
	Records int
	// Out gets a line or more a step, for a person.
	Out io.Writer
}

// A Result is what a demo did.
type Result struct {
	Dir      string   `json:"dir"`
	Steps    []Step   `json:"steps"`
	Verified []string `json:"verified_by"` // the programs that accepted the results
}

// A Step is one thing shown.
type Step struct {
	Title   string   `json:"title"`
	Details []string `json:"details,omitempty"`
	Seconds float64  `json:"seconds"`
}

// stage runs steps and tells of them.
type stage struct {
	Options
	res *Result
}

// do runs one step, which returns what it has to tell.
func (s *stage) do(ctx context.Context, title string, f func() ([]string, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "%d. %s\n", len(s.res.Steps)+1, title)
	start := time.Now()
	details, err := f()
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // the rest follows from that
	}
	took := time.Since(start)
	for _, d := range details {
		fmt.Fprintf(s.Out, "   %s\n", d)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", strings.ToLower(title[:1])+title[1:], err)
	}
	fmt.Fprintf(s.Out, "   done in %v\n", took.Round(time.Millisecond))
	s.res.Steps = append(s.res.Steps, Step{title, details, took.Seconds()})
	return nil
}

func (s *stage) path(name string) string { return filepath.Join(s.Dir, name) }

func (s *stage) write(name string, data []byte, mode os.FileMode) error {
	return os.WriteFile(s.path(name), data, mode)
}

// run runs a program in the demo's folder and returns what it prints.
func (s *stage) run(ctx context.Context, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = s.Dir
	out, err := c.CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		return text, fmt.Errorf("%s: %w: %s", name, err, text)
	}
	return text, nil
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package cli is the undersign command: its command tree, and the helpers that
// make all commands behave alike.
//
// A command is a file of its own with one constructor, newXCmd(e *env), that
// root.go adds to the tree. It describes itself with describe, reads with
// env.readInput, writes with a fileSet, prints its result once with
// env.print, and returns an error. Exit statuses, hints, JSON, dry runs,
// interrupts and time limits are looked after here.
package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// env is what a command works in: its streams and the flags that every command has.
type env struct {
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer

	json    bool          // --json
	quiet   bool          // -q
	yes     bool          // --yes
	dryRun  bool          // --dry-run
	timeout time.Duration // --timeout, 0 for none

	stdinUsed bool // standard input is one stream: it can be read once
	running   bool // the command line was understood; later errors aren't usage errors
	cancel    context.CancelFunc

	mu   sync.Mutex // guards stderr and line
	line *progress  // the progress line on the terminal, if any
}

// Main runs the command line args, which don't include the program's name, and
// returns its exit status. It doesn't exit, so that tests can call it.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := notifyContext()
	defer stop()
	e := &env{stdin: stdin, stdout: stdout, stderr: stderr}
	return run(ctx, e, newRootCmd(e), args)
}

// notifyContext returns a context that ends with the first signal to stop.
// After it the default action is restored, so that a second one kills.
func notifyContext() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// run executes root, which was built around e. The cancelling of ctx is an interrupt.
func run(ctx context.Context, e *env, root *cobra.Command, args []string) int {
	prepare(e, root)
	root.SetArgs(args)
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)

	cmd, err := root.ExecuteContextC(ctx)
	if e.cancel != nil {
		e.cancel()
	}
	e.clearProgress()
	if err == nil {
		return ExitOK
	}
	switch {
	case ctx.Err() != nil && isContextError(err):
		err = &Error{Err: errors.New("interrupted"), Hint: hintOf(err), Code: ExitInterrupted}
	case e.timeout > 0 && errors.Is(err, context.DeadlineExceeded):
		hint := "give it longer with --timeout"
		if own := hintOf(err); own != "" { // what was begun
			hint = own
		}
		err = failf(ExitError, hint, "timed out after %v", e.timeout)
	case !e.running:
		err = asUsageError(flagGroupError(err), cmd)
	}
	e.printError(err)
	return exitCode(err)
}

// isContextError reports whether err comes from a context that ended.
func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// prepare makes every command of the tree count as running once its RunE is
// entered: whatever fails before that (flags, arguments) is a usage error.
func prepare(e *env, c *cobra.Command) {
	if runE := c.RunE; runE != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			if e.json && isRunnable(c) && docOf(c).json == "" {
				return usagef(c, "%q has no JSON form", c.CommandPath())
			}
			if e.timeout < 0 {
				return usagef(c, "--timeout is negative")
			}
			if e.timeout > 0 {
				ctx, cancel := context.WithTimeout(c.Context(), e.timeout)
				c.SetContext(ctx)
				e.cancel = cancel
			}
			e.running = true
			return runE(c, args)
		}
	}
	for _, sub := range c.Commands() {
		prepare(e, sub)
	}
}

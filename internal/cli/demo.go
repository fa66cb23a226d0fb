// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/demo"
)

// A namedDemo is a demo that can be asked for.
type namedDemo struct {
	name string
	run  func(context.Context, demo.Options) (*demo.Result, error)
}

var demos = []namedDemo{
	{"threshold", demo.Threshold},
	{"group", demo.Group},
	{"aggregate", demo.Aggregate},
	{"batch", demo.Batch},
}

// newDemoCmd returns the demo command: without a name it runs the first demo.
func newDemoCmd(e *env) *cobra.Command {
	var file, keep string
	var clients int
	c := &cobra.Command{
		Use:   "demo [threshold|group|aggregate|batch|all]",
		Short: "Show what undersign does, on real files",
		Long: `Show what undersign does, on real files.

threshold, the default, starts five nodes, each a process of its own with a
share of an RSA key that nobody holds, three of which sign a file and a
certificate. One lies, and is named by the proof that it fails; two are killed,
and the others are refused; one comes back from its folder, and they sign.
OpenSSL checks the results, and Go's crypto/rsa and crypto/x509.

group lets five members of a group sign without saying who. One misuses that:
the opener names exactly that one, with a proof that anybody checks, and it is
revoked. A second vote is caught, and one bad signature found among 1000.

aggregate starts an aggregator, a validator and a gateway of clients, kills two
of them while messages are under way, and counts that each message has one
receipt. Then 4096 clients, some of them absent and some hostile, send a message
each, which one signature of 96 bytes authenticates: beside the time that it
takes the classic way. An aggregator that cheats is caught.

batch makes 100,000 SM2 signatures by mixed signers, three of them forged, and
finds the three, beside the time that it takes one by one.

all runs one after the other, up to the first that fails. All files stay in a
folder for you to look into. No process outlives a demo.`,
		Example: `  undersign demo --file README.md
  undersign demo threshold --keep ./demo
  undersign demo group --keep ./demo
  undersign demo aggregate
  undersign demo batch
  undersign demo all`,
		Args:      nargs(0, 1, "one demo"),
		ValidArgs: []string{"threshold", "group", "aggregate", "batch", "all"},
	}
	c.Flags().StringVar(&file, "file", "", "threshold signs this `file` instead of one that the demo brings")
	c.Flags().StringVar(&keep, "keep", "", "put all files into this new or empty `folder` instead of a temporary one")
	c.Flags().IntVar(&clients, "clients", 0, "aggregate plays this `number` of hostile and other clients, 64 to\n65536 (default 4096)")
	c.RunE = func(c *cobra.Command, args []string) error {
		run := demos[:1]
		if len(args) == 1 && args[0] == "all" {
			run = demos
		} else if len(args) == 1 {
			i := slices.IndexFunc(demos, func(d namedDemo) bool { return d.name == args[0] })
			if i < 0 {
				return usagef(c, "there is no demo %q: threshold, group, aggregate, batch and all are there", args[0])
			}
			run = demos[i : i+1]
		}
		if file != "" && run[0].name != "threshold" {
			return usagef(c, "--file goes with the demo threshold")
		}
		if c.Flags().Changed("clients") {
			if len(run) != 1 || run[0].name != "aggregate" {
				return usagef(c, "--clients goes with the demo aggregate")
			}
			if clients < 64 || clients > 65536 {
				return usagef(c, "--clients is from 64 to 65536")
			}
		}
		if e.dryRun {
			return usagef(c, "a demo writes files: it has no dry run")
		}
		if err := checkDemoFile(file); err != nil {
			return err
		}
		dir, err := demoDir(keep)
		if err != nil {
			return err
		}
		if len(run) > 1 {
			return e.runDemos(c.Context(), run, demo.Options{Dir: dir, File: file})
		}
		return e.runDemo(c.Context(), run[0].run, demo.Options{Dir: dir, File: file, Records: clients})
	}
	return describe(c, "dir, steps (title, details, seconds), verified_by; of all: dir, demos (by name)")
}

// checkDemoFile looks at the file before a folder and a key are made for it.
func checkDemoFile(file string) error {
	switch file {
	case "":
		return nil
	case "-":
		return failf(ExitUsage, "name a file", "a demo reads its file several times, and standard input only once")
	}
	f, err := os.Open(file)
	if err != nil {
		return inputError(file, err)
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return failf(ExitError, "", "%s isn't a regular file", file)
	}
	return nil
}

// demoDir returns a folder with nothing in it.
func demoDir(keep string) (string, error) {
	if keep == "" {
		return os.MkdirTemp("", "undersign-demo-")
	}
	if err := os.MkdirAll(keep, 0o700); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(keep)
	if err != nil {
		return "", err
	}
	if len(entries) > 0 {
		return "", failf(ExitError, "name another folder, or empty this one", "%s isn't empty", printable(keep))
	}
	return keep, nil
}

// runDemo runs a demo, which tells of its steps as they come unless the result is
// asked for as JSON.
func (e *env) runDemo(ctx context.Context, run func(context.Context, demo.Options) (*demo.Result, error), opts demo.Options) error {
	opts.Out = e.stdout
	if e.json || e.quiet {
		opts.Out = io.Discard
	}
	res, err := run(ctx, opts)
	if err != nil {
		return withHint(err, "the files up to here are in %s", opts.Dir)
	}
	return e.print(res, func(w io.Writer) { fmt.Fprintf(w, "all files are in %s\n", printable(res.Dir)) })
}

// runDemos runs several demos, each in a folder of its own.
func (e *env) runDemos(ctx context.Context, run []namedDemo, opts demo.Options) error {
	opts.Out = e.stdout
	if e.json || e.quiet {
		opts.Out = io.Discard
	}
	type result struct {
		Dir   string                  `json:"dir"`
		Demos map[string]*demo.Result `json:"demos"`
	}
	all := result{opts.Dir, map[string]*demo.Result{}}
	for _, d := range run {
		own := opts
		own.Dir = filepath.Join(opts.Dir, d.name)
		if err := os.Mkdir(own.Dir, 0o700); err != nil {
			return err
		}
		fmt.Fprintf(own.Out, "=== %s\n", d.name)
		res, err := d.run(ctx, own)
		if errors.Is(err, demo.ErrSystem) { // the others have something to show
			e.warnf("%s: %v", d.name, err)
			continue
		}
		if err != nil {
			return withHint(fmt.Errorf("%s: %w", d.name, err), "the files up to here are in %s", own.Dir)
		}
		all.Demos[d.name] = res
	}
	return e.print(all, func(w io.Writer) { fmt.Fprintf(w, "all files are in %s\n", printable(all.Dir)) })
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/demo"
)

// newDemoCmd returns the demo command: without a name it runs the first demo.
func newDemoCmd(e *env) *cobra.Command {
	var file, keep string
	c := &cobra.Command{
		Use:   "demo [threshold]",
		Short: "Show what undersign does, on real files",
		Long: `Show what undersign does, on real files.

threshold, the default, makes an RSA key that nobody holds: three of five
people sign a file and a certificate, two are refused, and a forged share is
refused with its holder named. OpenSSL checks the results, or Go's crypto/x509
where there is no OpenSSL. All files stay in a folder for you to look into.`,
		Example: `  undersign demo --file README.md
  undersign demo threshold --keep ./demo`,
		Args:      nargs(0, 1, "one demo"),
		ValidArgs: []string{"threshold"},
	}
	c.Flags().StringVar(&file, "file", "", "sign this `file` instead of one that the demo brings")
	c.Flags().StringVar(&keep, "keep", "", "put all files into this new or empty `folder` instead of a temporary one")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 1 && args[0] != "threshold" {
			return usagef(c, "there is no demo %q: threshold is one", args[0])
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
		return e.runDemo(c.Context(), demo.Threshold, demo.Options{Dir: dir, File: file})
	}
	return describe(c, "dir, steps (title, details, seconds), verified_by")
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

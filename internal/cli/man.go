// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func newManCmd(e *env) *cobra.Command {
	var dir string
	var force bool
	c := &cobra.Command{
		Use:   "man --dir DIR",
		Short: "Write the manual pages",
		Long: `Write a manual page for undersign and for each of its commands into a
directory, which is made if it isn't there.`,
		Example: `  undersign man --dir /usr/local/share/man/man1
  undersign man --dir man && man ./man/undersign-version.1`,
		Args: noArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if !e.dryRun {
				if err := os.MkdirAll(dir, 0o777); err != nil {
					return outputError(dir, err)
				}
			}
			s := e.newFileSet(force)
			defer s.abort()
			pages := manPages(c.Root())
			names := make([]string, len(pages))
			for i, p := range pages {
				names[i] = p.name
				if err := s.add(filepath.Join(dir, p.name), p.text, publicFile); err != nil {
					return err
				}
			}
			if err := s.commit(); err != nil {
				return err
			}
			result := struct {
				Dir   string   `json:"dir"`
				Files []string `json:"files"`
			}{dir, names}
			return e.print(result, func(w io.Writer) {
				if !e.quiet && !e.dryRun {
					fmt.Fprintf(w, "%d manual pages in %s\n", len(names), printable(dir))
				}
			})
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "write the pages into this `DIR`")
	c.MarkFlagRequired("dir")
	addForceFlag(c, &force)
	return describe(c, "dir, files")
}

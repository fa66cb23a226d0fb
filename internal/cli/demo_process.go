// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/internal/demo"
)

// newDemoProcessCmd returns the command that the processes of demos run. It is hidden:
// nobody else has a use for it.
func newDemoProcessCmd(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "demo-process {serve|lie|load} DIR",
		Short: "Be a process of a demo",
		Long: `Be a process of a demo, which starts it and ends it. It ends when its standard
input does, so that it isn't left behind by a demo that was killed.

serve is "undersign serve". lie is in the place of a signer, and sends wrong
shares. load plays clients of an aggregator as DIR/load.json says.`,
		Example:   `  undersign demo-process serve alice`,
		Args:      nargs(2, 2, "a role and a folder"),
		ValidArgs: []string{"serve", "lie", "load"},
		Hidden:    true,
		RunE: func(c *cobra.Command, args []string) error {
			ctx, cancel := context.WithCancel(c.Context())
			defer cancel()
			go func() { // until the process ends
				io.Copy(io.Discard, e.stdin)
				cancel()
			}()
			switch dir := args[1]; args[0] {
			case "serve":
				return e.serve(ctx, dir)
			case "lie":
				return demo.Lie(ctx, dir, e.stdout)
			case "load":
				return demo.Load(ctx, dir, e.stdout)
			}
			return usagef(c, "there is no role %q", args[0])
		},
	}
	return describe(c, "what the role prints")
}

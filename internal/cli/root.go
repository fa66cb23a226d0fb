// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newRootCmd(e *env) *cobra.Command {
	help := newHelpCmd(e)
	c := newGroupCmd(e, "undersign", "Signatures by many", `
undersign makes signatures that take several parties, and checks them.

A file argument of - is standard input or output. Secrets are never given as
flag values: they are read from files, from a file descriptor, or from a prompt.`,
		help,
		newDemoCmd(e),
		newDemoProcessCmd(e),
		newVerifyCmd(e),
		newInspectCmd(e),
		newInitCmd(e),
		newInviteCmd(e),
		newJoinCmd(e),
		newServeCmd(e),
		newStatusCmd(e),
		newPartyCmd(e),
		newAuditCmd(e),
		newDoctorCmd(e),
		newBackupCmd(e),
		newRestoreCmd(e),
		newAggregateCmd(e),
		newBenchCmd(e),
		newGroupsigCmd(e),
		newRingCmd(e),
		newSM2Cmd(e),
		newThresholdCmd(e),
		newVersionCmd(e),
		newCompletionCmd(e),
		newManCmd(e),
	)
	c.SetHelpCommand(help)
	c.Example = `  undersign help version
  undersign version --json`
	c.Version = buildVersion().Version
	c.SetVersionTemplate("undersign {{.Version}}\n")
	c.SilenceErrors = true
	c.SilenceUsage = true
	c.CompletionOptions.DisableDefaultCmd = true
	c.SetFlagErrorFunc(flagError)
	c.SetHelpFunc(func(c *cobra.Command, _ []string) { printHelp(c.OutOrStdout(), c) })

	c.Flags().Bool("version", false, "print the version")
	f := c.PersistentFlags()
	f.BoolVar(&e.json, "json", false, "print the result as one JSON object")
	f.BoolVarP(&e.quiet, "quiet", "q", false, "print nothing but results and errors")
	f.BoolVar(&e.yes, "yes", false, "answer yes to questions")
	f.BoolVar(&e.dryRun, "dry-run", false, "do everything but write files")
	f.DurationVar(&e.timeout, "timeout", 0, "give up after this `duration`, such as 30s")
	f.BoolP("help", "h", false, "print help for the command")
	f.SortFlags = false
	return c
}

// newGroupCmd returns a command that only holds others. Called without one of
// them, or with one that isn't there, it is a usage error.
func newGroupCmd(e *env, use, short, long string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use:   use,
		Short: short,
		Long:  long,
		Args:  cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(c, args[0])
			}
			printHelp(e.stderr, c)
			return usagef(c, "no command given")
		},
		Annotations: map[string]string{groupKey: ""},
	}
	c.AddCommand(subs...)
	for i, sub := range subs {
		if sub.Annotations == nil {
			sub.Annotations = map[string]string{}
		}
		sub.Annotations[orderKey] = fmt.Sprintf("%03d", i)
	}
	return describe(c, "")
}

func flagError(c *cobra.Command, err error) error {
	// With an unknown command, its flags are unknown too: report the cause.
	if args := c.Flags().Args(); isGroup(c) && len(args) > 0 {
		return unknownCommand(c, args[0])
	}
	return flagUsage(c, err)
}

func unknownCommand(c *cobra.Command, name string) error {
	err := fmt.Errorf("unknown command %q for %q", name, c.CommandPath())
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(name); len(near) > 0 {
		return &Error{Err: err, Hint: fmt.Sprintf("did you mean %q?", c.CommandPath()+" "+near[0]), Code: ExitUsage}
	}
	return asUsageError(err, c)
}

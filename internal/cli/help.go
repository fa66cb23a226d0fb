// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Keys of cobra's annotations, which is where a command keeps its commandDoc.
const (
	groupKey = "undersign.group"
	orderKey = "undersign.order"
	exitKey  = "undersign.exit."
	jsonKey  = "undersign.json"
)

// commandDoc is what the help text says beyond cobra's own fields.
type commandDoc struct {
	json string         // what the JSON object holds; empty when there is none
	exit map[int]string // statuses and their meaning
}

// describe records which fields the JSON result of c has (empty: c prints no
// result) and which statuses it ends with. Success, error, usage and
// interrupted go without saying.
func describe(c *cobra.Command, json string, codes ...int) *cobra.Command {
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	if json != "" {
		c.Annotations[jsonKey] = json
	}
	for _, code := range append(codes, ExitOK, ExitError, ExitUsage, ExitInterrupted) {
		describeExit(c, code, exitText[code])
	}
	return c
}

// describeExit says what a status means for c, where the usual words don't fit.
func describeExit(c *cobra.Command, code int, text string) {
	c.Annotations[exitKey+strconv.Itoa(code)] = text
}

func docOf(c *cobra.Command) commandDoc {
	d := commandDoc{json: c.Annotations[jsonKey], exit: map[int]string{}}
	for k, v := range c.Annotations {
		if s, ok := strings.CutPrefix(k, exitKey); ok {
			code, err := strconv.Atoi(s)
			if err == nil {
				d.exit[code] = v
			}
		}
	}
	return d
}

func isGroup(c *cobra.Command) bool {
	_, ok := c.Annotations[groupKey]
	return ok
}

// isRunnable reports whether c does something of its own.
func isRunnable(c *cobra.Command) bool { return c.Runnable() && !isGroup(c) }

// summary returns the first text of a help page.
func summary(c *cobra.Command) string {
	if s := strings.TrimSpace(c.Long); s != "" {
		return s
	}
	return c.Short + "."
}

// usageLine returns the synopsis of c.
func usageLine(c *cobra.Command) string {
	if isGroup(c) {
		return c.CommandPath() + " COMMAND [flags]"
	}
	_, args, _ := strings.Cut(c.Use, " ")
	return strings.TrimRight(c.CommandPath()+" "+args, " ") + " [flags]"
}

// visibleCommands returns the commands below c that help lists, in the order that they
// have in newGroupCmd, and not in cobra's.
func visibleCommands(c *cobra.Command) []*cobra.Command {
	cmds := slices.DeleteFunc(slices.Clone(c.Commands()), func(s *cobra.Command) bool {
		return s.Hidden || s.Deprecated != ""
	})
	slices.SortStableFunc(cmds, func(a, b *cobra.Command) int {
		return strings.Compare(a.Annotations[orderKey], b.Annotations[orderKey])
	})
	return cmds
}

func printHelp(w io.Writer, c *cobra.Command) {
	fmt.Fprintf(w, "%s\n\nUsage:\n  %s\n", summary(c), usageLine(c))
	if subs := visibleCommands(c); len(subs) > 0 {
		fmt.Fprintf(w, "\nCommands:\n")
		width := 0
		for _, s := range subs {
			width = max(width, len(s.Name()))
		}
		for _, s := range subs {
			fmt.Fprintf(w, "  %-*s  %s\n", width, s.Name(), s.Short)
		}
	}
	printFlags(w, "Flags", c.LocalNonPersistentFlags())
	if c.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", strings.Trim(c.Example, "\n"))
	}
	d := docOf(c)
	if d.json != "" {
		fmt.Fprintf(w, "\nJSON fields:\n  %s\n", d.json)
	}
	if len(d.exit) > 0 {
		fmt.Fprintf(w, "\nExit status:\n")
		for _, code := range slices.Sorted(maps.Keys(d.exit)) {
			fmt.Fprintf(w, "  %-3d  %s\n", code, d.exit[code])
		}
	}
	printFlags(w, "Flags of every command", globalFlags(c))
	if isGroup(c) {
		fmt.Fprintf(w, "\nRun \"%s COMMAND --help\" for a command's own help.\n", c.CommandPath())
	}
}

// globalFlags returns the persistent flags of c and those above it.
func globalFlags(c *cobra.Command) *pflag.FlagSet {
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	fs.SortFlags = false
	fs.AddFlagSet(c.Root().PersistentFlags())
	fs.AddFlagSet(c.PersistentFlags())
	fs.AddFlagSet(c.InheritedFlags())
	return fs
}

func printFlags(w io.Writer, title string, fs *pflag.FlagSet) {
	if s := fs.FlagUsages(); s != "" {
		fmt.Fprintf(w, "\n%s:\n%s", title, s)
	}
}

func newHelpCmd(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "help [COMMAND]...",
		Short: "Print help for a command",
		Long:  "Print help for a command, or for undersign as a whole.",
		Example: `  undersign help
  undersign help version`,
		ValidArgsFunction: completeCommands,
		RunE: func(c *cobra.Command, args []string) error {
			at := c.Root()
			for _, name := range args {
				i := slices.IndexFunc(at.Commands(), func(s *cobra.Command) bool {
					return s.Name() == name || s.HasAlias(name)
				})
				if i < 0 {
					return unknownCommand(at, name)
				}
				at = at.Commands()[i]
			}
			printHelp(e.stdout, at)
			return nil
		},
	}
	return describe(c, "")
}

// completeCommands completes the names of commands after the ones in args.
func completeCommands(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	at, rest, err := c.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, s := range visibleCommands(at) {
		names = append(names, s.Name()+"\t"+s.Short)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

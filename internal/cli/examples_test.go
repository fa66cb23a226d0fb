// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestExamplesParse demands of every example in a help text that the command exists, has the
// flags, and takes so many arguments: that who pastes it isn't told that it is wrong.
func TestExamplesParse(t *testing.T) {
	n := 0
	walk(newRootCmd(new(env)), func(c *cobra.Command) {
		text := strings.ReplaceAll(c.Example, "\\\n", " ")
		for line := range strings.Lines(text) {
			for _, part := range strings.Split(line, "|") {
				part = strings.TrimSpace(part)
				if !strings.HasPrefix(part, "undersign ") {
					continue
				}
				n++
				if err := parseExample(part); err != nil {
					t.Errorf("%s: %q: %v", c.CommandPath(), part, err)
				}
			}
		}
	})
	if n < 100 {
		t.Errorf("only %d examples were tried", n)
	}
}

func TestParseExample(t *testing.T) {
	for line, ok := range map[string]bool{
		"undersign version":                                  true,
		"undersign invite --name bob":                        true,
		"undersign threshold keys --dir 'a b' > list":        true,
		"undersign join - < invitation":                      true,
		"undersign serve --dir alice &":                      true,
		"undersign nothing":                                  false,
		"undersign invite":                                   false,
		"undersign invite --nam bob":                         false,
		"undersign join":                                     false,
		"undersign threshold keygen -k 2 --node a --to b -o": false,
		"undersign threshold sign-file f --key k \\\\":       false,
	} {
		if err := parseExample(line); (err == nil) != ok {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// parseExample looks at a command line as far as that goes without running it.
func parseExample(line string) error {
	root := newRootCmd(new(env))
	c, args, err := root.Find(shellWords(line)[1:])
	if err != nil {
		return err
	}
	if err := c.ParseFlags(args); err != nil {
		return err
	}
	rest := c.Flags().Args()
	if isGroup(c) && len(rest) > 0 {
		return unknownCommand(c, rest[0])
	}
	if err := c.ValidateRequiredFlags(); err != nil {
		return err
	}
	if err := c.ValidateFlagGroups(); err != nil {
		return err
	}
	return c.ValidateArgs(rest)
}

// shellWords splits a line as a shell does, and leaves out redirections and the ampersand.
func shellWords(line string) (words []string) {
	var w strings.Builder
	var quote rune
	in := false
	flush := func() {
		if in {
			words = append(words, w.String())
		}
		w.Reset()
		in = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			w.WriteRune(r)
		case r == '\'' || r == '"':
			quote, in = r, true
		case r == ' ' || r == '\t':
			flush()
		case r == '>' || r == '<' || r == '&':
			flush()
			return words
		default:
			w.WriteRune(r)
			in = true
		}
	}
	flush()
	return words
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// walk calls f for c and all commands below it.
func walk(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, s := range c.Commands() {
		walk(s, f)
	}
}

// noResult are the commands that print no result of their own, so that --json
// has nothing to do there. Every other one has JSON fields in its help.
var noResult = map[string]bool{
	"undersign completion": true, // prints a script
	"undersign help":       true,
}

// TestHelp demands of every command what its help text is for.
func TestHelp(t *testing.T) {
	walk(newRootCmd(new(env)), func(c *cobra.Command) {
		for _, problem := range helpProblems(c) {
			t.Errorf("%s: %s", c.CommandPath(), problem)
		}
	})
}

func helpProblems(c *cobra.Command) (problems []string) {
	need := func(ok bool, problem string) {
		if !ok {
			problems = append(problems, problem)
		}
	}
	var buf bytes.Buffer
	printHelp(&buf, c)
	text := buf.String()
	need(c.Short != "", "no short text")
	need(!strings.HasSuffix(c.Short, "."), "the short text ends with a full stop")
	need(c.Short != "" && strings.ToUpper(c.Short[:1]) == c.Short[:1], "the short text starts with a lower-case letter")
	need(strings.TrimSpace(c.Long) != "", "no long text")
	need(strings.Contains(text, "\nExit status:\n  0 "), "no exit status section")
	need(c.RunE != nil && c.Run == nil, "must have RunE, so that errors are reported in one place")
	need(c.PersistentPreRunE == nil && c.PersistentPreRun == nil, "has a persistent pre-run, which hides others")
	need(strings.Contains(text, "\nExamples:\n  "), "no example, or one that isn't indented by two spaces")
	for line := range strings.Lines(strings.Trim(c.Example, "\n")) {
		need(strings.HasPrefix(line, "  "), "an example line isn't indented by two spaces")
	}
	need(isGroup(c) || strings.Contains(c.Example, c.CommandPath()), "the example doesn't run the command")
	if isRunnable(c) && !noResult[c.CommandPath()] {
		need(strings.Contains(text, "\nJSON fields:\n  "), "doesn't say what --json prints")
	}
	need(strings.Contains(text, "--json "), "no --json flag")
	for line := range strings.Lines(summary(c)) {
		need(len(strings.TrimSuffix(line, "\n")) <= 80, "a line of the long text is longer than 80 characters")
	}
	return problems
}

func TestHelpProblems(t *testing.T) {
	good := func() *cobra.Command {
		c := &cobra.Command{
			Use:     "good",
			Short:   "Do something",
			Long:    "Do something good.",
			Example: "  undersign good",
			RunE:    func(*cobra.Command, []string) error { return nil },
		}
		describe(c, "done")
		newRootCmd(new(env)).AddCommand(c)
		return c
	}
	if p := helpProblems(good()); p != nil {
		t.Fatalf("good command: %q", p)
	}
	for name, spoil := range map[string]func(*cobra.Command){
		"no short":       func(c *cobra.Command) { c.Short = "" },
		"full stop":      func(c *cobra.Command) { c.Short = "Do." },
		"lower case":     func(c *cobra.Command) { c.Short = "do" },
		"no long":        func(c *cobra.Command) { c.Long = " " },
		"no example":     func(c *cobra.Command) { c.Example = "" },
		"not indented":   func(c *cobra.Command) { c.Example = "undersign good" },
		"wrong example":  func(c *cobra.Command) { c.Example = "  undersign version" },
		"no exit status": func(c *cobra.Command) { c.Annotations = map[string]string{jsonKey: "x"} },
		"no JSON":        func(c *cobra.Command) { delete(c.Annotations, jsonKey) },
		"Run":            func(c *cobra.Command) { c.Run = func(*cobra.Command, []string) {} },
		"pre-run":        func(c *cobra.Command) { c.PersistentPreRunE = c.RunE },
		"long line":      func(c *cobra.Command) { c.Long = strings.Repeat("x", 81) },
	} {
		c := good()
		spoil(c)
		if helpProblems(c) == nil {
			t.Errorf("%s: not noticed", name)
		}
	}
}

// TestNoSecretFlags looks for flags whose value would be a secret.
func TestNoSecretFlags(t *testing.T) {
	walk(newRootCmd(new(env)), func(c *cobra.Command) {
		for _, name := range []string{"passphrase", "password", "secret", "pin", "token"} {
			if c.Flags().Lookup(name) != nil || c.PersistentFlags().Lookup(name) != nil {
				t.Errorf("%s has the flag --%s: secrets come from files, descriptors and prompts", c.CommandPath(), name)
			}
		}
	})
}

func TestManPages(t *testing.T) {
	pages := manPages(newRootCmd(new(env)))
	if len(pages) < 5 {
		t.Fatalf("%d pages", len(pages))
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Log("groff isn't here: the pages are checked less")
	}
	for _, p := range pages {
		for _, want := range []string{".TH ", ".SH NAME\n", ".SH SYNOPSIS\n", ".SH EXAMPLES\n", ".SH EXIT STATUS\n", `\-\-json`} {
			if !bytes.Contains(p.text, []byte(want)) {
				t.Errorf("%s lacks %q", p.name, want)
			}
		}
		if groff == "" {
			continue
		}
		cmd := exec.Command(groff, "-man", "-Tascii", "-ww", "-z")
		cmd.Stdin = bytes.NewReader(p.text)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: groff: %v: %s", p.name, err, out)
		}
	}
}

func TestRoff(t *testing.T) {
	for in, want := range map[string]string{
		".TH evil\n":      "\\&.TH evil\n",
		"'sp\n":           "\\(aqsp\n",
		`a\fBb`:           `a\efBb` + "\n",
		"-x `y`\n":        "\\-x \\(gay\\(ga\n",
		"one\n\n.two\n":   "one\n\n\\&.two\n",
		"  .indented dot": "  .indented dot\n",
	} {
		if got := roffLines(in); got != want {
			t.Errorf("roffLines(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"  a\n    b\n\n  c": "a\n  b\n\nc",
		"a\n  b":            "a\n  b",
		"":                  "",
		"\n":                "\n",
	} {
		if got := outdent(in); got != want {
			t.Errorf("outdent(%q) = %q, want %q", in, got, want)
		}
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manPage is a manual page in the man(7) language.
type manPage struct {
	name string // of the file
	text []byte
}

// manPages returns the page of c and those of the commands below it.
func manPages(c *cobra.Command) []manPage {
	pages := []manPage{{pageName(c) + ".1", manText(c)}}
	for _, s := range visibleCommands(c) {
		pages = append(pages, manPages(s)...)
	}
	return pages
}

// pageName returns the name of c's page: undersign-threshold-sign.
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manText carries no date: the same tree gives the same bytes.
func manText(c *cobra.Command) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"undersign %s\" \"undersign manual\"\n",
		strings.ToUpper(roff(pageName(c))), roff(buildVersion().Version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(pageName(c)), roff(lowerFirst(c.Short)))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(usageLine(c)))
	fmt.Fprintf(&b, ".SH DESCRIPTION\n")
	manBody(&b, summary(c))
	if subs := visibleCommands(c); len(subs) > 0 {
		fmt.Fprintf(&b, ".SH COMMANDS\n")
		for _, s := range subs {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s.\n", roff(s.Name()), roff(s.Short))
		}
	}
	manFlags(&b, "OPTIONS", c.LocalNonPersistentFlags())
	manFlags(&b, "OPTIONS OF EVERY COMMAND", globalFlags(c))
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s.fi\n", roffLines(outdent(strings.Trim(c.Example, "\n"))))
	}
	d := docOf(c)
	if d.json != "" {
		fmt.Fprintf(&b, ".SH JSON\nWith \\-\\-json the result is one object on standard output, with the fields %s.\nErrors and warnings are objects on standard error, one a line.\n", roff(d.json))
	}
	if len(d.exit) > 0 {
		fmt.Fprintf(&b, ".SH EXIT STATUS\n")
		for _, code := range slices.Sorted(maps.Keys(d.exit)) {
			fmt.Fprintf(&b, ".TP\n.B %d\n%s\n", code, roff(d.exit[code]))
		}
	}
	var also []string
	if p := c.Parent(); p != nil {
		also = append(also, pageName(p))
	}
	for _, s := range visibleCommands(c) {
		also = append(also, pageName(s))
	}
	for i, name := range also {
		if i == 0 {
			fmt.Fprintf(&b, ".SH SEE ALSO\n")
		}
		comma := ","
		if i == len(also)-1 {
			comma = ""
		}
		fmt.Fprintf(&b, ".BR %s (1)%s\n", roff(name), comma)
	}
	return b.Bytes()
}

// manBody writes paragraphs; a paragraph that is indented stays as it is.
func manBody(b *bytes.Buffer, s string) {
	for i, par := range strings.Split(strings.TrimSpace(s), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(par, "  ") {
			fmt.Fprintf(b, ".nf\n%s.fi\n", roffLines(par))
		} else {
			b.WriteString(roffLines(par))
		}
	}
}

func manFlags(b *bytes.Buffer, title string, fs *pflag.FlagSet) {
	first := true
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		if first {
			fmt.Fprintf(b, ".SH %s\n", title)
			first = false
		}
		value, usage := pflag.UnquoteUsage(f)
		names := "--" + f.Name
		if f.Shorthand != "" {
			names = "-" + f.Shorthand + ", " + names
		}
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR", roff(names))
		if value != "" {
			fmt.Fprintf(b, " \\fI%s\\fR", roff(value))
		}
		fmt.Fprintf(b, "\n%s", roff(usage))
		if hasDefault(f) {
			fmt.Fprintf(b, " (default %s)", roff(f.DefValue))
		}
		b.WriteByte('\n')
	})
}

// hasDefault reports whether a flag's default says something.
func hasDefault(f *pflag.Flag) bool {
	switch f.DefValue {
	case "", "0", "0s", "false", "[]", "-1":
		return false
	}
	return true
}

// roff escapes text inside a line.
func roff(s string) string {
	s = strings.ReplaceAll(s, `\`, `\e`)
	s = strings.ReplaceAll(s, "-", `\-`)
	s = strings.ReplaceAll(s, "'", `\(aq`)
	return strings.ReplaceAll(s, "`", `\(ga`)
}

// roffLines escapes whole lines: a dot at the start would be a request.
func roffLines(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		line = roff(strings.TrimSuffix(line, "\n"))
		if strings.HasPrefix(line, ".") {
			line = `\&` + line
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// outdent removes the indentation that all lines share.
func outdent(s string) string {
	lines := strings.Split(s, "\n")
	for {
		for _, l := range lines {
			if l != "" && l[0] != ' ' {
				return strings.Join(lines, "\n")
			}
		}
		done := true
		for i, l := range lines {
			if l != "" {
				lines[i], done = l[1:], false
			}
		}
		if done {
			return s
		}
	}
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

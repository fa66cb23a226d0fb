// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// parsing is what strconv says of a number, after the words that have said it already.
var parsing = regexp.MustCompile(`strconv\.\w+: parsing ".*": `)

// flagUsage is about a flag that isn't known, or whose value is wrong.
func flagUsage(c *cobra.Command, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && len(unknown.GetSpecifiedName()) > 1 {
		if near := nearestFlag(c, unknown.GetSpecifiedName()); near != "" {
			return &Error{Err: err, Hint: fmt.Sprintf("did you mean --%s?", near), Code: ExitUsage}
		}
	}
	return usagef(c, "%s", parsing.ReplaceAllString(err.Error(), ""))
}

// nearestFlag returns the flag that a name which isn't one was meant to be, as far as can be
// told: the nearest of those that differ in two letters at most, and in less than half of
// them, or the only one that begins so.
func nearestFlag(c *cobra.Command, name string) string {
	best, distance := "", min(2, (len(name)-1)/2)+1
	var begins []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		if d := editDistance(name, f.Name); d < distance {
			best, distance = f.Name, d
		}
		if len(name) > 2 && strings.HasPrefix(f.Name, name) {
			begins = append(begins, f.Name)
		}
	})
	if best == "" && len(begins) == 1 {
		return begins[0]
	}
	return best
}

// editDistance returns how many letters have to be put in, left out or replaced to make a
// of b (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := before
			if a[i] != b[j] {
				d++
			}
			before = row[j+1]
			row[j+1] = min(d, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"regexp"
	"strings"
)

// flagGroupErrors are what cobra says of flags that go together.
var flagGroupErrors = []struct {
	pattern *regexp.Regexp
	say     func(all, some string) string
}{
	{regexp.MustCompile(`^at least one of the flags in the group \[(.*)\] is required()$`), func(all, _ string) string {
		return fmt.Sprintf("one of %s is needed", all)
	}},
	{regexp.MustCompile(`^if any flags in the group \[(.*)\] are set they must all be set; missing \[(.*)\]$`), func(all, missing string) string {
		return fmt.Sprintf("%s go together, and %s is missing", all, missing)
	}},
	{regexp.MustCompile(`^if any flags in the group \[(.*)\] are set none of the others can be; \[(.*)\] were all set$`), func(_, set string) string {
		return fmt.Sprintf("%s exclude each other", set)
	}},
}

// flagGroupError says in the words of the command line what cobra says of flags that go
// together.
func flagGroupError(err error) error {
	for _, g := range flagGroupErrors {
		if m := g.pattern.FindStringSubmatch(err.Error()); m != nil {
			return fmt.Errorf("%s", g.say(dashed(m[1]), dashed(m[2])))
		}
	}
	return err
}

// dashed turns names into flags: "a b" into "--a, --b".
func dashed(names string) string {
	fs := strings.Fields(names)
	for i, f := range fs {
		fs[i] = "--" + f
	}
	return strings.Join(fs, ", ")
}

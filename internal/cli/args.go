// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// nargs accepts from min to max arguments; max < 0 is no limit. What names
// them in messages, as in "a request file".
func nargs(min, max int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch n := len(args); {
		case n > 0 && max == 0:
			return fmt.Errorf("%q takes no arguments, and was given %q", c.CommandPath(), args[0])
		case n < min && min == 1:
			return fmt.Errorf("%q needs %s", c.CommandPath(), what)
		case n < min:
			return fmt.Errorf("%q needs %s: at least %d arguments", c.CommandPath(), what, min)
		case max >= 0 && n > max:
			return fmt.Errorf("%q was given too many arguments: %q is the first of them", c.CommandPath(), args[max])
		}
		return nil
	}
}

// noArgs accepts none.
var noArgs = nargs(0, 0, "")

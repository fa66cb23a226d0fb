// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
)

func newGroupSchemesCmd(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "schemes",
		Short: "List the schemes",
		Long: `List the schemes of group signatures, with the features that groups always have
and those that they may have besides.`,
		Example: `  undersign group schemes
  undersign group schemes --json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return e.groupSchemes() },
	}
	return describe(c, "schemes [name, summary, required, optional]")
}

type schemeResult struct {
	Name     string `json:"name"`
	Summary  string `json:"summary"`
	Required string `json:"required"`
	Optional string `json:"optional"`
}

func (e *env) groupSchemes() error {
	var r struct {
		Schemes []schemeResult `json:"schemes"`
	}
	for _, s := range groupsig.Schemes() {
		r.Schemes = append(r.Schemes, schemeResult{s.Name(), s.Summary(), s.Required().String(), s.Optional().String()})
	}
	return e.print(r, func(w io.Writer) {
		for _, s := range r.Schemes {
			fmt.Fprintf(w, "%s: %s\n", s.Name, s.Summary)
			if s.Required != "" {
				fmt.Fprintf(w, "  always: %s\n", s.Required)
			}
			if s.Optional != "" {
				fmt.Fprintf(w, "  on demand: %s\n", s.Optional)
			}
		}
	})
}

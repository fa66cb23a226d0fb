// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/groupsig/bbsgs"
)

// maxUses bounds how often everybody may sign in a scope.
const maxUses = 1 << 16

// scopeFlags say what a signature is for.
type scopeFlags struct{ scope, context string }

func (f *scopeFlags) add(c *cobra.Command, scope, context string) {
	c.Flags().StringVar(&f.scope, "scope", "", scope)
	c.Flags().StringVar(&f.context, "context", "", context)
}

// options returns scope and context, if the group has them.
func (f *scopeFlags) options(c *cobra.Command, gk groupsig.GroupKey) (o groupsig.SignOptions, err error) {
	switch has := gk.Features().Has(groupsig.Scope); {
	case has && !c.Flags().Changed("scope"):
		return o, failf(ExitUsage, "say what it is for with --scope TEXT", "signatures of this group are for a scope")
	case !has && c.Flags().Changed("scope"):
		return o, usagef(c, "--scope: the group has no scopes; see --context")
	case has:
		o.Scope = []byte(f.scope)
	}
	if f.context != "" && (gk.Scheme().Required()|gk.Scheme().Optional())&(groupsig.Scope|groupsig.Convert) != 0 {
		return o, usagef(c, "--context: %s has no contexts: put it into the file", gk.Scheme().Name())
	}
	o.Context = nonEmpty([]byte(f.context))
	return o, nil
}

// limitedUse returns the scope of a use, written I/N.
func limitedUse(c *cobra.Command, scope []byte, use string) ([]byte, error) {
	if scope == nil {
		return nil, usagef(c, "--use: the group has no scopes")
	}
	index, limit, ok := strings.Cut(use, "/")
	i, err := strconv.ParseUint(index, 10, 32)
	n, err2 := strconv.ParseUint(limit, 10, 32)
	if !ok || err != nil || err2 != nil || i < 1 || n > maxUses {
		return nil, usagef(c, "--use %q: want I/N, such as 2/3, with N at most %d", use, maxUses)
	}
	if i > n {
		return nil, failf(ExitRefused, "", "--use %s: everybody has %d in this scope", use, n)
	}
	return bbsgs.LimitedScope(scope, i-1, n)
}

// wantedScopes returns the scopes that signatures may be for, and the use that each is:
// without a limit there is one, and it is no use.
func wantedScopes(c *cobra.Command, scope []byte, limit uint64) (map[string]uint64, error) {
	if !c.Flags().Changed("limit") {
		return map[string]uint64{string(scope): 0}, nil
	}
	if scope == nil {
		return nil, usagef(c, "--limit: the group has no scopes")
	}
	if limit < 1 || limit > maxUses {
		return nil, usagef(c, "--limit %d: want 1 to %d", limit, maxUses)
	}
	want := map[string]uint64{}
	for i := range limit {
		s, err := bbsgs.LimitedScope(scope, i, limit)
		if err != nil {
			return nil, err
		}
		want[string(s)] = i + 1
	}
	return want, nil
}

// scopeText describes a scope that isn't wanted.
func scopeText(scope []byte) string {
	if !utf8.Valid(scope) || strings.ContainsFunc(string(scope), func(r rune) bool { return r < ' ' }) {
		return "it is for one of a number of uses of some scope, and another is wanted"
	}
	return fmt.Sprintf("it is for the scope %q", scope)
}

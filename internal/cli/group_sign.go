// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

type groupSignFlags struct {
	outFlags
	secret secretFlags
	member string
	scope  scopeFlags
	use    string
}

func newGroupSignCmd(e *env) *cobra.Command {
	var f groupSignFlags
	c := &cobra.Command{
		Use:   "sign FILE --member FILE -i FILE",
		Short: "Sign a file (member)",
		Long: `Sign a file as a member of the group.

In groups with scopes --scope says what the signature is for, such as one vote:
all signatures of a member in one scope can be seen to be of one member, and
those of different scopes can't. In other groups --context says what it is for.
Verifiers demand the same.

Where everybody may sign N times in a scope, --use says which of the N times it
is, counted from 1. Different ones can't be seen to be of one member; the same
one twice can.

In groups with sequences the member's file changes with each signature: keep one
copy of it. The file has at most 256 MiB.`,
		Example: `  undersign group sign motion.txt --member alice.member -i alice.key --scope 2026-11
  undersign group sign review.txt --member alice.member -i alice.key --scope book-7 --use 2/3`,
		Args: nargs(1, 1, "a file"),
		RunE: func(c *cobra.Command, args []string) error { return e.groupSign(c, f, args[0]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.member, "member", "", "the member's `FILE`")
	c.MarkFlagRequired("member")
	addSecretFlags(c, &f.secret)
	f.scope.add(c, "sign within the scope `TEXT`", "what the signature is for, `TEXT`, in groups without scopes")
	fl.StringVar(&f.use, "use", "", "`I/N`: use number I of the N that everybody has in the scope")
	addOutFlags(c, &f.outFlags, "FILE"+groupSigSuffix)
	addQRFlag(c, &f.qr, "signature")
	return describe(c, "group, size (bytes of the bare signature), file")
}

type groupSignResult struct {
	Group string `json:"group"`
	Size  int    `json:"size"`
	File  string `json:"file"`
}

func (e *env) groupSign(c *cobra.Command, f groupSignFlags, file string) error {
	msg, err := e.readInput(c.Context(), file, maxMessage)
	if err != nil {
		return err
	}
	if err := f.name(e, beside(file, groupSigSuffix)); err != nil {
		return err
	}
	return useSecret(c.Context(), e, f.secret, f.member, (*opener).openMember, func(o *opener, m *groupMember) error {
		if !m.gk.Features().Has(groupsig.Sequence) {
			return e.signAs(c, m, f, msg)
		}
		// Read again what nobody else changes any more.
		return changeOpened(o, f.member, (*opener).openMember, func(m *groupMember) error { return e.signAs(c, m, f, msg) })
	})
}

func (e *env) signAs(c *cobra.Command, m *groupMember, f groupSignFlags, msg []byte) error {
	opts, err := f.scope.options(c, m.gk)
	if err != nil {
		return err
	}
	if f.use != "" {
		if opts.Scope, err = limitedUse(c, opts.Scope, f.use); err != nil {
			return err
		}
	}
	sig, err := m.key.Sign(msg, opts)
	if err != nil {
		return groupError(err)
	}
	data, err := encodeGroup(new(keyfile.GroupSignature), m.gk, m.file().Number, opts.Scope, opts.Context, sig)
	if err != nil {
		return err
	}
	store := func() error { return nil }
	if m.gk.Features().Has(groupsig.Sequence) {
		// Two signatures at one place of a sequence would betray the member.
		store = func() error { return m.store(e) }
	}
	return f.finishAfter(e, store, data, publicFile, groupSignResult{groupID(m.gk), len(sig), f.out}, nil)
}

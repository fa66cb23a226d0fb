// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

const revelationSuffix = ".revealed"

func newGroupRevealCmd(e *env) *cobra.Command {
	var f outFlags
	var secret secretFlags
	var file, reason string
	c := &cobra.Command{
		Use:   "reveal NAME --opener FILE -i FILE",
		Short: "Publish what traces one member (opener)",
		Long: `Write what traces a member, in groups with traces. Everybody who has the file
sees with trace what the member has signed and will sign, and nothing of what
others sign. It says who was revealed and, with --reason, what for, and can't be
made for another member than the one who registered.

It can't be taken back. What verifiers are to refuse is for revoke.`,
		Example: `  undersign group reveal mallory --opener council/opener.age -i opener.key --reason "case 7"`,
		Args:    nargs(1, 1, "the member's name"),
		RunE: func(c *cobra.Command, args []string) error {
			return useSecret(c.Context(), e, secret, file, (*opener).openGroupOpener, func(_ *opener, op *groupOpener) error {
				rv, ok := op.key.(groupsig.Revealer)
				if !ok || !op.gk.Features().Has(groupsig.Trace) {
					return usagef(c, "the group's members can't be traced")
				}
				if err := f.name(e, beside(args[0], revelationSuffix)); err != nil {
					return err
				}
				r, err := rv.Reveal(op.gk, op.register, args[0], nonEmpty([]byte(reason)))
				if err != nil {
					return withHint(groupError(err), "%s", hintRecords)
				}
				data, err := encodeGroup(new(keyfile.GroupRevelation), op.gk, 0, r)
				if err != nil {
					return err
				}
				return f.finish(e, data, publicFile, groupOpenResult{Member: r.Member(), File: f.out}, nil)
			})
		},
	}
	fl := c.Flags()
	fl.StringVar(&file, "opener", "", "the opener's `FILE`")
	c.MarkFlagRequired("opener")
	addSecretFlags(c, &secret)
	addReasonFlag(c, &reason)
	addOutFlags(c, &f, "NAME"+revelationSuffix)
	describe(c, "member, file")
	return c
}

type groupTraceResult struct {
	Member     string        `json:"member"`
	Signatures []groupTraced `json:"signatures"`
}

type groupTraced struct {
	File   string `json:"file"`
	Traced bool   `json:"traced"`
}

func newGroupTraceCmd(e *env) *cobra.Command {
	var group, key, revealed, reason string
	var sigs []string
	c := &cobra.Command{
		Use:   "trace FILE... --revealed FILE --group FILE --member-key FILE",
		Short: "See what a revealed member has signed",
		Long: `Say which of some signatures a member has made whom the opener has revealed.
Whoever checks knows the member's long-term key: that the name belongs to the
key is for the reader to know. The --reason is the one that the opener gave.`,
		Example: `  undersign group trace motion-*.txt --revealed mallory.revealed --group group.pub \
      --member-key mallory.pub.pem --reason "case 7"`,
		Args: nargs(1, -1, "a file"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			gk, err := e.readGroup(ctx, group)
			if err != nil {
				return err
			}
			t, ok := groupsig.As[groupsig.Tracer](gk)
			if !ok {
				return usagef(c, "the group's members can't be traced")
			}
			pub, err := e.readMemberKey(ctx, key)
			if err != nil {
				return err
			}
			p, err := readGroupParts[*keyfile.GroupRevelation](ctx, e, gk, revealed, 1)
			if err != nil {
				return err
			}
			r, err := t.ParseRevelation(p[0])
			if err == nil {
				err = t.CheckRevelation(r, pub, nonEmpty([]byte(reason)))
			}
			if err != nil {
				err = withCode(groupFileError(revealed, err), ExitInvalid)
				if r != nil && r.Member() != "" {
					err = withHint(err, "it says %s: --member-key is that member's, as you know it from elsewhere, and --reason the one that it was revealed for", oneLine(r.Member()))
				}
				return err
			}
			set, err := e.readGroupSet(ctx, gk, args, sigs)
			if err != nil {
				return err
			}
			out := groupTraceResult{Member: r.Member()}
			found := false
			for i, s := range set {
				is, err := t.Trace(r, s)
				if err != nil {
					return withCode(groupFileError(args[i], err), ExitInvalid)
				}
				found = found || is
				out.Signatures = append(out.Signatures, groupTraced{inputName(args[i]), is})
			}
			err = e.print(out, func(w io.Writer) {
				for _, s := range out.Signatures {
					what := "by another member than "
					if s.Traced {
						what = "by "
					}
					fmt.Fprintf(w, "%s: %s%s\n", oneLine(s.File), what, oneLine(out.Member))
				}
			})
			if err == nil && !found {
				return failf(ExitInvalid, "", "none is by %s", oneLine(out.Member))
			}
			return err
		},
	}
	fl := c.Flags()
	fl.StringVar(&revealed, "revealed", "", "what the opener has revealed, `FILE`")
	c.MarkFlagRequired("revealed")
	addGroupFlag(c, &group)
	c.MarkFlagRequired("group")
	fl.StringVar(&key, "member-key", "", "the member's Ed25519 public key, PEM `FILE`")
	c.MarkFlagRequired("member-key")
	addReasonFlag(c, &reason)
	fl.StringSliceVar(&sigs, "sig", nil, "the signatures, `FILE,...`, in the order of the files (default: FILE"+groupSigSuffix+")")
	describe(c, "member, signatures [file, traced]", ExitInvalid)
	describeExit(c, ExitInvalid, "none is the member's, or the revelation or a signature is invalid")
	return c
}

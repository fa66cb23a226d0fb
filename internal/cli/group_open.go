// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

type groupOpenFlags struct {
	outFlags
	secret                       secretFlags
	opener, sig, reason, revoked string
}

func newGroupOpenCmd(e *env) *cobra.Command {
	var f groupOpenFlags
	c := &cobra.Command{
		Use:   "open FILE --opener FILE -i FILE",
		Short: "Find out who signed (opener)",
		Long: `Say which member made a signature, and write a proof of it that anybody checks
with verify-opening. It names exactly that member, and can't be made for
another, not by opener and issuer together. With --reason it holds for that
alone.

The opener knows the members whose records it has taken in with update. If the
signer isn't among them, or the issuer has made a member without registering it,
that is said.`,
		Example: `  undersign group open motion.txt --opener council/opener.age -i opener.key`,
		Args:    nargs(1, 1, "a file"),
		RunE:    func(c *cobra.Command, args []string) error { return e.groupOpen(c, f, args[0]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.opener, "opener", "", "the opener's `FILE`")
	c.MarkFlagRequired("opener")
	addSecretFlags(c, &f.secret)
	fl.StringVar(&f.sig, "sig", "", "the signature, `FILE` (default: FILE"+groupSigSuffix+")")
	addReasonFlag(c, &f.reason)
	addRekeyedFlag(c, &f.revoked)
	addOutFlags(c, &f.outFlags, "FILE"+openingSuffix)
	describe(c, "member, file", ExitInvalid)
	describeExit(c, ExitInvalid, "the signature is invalid, or fits no member that the opener knows")
	return c
}

type groupOpenResult struct {
	Member string `json:"member"`
	File   string `json:"file,omitempty"`
}

const openingSuffix = ".opening"

func (e *env) groupOpen(c *cobra.Command, f groupOpenFlags, file string) error {
	ctx := c.Context()
	return useSecret(ctx, e, f.secret, f.opener, (*opener).openGroupOpener, func(_ *opener, op *groupOpener) error {
		if err := f.name(e, beside(file, openingSuffix)); err != nil {
			return err
		}
		s, err := e.readGroupSigned(ctx, op.gk, file, f.sig)
		if err != nil {
			return err
		}
		if s.Options.Revocation, err = e.readRekeyed(c, op.gk, f.revoked); err != nil {
			return err
		}
		opening, err := op.key.Open(op.gk, op.register, s.Message, s.Signature, s.Options, nonEmpty([]byte(f.reason)))
		if errors.Is(err, groupsig.ErrUnknown) {
			hint := hintRecords
			if op.gk.Features().Has(groupsig.Rekey) {
				hint = "take in all members' records with \"undersign group update\"; if there are no more, either the issuer has made a member secretly, or somebody signed under a key that had been replaced, which anybody can"
			}
			err = withHint(groupError(err), "%s", hint)
		}
		if err != nil {
			return groupError(err)
		}
		data, err := encodeGroup(new(keyfile.GroupOpening), op.gk, 0, opening)
		if err != nil {
			return err
		}
		if opening.Member() == "" {
			if err := e.writeFile(f.out, data, publicFile, f.force); err != nil {
				return err
			}
			return failf(ExitInvalid, hintRecords, "the signer isn't registered: %s shows it", f.out)
		}
		return f.finish(e, data, publicFile, groupOpenResult{opening.Member(), f.out}, func(w io.Writer) {
			fmt.Fprintf(w, "signed by %s\n%s\n", oneLine(opening.Member()), oneLine(f.out))
		})
	})
}

// addRekeyedFlag gives a command the list that says under which keys a group's signatures
// may be.
func addRekeyedFlag(c *cobra.Command, file *string) {
	c.Flags().StringVar(file, "revoked", "", "in groups that rekey, the list `FILE` that was in force when it was signed, or a newer one")
}

// readRekeyed reads that list, which needn't be in force.
func (e *env) readRekeyed(c *cobra.Command, gk groupsig.GroupKey, file string) (groupsig.Revocation, error) {
	if file == "" {
		return nil, nil
	}
	if !gk.Features().Has(groupsig.Rekey) {
		return nil, usagef(c, "--revoked: the group doesn't rekey, and revocation plays no part here")
	}
	return e.readRevocation(c.Context(), gk, file)
}

const hintRecords = "take in all members' records with \"undersign group update\"; if there are no more, the issuer has made a member secretly"

func newGroupVerifyOpeningCmd(e *env) *cobra.Command {
	var group, sig, key, opening, reason, revoked string
	c := &cobra.Command{
		Use:   "verify-opening FILE --opening FILE --group FILE --member-key FILE",
		Short: "Check who is said to have signed",
		Long: `Check an opening, and the signature. Whoever checks knows the long-term key of
the member that the opening names: that the name belongs to the key is for the
reader to know.`,
		Example: `  undersign group verify-opening motion.txt --group group.pub --member-key alice.pub.pem`,
		Args:    nargs(1, 1, "a file"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			gk, err := e.readGroup(ctx, group)
			if err != nil {
				return err
			}
			ov, ok := groupsig.As[groupsig.OpeningVerifier](gk)
			if !ok {
				return usagef(c, "the group has no opener")
			}
			pub, err := e.readMemberKey(ctx, key)
			if err != nil {
				return err
			}
			s, err := e.readGroupSigned(ctx, gk, args[0], sig)
			if err != nil {
				return err
			}
			if s.Options.Revocation, err = e.readRekeyed(c, gk, revoked); err != nil {
				return err
			}
			if opening == "" {
				opening = args[0] + openingSuffix
			}
			p, err := readGroupParts[*keyfile.GroupOpening](ctx, e, gk, opening, 1)
			if err != nil {
				return err
			}
			o, err := ov.ParseOpening(p[0])
			if err == nil {
				err = ov.VerifyOpening(s.Message, s.Signature, s.Options, o, pub, nonEmpty([]byte(reason)))
			}
			if err != nil {
				err = withCode(groupFileError(opening, err), ExitInvalid)
				if o != nil && o.Member() != "" {
					err = withHint(err, "it says %s: --member-key is that member's, as you know it from elsewhere, and --reason the one that it was opened for", oneLine(o.Member()))
				}
				return err
			}
			if o.Member() == "" {
				return e.print(groupOpenResult{}, func(w io.Writer) {
					fmt.Fprintf(w, "proved: the issuer has made a member that isn't registered, and that one signed\n")
				})
			}
			return e.print(groupOpenResult{Member: o.Member()}, func(w io.Writer) {
				fmt.Fprintf(w, "proved: signed by the member registered as %s, with this key\n", oneLine(o.Member()))
			})
		},
	}
	fl := c.Flags()
	fl.StringVar(&opening, "opening", "", "the opening, `FILE` (default: FILE.opening)")
	addGroupFlag(c, &group)
	c.MarkFlagRequired("group")
	fl.StringVar(&key, "member-key", "", "the member's Ed25519 public key, PEM `FILE`")
	c.MarkFlagRequired("member-key")
	addReasonFlag(c, &reason)
	addRekeyedFlag(c, &revoked)
	fl.StringVar(&sig, "sig", "", "the signature, `FILE` (default: FILE"+groupSigSuffix+")")
	describe(c, "member (empty: the issuer made one that isn't registered)", ExitInvalid)
	describeExit(c, ExitInvalid, "the opening or the signature is invalid")
	return c
}

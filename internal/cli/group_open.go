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
another, not by opener and issuer together; but in static groups the issuer
could have signed. With --reason it holds for that alone.

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
	describe(c, "member, file, warning (of static groups)", ExitInvalid)
	describeExit(c, ExitInvalid, "the signature is invalid, or fits no member that the opener knows")
	return c
}

type groupOpenResult struct {
	Member  string `json:"member"`
	File    string `json:"file,omitempty"`
	Warning string `json:"warning,omitempty"`
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
			if err = groupError(err); op.gk.Features().Has(groupsig.Rekey) && f.revoked == "" && hintOf(err) == "" {
				err = withHint(err, "the group rekeys: if the list wasn't empty when it was signed, give that with --revoked FILE, or a newer one")
			}
			return err
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
		r := groupOpenResult{opening.Member(), f.out, staticWarning(op.gk.Features())}
		return f.finish(e, data, publicFile, r, func(w io.Writer) {
			fmt.Fprintf(w, "signed by %s\n%s\n", oneLine(r.Member), oneLine(f.out))
			writeWarning(w, r.Warning)
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

type groupVerifyOpeningFlags struct {
	group, sig, key, opening, reason, revoked string
	format, members                           string
}

func newGroupVerifyOpeningCmd(e *env) *cobra.Command {
	var f groupVerifyOpeningFlags
	c := &cobra.Command{
		Use:   "verify-opening FILE --opening FILE --group FILE --member-key FILE",
		Short: "Check who is said to have signed",
		Long: `Check an opening, and the signature. Whoever checks knows the long-term key of
the member that the opening names: that the name belongs to the key is for the
reader to know. In static groups it is the issuer's, which registers members.

With --format libgroupsig, the opening is the proof of one of the C library
libgroupsig, in PS16 or KLAP20, and the other files are as in verify. The proof
names nobody: in place of a --member-key, the manager's list of members (GML,
--members) says whom it is about.`,
		Example: `  undersign group verify-opening motion.txt --group group.pub --member-key alice.pub.pem
  undersign group verify-opening old.txt --sig old.sig --opening old.proof --members gml.dat \
      --group archive.pub --format libgroupsig`,
		Args: nargs(1, 1, "a file"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.opening == "" {
				f.opening = args[0] + openingSuffix
			}
			imported, err := checkFormat(c, f.format)
			switch {
			case err != nil:
				return err
			case imported:
				return e.verifyImportedOpening(c, f, args[0])
			case f.members != "":
				return usagef(c, "--members goes with --format libgroupsig")
			case f.key == "":
				return usagef(c, "--member-key is needed: an opening names a member, who is known by a key")
			}
			return e.groupVerifyOpening(c, f, args[0])
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.opening, "opening", "", "the opening, `FILE` (default: FILE.opening)")
	addGroupFlag(c, &f.group)
	c.MarkFlagRequired("group")
	fl.StringVar(&f.key, "member-key", "", "the member's Ed25519 public key, PEM `FILE`")
	addReasonFlag(c, &f.reason)
	addRekeyedFlag(c, &f.revoked)
	fl.StringVar(&f.sig, "sig", "", "the signature, `FILE` (default: FILE"+groupSigSuffix+")")
	addFormatFlag(c, &f.format)
	fl.StringVar(&f.members, "members", "", "with --format libgroupsig, say who is named by the list of members `FILE`")
	describe(c, "member (empty: the issuer made one that isn't registered), warning (of static\n  groups); with --format libgroupsig: group, scheme, members (IDs), flaws", ExitInvalid)
	describeExit(c, ExitInvalid, "the opening or the signature is invalid, or names nobody on the list")
	return c
}

func (e *env) groupVerifyOpening(c *cobra.Command, f groupVerifyOpeningFlags, file string) error {
	ctx := c.Context()
	gk, err := e.readGroup(ctx, f.group)
	if err != nil {
		return err
	}
	ov, ok := groupsig.As[groupsig.OpeningVerifier](gk)
	if !ok {
		return usagef(c, "the group has no opener")
	}
	pub, err := e.readMemberKey(ctx, f.key)
	if err != nil {
		return err
	}
	s, err := e.readGroupSigned(ctx, gk, file, f.sig)
	if err != nil {
		return err
	}
	if s.Options.Revocation, err = e.readRekeyed(c, gk, f.revoked); err != nil {
		return err
	}
	p, err := readGroupParts[*keyfile.GroupOpening](ctx, e, gk, f.opening, 1)
	if err != nil {
		return err
	}
	o, err := ov.ParseOpening(p[0])
	if err == nil {
		err = ov.VerifyOpening(s.Message, s.Signature, s.Options, o, pub, nonEmpty([]byte(f.reason)))
	}
	if err != nil {
		err = withCode(groupFileError(f.opening, err), ExitInvalid)
		if o != nil && o.Member() != "" {
			err = withHint(err, "it says %s: --member-key is that member's, as you know it from elsewhere, and --reason the one that it was opened for", oneLine(o.Member()))
		}
		return err
	}
	r := groupOpenResult{Member: o.Member(), Warning: staticWarning(gk.Features())}
	return e.print(r, func(w io.Writer) {
		says := "proved: signed by the member registered as %s, with this key\n"
		switch {
		case r.Member == "":
			fmt.Fprintf(w, "proved: the issuer has made a member that isn't registered, and that one signed\n")
			return
		case r.Warning != "":
			says = "proved: signed with the key of the member whom this key has registered as %s\n"
		}
		fmt.Fprintf(w, says, oneLine(r.Member))
		writeWarning(w, r.Warning)
	})
}

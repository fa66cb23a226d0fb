// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/groupsig/bbsgs"
	"github.com/undersign/undersign/keyfile"
)

type groupLinkFlags struct {
	outFlags
	secret                       secretFlags
	member, group, check, reason string
	linker, revoked              string
	sigs                         []string
	first                        bool
	format                       string
}

func newGroupLinkCmd(e *env) *cobra.Command {
	var f groupLinkFlags
	c := &cobra.Command{
		Use:   "link FILE... --member FILE|--linker FILE -i FILE",
		Short: "Prove that signatures are of one member",
		Long: `Prove to anyone that one member made the signatures of several files, which may
be for different scopes; without --member, check such a proof (--check). Only
the member that made them can prove it, and in groups with a linker only the
linker (--linker): it sees with match which they are.

With --format libgroupsig, --check is a link of the C library libgroupsig, in
DL21 or DL21SEQ, made for the message --reason, and the other files are as in
verify. The order of the files doesn't matter, and none may be there twice.`,
		Example: `  undersign group link a.txt b.txt --member alice.member -i alice.key --reason audit -o a-b.link
  undersign group link a.txt b.txt --group group.pub --reason audit --check a-b.link
  undersign group link a.json b.json --sig a.sig,b.sig --group archive.pub --reason audit \
      --check a-b.proof --format libgroupsig`,
		Args: nargs(1, -1, "a file"),
		RunE: func(c *cobra.Command, args []string) error {
			imported, err := checkFormat(c, f.format)
			switch {
			case err != nil:
				return err
			case imported:
				return e.checkImportedLink(c, f, args)
			}
			if f.linker != "" {
				return e.linkAsLinker(c, f, args)
			}
			return e.groupLink(c, f, args, linkProofs{
				prove: func(m groupsig.MemberKey) (func([]groupsig.Signed) ([]byte, error), bool) {
					l, ok := groupsig.As[groupsig.Linker](m)
					return func(set []groupsig.Signed) ([]byte, error) { return l.Link(set, []byte(f.reason)) }, ok
				},
				check: func(gk groupsig.GroupKey) (func([]groupsig.Signed, []byte) error, bool) {
					if l, ok := groupsig.As[groupsig.LinkingVerifier](gk); ok {
						return func(set []groupsig.Signed, proof []byte) error { return l.VerifyLink(set, []byte(f.reason), proof) }, true
					}
					l, ok := groupsig.As[groupsig.ClaimVerifier](gk)
					return func(set []groupsig.Signed, proof []byte) error { return l.VerifyLink(set, []byte(f.reason), proof) }, ok
				},
				what: "proved: all are of one member", proofFiles: linkFiles,
			})
		},
	}
	addLinkFlags(c, &f)
	c.Flags().StringVar(&f.linker, "linker", "", "prove as the linker, whose `FILE` this is")
	addRekeyedFlag(c, &f.revoked)
	addFormatFlag(c, &f.format)
	describe(c, "linked, files, proof; with --format libgroupsig also: group, scheme, flaws", ExitInvalid)
	describeExit(c, ExitInvalid, "the proof or a signature is invalid, or the signatures aren't the member's")
	c.MarkFlagsOneRequired("member", "linker", "check")
	c.MarkFlagsMutuallyExclusive("member", "linker", "check")
	return c
}

func newGroupSeqlinkCmd(e *env) *cobra.Command {
	var f groupLinkFlags
	c := &cobra.Command{
		Use:   "seqlink FILE... --member FILE -i FILE",
		Short: "Prove that no signature is left out in between",
		Long: `Prove to anyone that one member made the signatures of several files in this
order, one after the other with none in between, and with --first that it starts
with its first of all; without --member, check such a proof (--check). Groups
with sequences have it.`,
		Example: `  undersign group seqlink 1.txt 2.txt 3.txt --first --member alice.member -i alice.key -o all.link
  undersign group seqlink 1.txt 2.txt 3.txt --first --group group.pub --check all.link`,
		Args: nargs(1, -1, "a file"),
		RunE: func(c *cobra.Command, args []string) error {
			return e.groupLink(c, f, args, linkProofs{
				prove: func(m groupsig.MemberKey) (func([]groupsig.Signed) ([]byte, error), bool) {
					l, ok := groupsig.As[groupsig.SequenceLinker](m)
					return func(set []groupsig.Signed) ([]byte, error) { return l.SequenceLink(set, []byte(f.reason), f.first) }, ok
				},
				check: func(gk groupsig.GroupKey) (func([]groupsig.Signed, []byte) error, bool) {
					l, ok := groupsig.As[groupsig.SequenceVerifier](gk)
					return func(set []groupsig.Signed, proof []byte) error {
						return l.VerifySequenceLink(set, []byte(f.reason), proof, f.first)
					}, ok
				},
				what: "proved: all are of one member, in this order, with none in between", proofFiles: linkFiles,
			})
		},
	}
	addLinkFlags(c, &f)
	c.MarkFlagsOneRequired("member", "check")
	c.MarkFlagsMutuallyExclusive("member", "check")
	c.Flags().BoolVar(&f.first, "first", false, "the first of them is the member's first of all")
	return c
}

func addLinkFlags(c *cobra.Command, f *groupLinkFlags) {
	fl := c.Flags()
	fl.StringVar(&f.member, "member", "", "prove with the member's `FILE`")
	addSecretFlags(c, &f.secret)
	fl.StringVar(&f.check, "check", "", "check the proof `FILE`")
	addGroupFlag(c, &f.group)
	fl.StringSliceVar(&f.sigs, "sig", nil, "the signatures, `FILE,...`, in the order of the files (default: FILE"+groupSigSuffix+")")
	addReasonFlag(c, &f.reason)
	addOutFlags(c, &f.outFlags, "FILE.link, after the first file")
	c.MarkFlagsRequiredTogether("check", "group")
	describe(c, "linked, files, proof", ExitInvalid)
	describeExit(c, ExitInvalid, "the proof or a signature is invalid, or the signatures aren't the member's")
}

// linkProofs make or check proofs of one kind, if the group has them.
type linkProofs struct {
	prove func(groupsig.MemberKey) (func([]groupsig.Signed) ([]byte, error), bool)
	check func(groupsig.GroupKey) (func([]groupsig.Signed, []byte) error, bool)
	what  string // is proved
	proofFiles
}

// proofFiles are the files of proofs of one kind.
type proofFiles struct {
	suffix string
	empty  func() groupFile
	read   func(ctx context.Context, e *env, gk groupsig.GroupKey, file string, n int) ([][]byte, error)
}

var (
	linkFiles  = proofFiles{".link", func() groupFile { return new(keyfile.GroupLink) }, readGroupParts[*keyfile.GroupLink]}
	claimFiles = proofFiles{".claim", func() groupFile { return new(keyfile.GroupClaim) }, readGroupParts[*keyfile.GroupClaim]}
)

var errNoProofs = errors.New("the group has no such proofs")

type groupLinkResult struct {
	Linked bool     `json:"linked"`
	Files  []string `json:"files"`
	Proof  string   `json:"proof"`
}

func (e *env) readGroupSet(ctx context.Context, gk groupsig.GroupKey, files, sigs []string) ([]groupsig.Signed, error) {
	if len(sigs) > 0 && len(sigs) != len(files) {
		return nil, failf(ExitUsage, "", "--sig has %d files, and there are %d signed ones", len(sigs), len(files))
	}
	var set []groupsig.Signed
	for i, file := range files {
		sig := ""
		if len(sigs) > 0 {
			sig = sigs[i]
		}
		s, err := e.readGroupSigned(ctx, gk, file, sig)
		if err != nil {
			return nil, err
		}
		set = append(set, s)
	}
	return set, nil
}

func (e *env) groupLink(c *cobra.Command, f groupLinkFlags, files []string, l linkProofs) error {
	if f.check != "" {
		return e.checkLink(c, f, files, l)
	}
	ctx := c.Context()
	return useSecret(ctx, e, f.secret, f.member, (*opener).openMember, func(_ *opener, m *groupMember) error {
		prove, ok := l.prove(m.key)
		if !ok {
			return usagef(c, "%w", errNoProofs)
		}
		if err := f.name(e, beside(files[0], l.suffix)); err != nil {
			return err
		}
		set, err := e.readGroupSet(ctx, m.gk, files, f.sigs)
		if err != nil {
			return err
		}
		proof, err := prove(set)
		if err != nil {
			return notOwn(m, files, set, proofError(f.member, files, err))
		}
		data, err := encodeGroup(l.empty(), m.gk, 0, proof)
		if err != nil {
			return err
		}
		return f.finish(e, data, publicFile, groupLinkResult{true, files, f.out}, nil)
	})
}

func (e *env) checkLink(c *cobra.Command, f groupLinkFlags, files []string, l linkProofs) error {
	ctx := c.Context()
	gk, err := e.readGroup(ctx, f.group)
	if err != nil {
		return err
	}
	check, ok := l.check(gk)
	if !ok {
		return usagef(c, "%w", errNoProofs)
	}
	set, err := e.readRekeyedSet(c, gk, files, f.sigs, f.revoked)
	if err != nil {
		return err
	}
	p, err := l.read(ctx, e, gk, f.check, 1)
	if err != nil {
		return err
	}
	if err := check(set, p[0]); err != nil {
		return proofError(f.check, files, err)
	}
	return e.print(groupLinkResult{true, files, f.check}, func(w io.Writer) { fmt.Fprintf(w, "%s\n", l.what) })
}

// proofError says which of the signed files an error is about, or else the file of
// the proof or of who was to prove.
func proofError(file string, files []string, err error) error {
	if be, ok := errors.AsType[*bbsgs.BatchError](err); ok && len(be.Bad) > 0 && be.Bad[0] < len(files) {
		return failf(ExitInvalid, "", "%s: its signature is invalid", inputName(files[be.Bad[0]]))
	}
	return &Error{
		Err:  fileError(file, err),
		Hint: "a proof is for the same files in the same order, with the same --reason, of the one member who signed them",
		Code: ExitInvalid,
	}
}

// notOwn returns an error that names the first file that the member didn't sign, if
// that is why it can't prove anything, and else err.
func notOwn(m *groupMember, files []string, set []groupsig.Signed, err error) error {
	l, ok := groupsig.As[groupsig.Linker](m.key)
	for i, s := range set {
		if !ok {
			break
		}
		if own, err := l.Identify(s); err == nil && !own {
			return failf(ExitInvalid, "\"undersign group identify\" shows which are", "%s: its signature isn't the member's own", inputName(files[i]))
		}
	}
	return err
}

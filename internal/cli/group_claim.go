// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
)

// claimProofs are those of claims for a reason.
func claimProofs(reason string) linkProofs {
	return linkProofs{
		prove: func(m groupsig.MemberKey) (func([]groupsig.Signed) ([]byte, error), bool) {
			cl, ok := groupsig.As[groupsig.Claimer](m)
			return func(set []groupsig.Signed) ([]byte, error) { return cl.Claim(set[0], []byte(reason)) }, ok
		},
		check: func(gk groupsig.GroupKey) (func([]groupsig.Signed, []byte) error, bool) {
			lv, ok := groupsig.As[groupsig.ClaimVerifier](gk)
			return func(set []groupsig.Signed, proof []byte) error {
				return lv.VerifyClaim(set[0], []byte(reason), proof)
			}, ok
		},
		what: "proved: who made the claim has made the signature", proofFiles: claimFiles,
	}
}

func newGroupClaimCmd(e *env) *cobra.Command {
	var f groupLinkFlags
	c := &cobra.Command{
		Use:   "claim FILE --member FILE -i FILE",
		Short: "Prove that a signature is your own (member)",
		Long: `Prove to anyone that you made a signature. The proof names nobody: say with
--reason who claims it and why, and nobody can use the proof for something else.
Groups with scopes or traces have claims.`,
		Example: `  undersign group claim motion.txt --member alice.member -i alice.key \
      --reason "Alice, for the prize of 2026"`,
		Args: nargs(1, 1, "a file"),
		RunE: func(c *cobra.Command, args []string) error { return e.groupLink(c, f, args, claimProofs(f.reason)) },
	}
	fl := c.Flags()
	fl.StringVar(&f.member, "member", "", "the member's `FILE`")
	c.MarkFlagRequired("member")
	addSecretFlags(c, &f.secret)
	fl.StringSliceVar(&f.sigs, "sig", nil, "the signature, `FILE` (default: FILE"+groupSigSuffix+")")
	addReasonFlag(c, &f.reason)
	addOutFlags(c, &f.outFlags, "FILE"+claimFiles.suffix)
	describe(c, "linked, files, proof", ExitInvalid)
	describeExit(c, ExitInvalid, "the signature is invalid, or isn't the member's")
	return c
}

func newGroupVerifyClaimCmd(e *env) *cobra.Command {
	var f groupLinkFlags
	c := &cobra.Command{
		Use:   "verify-claim FILE --group FILE",
		Short: "Check who claims to have signed",
		Long: `Check a claim, and the signature. It shows that whoever made the claim has made
the signature, for the --reason and for no other.`,
		Example: `  undersign group verify-claim motion.txt --group group.pub \
      --reason "Alice, for the prize of 2026"`,
		Args: nargs(1, 1, "a file"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.check == "" {
				if args[0] == "-" {
					return usagef(c, "--claim is needed: standard input has no claim beside it")
				}
				f.check = args[0] + claimFiles.suffix
			}
			return e.groupLink(c, f, args, claimProofs(f.reason))
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.check, "claim", "", "the claim, `FILE` (default: FILE"+claimFiles.suffix+")")
	addGroupFlag(c, &f.group)
	c.MarkFlagRequired("group")
	fl.StringSliceVar(&f.sigs, "sig", nil, "the signature, `FILE` (default: FILE"+groupSigSuffix+")")
	addReasonFlag(c, &f.reason)
	describe(c, "linked, files, proof", ExitInvalid)
	describeExit(c, ExitInvalid, "the claim or the signature is invalid")
	return c
}

func addReasonFlag(c *cobra.Command, reason *string) {
	c.Flags().StringVar(reason, "reason", "", "what the proof is for, `TEXT`: it holds for nothing else")
}

type groupOwn struct {
	File string `json:"file"`
	Own  bool   `json:"own"`
}

func newGroupIdentifyCmd(e *env) *cobra.Command {
	var secret secretFlags
	var member string
	var sigs []string
	c := &cobra.Command{
		Use:   "identify FILE... --member FILE -i FILE",
		Short: "See which signatures are your own (member)",
		Long: `Say which of some signatures, and so which pseudonyms, are the member's own. It
takes the member's secret, and shows nothing to anybody else. Groups with scopes
or traces have it.`,
		Example: `  undersign group identify ballot-*.txt --member alice.member -i alice.key`,
		Args:    nargs(1, -1, "a file"),
		RunE: func(c *cobra.Command, args []string) error {
			return useSecret(c.Context(), e, secret, member, (*opener).openMember, func(_ *opener, m *groupMember) error {
				return e.identify(c, m, args, sigs)
			})
		},
	}
	fl := c.Flags()
	fl.StringVar(&member, "member", "", "the member's `FILE`")
	c.MarkFlagRequired("member")
	addSecretFlags(c, &secret)
	fl.StringSliceVar(&sigs, "sig", nil, "the signatures, `FILE,...`, in the order of the files (default: FILE"+groupSigSuffix+")")
	describe(c, "signatures [file, own]", ExitInvalid)
	describeExit(c, ExitInvalid, "none is the member's own, or one is invalid")
	return c
}

func (e *env) identify(c *cobra.Command, m *groupMember, files, sigs []string) error {
	l, ok := groupsig.As[groupsig.Linker](m.key)
	if !ok {
		return usagef(c, "the group has no scopes and no traces: nobody can tell its members' signatures")
	}
	set, err := e.readGroupSet(c.Context(), m.gk, files, sigs)
	if err != nil {
		return err
	}
	r := struct {
		Signatures []groupOwn `json:"signatures"`
	}{[]groupOwn{}}
	found := false
	for i, s := range set {
		own, err := l.Identify(s)
		if err != nil {
			return withCode(groupFileError(files[i], err), ExitInvalid)
		}
		found = found || own
		r.Signatures = append(r.Signatures, groupOwn{inputName(files[i]), own})
	}
	err = e.print(r, func(w io.Writer) {
		for _, s := range r.Signatures {
			what := "not yours"
			if s.Own {
				what = "yours"
			}
			fmt.Fprintf(w, "%s: %s\n", oneLine(s.File), what)
		}
	})
	if err != nil || found {
		return err
	}
	return failf(ExitInvalid, "", "none of them is the member's own")
}

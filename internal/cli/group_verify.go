// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

type groupVerifyFlags struct {
	group, revoked          string
	scope                   scopeFlags
	sigs                    []string
	epoch, limit, minNumber uint64
	once                    bool
}

func newGroupVerifyCmd(e *env) *cobra.Command {
	var f groupVerifyFlags
	c := &cobra.Command{
		Use:   "verify FILE... --group FILE",
		Short: "Check signatures of members",
		Long: `Check that members of the group signed files. Several are verified together,
which is faster in most schemes, and the bad ones are found.

In groups with scopes the signatures must be for --scope, and each is shown with
the signer's pseudonym in it; --once refuses a second signature of one member.
In groups with epochs --epoch is the one for which a credential must have been
made: who is revoked has none. In groups with lists, --revoked is the newest.`,
		Example: `  undersign group verify motion.txt --group group.pub --scope 2026-11 --epoch 1
  undersign group verify vote-*.txt --group group.pub --scope vote --epoch 1 --once
  undersign group verify pass.txt --group group.pub --revoked revoked.list`,
		Args: nargs(1, -1, "a file"),
		RunE: func(c *cobra.Command, args []string) error { return e.groupVerify(c, f, args) },
	}
	fl := c.Flags()
	addGroupFlag(c, &f.group)
	c.MarkFlagRequired("group")
	fl.StringSliceVar(&f.sigs, "sig", nil, "the signatures, `FILE,...`, in the order of the files (default: FILE"+groupSigSuffix+")")
	f.scope.add(c, "accept signatures for the scope `TEXT` only", "accept signatures for `TEXT` only, in groups without scopes")
	fl.Uint64Var(&f.limit, "limit", 0, "accept `N` signatures of everybody in the scope, as sign --use makes them")
	addEpochFlag(c, &f.epoch, "accept credentials of the epoch `N` only")
	fl.StringVar(&f.revoked, "revoked", "", "refuse who is in the list of revoked members `FILE`")
	fl.Uint64Var(&f.minNumber, "min-number", 0, "refuse lists older than number `N`")
	fl.BoolVar(&f.once, "once", false, "refuse a second signature of one member in the scope")
	describe(c, "valid, group, signatures [file, status (valid, invalid, revoked, repeated), pseudonym, reason]", ExitInvalid)
	return c
}

type groupVerdict struct {
	File      string `json:"file"`
	Status    string `json:"status"`
	Pseudonym string `json:"pseudonym,omitempty"`
	Use       uint64 `json:"use,omitempty"`
	Reason    string `json:"reason,omitempty"`
}

func (v *groupVerdict) refuse(status, reason string) { v.Status, v.Reason = status, reason }

func (v *groupVerdict) line(label string) string {
	line := v.Status
	if v.Reason != "" {
		line += ": " + v.Reason
	}
	if v.Status == "valid" {
		line = "valid signature of a member of " + label
		if v.Use > 0 {
			line += fmt.Sprintf(", use %d", v.Use)
		}
		if v.Pseudonym != "" {
			line += ", pseudonym " + v.Pseudonym[:16]
		}
	}
	return line
}

type groupVerifyResult struct {
	Valid      bool           `json:"valid"`
	Group      string         `json:"group"`
	Signatures []groupVerdict `json:"signatures"`
}

func (e *env) groupVerify(c *cobra.Command, f groupVerifyFlags, files []string) error {
	ctx := c.Context()
	if len(f.sigs) > 0 && len(f.sigs) != len(files) {
		return usagef(c, "--sig has %d files, and there are %d to check", len(f.sigs), len(files))
	}
	gk, err := e.readGroup(ctx, f.group)
	if err != nil {
		return err
	}
	opts := groupsig.VerifyOptions{MinEpoch: f.epoch, MaxEpoch: f.epoch, MinNumber: f.minNumber}
	so, err := f.scope.options(c, gk)
	if err != nil {
		return err
	}
	opts.Context = so.Context
	want, err := wantedScopes(c, so.Scope, f.limit)
	if err != nil {
		return err
	}
	if err := checkEpoch(c, gk); err != nil {
		return err
	}
	if f.once && so.Scope == nil {
		return usagef(c, "--once: without scopes nobody can tell members apart")
	}
	if f.revoked != "" {
		if opts.Revocation, err = e.readRevocation(ctx, gk, f.revoked); err != nil {
			return err
		}
		opts.Now = time.Now().Unix()
	}

	r := groupVerifyResult{Valid: true, Group: groupID(gk), Signatures: make([]groupVerdict, len(files))}
	set := make([]groupsig.Signed, len(files))
	scopes := map[string][]int{}
	for i, file := range files {
		sigFile := ""
		if len(f.sigs) > 0 {
			sigFile = f.sigs[i]
		}
		v := &r.Signatures[i]
		*v = groupVerdict{File: inputName(file), Status: "valid"}
		s, err := e.readGroupSigned(ctx, gk, file, sigFile)
		use, wanted := want[string(s.Options.Scope)]
		switch {
		case exitCode(err) == ExitInvalid:
			v.refuse("invalid", err.Error())
		case err != nil:
			return err
		case !wanted:
			v.refuse("invalid", scopeText(s.Options.Scope))
		default:
			v.Use, set[i] = use, s
			scopes[string(s.Options.Scope)] = append(scopes[string(s.Options.Scope)], i)
		}
	}
	for _, index := range scopes {
		opts.Scope = set[index[0]].Options.Scope
		if err := verifyGroupBatch(ctx, gk, opts, set, r.Signatures, index); err != nil {
			return err
		}
	}
	if err := addPseudonyms(gk, set, r.Signatures, f.once); err != nil {
		return err
	}
	bad := 0
	for _, v := range r.Signatures {
		if v.Status != "valid" {
			bad++
		}
	}
	r.Valid = bad == 0
	err = e.print(r, func(w io.Writer) {
		for _, v := range r.Signatures {
			fmt.Fprintf(w, "%s: %s\n", oneLine(v.File), oneLine(v.line(gk.Label())))
		}
	})
	if err != nil || bad == 0 {
		return err
	}
	return failf(ExitInvalid, "", "%d of %d signatures are refused", bad, len(files))
}

// addPseudonyms notes the pseudonyms of valid signatures, and with once refuses those
// that there have been already.
func addPseudonyms(gk groupsig.GroupKey, set []groupsig.Signed, verdicts []groupVerdict, once bool) error {
	lv, ok := groupsig.As[groupsig.LinkVerifier](gk)
	if !ok {
		return nil
	}
	seen := map[string]string{}
	for i := range verdicts {
		v := &verdicts[i]
		if v.Status != "valid" {
			continue
		}
		nym, err := lv.Pseudonym(set[i].Signature)
		if err != nil {
			return groupError(err)
		}
		v.Pseudonym = hex.EncodeToString(nym)
		if first, ok := seen[v.Pseudonym]; ok && once {
			v.refuse("repeated", "the member has signed "+first+" already")
			continue
		}
		seen[v.Pseudonym] = v.File
	}
	return nil
}

// verifyGroupBatch verifies some signatures, and writes down what is wrong with them.
func verifyGroupBatch(ctx context.Context, gk groupsig.GroupKey, opts groupsig.VerifyOptions, set []groupsig.Signed, verdicts []groupVerdict, index []int) error {
	errs := make([]error, len(index))
	b, ok := groupsig.As[groupsig.BatchVerifier](gk)
	if ok && len(index) > 1 {
		batch := b.Batch(opts)
		for _, i := range index {
			batch.Add(set[i].Message, set[i].Signature)
		}
		err := batch.Verify()
		be, bad := errors.AsType[*groupsig.BatchError](err)
		if err != nil && !bad {
			return staleError(err)
		}
		if bad {
			for k, j := range be.Bad {
				errs[j] = be.Errs[k]
			}
		}
	} else {
		for k, i := range index {
			if err := ctx.Err(); err != nil {
				return err
			}
			errs[k] = gk.Verify(set[i].Message, set[i].Signature, opts)
		}
	}
	for k, i := range index {
		v := &verdicts[i]
		switch err := errs[k]; {
		case err == nil:
		case errors.As(err, new(*groupsig.StaleError)):
			return staleError(err)
		case errors.Is(err, groupsig.ErrRevoked):
			v.refuse("revoked", err.Error())
		default:
			v.refuse("invalid", err.Error())
		}
	}
	return nil
}

// staleError says what can be done about a revocation state that can't be used.
func staleError(err error) error {
	if errors.As(err, new(*groupsig.StaleError)) {
		return &Error{Err: err, Hint: "get the newest list of revoked members", Code: ExitRefused}
	}
	return groupError(err)
}

// readRevocation reads a list of revoked members.
func (e *env) readRevocation(ctx context.Context, gk groupsig.GroupKey, file string) (groupsig.Revocation, error) {
	rr, ok := groupsig.As[groupsig.RevocationReader](gk)
	if !ok {
		return nil, failf(ExitUsage, "", "the group has no lists of revoked members")
	}
	p, err := readGroupParts[*keyfile.GroupRevocation](ctx, e, gk, file, 1)
	if err != nil {
		return nil, err
	}
	list, err := rr.ParseRevocation(p[0])
	return list, groupFileError(file, err)
}

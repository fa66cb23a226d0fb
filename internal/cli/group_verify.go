// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
)

type groupVerifyFlags struct {
	group, revoked, at         string
	scope                      scopeFlags
	epoch                      epochFlags
	sigs                       []string
	limit                      uint64
	minNumber, minAnnouncement uint64
	once                       bool
	format                     string
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
In groups with epochs --announced is the issuer's newest announcement of those
that are accepted, or --epoch a single one, however it was learned: who is
revoked has no credential for it. In groups with lists, --revoked is the newest
list, which in groups that rekey decides which signatures are valid. Both are
signed, numbered, and expire: keep the newest with update.

With --format libgroupsig, files are what the C library libgroupsig signed, each
signature an export of it or its base64, and --group is the group key, exported
or imported. In schemes with scopes FILE is the JSON that the library was given.`,
		Example: `  undersign group verify motion.txt --group group.pub --scope 2026-11 --announced group.epochs
  undersign group verify vote-*.txt --group group.pub --scope vote --epoch 1 --once
  undersign group verify pass.txt --group group.pub --revoked revoked.list
  undersign group verify old.txt --sig old.sig --group archive.pub --format libgroupsig`,
		Args: nargs(1, -1, "a file"),
		RunE: func(c *cobra.Command, args []string) error { return e.groupVerify(c, f, args) },
	}
	fl := c.Flags()
	addGroupFlag(c, &f.group)
	c.MarkFlagRequired("group")
	fl.StringSliceVar(&f.sigs, "sig", nil, "the signatures, `FILE,...`, in the order of the files (default: FILE"+groupSigSuffix+")")
	f.scope.add(c, "accept signatures for the scope `TEXT` only", "accept signatures for `TEXT` only, in groups without scopes")
	fl.Uint64Var(&f.limit, "limit", 0, "accept `N` signatures of everybody in the scope, as sign --use makes them")
	f.epoch.add(c, "accept credentials of the epoch `N` only", "accept credentials of the epochs that the issuer has announced in `FILE`")
	fl.Uint64Var(&f.minAnnouncement, "min-announcement", 0, "refuse announcements older than number `N`")
	fl.StringVar(&f.revoked, "revoked", "", "refuse who is in the list of revoked members `FILE`")
	fl.Uint64Var(&f.minNumber, "min-number", 0, "refuse lists older than number `N`")
	fl.StringVar(&f.at, "at", "", "decide as of `TIME`, such as 2026-11-30T12:00:00Z (default: now)")
	fl.BoolVar(&f.once, "once", false, "refuse a second signature of one member in the scope")
	fl.StringVar(&f.format, "format", formatOwn, "the signatures are of `PROGRAM`: undersign or libgroupsig")
	describe(c, "valid, group, signatures [file, status (valid, invalid, revoked, repeated),\n  pseudonym, use, reason]; with --format libgroupsig also: scheme, flaws,\n  signatures [scope]",
		ExitInvalid, ExitRefused)
	describeExit(c, ExitRefused, "the announcement or the list isn't in force, or is too old")
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
	imported, err := checkFormat(c, f.format)
	switch {
	case err != nil:
		return err
	case imported:
		return e.groupVerifyImported(c, f, files)
	}
	gk, err := e.readGroup(ctx, f.group)
	if err != nil {
		return err
	}
	opts, err := e.verifyOptions(c, gk, f)
	if err != nil {
		return err
	}
	so, err := f.scope.options(c, gk)
	if err != nil {
		return err
	}
	opts.Context = so.Context
	want, err := wantedScopes(c, so.Scope, f.limit)
	if err != nil {
		return err
	}
	if f.once && so.Scope == nil {
		return usagef(c, "--once: without scopes nobody can tell members apart")
	}
	if opts.Revocation == nil && gk.Features().Has(groupsig.Token) {
		e.notef("without a list (--revoked) nobody counts as revoked")
	}
	if opts.Revocation == nil && gk.Features().Has(groupsig.Rekey) {
		return failf(ExitUsage, "get the issuer's newest list, and give it with --revoked FILE", "the group rekeys: under the keys before the newest anybody can sign")
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
			v.refuse("invalid", reason(err))
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

// verifyOptions returns what is demanded of all signatures, but for scope and context.
func (e *env) verifyOptions(c *cobra.Command, gk groupsig.GroupKey, f groupVerifyFlags) (groupsig.VerifyOptions, error) {
	at := time.Now()
	o := groupsig.VerifyOptions{
		MinEpoch: f.epoch.epoch, MaxEpoch: f.epoch.epoch, MinNumber: f.minNumber, MinAnnouncement: f.minAnnouncement,
	}
	if err := f.epoch.check(c, gk); err != nil {
		return o, err
	}
	var err error
	if f.at != "" {
		if at, err = time.Parse(time.RFC3339, f.at); err != nil {
			return o, usagef(c, "--at %q: want a time such as 2026-11-30T12:00:00Z", f.at)
		}
	}
	o.Now = at.Unix()
	if f.epoch.announced != "" {
		if o.Announcement, err = e.readAnnouncement(c.Context(), gk, f.epoch.announced); err != nil {
			return o, err
		}
		if err := inForce(f.epoch.announced, o.Announcement, at); err != nil {
			return o, err
		}
	}
	if f.revoked != "" {
		if o.Revocation, err = e.readRevocation(c.Context(), gk, f.revoked); err != nil {
			return o, err
		}
		if err := inForce(f.revoked, o.Revocation, at); err != nil {
			return o, err
		}
	}
	return o, nil
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

// reason returns the text of an error without the names of packages.
func reason(err error) string { return strings.ReplaceAll(err.Error(), "groupsig: ", "") }

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
			v.refuse("revoked", reason(err))
		default:
			v.refuse("invalid", reason(err))
		}
	}
	return nil
}

// staleError says what can be done about a state that can't be used.
func staleError(err error) error {
	if errors.As(err, new(*groupsig.StaleError)) {
		return &Error{Err: err, Hint: "get the newest, and keep it with \"undersign group update\"", Code: ExitRefused}
	}
	return groupError(err)
}

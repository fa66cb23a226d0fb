// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
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

type groupSignFlags struct {
	secret                      secretFlags
	member, scope, context, out string
	force                       bool
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
Verifiers demand the same.`,
		Example: `  undersign group sign motion.txt --member alice.member -i alice.key --scope 2026-11`,
		Args:    nargs(1, 1, "a file"),
		RunE:    func(c *cobra.Command, args []string) error { return e.groupSign(c, f, args[0]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.member, "member", "", "the member's `FILE`")
	c.MarkFlagRequired("member")
	addSecretFlags(c, &f.secret)
	fl.StringVar(&f.scope, "scope", "", "sign within the scope `TEXT`")
	fl.StringVar(&f.context, "context", "", "what the signature is for, `TEXT`, in groups without scopes")
	addOutFlag(c, &f.out, "FILE"+groupSigSuffix)
	addForceFlag(c, &f.force)
	return describe(c, "group, size (bytes of the bare signature), file")
}

// groupScope returns scope and context as options take them.
func groupScope(c *cobra.Command, gk groupsig.GroupKey, scope, context string) (s, x []byte, err error) {
	switch has := gk.Features().Has(groupsig.Scope); {
	case has && !c.Flags().Changed("scope"):
		return nil, nil, failf(ExitUsage, "say what it is for with --scope TEXT", "signatures of this group are for a scope")
	case !has && c.Flags().Changed("scope"):
		return nil, nil, usagef(c, "--scope: the group has no scopes")
	case has:
		s = []byte(scope)
	}
	return s, nonEmpty([]byte(context)), nil
}

func (e *env) groupSign(c *cobra.Command, f groupSignFlags, file string) error {
	ctx := c.Context()
	msg, err := e.readInput(ctx, file, maxObject)
	if err != nil {
		return err
	}
	o, err := e.newOpener(ctx, f.secret)
	if err != nil {
		return err
	}
	defer o.wipe()
	m, err := o.openMember(f.member)
	if err != nil {
		return err
	}
	defer func() { m.wipe() }()
	sequence := m.gk.Features().Has(groupsig.Sequence)
	if sequence {
		// Read again what nobody else changes any more.
		unlock, err := lockSecret(f.member)
		if err != nil {
			return err
		}
		defer unlock()
		again, err := o.openMember(f.member)
		if err != nil {
			return err
		}
		m.wipe()
		m = again
	}
	scope, context, err := groupScope(c, m.gk, f.scope, f.context)
	if err != nil {
		return err
	}
	if f.out == "" {
		f.out = "-"
		if file != "-" {
			f.out = file + groupSigSuffix
		}
	}
	if err := e.checkOut(f.out, f.force); err != nil {
		return err
	}
	if sequence {
		if err := m.sealed.writable(e, nil); err != nil {
			return err
		}
	}
	sig, err := m.key.Sign(msg, groupsig.SignOptions{Scope: scope, Context: context})
	if err != nil {
		return groupError(err)
	}
	gf, err := newGroupFile(m.gk, m.file.Number, scope, context, sig)
	if err != nil {
		return err
	}
	data, err := keyfile.Encode(&keyfile.GroupSignature{GroupFile: gf})
	if err != nil {
		return err
	}
	// Two signatures at one place of a sequence would betray the member.
	if sequence {
		if err := m.store(e); err != nil {
			return err
		}
	}
	if err := e.writeFile(f.out, data, publicFile, f.force); err != nil || f.out == "-" {
		return err
	}
	id := m.gk.ID()
	return e.print(struct {
		Group string `json:"group"`
		Size  int    `json:"size"`
		File  string `json:"file"`
	}{hex.EncodeToString(id[:]), len(sig), f.out}, func(w io.Writer) { fmt.Fprintf(w, "%s\n", f.out) })
}

type groupVerifyFlags struct {
	group, scope, context, revoked string
	sigs                           []string
	epoch, minNumber               uint64
	once                           bool
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
	fl.StringVar(&f.scope, "scope", "", "accept signatures for the scope `TEXT` only")
	fl.StringVar(&f.context, "context", "", "accept signatures for `TEXT` only, in groups without scopes")
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
	Reason    string `json:"reason,omitempty"`
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
	if opts.Scope, opts.Context, err = groupScope(c, gk, f.scope, f.context); err != nil {
		return err
	}
	if err := checkEpoch(c, gk); err != nil {
		return err
	}
	if f.once && opts.Scope == nil {
		return usagef(c, "--once: without scopes nobody can tell members apart")
	}
	if f.revoked != "" {
		if opts.Revocation, err = e.readRevocation(ctx, gk, f.revoked); err != nil {
			return err
		}
		opts.Now = time.Now().Unix()
	}

	id := gk.ID()
	r := groupVerifyResult{Valid: true, Group: hex.EncodeToString(id[:])}
	msgs, sigs := make([][]byte, len(files)), make([][]byte, len(files))
	for i, file := range files {
		sigFile := ""
		if len(f.sigs) > 0 {
			sigFile = f.sigs[i]
		}
		v := groupVerdict{File: inputName(file), Status: "valid"}
		s, err := e.readGroupSigned(ctx, gk, file, sigFile)
		switch {
		case exitCode(err) == ExitInvalid:
			v.Status, v.Reason = "invalid", err.Error()
		case err != nil:
			return err
		case !bytes.Equal(s.Options.Scope, opts.Scope):
			v.Status, v.Reason = "invalid", fmt.Sprintf("it is for the scope %q", s.Options.Scope)
		}
		msgs[i], sigs[i] = s.Message, s.Signature
		r.Signatures = append(r.Signatures, v)
	}
	if err := verifyGroupBatch(ctx, gk, opts, msgs, sigs, r.Signatures); err != nil {
		return err
	}
	if lv, ok := groupsig.As[groupsig.LinkVerifier](gk); ok {
		seen := map[string]string{}
		for i := range r.Signatures {
			v := &r.Signatures[i]
			if v.Status != "valid" {
				continue
			}
			nym, err := lv.Pseudonym(sigs[i])
			if err != nil {
				return groupError(err)
			}
			v.Pseudonym = hex.EncodeToString(nym)
			if first, ok := seen[v.Pseudonym]; ok && f.once {
				v.Status, v.Reason = "repeated", "the member has signed "+first+" already"
				continue
			}
			seen[v.Pseudonym] = v.File
		}
	}
	bad := 0
	for _, v := range r.Signatures {
		if v.Status != "valid" {
			bad++
		}
	}
	text := func(w io.Writer) {
		for _, v := range r.Signatures {
			line := v.Status
			if v.Reason != "" {
				line += ": " + v.Reason
			}
			if v.Status == "valid" {
				line = "valid signature of a member of " + gk.Label()
				if v.Pseudonym != "" {
					line += ", pseudonym " + v.Pseudonym[:16]
				}
			}
			fmt.Fprintf(w, "%s: %s\n", v.File, oneLine(line))
		}
	}
	r.Valid = bad == 0
	if err := e.print(r, text); err != nil || bad == 0 {
		return err
	}
	return failf(ExitInvalid, "", "%d of %d signatures are refused", bad, len(files))
}

// verifyGroupBatch verifies those signatures that have no verdict against them, and
// writes down theirs.
func verifyGroupBatch(ctx context.Context, gk groupsig.GroupKey, opts groupsig.VerifyOptions, msgs, sigs [][]byte, verdicts []groupVerdict) error {
	var index []int
	for i, v := range verdicts {
		if v.Status == "valid" {
			index = append(index, i)
		}
	}
	errs := make([]error, len(index))
	b, ok := groupsig.As[groupsig.BatchVerifier](gk)
	if ok && len(index) > 1 {
		batch := b.Batch(opts)
		for _, i := range index {
			batch.Add(msgs[i], sigs[i])
		}
		err := batch.Verify()
		be, bad := errors.AsType[*groupsig.BatchError](err)
		if err != nil && !bad {
			return groupError(err)
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
			errs[k] = gk.Verify(msgs[i], sigs[i], opts)
		}
	}
	for k, i := range index {
		v := &verdicts[i]
		switch err := errs[k]; {
		case err == nil:
		case errors.As(err, new(*groupsig.StaleError)):
			return &Error{Err: err, Hint: "get the newest list of revoked members", Code: ExitRefused}
		case errors.Is(err, groupsig.ErrRevoked):
			v.Status, v.Reason = "revoked", err.Error()
		default:
			v.Status, v.Reason = "invalid", err.Error()
		}
	}
	return nil
}

// readRevocation reads a list of revoked members.
func (e *env) readRevocation(ctx context.Context, gk groupsig.GroupKey, file string) (groupsig.Revocation, error) {
	rr, ok := groupsig.As[groupsig.RevocationReader](gk)
	if !ok {
		return nil, failf(ExitUsage, "", "the group has no lists of revoked members")
	}
	f, err := readGroupObject[*keyfile.GroupRevocation](ctx, e, gk, file, 1)
	if err != nil {
		return nil, err
	}
	list, err := rr.ParseRevocation(f.Parts[0])
	return list, groupFileError(file, err)
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

type groupRevokeFlags struct {
	outFlags
	secret         secretFlags
	issuer, opener string
	days           int
}

func newGroupRevokeCmd(e *env) *cobra.Command {
	var f groupRevokeFlags
	c := &cobra.Command{
		Use:   "revoke NAME... --issuer FILE|--opener FILE -i FILE -o OUT",
		Short: "Revoke members (issuer or opener)",
		Long: `Revoke members, in one of two ways.

The issuer of a group with epochs (--issuer) moves on to the next epoch, and
writes a new credential for each other member to the directory OUT. They may be
published; members take theirs in with update. Without a NAME nobody is revoked,
and the epoch ends all the same. Old signatures stay anonymous.

The opener of a group with tokens (--opener) writes a list of all that are
revoked to the file OUT, for verifiers. It works at once, and betrays to all who
have the list what the revoked members signed, in the past too.`,
		Example: `  undersign group revoke mallory --issuer council/issuer.age -i issuer.key -o epoch-2
  undersign group revoke mallory --opener fares/opener.age -i opener.key -o revoked.list`,
		Args: nargs(0, -1, "a name"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.issuer != "" {
				return e.groupRevokeByEpoch(c, f, args)
			}
			return e.groupRevokeByList(c, f, args)
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.issuer, "issuer", "", "the issuer's `FILE`")
	fl.StringVar(&f.opener, "opener", "", "the opener's `FILE`")
	c.MarkFlagsOneRequired("issuer", "opener")
	c.MarkFlagsMutuallyExclusive("issuer", "opener")
	addSecretFlags(c, &f.secret)
	fl.IntVar(&f.days, "days", 30, "the list holds for `N` days")
	fl.StringVarP(&f.out, "out", "o", "", "write to `OUT`: a directory, or with --opener a file")
	c.MarkFlagRequired("out")
	addForceFlag(c, &f.force)
	return describe(c, "revoked, epoch or number, files")
}

type groupRevokeResult struct {
	Revoked []string `json:"revoked"`
	Epoch   uint64   `json:"epoch,omitempty"`
	Number  uint64   `json:"number,omitempty"`
	Files   []string `json:"files"`
}

func (e *env) groupRevokeByEpoch(c *cobra.Command, f groupRevokeFlags, names []string) error {
	if f.out == "-" {
		return failf(ExitUsage, "name a directory with -o", "credentials are several files, and can't go to standard output")
	}
	return changeSecret(c.Context(), e, f.secret, f.issuer, (*opener).openIssuer, func(_ *opener, is *groupIssuer) error {
		re, ok := is.key.(groupsig.Reissuer)
		if !ok || !is.gk.Features().Has(groupsig.Epoch) {
			return usagef(c, "the group has no epochs: see --opener")
		}
		for _, name := range names {
			if err := is.register.Revoke(name); err != nil {
				return err
			}
		}
		if !e.dryRun {
			if err := os.MkdirAll(f.out, 0o777); err != nil {
				return outputError(f.out, err)
			}
		}
		epoch := is.file().Number + 1
		r := groupRevokeResult{Revoked: notNil(names), Epoch: epoch, Files: []string{}}
		set := e.newFileSet(f.force)
		defer set.abort()
		for rec, live := range is.register.All() {
			if !live {
				continue
			}
			cred, err := re.Reissue(is.gk, is.register, rec.Member, epoch)
			if err != nil {
				return err
			}
			data, err := encodeGroup(new(keyfile.GroupCredential), is.gk, epoch, cred)
			if err != nil {
				return err
			}
			path := filepath.Join(f.out, rec.Member+".credential")
			if err := set.add(path, data, publicFile); err != nil {
				return err
			}
			r.Files = append(r.Files, path)
		}
		// The other way round, a crash between the two would leave who is revoked with
		// credentials of the next epoch to come.
		is.file().Number = epoch
		if err := is.store(e); err != nil {
			return err
		}
		if err := set.commit(); err != nil {
			return err
		}
		return e.print(r, func(w io.Writer) {
			fmt.Fprintf(w, "the epoch is %d: publish it, and the credentials in %s\n", epoch, f.out)
		})
	})
}

func (e *env) groupRevokeByList(c *cobra.Command, f groupRevokeFlags, names []string) error {
	if f.days < 1 || f.days > 3660 {
		return usagef(c, "--days %d: want 1 to 3660", f.days)
	}
	if err := f.name(e, f.out); err != nil {
		return err
	}
	return changeSecret(c.Context(), e, f.secret, f.opener, (*opener).openGroupOpener, func(_ *opener, op *groupOpener) error {
		rv, ok := op.key.(groupsig.Revoker)
		if !ok || !op.gk.Features().Has(groupsig.Token) {
			return usagef(c, "the group has no tokens: see --issuer")
		}
		for _, name := range names {
			if err := op.register.Revoke(name); err != nil {
				return err
			}
		}
		now := time.Now().Unix()
		number := op.file().Number + 1
		list, err := rv.RevocationList(op.gk, op.register, groupsig.Terms{Number: number, Issued: now, Expires: now + int64(f.days)*24*3600}, nil)
		if err != nil {
			return err
		}
		data, err := encodeGroup(new(keyfile.GroupRevocation), op.gk, number, list)
		if err != nil {
			return err
		}
		set, err := f.set(e, data, publicFile)
		if err != nil {
			return err
		}
		defer set.abort()
		op.file().Number = number
		if err := op.store(e); err != nil {
			return err
		}
		r := groupRevokeResult{Revoked: notNil(names), Number: number, Files: []string{f.out}}
		return f.commit(e, set, r, func(w io.Writer) {
			fmt.Fprintf(w, "list %d, with %d revoked, until %s\n%s\n", number, list.Len(), time.Unix(list.Expires(), 0).UTC().Format(time.DateOnly), f.out)
		})
	})
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/hex"
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
	secret              secretFlags
	issuer, opener, out string
	days                int
	force               bool
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
	o, err := e.newOpener(c.Context(), f.secret)
	if err != nil {
		return err
	}
	defer o.wipe()
	unlock, err := lockSecret(f.issuer)
	if err != nil {
		return err
	}
	defer unlock()
	is, err := o.openIssuer(f.issuer)
	if err != nil {
		return err
	}
	defer is.wipe()
	re, ok := is.key.(groupsig.Reissuer)
	if !ok || !is.gk.Features().Has(groupsig.Epoch) {
		return usagef(c, "the group has no epochs: see --opener")
	}
	if err := is.sealed.writable(e, nil); err != nil {
		return err
	}
	for _, name := range names {
		if err := is.register.Revoke(name); err != nil {
			return err
		}
	}
	if f.out == "-" {
		return failf(ExitUsage, "name a directory with -o", "credentials are several files, and can't go to standard output")
	}
	if !e.dryRun {
		if err := os.MkdirAll(f.out, 0o777); err != nil {
			return outputError(f.out, err)
		}
	}
	epoch := is.file.Number + 1
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
		gf, err := newGroupFile(is.gk, epoch, cred)
		if err != nil {
			return err
		}
		path := filepath.Join(f.out, rec.Member+".credential")
		if err := addObject(set, path, &keyfile.GroupCredential{GroupFile: gf}); err != nil {
			return err
		}
		r.Files = append(r.Files, path)
	}
	// The other way round, a crash between the two would leave who is revoked with
	// credentials of the next epoch to come.
	is.file.Number = epoch
	if err := is.store(e); err != nil {
		return err
	}
	if err := set.commit(); err != nil {
		return err
	}
	return e.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "the epoch is %d: publish it, and the credentials in %s\n", epoch, f.out)
	})
}

func (e *env) groupRevokeByList(c *cobra.Command, f groupRevokeFlags, names []string) error {
	if f.days < 1 || f.days > 3660 {
		return usagef(c, "--days %d: want 1 to 3660", f.days)
	}
	o, err := e.newOpener(c.Context(), f.secret)
	if err != nil {
		return err
	}
	defer o.wipe()
	unlock, err := lockSecret(f.opener)
	if err != nil {
		return err
	}
	defer unlock()
	op, err := o.openGroupOpener(f.opener)
	if err != nil {
		return err
	}
	defer op.wipe()
	rv, ok := op.key.(groupsig.Revoker)
	if !ok || !op.gk.Features().Has(groupsig.Token) {
		return usagef(c, "the group has no tokens: see --issuer")
	}
	if err := op.sealed.writable(e, nil); err != nil {
		return err
	}
	if err := e.checkOut(f.out, f.force); err != nil {
		return err
	}
	for _, name := range names {
		if err := op.register.Revoke(name); err != nil {
			return err
		}
	}
	now := time.Now().Unix()
	number := op.file.Number + 1
	list, err := rv.RevocationList(op.gk, op.register, groupsig.Terms{Number: number, Issued: now, Expires: now + int64(f.days)*24*3600})
	if err != nil {
		return err
	}
	gf, err := newGroupFile(op.gk, number, list)
	if err != nil {
		return err
	}
	data, err := keyfile.Encode(&keyfile.GroupRevocation{GroupFile: gf})
	if err != nil {
		return err
	}
	op.file.Number = number
	if err := op.store(e); err != nil {
		return err
	}
	if err := e.writeFile(f.out, data, publicFile, f.force); err != nil || f.out == "-" {
		return err
	}
	return e.print(groupRevokeResult{Revoked: notNil(names), Number: number, Files: []string{f.out}}, func(w io.Writer) {
		fmt.Fprintf(w, "list %d, with %d revoked, until %s\n%s\n", number, list.Len(), time.Unix(list.Expires(), 0).UTC().Format(time.DateOnly), f.out)
	})
}

type groupUpdateFlags struct {
	secret                    secretFlags
	member, opener, memberKey string
	epoch                     uint64
}

func newGroupUpdateCmd(e *env) *cobra.Command {
	var f groupUpdateFlags
	c := &cobra.Command{
		Use:   "update FILE --member FILE|--opener FILE -i FILE",
		Short: "Take in a new credential (member) or record (opener)",
		Long: `Take in what the issuer has made.

A member (--member) takes its credential for a new epoch. The epoch is the one
that the issuer has announced to all: another one is a way to tell members
apart.

An opener (--opener) takes the record of a new member, and checks it without
relying on the issuer: the member's long-term key is the one that the opener
knows.`,
		Example: `  undersign group update epoch-2/alice.credential --member alice.member -i alice.key --epoch 2
  undersign group update alice.record --opener council/opener.age -i opener.key \
      --member-key alice.pub.pem`,
		Args: nargs(1, 1, "a credential or a record"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.member != "" {
				return e.groupUpdateMember(c, f, args[0])
			}
			return e.groupUpdateOpener(c, f, args[0])
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.member, "member", "", "the member's `FILE`")
	fl.StringVar(&f.opener, "opener", "", "the opener's `FILE`")
	c.MarkFlagsOneRequired("member", "opener")
	c.MarkFlagsMutuallyExclusive("member", "opener")
	addSecretFlags(c, &f.secret)
	addEpochFlag(c, &f.epoch, "the epoch that the issuer has announced, `N`")
	fl.StringVar(&f.memberKey, "member-key", "", "the new member's Ed25519 public key, PEM `FILE`")
	describe(c, "member or epoch, file", ExitInvalid)
	describeExit(c, ExitInvalid, "the credential or the record is refused")
	return c
}

type groupUpdateResult struct {
	Member string `json:"member,omitempty"`
	Epoch  uint64 `json:"epoch,omitempty"`
	File   string `json:"file"`
}

func (e *env) groupUpdateMember(c *cobra.Command, f groupUpdateFlags, file string) error {
	o, err := e.newOpener(c.Context(), f.secret)
	if err != nil {
		return err
	}
	defer o.wipe()
	unlock, err := lockSecret(f.member)
	if err != nil {
		return err
	}
	defer unlock()
	m, err := o.openMember(f.member)
	if err != nil {
		return err
	}
	defer m.wipe()
	u, ok := groupsig.As[groupsig.Updater](m.key)
	if !ok {
		return usagef(c, "the group has no epochs")
	}
	if err := checkEpoch(c, m.gk); err != nil {
		return err
	}
	if f.epoch <= u.Epoch() {
		return failf(ExitRefused, "", "the credential is of epoch %d already", u.Epoch())
	}
	if err := m.sealed.writable(e, nil); err != nil {
		return err
	}
	cf, err := readGroupObject[*keyfile.GroupCredential](c.Context(), e, m.gk, file, 1)
	if err != nil {
		return err
	}
	if err := u.Update(cf.Parts[0], f.epoch); err != nil {
		return withCode(groupFileError(file, err), ExitInvalid)
	}
	m.file.Number = f.epoch
	if err := m.store(e); err != nil {
		return err
	}
	return e.print(groupUpdateResult{Epoch: f.epoch, File: f.member}, func(w io.Writer) {
		fmt.Fprintf(w, "%s: epoch %d\n", f.member, f.epoch)
	})
}

func (e *env) groupUpdateOpener(c *cobra.Command, f groupUpdateFlags, file string) error {
	if f.memberKey == "" {
		return usagef(c, "--member-key is needed to check a record")
	}
	key, err := e.readMemberKey(c.Context(), f.memberKey)
	if err != nil {
		return err
	}
	o, err := e.newOpener(c.Context(), f.secret)
	if err != nil {
		return err
	}
	defer o.wipe()
	unlock, err := lockSecret(f.opener)
	if err != nil {
		return err
	}
	defer unlock()
	op, err := o.openGroupOpener(f.opener)
	if err != nil {
		return err
	}
	defer op.wipe()
	if err := op.sealed.writable(e, nil); err != nil {
		return err
	}
	rf, _, err := openSecret[*keyfile.GroupRecord](o, file)
	if err != nil {
		return err
	}
	defer rf.Wipe()
	p, err := groupParts(op.gk, rf.File(), 1)
	if err != nil {
		return groupFileError(file, err)
	}
	var r groupsig.Record
	if err = r.UnmarshalBinary(p[0]); err == nil {
		err = op.key.Record(op.gk, op.register, &r, key)
	}
	if err != nil {
		return withCode(groupFileError(file, err), ExitInvalid)
	}
	if err := op.store(e); err != nil {
		return err
	}
	return e.print(groupUpdateResult{Member: r.Member, File: f.opener}, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s is a member\n", f.opener, oneLine(r.Member))
	})
}

func newGroupListCmd(e *env) *cobra.Command {
	var secret secretFlags
	var issuer, openerFile, group string
	c := &cobra.Command{
		Use:   "list --issuer FILE|--opener FILE|--group FILE",
		Short: "List the members, or show a group",
		Long:  `List the members that the issuer or the opener knows; or show what a group is.`,
		Example: `  undersign group list --issuer council/issuer.age -i issuer.key
  undersign group list --group council/group.pub`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if group != "" {
				gk, err := e.readGroup(c.Context(), group)
				if err != nil {
					return err
				}
				return e.printGroup(newGroupListResult(gk, nil), false)
			}
			o, err := e.newOpener(c.Context(), secret)
			if err != nil {
				return err
			}
			defer o.wipe()
			if issuer != "" {
				is, err := o.openIssuer(issuer)
				if err != nil {
					return err
				}
				defer is.wipe()
				r := newGroupListResult(is.gk, is.register)
				r.Epoch = is.file.Number
				return e.printGroup(r, true)
			}
			op, err := o.openGroupOpener(openerFile)
			if err != nil {
				return err
			}
			defer op.wipe()
			return e.printGroup(newGroupListResult(op.gk, op.register), true)
		},
	}
	fl := c.Flags()
	fl.StringVar(&issuer, "issuer", "", "the issuer's `FILE`")
	fl.StringVar(&openerFile, "opener", "", "the opener's `FILE`")
	addGroupFlag(c, &group)
	c.MarkFlagsOneRequired("issuer", "opener", "group")
	c.MarkFlagsMutuallyExclusive("issuer", "opener", "group")
	addSecretFlags(c, &secret)
	return describe(c, "scheme, label, features, group (ID), signature_bytes, epoch, members [name, revoked]")
}

type groupMemberInfo struct {
	Name    string `json:"name"`
	Revoked bool   `json:"revoked"`
}

type groupListResult struct {
	Scheme   string            `json:"scheme"`
	Label    string            `json:"label"`
	Features string            `json:"features"`
	Group    string            `json:"group"`
	Size     int               `json:"signature_bytes"`
	Epoch    uint64            `json:"epoch,omitempty"`
	Members  []groupMemberInfo `json:"members,omitempty"`
}

func newGroupListResult(gk groupsig.GroupKey, register *groupsig.Register) groupListResult {
	id := gk.ID()
	r := groupListResult{
		Scheme: gk.Scheme().Name(), Label: gk.Label(), Features: gk.Features().String(),
		Group: hex.EncodeToString(id[:]), Size: gk.SignatureSize(),
	}
	if register != nil {
		for rec, live := range register.All() {
			r.Members = append(r.Members, groupMemberInfo{rec.Member, !live})
		}
	}
	return r
}

func (e *env) printGroup(r groupListResult, members bool) error {
	return e.print(r, func(w io.Writer) {
		fs := []field{{"group", r.Label}, {"scheme", r.Scheme}, {"features", r.Features}, {"ID", r.Group}, {"signature", fmt.Sprintf("%d bytes", r.Size)}}
		if r.Epoch > 0 {
			fs = append(fs, field{"epoch", fmt.Sprint(r.Epoch)})
		}
		for _, m := range r.Members {
			name := oneLine(m.Name)
			if m.Revoked {
				name += " (revoked)"
			}
			fs = append(fs, field{"member", name})
		}
		writeFields(w, fs)
		if members && len(r.Members) == 0 {
			fmt.Fprintln(w, "no members yet")
		}
	})
}

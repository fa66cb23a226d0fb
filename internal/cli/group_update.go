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
	return changeSecret(c.Context(), e, f.secret, f.member, (*opener).openMember, func(_ *opener, m *groupMember) error {
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
		p, err := readGroupParts[*keyfile.GroupCredential](c.Context(), e, m.gk, file, 1)
		if err != nil {
			return err
		}
		if err := u.Update(p[0], f.epoch); err != nil {
			return withCode(groupFileError(file, err), ExitInvalid)
		}
		m.file().Number = f.epoch
		if err := m.store(e); err != nil {
			return err
		}
		return e.print(groupUpdateResult{Epoch: f.epoch, File: f.member}, func(w io.Writer) {
			fmt.Fprintf(w, "%s: epoch %d\n", f.member, f.epoch)
		})
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
	return changeSecret(c.Context(), e, f.secret, f.opener, (*opener).openGroupOpener, func(o *opener, op *groupOpener) error {
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
	})
}

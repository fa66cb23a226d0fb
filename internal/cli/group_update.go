// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

type groupUpdateFlags struct {
	secret            secretFlags
	member, memberKey string
	roles             roleFlags
	epoch             uint64
}

func newGroupUpdateCmd(e *env) *cobra.Command {
	var f groupUpdateFlags
	c := &cobra.Command{
		Use:   "update FILE --member FILE|--opener FILE -i FILE",
		Short: "Take in a new credential, record or group key",
		Long: `Take in what others have made.

A member (--member) takes its credential for a new epoch. The epoch is the one
that the issuer has announced to all: another one is a way to tell members
apart.

An opener (--opener) takes the record of a new member, and checks it without
relying on the issuer: the member's long-term key (--member-key) is the one that
the opener knows.

A role that has agreed to a group takes the group key, which must be that of the
group that it has agreed to.`,
		Example: `  undersign group update epoch-2/alice.credential --member alice.member -i alice.key --epoch 2
  undersign group update alice.record --opener council/opener.age -i opener.key \
      --member-key alice.pub.pem
  undersign group update group.pub --opener opener.age -i opener.key`,
		Args: nargs(1, 1, "a credential, a record or a group key"),
		RunE: func(c *cobra.Command, args []string) error {
			switch role, path := f.roles.only(); {
			case f.member != "":
				return e.groupUpdateMember(c, f, args[0])
			case f.memberKey != "":
				if groupRoles[role].name != "opener" {
					return usagef(c, "--member-key goes with --opener: records are for the opener")
				}
				return e.groupUpdateOpener(c, f, path, args[0])
			default:
				return e.groupUpdateRole(c, f, role, path, args[0])
			}
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.member, "member", "", "the member's `FILE`")
	f.roles.add(c, "", "the %s's `FILE`")
	c.MarkFlagsOneRequired("member", "issuer", "opener", "converter")
	c.MarkFlagsMutuallyExclusive("member", "issuer", "opener", "converter")
	addSecretFlags(c, &f.secret)
	addEpochFlag(c, &f.epoch, "the epoch that the issuer has announced, `N`")
	fl.StringVar(&f.memberKey, "member-key", "", "the new member's Ed25519 public key, PEM `FILE`")
	describe(c, "member or epoch or group, file", ExitInvalid, ExitRefused)
	describeExit(c, ExitInvalid, "the credential or the record is invalid")
	describeExit(c, ExitRefused, "it is older than what there is, or of another group")
	return c
}

// groupUpdateRole takes in the key of a group that a role has agreed to.
func (e *env) groupUpdateRole(c *cobra.Command, f groupUpdateFlags, role int, path, file string) error {
	gk, err := e.readGroup(c.Context(), file)
	if err != nil {
		if te, ok := errors.AsType[*keyfile.TypeError](err); ok && te.Got == "AGE ENCRYPTED FILE" {
			err = withHint(err, "a member's record is taken in by the opener, with --member-key")
		}
		return err
	}
	return changeSecret(c.Context(), e, f.secret, path, groupRoles[role].openBefore, func(_ *opener, rf *groupRoleFile) error {
		if err := rf.accept(e, gk); err != nil {
			return err
		}
		return e.print(groupUpdateResult{Group: groupID(gk), File: path}, func(w io.Writer) {
			fmt.Fprintf(w, "%s: for the group %s, %s\n", oneLine(path), oneLine(gk.Label()), groupID(gk))
		})
	})
}

type groupUpdateResult struct {
	Member string `json:"member,omitempty"`
	Epoch  uint64 `json:"epoch,omitempty"`
	Group  string `json:"group,omitempty"`
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

func (e *env) groupUpdateOpener(c *cobra.Command, f groupUpdateFlags, path, file string) error {
	key, err := e.readMemberKey(c.Context(), f.memberKey)
	if err != nil {
		return err
	}
	return changeSecret(c.Context(), e, f.secret, path, (*opener).openGroupOpener, func(o *opener, op *groupOpener) error {
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
			if old := op.register.Member(r.Member); old != nil && bytes.Equal(old.Point, r.Point) && key.Equal(old.Key) {
				return failf(ExitRefused, "", "%s: %s is recorded already", inputName(file), oneLine(r.Member))
			}
			err = op.key.Record(op.gk, op.register, &r, key)
		}
		if err != nil {
			return withCode(groupFileError(file, err), ExitInvalid)
		}
		if err := op.store(e); err != nil {
			return err
		}
		return e.print(groupUpdateResult{Member: r.Member, File: path}, func(w io.Writer) {
			fmt.Fprintf(w, "%s: %s is a member\n", path, oneLine(r.Member))
		})
	})
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

type groupUpdateFlags struct {
	secret                          secretFlags
	member, memberKey, state, group string
	roles                           roleFlags
	epoch                           epochFlags
	rejoined                        bool
}

func newGroupUpdateCmd(e *env) *cobra.Command {
	var f groupUpdateFlags
	c := &cobra.Command{
		Use:   "update FILE --member FILE|--state FILE|--issuer FILE|--opener FILE|--converter FILE|--linker FILE",
		Short: "Take in what others have made",
		Long: `Take in what others have made.

A member (--member) takes its credential for a new epoch, which is the one that
the issuer has announced to all (--announced): another one is a way to tell
members apart. In groups that rekey it takes the newest list of who is revoked,
which is how the group's key moves, and which has to be the one that all take.

A verifier (--state) keeps a list of who is revoked, or an announcement, which
FILE takes the place of, unless it is older, or not in force, or another role
signed it. There needn't be one yet.

An opener (--opener) takes the record of a new member, and checks it without
relying on the issuer: the member's long-term key (--member-key) is the one that
the opener knows. In static groups it is the issuer's, which registers members.
If the member was there before, --rejoined says that it is known to have joined
anew.

An issuer (--issuer) of a group with tokens takes the opener's list, and of one
that rekeys its own: who is on it, and revoked by the issuer too, may be invited
anew.

A role that has agreed to a group takes the group key, which must be that of the
group that it has agreed to.`,
		Example: `  undersign group update epoch-2/alice.credential --member alice.member -i alice.key \
      --announced epoch-2/group.epochs
  undersign group update epoch-2/group.epochs --state group.epochs --group group.pub
  undersign group update newest.list --state revoked.list --group group.pub
  undersign group update alice.record --opener council/opener.age -i opener.key \
      --member-key alice.pub.pem
  undersign group update group.pub --opener opener.age -i opener.key`,
		Args: nargs(1, 1, "a file"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case f.member != "":
				return e.groupUpdateMember(c, f, args[0])
			case f.state != "":
				if f.group == "" {
					return usagef(c, "--group is needed to check what --state takes")
				}
				gk, err := e.readGroup(c.Context(), f.group)
				if err != nil {
					return err
				}
				return e.replaceState(c, gk, args[0], f.state)
			}
			role, path, err := f.roles.only(c)
			if err != nil {
				return err
			}
			if f.memberKey != "" {
				if groupRoles[role].name != "opener" {
					return usagef(c, "--member-key goes with --opener: records are for the opener")
				}
				return e.groupUpdateOpener(c, f, path, args[0])
			}
			return e.groupUpdateRole(c, f, role, path, args[0])
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.member, "member", "", "the member's `FILE`")
	fl.StringVar(&f.state, "state", "", "the verifier's list or announcement, `FILE`")
	f.roles.add(c, "", "the %s's `FILE`")
	c.MarkFlagsOneRequired("member", "state", "issuer", "opener", "converter", "linker")
	c.MarkFlagsMutuallyExclusive("member", "state", "issuer", "opener", "converter", "linker")
	addSecretFlags(c, &f.secret)
	addGroupFlag(c, &f.group)
	f.epoch.add(c, "the epoch that the issuer has published, `N`", "the issuer's announcement `FILE`, which says the epoch")
	fl.StringVar(&f.memberKey, "member-key", "", "the new member's Ed25519 public key, or in static groups the issuer's, PEM `FILE`")
	fl.BoolVar(&f.rejoined, "rejoined", false, "the record is of a member that was there before, and has joined anew")
	describe(c, "member, or epoch, or group, or listed, file; with --state:\n  "+stateFields, ExitInvalid, ExitRefused)
	describeExit(c, ExitInvalid, "what is to be taken in is invalid")
	describeExit(c, ExitRefused, "it is older than what there is, not in force, or of another group")
	return c
}

// groupUpdateRole takes in the key of a group that a role has agreed to, or the
// opener's list for the issuer.
func (e *env) groupUpdateRole(c *cobra.Command, f groupUpdateFlags, role int, path, file string) error {
	data, err := e.readInput(c.Context(), file, maxObject)
	if err != nil {
		return err
	}
	v, err := keyfile.Parse(data)
	list, isList := v.(*keyfile.GroupRevocation)
	if isList && groupRoles[role].name == "issuer" {
		return e.groupUpdateIssuer(c, f, path, list, file)
	}
	k, isKey := v.(*keyfile.GroupKey)
	switch {
	case isAge(data):
		return failf(ExitError, "a member's record is taken in by the opener, with --member-key", "%s: expected GROUP KEY, found an age file", inputName(file))
	case err != nil:
		return wantedHint(k, fileError(file, err))
	case !isKey:
		return wantedHint(k, fileError(file, &keyfile.TypeError{Want: keyfile.Type(k), Got: keyfile.Type(v)}))
	}
	gk, err := groupOf(k.File(), 1)
	if err != nil {
		return groupFileError(file, err)
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

// groupUpdateIssuer notes who is on the opener's list: their old credentials are of no
// use any more.
func (e *env) groupUpdateIssuer(c *cobra.Command, f groupUpdateFlags, path string, v *keyfile.GroupRevocation, file string) error {
	return changeSecret(c.Context(), e, f.secret, path, (*opener).openIssuer, func(_ *opener, is *groupIssuer) error {
		list, err := stateOf(is.gk, v, file, parseList)
		if err != nil {
			return err
		}
		if err := inForce(file, list, time.Now()); err != nil {
			return err
		}
		rr, ok := groupsig.As[groupsig.RevocationReader](is.gk)
		if f := is.gk.Features(); !ok || !f.Has(groupsig.Token) && !f.Has(groupsig.Rekey) {
			return usagef(c, "the group has no tokens")
		}
		n, err := rr.MarkListed(is.register, list, time.Now().Unix())
		if err != nil {
			return groupFileError(file, err)
		}
		if err := is.store(e); err != nil {
			return err
		}
		return e.print(groupUpdateResult{Listed: &n, File: path}, func(w io.Writer) {
			fmt.Fprintf(w, "%s: %d more of the revoked may be invited anew\n", oneLine(path), n)
		})
	})
}

type groupUpdateResult struct {
	Member string `json:"member,omitempty"`
	Epoch  uint64 `json:"epoch,omitempty"`
	Group  string `json:"group,omitempty"`
	Listed *int   `json:"listed,omitempty"`
	File   string `json:"file"`
}

func (e *env) groupUpdateMember(c *cobra.Command, f groupUpdateFlags, file string) error {
	return changeSecret(c.Context(), e, f.secret, f.member, (*opener).openMember, func(_ *opener, m *groupMember) error {
		if rk, ok := groupsig.As[groupsig.Rekeyer](m.key); ok {
			return e.rekeyMember(c, f, m, rk, file)
		}
		u, ok := groupsig.As[groupsig.Updater](m.key)
		if !ok {
			return usagef(c, "the group has no epochs")
		}
		epoch, err := f.epoch.number(c, e, m.gk)
		if err != nil {
			return err
		}
		if epoch <= u.Epoch() {
			return failf(ExitRefused, "get the issuer's newest announcement", "the credential is of epoch %d already", u.Epoch())
		}
		p, err := readGroupParts[*keyfile.GroupCredential](c.Context(), e, m.gk, file, 1)
		if err != nil {
			return err
		}
		if err := u.Update(p[0], epoch); err != nil {
			return withHint(withCode(groupFileError(file, err), ExitInvalid), "it has to be this member's own, for epoch %d", epoch)
		}
		m.file().Number = epoch
		if err := m.store(e); err != nil {
			return err
		}
		return e.print(groupUpdateResult{Epoch: epoch, File: f.member}, func(w io.Writer) {
			fmt.Fprintf(w, "%s: epoch %d\n", oneLine(f.member), epoch)
		})
	})
}

// rekeyMember takes a member's key along to a list.
func (e *env) rekeyMember(c *cobra.Command, f groupUpdateFlags, m *groupMember, rk groupsig.Rekeyer, file string) error {
	if c.Flags().Changed("epoch") || f.epoch.announced != "" {
		return usagef(c, "the group has no epochs")
	}
	list, err := e.readRevocation(c.Context(), m.gk, file)
	if err != nil {
		return err
	}
	if err := inForce(file, list, time.Now()); err != nil {
		return err
	}
	if err := rk.Rekey(list); err != nil {
		return withCode(groupFileError(file, err), ExitInvalid)
	}
	m.file().Number = rk.Version()
	if err := m.store(e); err != nil {
		return err
	}
	n := list.Len()
	return e.print(groupUpdateResult{Listed: &n, File: f.member}, func(w io.Writer) {
		fmt.Fprintf(w, "%s: the key after %d were revoked\n", oneLine(f.member), n)
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
			err = r.Verify(key)
		}
		if err == nil {
			switch old := op.register.Member(r.Member); {
			case old == nil:
			case bytes.Equal(old.Point, r.Point) && key.Equal(old.Key):
				return failf(ExitRefused, "", "%s: %s is recorded already", inputName(file), oneLine(r.Member))
			case !f.rejoined:
				return failf(ExitRefused, "if the member is known to have joined anew, add --rejoined", "%s: there is another record of %s", inputName(file), oneLine(r.Member))
			default:
				if err := op.register.Retire(r.Member); err != nil {
					return err
				}
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

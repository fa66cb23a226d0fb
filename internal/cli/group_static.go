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

// staticWarning is what people should know of a static group, or "" for others.
func staticWarning(f groupsig.Features) string {
	if f.Has(groupsig.Static) {
		return "the group is static: the issuer has all members' keys, and can sign in their names"
	}
	return ""
}

// writeWarning prints a result's warning, if it has one.
func writeWarning(w io.Writer, warning string) {
	if warning != "" {
		fmt.Fprintf(w, "warning: %s\n", warning)
	}
}

// refuseStatic refuses to let somebody join a static group: credentials are whole keys
// there, and their files aren't secret.
func refuseStatic(gk groupsig.GroupKey) error {
	if gk.Features().Has(groupsig.Static) {
		return failf(ExitUsage, "the issuer makes it with \"undersign group issue --name NAME\"", "the group is static: nobody joins, and each member gets a key from the issuer")
	}
	return nil
}

// groupMake makes the key of a member of a static group.
func (e *env) groupMake(c *cobra.Command, f groupIssueFlags) error {
	ctx, name := c.Context(), f.member
	if err := checkMemberName(name); err != nil {
		return err
	}
	switch {
	case f.qr != "":
		return usagef(c, "--qr: a member's key is secret, and goes into a file only")
	case f.to == "":
		return failf(ExitUsage, "name whom the key is for with --to FILE", "a member's key is encrypted, and nobody is named for it")
	case f.again && f.key != "":
		return usagef(c, "--key: with --again %s is registered already", name)
	case !f.again && f.key == "":
		return failf(ExitUsage, "it is an Ed25519 key in PEM, whose public part opener and judges know: name it with --key FILE",
			"the issuer's own key is needed to sign the registration")
	}
	to, err := e.readRecipients(ctx, f.to)
	if err != nil {
		return err
	}
	if err := f.name(e, name+".member"); err != nil {
		return err
	}
	if f.record == "" {
		f.record = name + ".record"
	}
	return changeSecret(ctx, e, f.secret, f.issuer, (*opener).openIssuer, func(o *opener, is *groupIssuer) error {
		si, ok := is.key.(groupsig.StaticIssuer)
		if !ok || !is.gk.Features().Has(groupsig.Static) {
			return failf(ExitUsage, "invite the member with \"undersign group invite\"", "--name: the group isn't static, and its members make their own secrets")
		}
		escrow, err := needsRecord(c, is.gk, f.openerTo)
		if err != nil {
			return err
		}
		if err := e.checkOut(f.record, f.force); escrow && err != nil {
			return err
		}
		m, err := e.makeMember(o, is, si, f)
		if err != nil {
			return err
		}
		defer m.Wipe()
		data, err := sealGroup(new(keyfile.GroupMember), to, is.gk, 0, is.gk, m)
		if err != nil {
			return err
		}
		set, err := f.set(e, data, secretFile)
		if err != nil {
			return err
		}
		defer set.abort()
		files := []field{{f.out, "key, for " + name + " only"}}
		if escrow {
			r, err := si.OpenerRecord(is.gk, is.register.Member(name))
			if err != nil {
				return err
			}
			if err := e.addRecord(c, set, is.gk, f, r); err != nil {
				return err
			}
			files = append(files, field{f.record, "record, for the opener"})
		}
		// Who has a key is registered: after a crash between the two it is made --again.
		if !f.again {
			if err := is.store(e); err != nil {
				return err
			}
		}
		return f.commitIssued(e, set, is, name, files)
	})
}

// makeMember makes a member's key, or makes it again.
func (e *env) makeMember(o *opener, is *groupIssuer, si groupsig.StaticIssuer, f groupIssueFlags) (groupsig.MemberKey, error) {
	name := f.member
	if f.again {
		if is.register.Member(name) == nil {
			return nil, failf(ExitRefused, "\"undersign group list\" shows the members", "--again: %s isn't a member", name)
		}
		return si.MadeMember(is.gk, is.register, name)
	}
	if is.register.Member(name) != nil {
		return nil, failf(ExitRefused, "if the key was lost, --again makes the same one", "%s is a member already", name)
	}
	if err := is.register.CheckMember(name, is.epoch()); err != nil {
		return nil, rejoinError(is.gk, err)
	}
	key, err := o.readLongTermKey(f.key)
	if err != nil {
		return nil, err
	}
	defer clear(key)
	return si.MakeMember(is.gk, is.register, name, key)
}

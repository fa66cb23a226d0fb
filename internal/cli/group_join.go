// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

type groupJoinFlags struct {
	outFlags
	secret                       secretFlags
	group, id, key, to, issuerTo string
	pending, pendingOut          string
	epoch                        epochFlags
}

func newGroupJoinCmd(e *env) *cobra.Command {
	var f groupJoinFlags
	c := &cobra.Command{
		Use:   "join FILE",
		Short: "Join a group (member)",
		Long: `Answer an invitation, and later take the credential.

Given a challenge, join makes the member's secret and an application for the
issuer, which is encrypted to it. It wants the group's ID as it is published:
a key that was made for one member betrays that one. The member's long-term key,
an Ed25519 key in PEM that may be inside an age file, signs the registration.

Given the credential and what was kept (--pending), join checks the credential
and writes the member's key.`,
		Example: `  undersign group join alice.challenge --group council/group.pub --id ID \
      --key alice.pem --to alice.txt --issuer-to issuer.txt
  undersign group join alice.credential --pending alice.pending -i alice.key \
      --announced group.epochs --to alice.txt`,
		Args: nargs(1, 1, "a challenge or a credential"),
		RunE: func(c *cobra.Command, args []string) error {
			if f.pending != "" {
				return e.groupFinish(c, f, args[0])
			}
			return e.groupJoin(c, f, args[0])
		},
	}
	fl := c.Flags()
	addGroupFlag(c, &f.group)
	fl.StringVar(&f.id, "id", "", "the group's `ID`, as it is published")
	fl.StringVar(&f.key, "key", "", "the member's long-term Ed25519 private key, PEM `FILE`")
	fl.StringVar(&f.to, "to", "", "encrypt the member's files to the age recipients `FILE`")
	c.MarkFlagRequired("to")
	fl.StringVar(&f.issuerTo, "issuer-to", "", "encrypt the application to the age recipients `FILE`")
	fl.StringVar(&f.pending, "pending", "", "what was kept, `FILE`, to take a credential")
	f.epoch.add(c, "the epoch that the issuer has published, `N`", "the issuer's announcement `FILE`, which says the epoch")
	addSecretFlags(c, &f.secret)
	addOutFlags(c, &f.outFlags, "NAME.application; with --pending NAME.member")
	addQRFlag(c, &f.qr, "application")
	fl.StringVar(&f.pendingOut, "pending-out", "", "keep the member's secret in `FILE` (default: NAME.pending)")
	describe(c, "member, group, files", ExitInvalid, ExitRefused)
	describeExit(c, ExitInvalid, "the credential or the announcement is invalid")
	describeExit(c, ExitRefused, "the group key isn't of the group with the ID, or the announcement isn't in force")
	return c
}

type groupJoinResult struct {
	Member string   `json:"member"`
	Group  string   `json:"group"`
	Files  []string `json:"files"`
}

func (e *env) groupJoin(c *cobra.Command, f groupJoinFlags, file string) error {
	ctx := c.Context()
	for _, need := range []struct{ name, value string }{{"group", f.group}, {"id", f.id}, {"key", f.key}, {"issuer-to", f.issuerTo}} {
		if need.value == "" {
			return usagef(c, "--%s is needed to answer a challenge", need.name)
		}
	}
	to, err := e.readRecipients(ctx, f.to)
	if err != nil {
		return err
	}
	issuerTo, err := e.readRecipients(ctx, f.issuerTo)
	if err != nil {
		return err
	}
	gk, err := e.readGroup(ctx, f.group)
	if err != nil {
		return err
	}
	if got := groupID(gk); !strings.EqualFold(got, f.id) {
		return failf(ExitRefused, "don't join: ask where this key comes from", "%s is of the group %s, and not of %s", inputName(f.group), got, f.id)
	}
	if err := refuseStatic(gk); err != nil {
		return err
	}
	p, err := readGroupParts[*keyfile.GroupChallenge](ctx, e, gk, file, 1)
	if err != nil {
		return err
	}
	var ch groupsig.Challenge
	if err := ch.UnmarshalBinary(p[0]); err != nil {
		return fileError(file, err)
	}
	if err := checkMemberName(ch.Member); err != nil {
		return err
	}
	o, err := e.newOpener(ctx, f.secret)
	if err != nil {
		return err
	}
	defer o.wipe()
	key, err := o.readLongTermKey(f.key)
	if err != nil {
		return err
	}
	defer clear(key)
	e.notef("joining %s as %s", gk.Label(), ch.Member)
	pending, application, err := gk.NewJoin(gk.ID(), &ch, ch.Member, key)
	if err != nil {
		return err
	}
	defer pending.Wipe()
	if f.out == "" {
		f.out = ch.Member + ".application"
	}
	if f.pendingOut == "" {
		f.pendingOut = ch.Member + ".pending"
	}
	kept, err := sealGroup(new(keyfile.GroupPending), to, gk, 0, gk, pending, []byte(ch.Member))
	if err != nil {
		return err
	}
	data, err := sealGroup(new(keyfile.GroupApplication), issuerTo, gk, 0, []byte(ch.Member), application)
	if err != nil {
		return err
	}
	set, err := f.set(e, data, secretFile)
	if err != nil {
		return err
	}
	defer set.abort()
	if err := set.add(f.pendingOut, kept, secretFile); err != nil {
		return err
	}
	return f.commit(e, set, groupJoinResult{ch.Member, groupID(gk), []string{f.out, f.pendingOut}}, func(w io.Writer) {
		writeFields(w, []field{{f.out, "application, for the issuer"}, {f.pendingOut, "keep it until the credential comes"}})
	})
}

func (e *env) groupFinish(c *cobra.Command, f groupJoinFlags, file string) error {
	ctx := c.Context()
	if f.qr != "" {
		return usagef(c, "--qr: a member's key is secret, and goes into a file only")
	}
	to, err := e.readRecipients(ctx, f.to)
	if err != nil {
		return err
	}
	return useSecret(ctx, e, f.secret, f.pending, (*opener).openPending, func(_ *opener, p *groupPending) error {
		if err := refuseStatic(p.gk); err != nil {
			return err
		}
		epoch, err := f.epoch.number(c, e, p.gk)
		if err != nil {
			return err
		}
		name := string(p.file().Parts[2])
		if err := checkMemberName(name); f.out == "" && err != nil {
			return err
		}
		if err := f.name(e, name+".member"); err != nil {
			return err
		}
		cred, err := readGroupParts[*keyfile.GroupCredential](ctx, e, p.gk, file, 1)
		if err != nil {
			return err
		}
		m, err := p.key.Finish(cred[0], epoch)
		if err != nil {
			err = withCode(groupFileError(file, err), ExitInvalid)
			if p.gk.Features().Has(groupsig.Epoch) {
				err = withHint(err, "take the credential for epoch %d: the issuer publishes everybody's with each epoch", epoch)
			}
			return err
		}
		defer m.Wipe()
		data, err := sealGroup(new(keyfile.GroupMember), to, p.gk, epoch, p.gk, m)
		if err != nil {
			return err
		}
		return f.finish(e, data, secretFile, groupJoinResult{name, groupID(p.gk), []string{f.out}}, nil)
	})
}

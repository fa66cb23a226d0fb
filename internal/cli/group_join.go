// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

type groupInviteFlags struct {
	secret                 secretFlags
	issuer, memberKey, out string
	days                   int
	force                  bool
}

func newGroupInviteCmd(e *env) *cobra.Command {
	var f groupInviteFlags
	c := &cobra.Command{
		Use:   "invite NAME --issuer FILE --member-key FILE -i FILE",
		Short: "Invite a member (issuer)",
		Long: `Open a session for a member, whose long-term Ed25519 key the issuer knows. The
result is a challenge for the member, who answers it with join. A session gives
one credential, to this name and this key.`,
		Example: `  undersign group invite alice --issuer council/issuer.age -i issuer.key \
      --member-key alice.pub.pem`,
		Args: nargs(1, 1, "a name"),
		RunE: func(c *cobra.Command, args []string) error { return e.groupInvite(c, f, args[0]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.issuer, "issuer", "", "the issuer's `FILE`")
	c.MarkFlagRequired("issuer")
	addSecretFlags(c, &f.secret)
	fl.StringVar(&f.memberKey, "member-key", "", "the member's Ed25519 public key, PEM `FILE`")
	c.MarkFlagRequired("member-key")
	fl.IntVar(&f.days, "days", 7, "the invitation holds for `N` days, at most 30")
	addOutFlag(c, &f.out, "NAME.challenge")
	addForceFlag(c, &f.force)
	return describe(c, "member, group, expires, file")
}

func (e *env) groupInvite(c *cobra.Command, f groupInviteFlags, name string) error {
	if err := checkHolderName(name); err != nil {
		return err
	}
	if f.days < 1 || f.days > 30 {
		return usagef(c, "--days %d: want 1 to 30", f.days)
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
	if f.out == "" {
		f.out = name + ".challenge"
	}
	if err := e.checkOut(f.out, f.force); err != nil {
		return err
	}
	if err := is.sealed.writable(e, nil); err != nil {
		return err
	}
	if is.register.Member(name) != nil {
		return failf(ExitRefused, "", "%s is a member already", name)
	}
	now := time.Now()
	is.sessions.Purge(now.Unix())
	ch, err := is.key.Invite(is.gk, is.sessions, name, key, now.Unix(), int64(f.days)*24*3600)
	if err != nil {
		return err
	}
	gf, err := newGroupFile(is.gk, is.file.Number, ch)
	if err != nil {
		return err
	}
	data, err := keyfile.Encode(&keyfile.GroupChallenge{GroupFile: gf})
	if err != nil {
		return err
	}
	if err := is.store(e); err != nil {
		return err
	}
	if err := e.writeFile(f.out, data, publicFile, f.force); err != nil || f.out == "-" {
		return err
	}
	id := is.gk.ID()
	expires := time.Unix(ch.Expiry, 0).UTC().Format(time.RFC3339)
	return e.print(struct {
		Member  string `json:"member"`
		Group   string `json:"group"`
		Expires string `json:"expires"`
		File    string `json:"file"`
	}{name, hex.EncodeToString(id[:]), expires, f.out}, func(w io.Writer) { fmt.Fprintf(w, "%s\n", f.out) })
}

type groupJoinFlags struct {
	secret                       secretFlags
	group, id, key, to, issuerTo string
	pending, pendingOut, out     string
	epoch                        uint64
	force                        bool
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
      --epoch 1 --to alice.txt -o alice.member`,
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
	addEpochFlag(c, &f.epoch, "the epoch that the issuer has announced, `N`")
	addSecretFlags(c, &f.secret)
	addOutFlag(c, &f.out, "NAME.application; with --pending NAME.member")
	fl.StringVar(&f.pendingOut, "pending-out", "", "keep the member's secret in `FILE` (default: NAME.pending)")
	addForceFlag(c, &f.force)
	return describe(c, "member, group, files")
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
	id := gk.ID()
	if got := hex.EncodeToString(id[:]); !strings.EqualFold(got, f.id) {
		return failf(ExitRefused, "don't join: ask where this key comes from", "%s is of the group %s, and not of %s", inputName(f.group), got, f.id)
	}
	cf, err := readGroupObject[*keyfile.GroupChallenge](ctx, e, gk, file, 1)
	if err != nil {
		return err
	}
	var ch groupsig.Challenge
	if err := ch.UnmarshalBinary(cf.Parts[0]); err != nil {
		return fileError(file, err)
	}
	if err := checkHolderName(ch.Member); err != nil {
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
	pending, application, err := gk.NewJoin(ch.Member, key, &ch)
	if err != nil {
		return err
	}
	defer pending.Wipe()
	pf, err := newGroupFile(gk, 0, gk, pending, []byte(ch.Member))
	if err != nil {
		return err
	}
	defer pf.Wipe()
	af, err := newGroupFile(gk, 0, []byte(ch.Member), application)
	if err != nil {
		return err
	}
	if f.out == "" {
		f.out = ch.Member + ".application"
	}
	if f.pendingOut == "" {
		f.pendingOut = ch.Member + ".pending"
	}
	set := e.newFileSet(f.force)
	defer set.abort()
	data, err := seal(&keyfile.GroupPending{GroupFile: pf}, to)
	if err != nil {
		return err
	}
	if err := set.add(f.pendingOut, data, secretFile); err != nil {
		return err
	}
	if data, err = seal(&keyfile.GroupApplication{GroupFile: af}, issuerTo); err != nil {
		return err
	}
	if err := set.add(f.out, data, secretFile); err != nil {
		return err
	}
	if err := set.commit(); err != nil {
		return err
	}
	r := groupJoinResult{ch.Member, hex.EncodeToString(id[:]), []string{f.out, f.pendingOut}}
	return e.print(r, func(w io.Writer) {
		writeFields(w, []field{{f.out, "application, for the issuer"}, {f.pendingOut, "keep it until the credential comes"}})
	})
}

func (e *env) groupFinish(c *cobra.Command, f groupJoinFlags, file string) error {
	ctx := c.Context()
	to, err := e.readRecipients(ctx, f.to)
	if err != nil {
		return err
	}
	o, err := e.newOpener(ctx, f.secret)
	if err != nil {
		return err
	}
	defer o.wipe()
	pf, _, err := openSecret[*keyfile.GroupPending](o, f.pending)
	if err != nil {
		return err
	}
	defer pf.Wipe()
	gk, err := groupOf(pf.File(), 3)
	if err != nil {
		return groupFileError(f.pending, err)
	}
	if err := checkEpoch(c, gk); err != nil {
		return err
	}
	cf, err := readGroupObject[*keyfile.GroupCredential](ctx, e, gk, file, 1)
	if err != nil {
		return err
	}
	name := string(pf.Parts[2])
	if f.out == "" {
		if err := checkHolderName(name); err != nil {
			return err
		}
		f.out = name + ".member"
	}
	pending, err := gk.ParsePending(pf.Parts[1])
	if err != nil {
		return groupFileError(f.pending, err)
	}
	defer pending.Wipe()
	m, err := pending.Finish(cf.Parts[0], f.epoch)
	if err != nil {
		return withCode(groupFileError(file, err), ExitInvalid)
	}
	defer m.Wipe()
	mf, err := newGroupFile(gk, f.epoch, gk, m)
	if err != nil {
		return err
	}
	defer mf.Wipe()
	data, err := seal(&keyfile.GroupMember{GroupFile: mf}, to)
	if err != nil {
		return err
	}
	if err := e.writeFile(f.out, data, secretFile, f.force); err != nil || f.out == "-" {
		return err
	}
	id := gk.ID()
	return e.print(groupJoinResult{name, hex.EncodeToString(id[:]), []string{f.out}}, func(w io.Writer) { fmt.Fprintf(w, "%s\n", f.out) })
}

type groupIssueFlags struct {
	secret                        secretFlags
	issuer, openerTo, record, out string
	force                         bool
}

func newGroupIssueCmd(e *env) *cobra.Command {
	var f groupIssueFlags
	c := &cobra.Command{
		Use:   "issue APPLICATION --issuer FILE -i FILE",
		Short: "Admit a member (issuer)",
		Long: `Check a member's application and make its credential. In groups with an opener
there is also the member's record for it, encrypted to the opener, which takes
it in with update: without it the opener can't name the member.

The same application again gets the same answer.`,
		Example: `  undersign group issue alice.application --issuer council/issuer.age -i issuer.key \
      --opener-to opener.txt`,
		Args: nargs(1, 1, "an application"),
		RunE: func(c *cobra.Command, args []string) error { return e.groupIssue(c, f, args[0]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.issuer, "issuer", "", "the issuer's `FILE`")
	c.MarkFlagRequired("issuer")
	addSecretFlags(c, &f.secret)
	fl.StringVar(&f.openerTo, "opener-to", "", "encrypt the record to the age recipients `FILE`")
	addOutFlag(c, &f.out, "NAME.credential")
	fl.StringVar(&f.record, "record", "", "write the record to `FILE` (default: NAME.record)")
	addForceFlag(c, &f.force)
	describe(c, "member, group, epoch, files", ExitInvalid)
	describeExit(c, ExitInvalid, "the application is refused")
	return c
}

func (e *env) groupIssue(c *cobra.Command, f groupIssueFlags, file string) error {
	ctx := c.Context()
	o, err := e.newOpener(ctx, f.secret)
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
	escrow := is.gk.Features().Has(groupsig.Escrow)
	if escrow != (f.openerTo != "") {
		if escrow {
			return failf(ExitUsage, "name the opener with --opener-to FILE", "the group has an opener, who needs the record")
		}
		return usagef(c, "--opener-to: the group has no opener")
	}
	if err := is.sealed.writable(e, nil); err != nil {
		return err
	}
	af, _, err := openSecret[*keyfile.GroupApplication](o, file)
	if err != nil {
		return err
	}
	p, err := groupParts(is.gk, af.File(), 2)
	if err != nil {
		return groupFileError(file, err)
	}
	name := string(p[0])
	if err := checkHolderName(name); err != nil {
		return err
	}
	if f.out == "" {
		f.out = name + ".credential"
	}
	if f.record == "" {
		f.record = name + ".record"
	}
	for _, out := range []string{f.out, f.record} {
		if err := e.checkOut(out, f.force); err != nil {
			return err
		}
	}
	known := is.register.Len()
	cred, err := is.key.Issue(is.gk, is.sessions, is.register, p[1], time.Now().Unix(), is.file.Number)
	if err != nil {
		return withCode(groupFileError(file, err), ExitInvalid)
	}
	r, err := issuedRecord(is.register, known, p[1])
	if err == nil && r.Member != name {
		err = fmt.Errorf("it says %s, and is of %s", name, r.Member)
	}
	if err != nil { // nothing is stored yet
		return withCode(fileError(file, err), ExitInvalid)
	}
	set := e.newFileSet(f.force)
	defer set.abort()
	gf, err := newGroupFile(is.gk, is.file.Number, cred)
	if err != nil {
		return err
	}
	if err := addObject(set, f.out, &keyfile.GroupCredential{GroupFile: gf}); err != nil {
		return err
	}
	files := []field{{f.out, "credential, for " + name}}
	if escrow {
		to, err := e.readRecipients(ctx, f.openerTo)
		if err != nil {
			return err
		}
		rf, err := newGroupFile(is.gk, 0, r)
		if err != nil {
			return err
		}
		data, err := seal(&keyfile.GroupRecord{GroupFile: rf}, to)
		if err != nil {
			return err
		}
		if err := set.add(f.record, data, secretFile); err != nil {
			return err
		}
		files = append(files, field{f.record, "record, for the opener"})
	}
	// What is issued is known to be before it is out: the answer can be had again.
	if err := is.store(e); err != nil {
		return err
	}
	if err := set.commit(); err != nil {
		return err
	}
	id := is.gk.ID()
	out := struct {
		Member string   `json:"member"`
		Group  string   `json:"group"`
		Epoch  uint64   `json:"epoch"`
		Files  []string `json:"files"`
	}{name, hex.EncodeToString(id[:]), is.file.Number, nil}
	for _, x := range files {
		out.Files = append(out.Files, x.name)
	}
	return e.print(out, func(w io.Writer) { writeFields(w, files) })
}

// issuedRecord returns the record of an application that was answered, where the
// register had a number of records before. The name that an application comes with
// proves nothing, and with another's record the opener couldn't name the member.
func issuedRecord(register *groupsig.Register, known int, application []byte) (*groupsig.Record, error) {
	var found []*groupsig.Record
	i := 0
	for r, live := range register.All() {
		if i++; live && (i > known || register.Len() == known && bytes.Contains(application, r.Point)) {
			found = append(found, r)
		}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%d members fit the application", len(found))
	}
	return found[0], nil
}

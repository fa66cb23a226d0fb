// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

type groupIssueFlags struct {
	outFlags
	secret                   secretFlags
	issuer, openerTo, record string
	member, to, key          string // in static groups
	again                    bool
}

func newGroupIssueCmd(e *env) *cobra.Command {
	var f groupIssueFlags
	c := &cobra.Command{
		Use:   "issue APPLICATION|--name NAME --issuer FILE -i FILE",
		Short: "Admit a member (issuer)",
		Long: `Check a member's application and make its credential. In groups with an opener
there is also the member's record for it, encrypted to the opener, which takes
it in with update: without it the opener can't name the member.

The same application again gets the same answer.

In static groups there are no applications: the issuer makes the whole key of
the member --name, encrypted to it (--to). The registration is signed with the
issuer's own long-term Ed25519 key (--key), by which opener and judges check it.
The issuer keeps what the key is made of, and can sign with it too; with --again
it makes the same one, should it get lost.`,
		Example: `  undersign group issue alice.application --issuer council/issuer.age -i issuer.key \
      --opener-to opener.txt
  undersign group issue --name alice --to alice.txt --key issuer.pem \
      --issuer staff/issuer.age -i issuer.key --opener-to opener.txt`,
		Args: nargs(0, 1, "an application"),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case c.Flags().Changed("name") && len(args) > 0:
				return usagef(c, "--name: a member with an application makes its own secret")
			case c.Flags().Changed("name"):
				return e.groupMake(c, f)
			case len(args) == 0:
				return usagef(c, "give the member's application, or in a static group --name")
			case f.to != "" || f.key != "" || f.again:
				return usagef(c, "--to, --key and --again go with --name")
			}
			return e.groupIssue(c, f, args[0])
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.issuer, "issuer", "", "the issuer's `FILE`")
	c.MarkFlagRequired("issuer")
	addSecretFlags(c, &f.secret)
	fl.StringVar(&f.openerTo, "opener-to", "", "encrypt the record to the age recipients `FILE`")
	fl.StringVar(&f.member, "name", "", "in a static group, make the key of the member `NAME`")
	fl.StringVar(&f.to, "to", "", "with --name, encrypt the key to the age recipients `FILE`")
	fl.StringVar(&f.key, "key", "", "with --name, the issuer's long-term Ed25519 private key, PEM `FILE`")
	fl.BoolVar(&f.again, "again", false, "with --name, make the key of who is a member again")
	addOutFlags(c, &f.outFlags, "NAME.credential; with --name NAME.member")
	addQRFlag(c, &f.qr, "credential")
	fl.StringVar(&f.record, "record", "", "write the record to `FILE` (default: NAME.record)")
	describe(c, "member, group, epoch, files, warning (of static groups)", ExitInvalid, ExitRefused)
	describeExit(c, ExitRefused, "who applies was revoked, and can't join anew yet; or is a member already")
	describeExit(c, ExitInvalid, "the application is invalid")
	return c
}

type groupIssueResult struct {
	Member  string   `json:"member"`
	Group   string   `json:"group"`
	Epoch   uint64   `json:"epoch"`
	Files   []string `json:"files"`
	Warning string   `json:"warning,omitempty"`
}

func (e *env) groupIssue(c *cobra.Command, f groupIssueFlags, file string) error {
	return changeSecret(c.Context(), e, f.secret, f.issuer, (*opener).openIssuer, func(o *opener, is *groupIssuer) error {
		return e.admit(c, o, is, f, file)
	})
}

func (e *env) admit(c *cobra.Command, o *opener, is *groupIssuer, f groupIssueFlags, file string) error {
	if err := refuseStatic(is.gk); err != nil {
		return err
	}
	escrow, err := needsRecord(c, is.gk, f.openerTo)
	if err != nil {
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
	if err := checkMemberName(name); err != nil {
		return err
	}
	if err := f.name(e, name+".credential"); err != nil {
		return err
	}
	if f.record == "" {
		f.record = name + ".record"
	}
	if err := e.checkOut(f.record, f.force); escrow && err != nil {
		return err
	}
	known := is.register.Len()
	cred, err := is.key.Issue(is.gk, is.sessions, is.register, p[1], time.Now().Unix(), is.epoch())
	if errors.As(err, new(*groupsig.RejoinError)) {
		return rejoinError(is.gk, err)
	}
	if err != nil {
		return &Error{
			Err:  groupFileError(file, err),
			Hint: "if it should be right, invite the member again with \"undersign group invite\"",
			Code: ExitInvalid,
		}
	}
	r, err := issuedRecord(is.register, known, p[1])
	if err == nil && r.Member != name {
		err = fmt.Errorf("it says %s, and is of %s", name, r.Member)
	}
	if err != nil { // nothing is stored yet
		return withCode(fileError(file, err), ExitInvalid)
	}
	data, err := encodeGroup(new(keyfile.GroupCredential), is.gk, is.epoch(), cred)
	if err != nil {
		return err
	}
	set, err := f.set(e, data, publicFile)
	if err != nil {
		return err
	}
	defer set.abort()
	files := []field{{f.out, "credential, for " + name}}
	if escrow {
		if err := e.addRecord(c, set, is.gk, f, r); err != nil {
			return err
		}
		files = append(files, field{f.record, "record, for the opener"})
	}
	// What is issued is known to be before it is out: the answer can be had again.
	if err := is.store(e); err != nil {
		return err
	}
	return f.commitIssued(e, set, is, name, files)
}

// needsRecord reports whether there is an opener, who needs a new member's record.
func needsRecord(c *cobra.Command, gk groupsig.GroupKey, openerTo string) (bool, error) {
	escrow := gk.Features().Has(groupsig.Escrow)
	switch {
	case escrow && openerTo == "":
		return false, failf(ExitUsage, "name the opener with --opener-to FILE", "the group has an opener, who needs the record")
	case !escrow && openerTo != "":
		return false, usagef(c, "--opener-to: the group has no opener")
	}
	return escrow, nil
}

// addRecord adds a member's record, for the opener.
func (e *env) addRecord(c *cobra.Command, set *fileSet, gk groupsig.GroupKey, f groupIssueFlags, r *groupsig.Record) error {
	to, err := e.readRecipients(c.Context(), f.openerTo)
	if err != nil {
		return err
	}
	data, err := sealGroup(new(keyfile.GroupRecord), to, gk, 0, r)
	if err != nil {
		return err
	}
	return set.add(f.record, data, secretFile)
}

// commitIssued releases what a new member gets, once that is stored.
func (f *groupIssueFlags) commitIssued(e *env, set *fileSet, is *groupIssuer, name string, files []field) error {
	out := groupIssueResult{Member: name, Group: groupID(is.gk), Epoch: is.epoch(), Warning: staticWarning(is.gk.Features())}
	for _, x := range files {
		out.Files = append(out.Files, x.name)
	}
	return f.commit(e, set, out, func(w io.Writer) {
		writeFields(w, files)
		writeWarning(w, out.Warning)
	})
}

// issuedRecord returns the record of an application that was answered, where the
// register had a number of records before. The name that an application comes with
// proves nothing, and with another's record the opener couldn't name the member.
func issuedRecord(register *groupsig.Register, known int, application []byte) (*groupsig.Record, error) {
	var found []*groupsig.Record
	i := 0
	for r, live := range register.All() {
		if i++; i <= known && (register.Len() > known || !bytes.Contains(application, r.Point)) {
			continue
		}
		if !live {
			return nil, fmt.Errorf("%s was admitted by it, and is revoked", r.Member)
		}
		found = append(found, r)
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%d members fit the application", len(found))
	}
	return found[0], nil
}

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
	addOutFlags(c, &f.outFlags, "NAME.credential")
	addQRFlag(c, &f.qr, "credential")
	fl.StringVar(&f.record, "record", "", "write the record to `FILE` (default: NAME.record)")
	describe(c, "member, group, epoch, files", ExitInvalid, ExitRefused)
	describeExit(c, ExitRefused, "who applies was revoked, and can't join anew yet")
	describeExit(c, ExitInvalid, "the application is invalid")
	return c
}

type groupIssueResult struct {
	Member string   `json:"member"`
	Group  string   `json:"group"`
	Epoch  uint64   `json:"epoch"`
	Files  []string `json:"files"`
}

func (e *env) groupIssue(c *cobra.Command, f groupIssueFlags, file string) error {
	return changeSecret(c.Context(), e, f.secret, f.issuer, (*opener).openIssuer, func(o *opener, is *groupIssuer) error {
		return e.admit(c, o, is, f, file)
	})
}

func (e *env) admit(c *cobra.Command, o *opener, is *groupIssuer, f groupIssueFlags, file string) error {
	escrow := is.gk.Features().Has(groupsig.Escrow)
	if escrow != (f.openerTo != "") {
		if escrow {
			return failf(ExitUsage, "name the opener with --opener-to FILE", "the group has an opener, who needs the record")
		}
		return usagef(c, "--opener-to: the group has no opener")
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
		to, err := e.readRecipients(c.Context(), f.openerTo)
		if err != nil {
			return err
		}
		data, err := sealGroup(new(keyfile.GroupRecord), to, is.gk, 0, r)
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
	out := groupIssueResult{Member: name, Group: groupID(is.gk), Epoch: is.epoch()}
	for _, x := range files {
		out.Files = append(out.Files, x.name)
	}
	return f.commit(e, set, out, func(w io.Writer) { writeFields(w, files) })
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

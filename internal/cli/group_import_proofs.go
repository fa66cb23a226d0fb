// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig/libgroupsig"
)

// Proofs of libgroupsig that were kept: of openings, and of links.

// addFormatFlag gives a command that checks proofs its --format.
func addFormatFlag(c *cobra.Command, format *string) {
	c.Flags().StringVar(format, "format", formatOwn, "the signatures and the proof are of `PROGRAM`: undersign or libgroupsig")
}

// checkFormat refuses formats that there aren't, and reports whether it is libgroupsig's.
func checkFormat(c *cobra.Command, format string) (imported bool, err error) {
	if format != formatOwn && format != formatLibgroupsig {
		return false, usagef(c, "--format %q: there are %s and %s", format, formatOwn, formatLibgroupsig)
	}
	return format == formatLibgroupsig, nil
}

type importedOpeningResult struct {
	Group   string   `json:"group"`
	Scheme  string   `json:"scheme"`
	Members []uint64 `json:"members,omitempty"` // IDs of one entry of the list
	Flaws   []string `json:"flaws"`
}

// verifyImportedOpening checks the proof of an opening, which names somebody only by the
// list of members.
func (e *env) verifyImportedOpening(c *cobra.Command, f groupVerifyOpeningFlags, file string) error {
	ctx := c.Context()
	for _, name := range []string{"member-key", "reason", "revoked"} {
		if c.Flags().Changed(name) {
			return usagef(c, "--%s: openings of libgroupsig have no such thing", name)
		}
	}
	k, err := e.readImported(ctx, f.group)
	if err != nil {
		return err
	}
	if !k.Scheme().HasOpenings() {
		return usagef(c, "%s of libgroupsig has no proofs of openings", k.Scheme())
	}
	msg, sig, err := e.readImportedSigned(ctx, file, f.sig)
	if err != nil {
		return err
	}
	proof, err := e.readInput(ctx, f.opening, maxObject)
	if err != nil {
		return err
	}
	var list *libgroupsig.MemberList
	if f.members != "" {
		data, err := e.readInput(ctx, f.members, maxObject)
		if err != nil {
			return err
		}
		if list, err = k.ParseMemberList(data); err != nil {
			return fileError(f.members, err)
		}
	}
	o, err := k.VerifyOpening(msg, sig, proof)
	if errors.Is(err, libgroupsig.ErrSignature) {
		return withCode(fileError(file, err), ExitInvalid)
	}
	if err != nil {
		return withCode(fileError(f.opening, err), ExitInvalid)
	}
	r := importedOpeningResult{Group: importedID(k), Scheme: k.Scheme().String(), Flaws: k.Scheme().Flaws()}
	if list != nil {
		if r.Members, err = openedMembers(ctx, o, list); err != nil {
			return err
		}
		if len(r.Members) == 0 {
			return notOnList(f, list)
		}
	}
	return e.print(r, func(w io.Writer) {
		switch ids := strings.Trim(fmt.Sprint(r.Members), "[]"); len(r.Members) {
		case 0:
			fmt.Fprintf(w, "the proof is valid, and says who signed only to who has the list of members (--members)\n")
		case 1:
			fmt.Fprintf(w, "proved: signed by member %s of the list\n", ids)
		default:
			fmt.Fprintf(w, "proved: signed by who is on the list as the members %s\n", ids)
		}
		writeFlaws(w, r.Flaws)
	})
}

// openedMembers returns the IDs of the members that an opening is about: one, unless an
// entry is there under several.
func openedMembers(ctx context.Context, o *libgroupsig.Opening, list *libgroupsig.MemberList) (ids []uint64, err error) {
	for _, m := range list.Members {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if id, ok := o.Member(&libgroupsig.MemberList{Scheme: list.Scheme, Members: []libgroupsig.Member{m}}); ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func notOnList(f groupVerifyOpeningFlags, list *libgroupsig.MemberList) error {
	hint := "get the manager's newest list: the signer may have joined after this one"
	if list.Scheme == libgroupsig.KLAP20 && !slices.Contains(list.Editions, libgroupsig.Fork) {
		hint = "it is a list of IBM's edition, which lacks what tells the members apart"
	}
	return failf(ExitInvalid, hint, "%s: the proof is valid, and about nobody on the list %s", inputName(f.opening), inputName(f.members))
}

type importedLinkResult struct {
	groupLinkResult
	Group  string   `json:"group"`
	Scheme string   `json:"scheme"`
	Flaws  []string `json:"flaws"`
}

// checkImportedLink checks the proof of a link.
func (e *env) checkImportedLink(c *cobra.Command, f groupLinkFlags, files []string) error {
	ctx := c.Context()
	switch {
	case f.check == "":
		return failf(ExitUsage, "name a proof with --check FILE", "--format: links of %s are checked here, and not made", f.format)
	case f.revoked != "":
		return usagef(c, "--revoked: groups of libgroupsig have no such thing")
	case f.reason == "":
		return usagef(c, "--reason is needed: the message that the library was given for the link")
	case len(f.sigs) > 0 && len(f.sigs) != len(files):
		return usagef(c, "--sig has %d files, and there are %d signed ones", len(f.sigs), len(files))
	}
	k, err := e.readImported(ctx, f.group)
	if err != nil {
		return err
	}
	if !k.Scheme().HasScopes() {
		return usagef(c, "%s of libgroupsig has no links", k.Scheme())
	}
	var set []libgroupsig.Signed
	for i, file := range files {
		sigFile := ""
		if len(f.sigs) > 0 {
			sigFile = f.sigs[i]
		}
		msg, sig, err := e.readImportedSigned(ctx, file, sigFile)
		if err != nil {
			return err
		}
		if _, err := k.Verify(msg, sig); err != nil { // by VerifyLink too, but with a number in place of the name
			return withCode(fileError(file, err), ExitInvalid)
		}
		set = append(set, libgroupsig.Signed{Message: msg, Signature: sig})
	}
	proof, err := e.readInput(ctx, f.check, maxObject)
	if err != nil {
		return err
	}
	if err := k.VerifyLink(set, []byte(f.reason), proof); err != nil {
		return &Error{
			Err:  fileError(f.check, err),
			Hint: "a proof is for the same files, each once, with the --reason that it was made for",
			Code: ExitInvalid,
		}
	}
	r := importedLinkResult{groupLinkResult{true, files, f.check}, importedID(k), k.Scheme().String(), k.Scheme().Flaws()}
	return e.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "proved: the pseudonyms are of one secret\n")
		writeFlaws(w, r.Flaws)
	})
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

const (
	groupKeyName   = "group.pub"
	defaultScheme  = "bbsgs"
	defaultFeature = "scope,escrow,epoch"
)

// draftFlags say what a group is to be.
type draftFlags struct{ scheme, with string }

func (f *draftFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.scheme, "scheme", defaultScheme, "scheme, `NAME`: see schemes")
	c.Flags().StringVar(&f.with, "with", "", "features `NAME,...` that the group has on demand (default: "+defaultFeature+" for "+defaultScheme+", none for others)")
}

func (f *draftFlags) draft(c *cobra.Command, label string) (groupsig.Draft, error) {
	s, err := groupsig.ByName(f.scheme)
	if err != nil {
		return nil, usagef(c, "%w", err)
	}
	if !c.Flags().Changed("with") && f.scheme == defaultScheme {
		f.with = defaultFeature
	}
	features, err := groupsig.ParseFeatures(f.with)
	if err != nil {
		return nil, usagef(c, "--with: %w", err)
	}
	d, err := s.NewDraft(label, features)
	if err != nil {
		return nil, usagef(c, "%w", err)
	}
	return d, nil
}

type groupCreateFlags struct {
	draftFlags
	to    roleFlags
	out   string
	force bool
}

func newGroupCreateCmd(e *env) *cobra.Command {
	var f groupCreateFlags
	c := &cobra.Command{
		Use:   "create LABEL --issuer-to FILE -o DIR",
		Short: "Make a group",
		Long: `Make a group: its public key group.pub, and a secret file for each of its roles,
encrypted to who has the role.

issuer.age admits members. opener.age, in groups with escrow, finds out who
signed. converter.age, in groups with convert, makes pseudonyms comparable, and
linker.age, in groups with link, shows which signatures are of one member. They
belong into different hands, and who makes the group with this command has seen
all of them: with draft, enroll and agree, each role makes its own.

The group's ID, which is printed, has to be published where members and
verifiers can compare it: a key that was made for one member betrays that one.
Generators come from the LABEL, which should be unique.

With --scheme bbs04 --with static nobody joins: the issuer makes all members'
keys, and can sign in their names. It is for who has to have that.`,
		Example: `  undersign group create council --issuer-to issuer.txt --opener-to opener.txt -o council
  undersign group create fares --scheme klap20 --issuer-to i.txt --opener-to o.txt -o fares
  undersign group create votes --with scope,epoch --issuer-to i.txt -o votes
  undersign group create staff --scheme bbs04 --with static \
      --issuer-to i.txt --opener-to o.txt -o staff`,
		Args: nargs(1, 1, "a label"),
		RunE: func(c *cobra.Command, args []string) error { return e.groupCreate(c, f, args[0]) },
	}
	fl := c.Flags()
	f.draftFlags.add(c)
	f.to.add(c, "-to", "encrypt the %s's file to the age recipients `FILE`")
	fl.StringVarP(&f.out, "out", "o", "", "write the files to the directory `DIR`")
	addForceFlag(c, &f.force)
	c.MarkFlagRequired("issuer-to")
	c.MarkFlagRequired("out")
	return describe(c, "scheme, label, features, group (ID), files, warning (of static groups)")
}

type groupCreateResult struct {
	Scheme   string   `json:"scheme"`
	Label    string   `json:"label"`
	Features string   `json:"features"`
	Group    string   `json:"group"`
	Files    []string `json:"files"`
	Warning  string   `json:"warning,omitempty"`
}

func (e *env) groupCreate(c *cobra.Command, f groupCreateFlags, label string) error {
	draft, err := f.draft(c, label)
	if err != nil {
		return err
	}
	if f.out == "-" {
		return failf(ExitUsage, "name a directory with -o", "a group is several files, and can't go to standard output")
	}
	features := draft.Features()
	to, err := e.readRoleRecipients(c, features, f.to)
	if err != nil {
		return err
	}
	keys := map[int]groupsig.Role{}
	for _, i := range rolesOf(features) {
		if keys[i], err = groupRoles[i].generate(draft.Scheme(), features); err != nil {
			return err
		}
		defer keys[i].Wipe()
		if err := keys[i].Enroll(draft); err != nil {
			return err
		}
	}
	for _, i := range rolesOf(features) {
		if err := keys[i].Consent(draft); err != nil {
			return err
		}
	}
	gk, err := draft.GroupKey()
	if err != nil {
		return err
	}

	r := newGroupCreateResult(gk)
	set := e.newFileSet(f.force)
	defer set.abort()
	add := func(name string, data []byte, err error, mode fs.FileMode) error {
		if err != nil {
			return err
		}
		path := filepath.Join(f.out, name)
		r.Files = append(r.Files, path)
		return set.add(path, data, mode)
	}
	if !e.dryRun {
		if err := os.MkdirAll(f.out, 0o777); err != nil {
			return outputError(f.out, err)
		}
	}
	data, err := encodeGroup(new(keyfile.GroupKey), gk, 0, gk)
	if err := add(groupKeyName, data, err, publicFile); err != nil {
		return err
	}
	for _, i := range rolesOf(features) {
		role := &groupRoles[i]
		v := role.empty()
		err := role.fill(v, gk, keys[i])
		if err == nil {
			data, err = seal(v, to[i])
		}
		v.File().Wipe()
		if err := add(role.fileName(), data, err, secretFile); err != nil {
			return err
		}
	}
	if err := c.Context().Err(); err != nil {
		return err
	}
	if err := set.commit(); err != nil {
		return err
	}
	return e.print(r, func(w io.Writer) { r.write(w, gk.Features()) })
}

func newGroupCreateResult(gk groupsig.GroupKey) groupCreateResult {
	return groupCreateResult{Scheme: gk.Scheme().Name(), Label: gk.Label(), Features: gk.Features().String(), Group: groupID(gk), Warning: staticWarning(gk.Features())}
}

func (r *groupCreateResult) write(w io.Writer, features groupsig.Features) {
	fmt.Fprintf(w, "group %s: %s\n", oneLine(r.Label), withFeatures(r.Scheme, r.Features))
	fmt.Fprintf(w, "ID %s\n\n", r.Group)
	var fs []field
	for _, file := range r.Files {
		says := "group key, for everybody"
		if name, secret := strings.CutSuffix(filepath.Base(file), ".age"); secret {
			says = "for the " + name + " only"
		}
		fs = append(fs, field{file, says})
	}
	writeFields(w, fs)
	if r.Warning != "" {
		fmt.Fprintln(w)
		writeWarning(w, r.Warning)
		fmt.Fprintf(w, "It makes them with \"undersign group issue --name NAME\".\n")
	}
	if features.Has(groupsig.Rekey) {
		fmt.Fprintf(w, "\nThe issuer makes the first list of who is revoked, which verifiers need, with\n\"undersign group revoke --issuer FILE -o LIST\".\n")
	}
	if features.Has(groupsig.Epoch) {
		fmt.Fprintf(w, "\nThe epoch is %d. The issuer announces it to members and verifiers with\n\"undersign group announce\".\n", firstEpoch)
	}
}

func withFeatures(scheme, features string) string {
	if features == "" {
		return scheme
	}
	return scheme + " with " + strings.ReplaceAll(features, ",", ", ")
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

func newGroupSchemesCmd(e *env) *cobra.Command {
	c := &cobra.Command{
		Use:   "schemes",
		Short: "List the schemes",
		Long: `List the schemes of group signatures, with the features that groups always have
and those that they may have besides.`,
		Example: `  undersign group schemes
  undersign group schemes --json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return e.groupSchemes() },
	}
	return describe(c, "schemes [name, summary, required, optional]")
}

type schemeResult struct {
	Name     string `json:"name"`
	Summary  string `json:"summary"`
	Required string `json:"required"`
	Optional string `json:"optional"`
}

func (e *env) groupSchemes() error {
	var r struct {
		Schemes []schemeResult `json:"schemes"`
	}
	for _, s := range groupsig.Schemes() {
		r.Schemes = append(r.Schemes, schemeResult{s.Name(), s.Summary(), s.Required().String(), s.Optional().String()})
	}
	return e.print(r, func(w io.Writer) {
		for _, s := range r.Schemes {
			fmt.Fprintf(w, "%s: %s\n", s.Name, s.Summary)
			if s.Required != "" {
				fmt.Fprintf(w, "  always: %s\n", s.Required)
			}
			if s.Optional != "" {
				fmt.Fprintf(w, "  on demand: %s\n", s.Optional)
			}
		}
	})
}

// Names of the files that create writes.
const (
	groupKeyName   = "group.pub"
	issuerName     = "issuer.age"
	groupOpenName  = "opener.age"
	converterName  = "converter.age"
	defaultScheme  = "bbsgs"
	defaultFeature = "scope,escrow,epoch"
)

type groupCreateFlags struct {
	scheme, with                    string
	issuerTo, openerTo, converterTo string
	out                             string
	force                           bool
}

func newGroupCreateCmd(e *env) *cobra.Command {
	var f groupCreateFlags
	c := &cobra.Command{
		Use:   "create LABEL --issuer-to FILE -o DIR",
		Short: "Make a group",
		Long: `Make a group: its public key group.pub, and a secret file for each of its roles,
encrypted to who has the role.

issuer.age admits members. opener.age, in groups with escrow, finds out who
signed. converter.age, in groups with convert, makes pseudonyms comparable. They
belong into different hands: who makes the group has seen all of them.

The group's ID, which is printed, has to be published where members and
verifiers can compare it: a key that was made for one member betrays that one.
Generators come from the LABEL, which should be unique.`,
		Example: `  undersign group create council --issuer-to issuer.txt --opener-to opener.txt -o council
  undersign group create fares --scheme klap20 --issuer-to i.txt --opener-to o.txt -o fares
  undersign group create votes --with scope,epoch --issuer-to i.txt -o votes`,
		Args: nargs(1, 1, "a label"),
		RunE: func(c *cobra.Command, args []string) error { return e.groupCreate(c, f, args[0]) },
	}
	fl := c.Flags()
	fl.StringVar(&f.scheme, "scheme", defaultScheme, "scheme, `NAME`: see schemes")
	fl.StringVar(&f.with, "with", "", "features `NAME,...` that the group has on demand (default: "+defaultFeature+" for "+defaultScheme+", none for others)")
	fl.StringVar(&f.issuerTo, "issuer-to", "", "encrypt the issuer's file to the age recipients `FILE`")
	fl.StringVar(&f.openerTo, "opener-to", "", "encrypt the opener's file to the age recipients `FILE`")
	fl.StringVar(&f.converterTo, "converter-to", "", "encrypt the converter's file to the age recipients `FILE`")
	fl.StringVarP(&f.out, "out", "o", "", "write the files to the directory `DIR`")
	addForceFlag(c, &f.force)
	c.MarkFlagRequired("issuer-to")
	c.MarkFlagRequired("out")
	return describe(c, "scheme, label, features, group (ID), files")
}

type groupCreateResult struct {
	Scheme   string   `json:"scheme"`
	Label    string   `json:"label"`
	Features string   `json:"features"`
	Group    string   `json:"group"`
	Files    []string `json:"files"`
}

func (e *env) groupCreate(c *cobra.Command, f groupCreateFlags, label string) error {
	s, err := groupsig.ByName(f.scheme)
	if err != nil {
		return usagef(c, "%w", err)
	}
	if !c.Flags().Changed("with") && f.scheme == defaultScheme {
		f.with = defaultFeature
	}
	features, err := groupsig.ParseFeatures(f.with)
	if err != nil {
		return usagef(c, "--with: %w", err)
	}
	draft, err := s.NewDraft(label, features)
	if err != nil {
		return usagef(c, "%w", err)
	}
	features = draft.Features()
	type role struct {
		name, to string
		has      groupsig.Features
		flag     string
	}
	roles := []role{
		{issuerName, f.issuerTo, 0, "--issuer-to"},
		{groupOpenName, f.openerTo, groupsig.Escrow, "--opener-to"},
		{converterName, f.converterTo, groupsig.Convert, "--converter-to"},
	}
	recipients := map[string][]age.Recipient{}
	for _, r := range roles {
		switch has := features.Has(r.has); {
		case has && r.to == "":
			return failf(ExitUsage, "name who has it with "+r.flag+" FILE", "a group with %s has somebody for it", r.has)
		case !has && r.to != "":
			return failf(ExitUsage, "see --with", "%s: the group has no %s", r.flag, r.has)
		case has:
			if recipients[r.name], err = e.readRecipients(c.Context(), r.to); err != nil {
				return err
			}
		}
	}

	issuer := s.GenerateIssuerKey()
	all := []groupsig.Role{issuer}
	var opener groupsig.Opener
	var converter groupsig.Converter
	if features.Has(groupsig.Escrow) {
		if opener, err = s.GenerateOpenerKey(features); err != nil {
			return err
		}
		all = append(all, opener)
	}
	if features.Has(groupsig.Convert) {
		if converter, err = s.GenerateConverterKey(); err != nil {
			return err
		}
		all = append(all, converter)
	}
	for _, r := range all {
		defer r.Wipe()
		if err := r.Enroll(draft); err != nil {
			return err
		}
	}
	for _, r := range all {
		if err := r.Consent(draft); err != nil {
			return err
		}
	}
	gk, err := draft.GroupKey()
	if err != nil {
		return err
	}

	if f.out == "-" {
		return failf(ExitUsage, "name a directory with -o", "a group is several files, and can't go to standard output")
	}
	if !e.dryRun {
		if err := os.MkdirAll(f.out, 0o777); err != nil {
			return outputError(f.out, err)
		}
	}
	id := gk.ID()
	r := groupCreateResult{Scheme: s.Name(), Label: gk.Label(), Features: features.String(), Group: hex.EncodeToString(id[:])}
	set := e.newFileSet(f.force)
	defer set.abort()
	add := func(name string, v groupFile, content ...any) error {
		file := v.File()
		var epoch uint64
		if name == issuerName && features.Has(groupsig.Epoch) {
			epoch = 1
		}
		var err error
		if *file, err = newGroupFile(gk, epoch, content...); err != nil {
			return err
		}
		defer file.Wipe()
		path := filepath.Join(f.out, name)
		r.Files = append(r.Files, path)
		if name == groupKeyName {
			return addObject(set, path, v)
		}
		data, err := seal(v, recipients[name])
		if err != nil {
			return err
		}
		return set.add(path, data, secretFile)
	}
	err = add(groupKeyName, new(keyfile.GroupKey), gk)
	if err == nil {
		err = add(issuerName, new(keyfile.GroupIssuer), gk, issuer, gk.NewSessions(), gk.NewRegister())
	}
	if err == nil && opener != nil {
		err = add(groupOpenName, new(keyfile.GroupOpener), gk, opener, gk.NewRegister())
	}
	if err == nil && converter != nil {
		err = add(converterName, new(keyfile.GroupConverter), gk, converter)
	}
	if err = errors.Join(err, c.Context().Err()); err != nil {
		return err
	}
	if err := set.commit(); err != nil {
		return err
	}
	return e.print(r, func(w io.Writer) {
		what := r.Scheme
		if r.Features != "" {
			what += " with " + strings.ReplaceAll(r.Features, ",", ", ")
		}
		fmt.Fprintf(w, "group %s: %s\n", r.Label, what)
		fmt.Fprintf(w, "ID %s\n\n", r.Group)
		says := map[string]string{
			groupKeyName:  "group key, for everybody",
			issuerName:    "for the issuer only",
			groupOpenName: "for the opener only",
			converterName: "for the converter only",
		}
		var fs []field
		for _, file := range r.Files {
			fs = append(fs, field{file, says[filepath.Base(file)]})
		}
		writeFields(w, fs)
		if features.Has(groupsig.Epoch) {
			fmt.Fprintf(w, "\nThe epoch is 1. Publish it with the ID.\n")
		}
	})
}

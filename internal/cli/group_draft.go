// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

// Setting up a group on several machines: its draft goes from role to role twice. The
// number in its file has a bit for each role that has enrolled, and one, agreedShift
// further, for each that has agreed: so that people can be told who is next. Nothing
// else depends on it.
const agreedShift = 8

type draftFile struct {
	path   string
	force  bool // to replace what is at path
	file   *keyfile.GroupDraft
	scheme groupsig.Scheme
	draft  groupsig.Draft
}

func (e *env) readDraft(ctx context.Context, path string) (*draftFile, error) {
	v, err := readObject[*keyfile.GroupDraft](ctx, e, path)
	if err != nil {
		return nil, err
	}
	d := &draftFile{path: path, file: v}
	if d.scheme, err = groupsig.ByName(v.Scheme); err == nil {
		if len(v.Parts) != 1 {
			err = fmt.Errorf("it has %d parts, and should have 1", len(v.Parts))
		} else {
			d.draft, err = d.scheme.ParseDraft(v.Parts[0])
		}
	}
	return d, groupFileError(path, err)
}

func (d *draftFile) has(role, shift int) bool { return d.file.Number>>(role+shift)&1 == 1 }

// missing returns the roles that haven't enrolled, or with agreedShift agreed.
func (d *draftFile) missing(shift int) (names []string) {
	for _, i := range rolesOf(d.draft.Features()) {
		if !d.has(i, shift) {
			names = append(names, groupRoles[i].name)
		}
	}
	return names
}

// next says what is to be done with the draft.
func (d *draftFile) next() string {
	if m := d.missing(0); len(m) > 0 {
		return "next: " + strings.Join(m, " and ") + " enroll"
	}
	if m := d.missing(agreedShift); len(m) > 0 {
		return "next: " + strings.Join(m, " and ") + " agree"
	}
	return "all have agreed"
}

func (d *draftFile) encode() ([]byte, error) {
	data, err := d.draft.MarshalBinary()
	if err != nil {
		return nil, err
	}
	d.file.Scheme, d.file.Parts = d.draft.Scheme().Name(), [][]byte{data}
	return keyfile.Encode(d.file)
}

type groupDraftResult struct {
	Scheme   string   `json:"scheme"`
	Label    string   `json:"label"`
	Features string   `json:"features"`
	Group    string   `json:"group,omitempty"`
	Enroll   []string `json:"to_enroll"`
	Agree    []string `json:"to_agree"`
	Files    []string `json:"files"`
	Warning  string   `json:"warning,omitempty"`
}

const draftFields = "scheme, label, features, group (ID, once all have enrolled), to_enroll, to_agree, files,\n  warning (of static groups)"

func (d *draftFile) result(files ...string) groupDraftResult {
	r := groupDraftResult{
		Scheme: d.draft.Scheme().Name(), Label: d.draft.Label(), Features: d.draft.Features().String(),
		Enroll: notNil(d.missing(0)), Agree: notNil(d.missing(agreedShift)), Files: files, Warning: staticWarning(d.draft.Features()),
	}
	if len(r.Enroll) == 0 {
		if id, err := d.draft.ID(); err == nil {
			r.Group = fmt.Sprintf("%x", id)
		}
	}
	return r
}

func (d *draftFile) print(w io.Writer, r groupDraftResult) {
	fmt.Fprintf(w, "group %s: %s\n", oneLine(r.Label), withFeatures(r.Scheme, r.Features))
	if r.Group != "" {
		fmt.Fprintf(w, "ID %s\n", r.Group)
	}
	for _, f := range r.Files {
		fmt.Fprintf(w, "%s\n", oneLine(f))
	}
	writeWarning(w, r.Warning)
	fmt.Fprintf(w, "%s\n", d.next())
}

func newGroupDraftCmd(e *env) *cobra.Command {
	var f struct {
		outFlags
		draftFlags
	}
	c := &cobra.Command{
		Use:   "draft LABEL",
		Short: "Start a group whose roles are on different machines",
		Long: `Start a group, each of whose roles makes its own key on its own machine, so that
nobody ever has all of them. The draft goes round twice: each role enrolls, then
each agrees. When all have, agree writes the group key, and each role takes that
in with update.

Generators come from the LABEL, which should be unique.`,
		Example: `  undersign group draft council -o council.draft
  undersign group enroll council.draft --as issuer --to issuer.txt
  undersign group enroll council.draft --as opener --to opener.txt
  undersign group agree council.draft --opener opener.age -i opener.key
  undersign group agree council.draft --issuer issuer.age -i issuer.key
  undersign group update group.pub --opener opener.age -i opener.key`,
		Args: nargs(1, 1, "a label"),
		RunE: func(c *cobra.Command, args []string) error {
			draft, err := f.draft(c, args[0])
			if err != nil {
				return err
			}
			if f.out == "" {
				if err := checkHolderName(args[0]); err != nil {
					return failf(ExitUsage, "name the file with -o", "%q can't be part of a file name", args[0])
				}
			}
			if err := f.name(e, args[0]+".draft"); err != nil {
				return err
			}
			d := &draftFile{path: f.out, file: new(keyfile.GroupDraft), draft: draft}
			data, err := d.encode()
			if err != nil {
				return err
			}
			r := d.result(f.out)
			return f.finish(e, data, publicFile, r, func(w io.Writer) { d.print(w, r) })
		},
	}
	f.draftFlags.add(c)
	addOutFlags(c, &f.outFlags, "LABEL.draft")
	return describe(c, draftFields)
}

func newGroupEnrollCmd(e *env) *cobra.Command {
	var as, to, draftOut string
	var out outFlags
	c := &cobra.Command{
		Use:   "enroll DRAFT --as ROLE --to FILE",
		Short: "Make a role's key for a group to be",
		Long: `Make the key of a role, issuer, opener, converter or linker, and put its public
part into a group's draft. The secret part stays here, in a file that is
encrypted to who has the role. The draft is written back: pass it on.`,
		Example: `  undersign group enroll council.draft --as opener --to opener.txt`,
		Args:    nargs(1, 1, "a draft"),
		RunE: func(c *cobra.Command, args []string) error {
			i := slices.IndexFunc(groupRoles, func(r groupRole) bool { return r.name == as })
			if i < 0 {
				return usagef(c, "--as %q: want "+roleNames, as)
			}
			return e.enroll(c, &groupRoles[i], i, args[0], to, draftOut, out)
		},
	}
	fl := c.Flags()
	fl.StringVar(&as, "as", "", "`ROLE` to take: "+roleNames)
	c.MarkFlagRequired("as")
	fl.StringVar(&to, "to", "", "encrypt the role's file to the age recipients `FILE`")
	c.MarkFlagRequired("to")
	fl.StringVar(&draftOut, "draft-out", "", "write the draft to `FILE` (default: back)")
	addOutFlags(c, &out, "ROLE.age")
	describe(c, draftFields, ExitRefused)
	describeExit(c, ExitRefused, "somebody else has the role already")
	return c
}

func (e *env) enroll(c *cobra.Command, role *groupRole, bit int, file, to, draftOut string, out outFlags) error {
	d, err := e.readDraft(c.Context(), file)
	if err != nil {
		return err
	}
	switch {
	case !d.draft.Features().Has(role.needs):
		return failf(ExitUsage, "start a draft --with "+role.needs.String(), "%s: the group has no %s", inputName(file), role.name)
	case d.has(bit, 0):
		return failf(ExitRefused, "start anew with \"undersign group draft\" if it isn't who it should be", "%s has an %s already", inputName(file), role.name)
	}
	recipients, err := e.readRecipients(c.Context(), to)
	if err != nil {
		return err
	}
	if err := out.name(e, role.fileName()); err != nil {
		return err
	}
	if err := d.moveTo(e, draftOut, out.force); err != nil {
		return err
	}
	key, err := role.generate(d.scheme, d.draft.Features())
	if err != nil {
		return err
	}
	defer key.Wipe()
	if err := key.Enroll(d.draft); err != nil {
		return err
	}
	d.file.Number |= 1 << bit
	secret, err := key.MarshalBinary()
	if err != nil {
		return err
	}
	defer clear(secret)
	v := role.empty()
	*v.File() = keyfile.GroupFile{Scheme: d.scheme.Name(), Parts: [][]byte{secret}}
	data, err := seal(v, recipients)
	if err != nil {
		return err
	}
	// The key is there before its public part is in the draft.
	set, err := out.set(e, data, secretFile)
	if err != nil {
		return err
	}
	defer set.abort()
	if err := set.commit(); err != nil {
		return err
	}
	if err := d.write(e); err != nil {
		return err
	}
	r := d.result(out.out, d.path)
	return e.print(r, func(w io.Writer) { d.print(w, r) })
}

// moveTo says where the draft is to be written, if not back.
func (d *draftFile) moveTo(e *env, path string, force bool) error {
	d.force = true
	if path != "" {
		d.path, d.force = path, force
		return e.checkOut(path, force)
	}
	if d.path == "-" {
		return failf(ExitUsage, "name it, or another file with --draft-out", "a draft from standard input can't be written back")
	}
	return nil
}

func (d *draftFile) write(e *env) error {
	data, err := d.encode()
	if err != nil {
		return err
	}
	return e.writeFile(d.path, data, publicFile, d.force)
}

func newGroupAgreeCmd(e *env) *cobra.Command {
	var secret secretFlags
	var roles roleFlags
	var draftOut string
	var out outFlags
	c := &cobra.Command{
		Use:   "agree DRAFT --issuer FILE|--opener FILE|--converter FILE|--linker FILE -i FILE",
		Short: "Agree to a group, with a role's key",
		Long: `Agree to a group to be, in which all roles have enrolled, and prove that the
role has the secret of its key. What is agreed to is the ID that is shown:
compare it with the other roles. On a terminal it has to be confirmed. The draft
is written back.

The last one to agree gets the group key as well: pass it to the others, who
take it in with update.`,
		Example: `  undersign group agree council.draft --opener opener.age -i opener.key`,
		Args:    nargs(1, 1, "a draft"),
		RunE: func(c *cobra.Command, args []string) error {
			bit, path, err := roles.only(c)
			if err != nil {
				return err
			}
			role := &groupRoles[bit]
			return changeSecret(c.Context(), e, secret, path, role.openBefore, func(_ *opener, f *groupRoleFile) error {
				return e.agree(c, f, bit, args[0], draftOut, out)
			})
		},
	}
	roles.add(c, "", "agree as the %s, whose `FILE` enroll has written")
	c.MarkFlagsOneRequired("issuer", "opener", "converter", "linker")
	c.MarkFlagsMutuallyExclusive("issuer", "opener", "converter", "linker")
	addSecretFlags(c, &secret)
	c.Flags().StringVar(&draftOut, "draft-out", "", "write the draft to `FILE` (default: back), unless it is the last to agree")
	addOutFlags(c, &out, groupKeyName+" beside the draft")
	describe(c, draftFields, ExitRefused)
	describeExit(c, ExitRefused, "the draft isn't complete, or has another key for the role")
	return c
}

func (e *env) agree(c *cobra.Command, f *groupRoleFile, bit int, file, draftOut string, out outFlags) error {
	d, err := e.readDraft(c.Context(), file)
	if err != nil {
		return err
	}
	if m := d.missing(0); len(m) > 0 {
		return failf(ExitRefused, "pass it to them, for \"undersign group enroll\"", "%s: %s hasn't enrolled", inputName(file), strings.Join(m, " and "))
	}
	if d.scheme != f.scheme {
		return failf(ExitRefused, "", "%s is for %s, and %s for %s", inputName(file), d.scheme.Name(), inputName(f.path), f.scheme.Name())
	}
	if err := e.confirmGroup(c.Context(), d, f.role); err != nil {
		return err
	}
	if err := f.key.Consent(d.draft); err != nil {
		return withCode(groupFileError(file, err), ExitRefused)
	}
	d.file.Number |= 1 << (bit + agreedShift)
	if f.file().Group, err = d.draft.ID(); err != nil {
		return err
	}
	if len(d.missing(agreedShift)) == 0 {
		return e.lastAgrees(f, d, out)
	}
	if err := d.moveTo(e, draftOut, out.force); err != nil {
		return err
	}
	// The role remembers what it agrees to before others can see that it does.
	if err := f.sealed.replace(e, f.object); err != nil {
		return err
	}
	if err := d.write(e); err != nil {
		return err
	}
	r := d.result(d.path)
	return e.print(r, func(w io.Writer) { d.print(w, r) })
}

// confirmGroup shows what a role is about to agree to, and asks on a terminal.
func (e *env) confirmGroup(ctx context.Context, d *draftFile, role *groupRole) error {
	r := d.result()
	what := fmt.Sprintf("the group %s, %s, ID %s", oneLine(r.Label), withFeatures(r.Scheme, r.Features), r.Group)
	if _, ok := terminal(e.stdin); !ok || e.yes {
		e.notef("agreeing as the %s to %s", role.name, what)
		return nil
	}
	return e.confirm(ctx, fmt.Sprintf("Agree as the %s to %s?", role.name, what))
}

// lastAgrees makes the group key, which checks the consents of all.
func (e *env) lastAgrees(f *groupRoleFile, d *draftFile, out outFlags) error {
	gk, err := d.draft.GroupKey()
	if err != nil {
		return withCode(groupFileError(d.path, err), ExitRefused)
	}
	dir := "."
	if d.path != "-" {
		dir = filepath.Dir(d.path)
	}
	if err := out.name(e, filepath.Join(dir, groupKeyName)); err != nil {
		return err
	}
	data, err := encodeGroup(new(keyfile.GroupKey), gk, 0, gk)
	if err != nil {
		return err
	}
	// Whatever ends this, the role can agree again, or take in the key that is there.
	if err := f.sealed.replace(e, f.object); err != nil {
		return err
	}
	if err := e.writeFile(out.out, data, publicFile, out.force); err != nil {
		return err
	}
	if err := f.accept(e, gk); err != nil || out.out == "-" {
		return err
	}
	r := newGroupCreateResult(gk)
	r.Files = []string{out.out}
	return e.print(r, func(w io.Writer) {
		r.write(w, gk.Features())
		fmt.Fprintf(w, "\nThe other roles take the group key in: undersign group update %s\n", oneLine(out.out))
	})
}

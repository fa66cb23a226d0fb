// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding"
	"fmt"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

// A groupRole is a role that a group may have.
type groupRole struct {
	name     string            // its flag, as well
	needs    groupsig.Features // of a group that has it
	open     func(o *opener, path string) (groupFile, *sealedFile, error)
	empty    func() groupFile
	generate func(s groupsig.Scheme, f groupsig.Features) (groupsig.Role, error)
	parse    func(s groupsig.Scheme, key []byte) (groupsig.Role, error)
	state    func(gk groupsig.GroupKey) []encoding.BinaryMarshaler // that it begins with
}

// groupRoles are in the order of the bits in a draft's file.
var groupRoles = []groupRole{
	{
		name: "issuer", open: openRole[*keyfile.GroupIssuer],
		empty:    func() groupFile { return new(keyfile.GroupIssuer) },
		generate: func(s groupsig.Scheme, _ groupsig.Features) (groupsig.Role, error) { return s.GenerateIssuerKey(), nil },
		parse:    func(s groupsig.Scheme, key []byte) (groupsig.Role, error) { return s.ParseIssuerKey(key) },
		state: func(gk groupsig.GroupKey) []encoding.BinaryMarshaler {
			return []encoding.BinaryMarshaler{gk.NewSessions(), gk.NewRegister(), bytesPart(nil), bytesPart(nil)}
		},
	},
	{
		name: "opener", needs: groupsig.Escrow, open: openRole[*keyfile.GroupOpener],
		empty:    func() groupFile { return new(keyfile.GroupOpener) },
		generate: func(s groupsig.Scheme, f groupsig.Features) (groupsig.Role, error) { return s.GenerateOpenerKey(f) },
		parse:    func(s groupsig.Scheme, key []byte) (groupsig.Role, error) { return s.ParseOpenerKey(key) },
		state: func(gk groupsig.GroupKey) []encoding.BinaryMarshaler {
			return []encoding.BinaryMarshaler{gk.NewRegister(), bytesPart(nil)}
		},
	},
	{
		name: "converter", needs: groupsig.Convert, open: openRole[*keyfile.GroupConverter],
		empty:    func() groupFile { return new(keyfile.GroupConverter) },
		generate: func(s groupsig.Scheme, _ groupsig.Features) (groupsig.Role, error) { return s.GenerateConverterKey() },
		parse:    func(s groupsig.Scheme, key []byte) (groupsig.Role, error) { return s.ParseConverterKey(key) },
		state:    func(groupsig.GroupKey) []encoding.BinaryMarshaler { return nil },
	},
	{
		name: "linker", needs: groupsig.Link, open: openRole[*keyfile.GroupLinker],
		empty: func() groupFile { return new(keyfile.GroupLinker) },
		generate: func(s groupsig.Scheme, _ groupsig.Features) (groupsig.Role, error) {
			ls, err := linkingScheme(s)
			if err != nil {
				return nil, err
			}
			return ls.GenerateLinkerKey(), nil
		},
		parse: func(s groupsig.Scheme, key []byte) (groupsig.Role, error) {
			ls, err := linkingScheme(s)
			if err != nil {
				return nil, err
			}
			return ls.ParseLinkerKey(key)
		},
		state: func(groupsig.GroupKey) []encoding.BinaryMarshaler { return nil },
	},
}

func linkingScheme(s groupsig.Scheme) (groupsig.LinkingScheme, error) {
	if ls, ok := s.(groupsig.LinkingScheme); ok {
		return ls, nil
	}
	return nil, fmt.Errorf("%s has no linker", s.Name())
}

// roleNames lists the roles, for texts.
const roleNames = "issuer, opener, converter or linker"

func openRole[T groupFile](o *opener, path string) (groupFile, *sealedFile, error) {
	v, sealed, err := openSecret[T](o, path)
	if err != nil {
		return nil, nil, err
	}
	return v, sealed, nil
}

// fileName is what the role's file is called.
func (r *groupRole) fileName() string { return r.name + ".age" }

// fill makes v the role's file in a group that is made.
func (r *groupRole) fill(v groupFile, gk groupsig.GroupKey, key groupsig.Role) error {
	var epoch uint64
	if r.name == "issuer" && gk.Features().Has(groupsig.Epoch) {
		epoch = firstEpoch
	}
	content := []any{gk, key}
	for _, s := range r.state(gk) {
		content = append(content, s)
	}
	var err error
	*v.File(), err = newGroupFile(gk, epoch, content...)
	return err
}

// firstEpoch is that of a new group.
const firstEpoch = 1

// rolesOf returns the numbers of the roles that a group with some features has.
func rolesOf(f groupsig.Features) (roles []int) {
	for i, r := range groupRoles {
		if f.Has(r.needs) {
			roles = append(roles, i)
		}
	}
	return roles
}

// roleFlags are a value for each role.
type roleFlags [4]string

func (f *roleFlags) add(c *cobra.Command, suffix, usage string) {
	for i, r := range groupRoles {
		c.Flags().StringVar(&f[i], r.name+suffix, "", fmt.Sprintf(usage, r.name))
	}
}

// only returns the one role that is given, where no more can be.
func (f *roleFlags) only(c *cobra.Command) (role int, value string, err error) {
	for i, v := range f {
		if v != "" {
			return i, v, nil
		}
	}
	return 0, "", usagef(c, "no role's file is given")
}

// A groupRoleFile is a role's open file before the group is made: it holds the role's
// key, and the ID of the group that the role has agreed to.
type groupRoleFile struct {
	groupSecretFile // without a group key
	path            string
	role            *groupRole
	scheme          groupsig.Scheme
	key             groupsig.Role
}

// openBefore returns a function that opens files of a role before the group is made.
func (r *groupRole) openBefore(o *opener, path string) (*groupRoleFile, error) {
	v, sealed, err := r.open(o, path)
	if err != nil {
		return nil, err
	}
	f := &groupRoleFile{groupSecretFile: groupSecretFile{object: v, sealed: sealed}, path: path, role: r}
	if len(v.File().Parts) != 1 {
		v.File().Wipe()
		return nil, failf(ExitRefused, "", "%s: its group is made already", inputName(path))
	}
	if f.scheme, err = groupsig.ByName(v.File().Scheme); err == nil {
		f.key, err = r.parse(f.scheme, v.File().Parts[0])
	}
	return f, f.parsed(path, err)
}

// accept turns the file into one of a group that is made.
func (f *groupRoleFile) accept(e *env, gk groupsig.GroupKey) error {
	if file := f.file(); gk.Scheme() != f.scheme || file.Group != gk.ID() {
		agreed := "none"
		if file.Group != [32]byte{} {
			agreed = fmt.Sprintf("%x", file.Group)
		}
		return failf(ExitRefused, "compare the IDs with the other roles", "the %s in %s has agreed to the group %s, and this is %s",
			f.role.name, inputName(f.path), agreed, groupID(gk))
	}
	v := f.role.empty()
	if err := f.role.fill(v, gk, f.key); err != nil {
		return err
	}
	defer v.File().Wipe()
	return f.sealed.replace(e, v)
}

func (f *groupRoleFile) wipe() {
	f.key.Wipe()
	f.file().Wipe()
}

// readRoleRecipients reads the recipients files of the roles that a group has.
func (e *env) readRoleRecipients(c *cobra.Command, features groupsig.Features, files roleFlags) (map[int][]age.Recipient, error) {
	to := map[int][]age.Recipient{}
	for i, r := range groupRoles {
		flag := "--" + r.name + "-to"
		switch has := features.Has(r.needs); {
		case has && files[i] == "":
			return nil, failf(ExitUsage, "name who has it with "+flag+" FILE", "the group has somebody for %s", roleFor(r))
		case !has && files[i] != "":
			return nil, failf(ExitUsage, "see --with", "%s: the group has no %s", flag, r.needs)
		case has:
			var err error
			if to[i], err = e.readRecipients(c.Context(), files[i]); err != nil {
				return nil, err
			}
		}
	}
	return to, nil
}

func roleFor(r groupRole) string {
	if r.needs == 0 {
		return "admitting members"
	}
	return r.needs.String()
}

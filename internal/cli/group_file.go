// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

// groupFile is any of keyfile's files of groups.
type groupFile interface {
	keyfile.Object
	File() *keyfile.GroupFile
}

// groupError gives an error of groupsig its exit status.
func groupError(err error) error {
	var e *Error
	switch {
	case err == nil || errors.As(err, &e):
		return err
	case errors.Is(err, groupsig.ErrSignature), errors.Is(err, groupsig.ErrRevoked), errors.Is(err, groupsig.ErrUnknown):
		return &Error{Err: err, Code: ExitInvalid}
	}
	return err
}

// groupFileError says which file of a group an error is about.
func groupFileError(file string, err error) error {
	if err == nil {
		return nil
	}
	return fileError(file, groupError(err))
}

// groupParts checks that a file is of a group and has n parts. Without a group the
// file's own key, which is its first part, says which it is.
func groupParts(gk groupsig.GroupKey, f *keyfile.GroupFile, n int) ([][]byte, error) {
	if f.Scheme != gk.Scheme().Name() || f.Group != gk.ID() {
		return nil, fmt.Errorf("it belongs to the group %s %x, and not to %s %x", f.Scheme, f.Group, gk.Scheme().Name(), gk.ID())
	}
	if len(f.Parts) != n {
		return nil, fmt.Errorf("it has %d parts, and should have %d", len(f.Parts), n)
	}
	return f.Parts, nil
}

// groupOf decodes the group key that a file with n parts begins with.
func groupOf(f *keyfile.GroupFile, n int) (groupsig.GroupKey, error) {
	s, err := groupsig.ByName(f.Scheme)
	if err != nil {
		if strings.HasPrefix(f.Scheme, importedPrefix) {
			err = withHint(err, "what libgroupsig signed is verified with \"undersign group verify --format libgroupsig\"")
		}
		return nil, err
	}
	if len(f.Parts) != n {
		return nil, fmt.Errorf("it has %d parts, and should have %d", len(f.Parts), n)
	}
	gk, err := s.ParseGroupKey(f.Parts[0])
	if err != nil {
		return nil, err
	}
	_, err = groupParts(gk, f, n)
	return gk, err
}

// newGroupFile makes a file of objects and byte strings.
func newGroupFile(gk groupsig.GroupKey, number uint64, content ...any) (keyfile.GroupFile, error) {
	f := keyfile.GroupFile{Scheme: gk.Scheme().Name(), Group: gk.ID(), Number: number}
	for _, c := range content {
		data, ok := c.([]byte)
		if !ok {
			var err error
			if data, err = c.(encoding.BinaryMarshaler).MarshalBinary(); err != nil {
				f.Wipe()
				return f, err
			}
		}
		f.Parts = append(f.Parts, slices.Clone(data))
	}
	return f, nil
}

// encodeGroup returns the content of a public file of a group. v is a new one of its
// type.
func encodeGroup(v groupFile, gk groupsig.GroupKey, number uint64, content ...any) ([]byte, error) {
	var err error
	if *v.File(), err = newGroupFile(gk, number, content...); err != nil {
		return nil, err
	}
	return keyfile.Encode(v)
}

// sealGroup is encodeGroup for a secret file.
func sealGroup(v groupFile, to []age.Recipient, gk groupsig.GroupKey, number uint64, content ...any) ([]byte, error) {
	var err error
	if *v.File(), err = newGroupFile(gk, number, content...); err != nil {
		return nil, err
	}
	defer v.File().Wipe()
	return seal(v, to)
}

// setGroupPart replaces a part of a file.
func setGroupPart(f *keyfile.GroupFile, i int, o encoding.BinaryMarshaler) error {
	data, err := o.MarshalBinary()
	if err == nil {
		clear(f.Parts[i])
		f.Parts[i] = data
	}
	return err
}

// readGroup reads a group key.
func (e *env) readGroup(ctx context.Context, file string) (groupsig.GroupKey, error) {
	f, err := readObject[*keyfile.GroupKey](ctx, e, file)
	if err != nil {
		return nil, err
	}
	gk, err := groupOf(f.File(), 1)
	return gk, groupFileError(file, err)
}

// readGroupParts reads the n parts of a public file of a group.
func readGroupParts[T groupFile](ctx context.Context, e *env, gk groupsig.GroupKey, file string, n int) ([][]byte, error) {
	v, err := readObject[T](ctx, e, file)
	if err != nil {
		return nil, err
	}
	p, err := groupParts(gk, v.File(), n)
	return p, groupFileError(file, err)
}

// outFlags say where a command's one output goes, and how.
type outFlags struct {
	out   string
	qr    string
	force bool
}

// addOutFlags gives a command -o and --force. def says in words what the default is.
func addOutFlags(c *cobra.Command, f *outFlags, def string) {
	addOutFlag(c, &f.out, def)
	addForceFlag(c, &f.force)
}

// name gives the output a name, unless the user did, and refuses it if it can't be
// written: before somebody is asked for a passphrase, and before anything is stored.
func (f *outFlags) name(e *env, def string) error {
	if f.out == "" {
		f.out = def
	}
	return e.checkOut(f.out, f.force)
}

// beside returns the name of what belongs to a file: standard output, if the file is
// standard input.
func beside(file, suffix string) string {
	if file == "-" {
		return "-"
	}
	return file + suffix
}

// finish writes the output and prints the result, which standard output has no room
// for if the output went there.
func (f *outFlags) finish(e *env, data []byte, mode fs.FileMode, result any, text func(io.Writer)) error {
	return f.finishAfter(e, func() error { return nil }, data, mode, result, text)
}

// finishAfter is finish for an output that something has to be stored for, once it is
// known that it can be written, and before it is.
func (f *outFlags) finishAfter(e *env, store func() error, data []byte, mode fs.FileMode, result any, text func(io.Writer)) error {
	set, err := f.set(e, data, mode)
	if err != nil {
		return err
	}
	defer set.abort()
	if err := store(); err != nil {
		return err
	}
	return f.commit(e, set, result, text)
}

// set returns the output as a set of files, for others to be added.
func (f *outFlags) set(e *env, data []byte, mode fs.FileMode) (*fileSet, error) {
	set := e.newFileSet(f.force)
	err := set.add(f.out, data, mode)
	if err == nil {
		err = addQR(set, f.qr, f.out, data)
	}
	if err != nil {
		set.abort()
		return nil, err
	}
	return set, nil
}

// commit does the rest of finish.
func (f *outFlags) commit(e *env, set *fileSet, result any, text func(io.Writer)) error {
	if err := set.commit(); err != nil || f.out == "-" {
		return err
	}
	if text == nil {
		text = func(w io.Writer) { fmt.Fprintf(w, "%s\n", oneLine(f.out)) }
	}
	return e.print(result, text)
}

// groupID is a group's ID as people compare it.
func groupID(gk groupsig.GroupKey) string {
	id := gk.ID()
	return hex.EncodeToString(id[:])
}

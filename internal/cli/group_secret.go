// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding"
	"errors"
	"slices"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

// lockSecret keeps other processes of this program from changing a secret file that
// is read, changed and written back: what one of them did would be lost.
func lockSecret(path string) (unlock func(), err error) {
	if path == "-" {
		return nil, failf(ExitUsage, "name the file", "a secret from standard input can't be written back")
	}
	return lockFile(path)
}

// A groupSecret is the open file of a role or a member.
type groupSecret interface {
	wipe()
	origin() *sealedFile
}

// useSecret opens a file for fn.
func useSecret[T groupSecret](ctx context.Context, e *env, flags secretFlags, path string, open func(*opener, string) (T, error), fn func(*opener, T) error) error {
	o, err := e.newOpener(ctx, flags)
	if err != nil {
		return err
	}
	defer o.wipe()
	return useOpened(o, path, open, func(v T) error { return fn(o, v) })
}

func useOpened[T groupSecret](o *opener, path string, open func(*opener, string) (T, error), fn func(T) error) error {
	v, err := open(o, path)
	if err != nil {
		return err
	}
	defer v.wipe()
	return fn(v)
}

// changeSecret opens a file for fn, which writes it back: nobody else changes it in
// between.
func changeSecret[T groupSecret](ctx context.Context, e *env, flags secretFlags, path string, open func(*opener, string) (T, error), fn func(*opener, T) error) error {
	o, err := e.newOpener(ctx, flags)
	if err != nil {
		return err
	}
	defer o.wipe()
	return changeOpened(o, path, open, func(v T) error { return fn(o, v) })
}

func changeOpened[T groupSecret](o *opener, path string, open func(*opener, string) (T, error), fn func(T) error) error {
	unlock, err := lockSecret(path)
	if err != nil {
		return err
	}
	defer unlock()
	return useOpened(o, path, open, func(v T) error {
		if err := v.origin().writable(o.e, nil); err != nil {
			return err
		}
		return fn(v)
	})
}

// A groupSecretFile is what the open files of a group have in common.
type groupSecretFile struct {
	object groupFile
	sealed *sealedFile
	gk     groupsig.GroupKey
}

// openGroupSecret opens a secret file of n parts, of which the first is the group key.
func openGroupSecret[T groupFile](o *opener, path string, n int) (*groupSecretFile, error) {
	v, sealed, err := openSecret[T](o, path)
	if err != nil {
		return nil, err
	}
	f := v.File()
	if len(f.Parts) == 1 && n > 1 {
		f.Wipe()
		return nil, failf(ExitError, "once all roles have agreed, take in the group key with \"undersign group update GROUP-KEY\"",
			"%s: its group isn't made yet", inputName(path))
	}
	gk, err := groupOf(f, n)
	if err != nil {
		f.Wipe()
		return nil, groupFileError(path, err)
	}
	return &groupSecretFile{v, sealed, gk}, nil
}

// parsed ends an open: where err isn't nil, the file is done with.
func (s *groupSecretFile) parsed(path string, err error) error {
	if err != nil {
		s.object.File().Wipe()
	}
	return groupFileError(path, err)
}

func (s *groupSecretFile) file() *keyfile.GroupFile { return s.object.File() }
func (s *groupSecretFile) origin() *sealedFile      { return s.sealed }

// storeParts replaces the parts from number i on, and writes the file back.
func (s *groupSecretFile) storeParts(e *env, i int, parts ...encoding.BinaryMarshaler) error {
	for j, p := range parts {
		if err := setGroupPart(s.file(), i+j, p); err != nil {
			return err
		}
	}
	return s.sealed.replace(e, s.object)
}

// bytesPart is a part of a file that is an encoding already.
type bytesPart []byte

func (b bytesPart) MarshalBinary() ([]byte, error) { return slices.Clone(b), nil }

// A groupIssuer is an issuer's open file.
type groupIssuer struct {
	*groupSecretFile
	key       groupsig.IssuerKey
	sessions  *groupsig.Sessions
	register  *groupsig.Register
	announced bytesPart // the last announcement, empty if there was none
	list      bytesPart // the last list, likewise; of groups without an opener
}

func (o *opener) openIssuer(path string) (*groupIssuer, error) {
	s, err := openGroupSecret[*keyfile.GroupIssuer](o, path, 6)
	if err != nil {
		return nil, err
	}
	p := s.file().Parts
	is := &groupIssuer{groupSecretFile: s, sessions: s.gk.NewSessions(), register: s.gk.NewRegister(), announced: p[4], list: p[5]}
	if is.key, err = s.gk.Scheme().ParseIssuerKey(p[1]); err == nil {
		err = errors.Join(is.sessions.UnmarshalBinary(p[2]), is.register.UnmarshalBinary(p[3]))
	}
	return is, s.parsed(path, err)
}

// epoch is the one that credentials are made for, 0 in groups without.
func (is *groupIssuer) epoch() uint64 { return is.file().Number }

// store writes the file back, with what has changed.
func (is *groupIssuer) store(e *env) error {
	return is.storeParts(e, 2, is.sessions, is.register, is.announced, is.list)
}

func (is *groupIssuer) wipe() {
	is.key.Wipe()
	is.file().Wipe()
}

// A groupOpener is an opener's open file.
type groupOpener struct {
	*groupSecretFile
	key      groupsig.Opener
	register *groupsig.Register
	list     bytesPart // the last one, empty if there was none
}

func (o *opener) openGroupOpener(path string) (*groupOpener, error) {
	s, err := openGroupSecret[*keyfile.GroupOpener](o, path, 4)
	if err != nil {
		return nil, err
	}
	p := s.file().Parts
	op := &groupOpener{groupSecretFile: s, register: s.gk.NewRegister(), list: p[3]}
	if op.key, err = s.gk.Scheme().ParseOpenerKey(p[1]); err == nil {
		err = op.register.UnmarshalBinary(p[2])
	}
	return op, s.parsed(path, err)
}

func (op *groupOpener) store(e *env) error { return op.storeParts(e, 2, op.register, op.list) }

func (op *groupOpener) wipe() {
	op.key.Wipe()
	op.file().Wipe()
}

// A groupConverter is a converter's open file.
type groupConverter struct {
	*groupSecretFile
	key groupsig.Converter
}

func (o *opener) openConverter(path string) (*groupConverter, error) {
	s, err := openGroupSecret[*keyfile.GroupConverter](o, path, 2)
	if err != nil {
		return nil, err
	}
	cv := &groupConverter{groupSecretFile: s}
	cv.key, err = s.gk.Scheme().ParseConverterKey(s.file().Parts[1])
	return cv, s.parsed(path, err)
}

func (cv *groupConverter) wipe() {
	cv.key.Wipe()
	cv.file().Wipe()
}

// A groupLinker is a linker's open file.
type groupLinker struct {
	*groupSecretFile
	key groupsig.LinkingAuthority
}

func (o *opener) openLinker(path string) (*groupLinker, error) {
	s, err := openGroupSecret[*keyfile.GroupLinker](o, path, 2)
	if err != nil {
		return nil, err
	}
	l := &groupLinker{groupSecretFile: s}
	ls, err := linkingScheme(s.gk.Scheme())
	if err == nil {
		l.key, err = ls.ParseLinkerKey(s.file().Parts[1])
	}
	return l, s.parsed(path, err)
}

func (l *groupLinker) wipe() {
	l.key.Wipe()
	l.file().Wipe()
}

// A groupMember is a member's open file.
type groupMember struct {
	*groupSecretFile
	key groupsig.MemberKey
}

func (o *opener) openMember(path string) (*groupMember, error) {
	s, err := openGroupSecret[*keyfile.GroupMember](o, path, 2)
	if err != nil {
		return nil, err
	}
	m := &groupMember{groupSecretFile: s}
	m.key, err = s.gk.ParseMemberKey(s.file().Parts[1])
	return m, s.parsed(path, err)
}

func (m *groupMember) store(e *env) error { return m.storeParts(e, 1, m.key) }

func (m *groupMember) wipe() {
	m.key.Wipe()
	m.file().Wipe()
}

// A groupPending is the open file of somebody who has applied.
type groupPending struct {
	*groupSecretFile
	key groupsig.Pending
}

func (o *opener) openPending(path string) (*groupPending, error) {
	s, err := openGroupSecret[*keyfile.GroupPending](o, path, 3)
	if err != nil {
		return nil, err
	}
	p := &groupPending{groupSecretFile: s}
	p.key, err = s.gk.ParsePending(s.file().Parts[1])
	return p, s.parsed(path, err)
}

func (p *groupPending) wipe() {
	p.key.Wipe()
	p.file().Wipe()
}

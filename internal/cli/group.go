// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding"
	"encoding/pem"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/keyfile"
)

func newGroupsigCmd(e *env) *cobra.Command {
	c := newGroupCmd(e, "group", "Sign as a member of a group, without saying which", `
A member of a group signs; anyone checks that a member did, and can't tell
which. What else can be known depends on the scheme and its features: "undersign
group schemes" lists them.

An issuer admits members, who join by three files: its challenge (invite), the
member's application (join), and the credential (issue). In groups with an
opener, the opener can say who signed, and prove it.`,
		// One line a command, in the order in which help lists them.
		newGroupSchemesCmd(e),
		newGroupCreateCmd(e),
		newGroupInviteCmd(e),
		newGroupJoinCmd(e),
		newGroupIssueCmd(e),
		newGroupSignCmd(e),
		newGroupVerifyCmd(e),
		newGroupOpenCmd(e),
		newGroupVerifyOpeningCmd(e),
		newGroupLinkCmd(e),
		newGroupSeqlinkCmd(e),
		newGroupConvertCmd(e),
		newGroupRevokeCmd(e),
		newGroupUpdateCmd(e),
		newGroupListCmd(e),
	)
	c.Example = `  undersign group create council --issuer-to issuer.txt --opener-to opener.txt -o council
  undersign group sign motion.txt --member alice.member -i alice.key --scope 2026-11
  undersign group verify motion.txt --group council/group.pub --scope 2026-11 --epoch 1`
	return c
}

// groupFile is any of keyfile's files of groups.
type groupFile interface {
	keyfile.Object
	File() *keyfile.GroupFile
}

// addGroupFlag gives a command its --group.
func addGroupFlag(c *cobra.Command, file *string) {
	c.Flags().StringVar(file, "group", "", "group key `FILE`")
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

// readGroupObject reads a public file of a group.
func readGroupObject[T groupFile](ctx context.Context, e *env, gk groupsig.GroupKey, file string, n int) (T, error) {
	v, err := readObject[T](ctx, e, file)
	if err == nil {
		if _, err = groupParts(gk, v.File(), n); err != nil {
			err = groupFileError(file, err)
		}
	}
	return v, err
}

// lockSecret keeps other processes of this program from changing a secret file that
// is read, changed and written back: what one of them did would be lost.
func lockSecret(path string) (unlock func(), err error) {
	if path == "-" {
		return nil, failf(ExitUsage, "name the file", "a secret from standard input can't be written back")
	}
	return lockFile(path)
}

// A groupIssuer is an issuer's open file.
type groupIssuer struct {
	file     *keyfile.GroupIssuer
	sealed   *sealedFile
	gk       groupsig.GroupKey
	key      groupsig.IssuerKey
	sessions *groupsig.Sessions
	register *groupsig.Register
}

func (o *opener) openIssuer(path string) (*groupIssuer, error) {
	f, sealed, err := openSecret[*keyfile.GroupIssuer](o, path)
	if err != nil {
		return nil, err
	}
	is := &groupIssuer{file: f, sealed: sealed}
	if is.gk, err = groupOf(f.File(), 4); err == nil {
		is.key, err = is.gk.Scheme().ParseIssuerKey(f.Parts[1])
	}
	if err == nil {
		is.sessions, is.register = is.gk.NewSessions(), is.gk.NewRegister()
		err = errors.Join(is.sessions.UnmarshalBinary(f.Parts[2]), is.register.UnmarshalBinary(f.Parts[3]))
	}
	if err != nil {
		f.Wipe()
		return nil, groupFileError(path, err)
	}
	return is, nil
}

// store writes the file back, with what has changed.
func (is *groupIssuer) store(e *env) error {
	if err := errors.Join(setGroupPart(is.file.File(), 2, is.sessions), setGroupPart(is.file.File(), 3, is.register)); err != nil {
		return err
	}
	return is.sealed.replace(e, is.file)
}

func (is *groupIssuer) wipe() {
	is.key.Wipe()
	is.file.Wipe()
}

// A groupOpener is an opener's open file.
type groupOpener struct {
	file     *keyfile.GroupOpener
	sealed   *sealedFile
	gk       groupsig.GroupKey
	key      groupsig.Opener
	register *groupsig.Register
}

func (o *opener) openGroupOpener(path string) (*groupOpener, error) {
	f, sealed, err := openSecret[*keyfile.GroupOpener](o, path)
	if err != nil {
		return nil, err
	}
	op := &groupOpener{file: f, sealed: sealed}
	if op.gk, err = groupOf(f.File(), 3); err == nil {
		op.key, err = op.gk.Scheme().ParseOpenerKey(f.Parts[1])
	}
	if err == nil {
		op.register = op.gk.NewRegister()
		err = op.register.UnmarshalBinary(f.Parts[2])
	}
	if err != nil {
		f.Wipe()
		return nil, groupFileError(path, err)
	}
	return op, nil
}

func (op *groupOpener) store(e *env) error {
	if err := setGroupPart(op.file.File(), 2, op.register); err != nil {
		return err
	}
	return op.sealed.replace(e, op.file)
}

func (op *groupOpener) wipe() {
	op.key.Wipe()
	op.file.Wipe()
}

// A groupMember is a member's open file.
type groupMember struct {
	file   *keyfile.GroupMember
	sealed *sealedFile
	gk     groupsig.GroupKey
	key    groupsig.MemberKey
}

func (o *opener) openMember(path string) (*groupMember, error) {
	f, sealed, err := openSecret[*keyfile.GroupMember](o, path)
	if err != nil {
		return nil, err
	}
	m := &groupMember{file: f, sealed: sealed}
	if m.gk, err = groupOf(f.File(), 2); err == nil {
		m.key, err = m.gk.ParseMemberKey(f.Parts[1])
	}
	if err != nil {
		f.Wipe()
		return nil, groupFileError(path, err)
	}
	return m, nil
}

func (m *groupMember) store(e *env) error {
	data, err := m.key.MarshalBinary()
	if err != nil {
		return err
	}
	clear(m.file.Parts[1])
	m.file.Parts[1] = data
	return m.sealed.replace(e, m.file)
}

func (m *groupMember) wipe() {
	m.key.Wipe()
	m.file.Wipe()
}

// readLongTermKey reads a member's private key, PKCS #8 in PEM, which may be inside
// an age file.
func (o *opener) readLongTermKey(path string) (ed25519.PrivateKey, error) {
	data, err := o.readSecretInput(path)
	if err != nil {
		return nil, err
	}
	defer clear(data)
	b, _ := pem.Decode(data)
	if b == nil || b.Type != "PRIVATE KEY" {
		return nil, withHint(fileError(path, errors.New("not a private key in PEM")), "make one with openssl genpkey -algorithm ed25519")
	}
	defer clear(b.Bytes)
	k, err := x509.ParsePKCS8PrivateKey(b.Bytes)
	if err != nil {
		return nil, fileError(path, err)
	}
	key, ok := k.(ed25519.PrivateKey)
	if !ok {
		return nil, withHint(fileError(path, errors.New("not an Ed25519 key")), "make one with openssl genpkey -algorithm ed25519")
	}
	return key, nil
}

// readMemberKey reads a member's public key, as OpenSSL writes it.
func (e *env) readMemberKey(ctx context.Context, path string) (ed25519.PublicKey, error) {
	data, err := e.readInput(ctx, path, maxObject)
	if err != nil {
		return nil, err
	}
	b, _ := pem.Decode(data)
	if b == nil || b.Type != "PUBLIC KEY" {
		return nil, withHint(fileError(path, errors.New("not a public key in PEM")), "write it with openssl pkey -in KEY -pubout")
	}
	k, err := x509.ParsePKIXPublicKey(b.Bytes)
	if err != nil {
		return nil, fileError(path, err)
	}
	key, ok := k.(ed25519.PublicKey)
	if !ok {
		return nil, fileError(path, errors.New("not an Ed25519 key"))
	}
	return key, nil
}

// groupSigSuffix is what a signature's file is called after the signed one.
const groupSigSuffix = ".gsig"

// readGroupSigned reads a signature, and the file that it is for. The options are what
// the signature's own file says: whoever demands a scope compares.
func (e *env) readGroupSigned(ctx context.Context, gk groupsig.GroupKey, file, sigFile string) (groupsig.Signed, error) {
	msg, err := e.readInput(ctx, file, maxObject)
	if err != nil {
		return groupsig.Signed{}, err
	}
	if sigFile == "" {
		if file == "-" {
			return groupsig.Signed{}, failf(ExitUsage, "name it with --sig", "standard input has no signature beside it")
		}
		sigFile = file + groupSigSuffix
	}
	data, err := e.readInput(ctx, sigFile, maxObject)
	if err != nil {
		return groupsig.Signed{}, err
	}
	f, err := keyfile.ParseAs[*keyfile.GroupSignature](data)
	if err == nil {
		_, err = groupParts(gk, f.File(), 3)
	}
	if err != nil {
		return groupsig.Signed{}, withCode(groupFileError(sigFile, err), ExitInvalid)
	}
	return groupsig.Signed{Message: msg, Signature: f.Parts[2], Options: anyEpoch(gk, groupsig.VerifyOptions{
		Scope: scopeOf(gk, f.Parts[0]), Context: nonEmpty(f.Parts[1]),
	})}, nil
}

// scopeOf returns a scope as options take it: none in groups without scopes.
func scopeOf(gk groupsig.GroupKey, scope []byte) []byte {
	if len(scope) == 0 && !gk.Features().Has(groupsig.Scope) {
		return nil
	}
	return scope
}

func nonEmpty(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// anyEpoch lets options accept all epochs.
func anyEpoch(gk groupsig.GroupKey, o groupsig.VerifyOptions) groupsig.VerifyOptions {
	if gk.Features().Has(groupsig.Epoch) {
		o.MinEpoch, o.MaxEpoch = 0, math.MaxUint64
	}
	return o
}

// checkEpoch demands --epoch in groups that have epochs, and none in others.
func checkEpoch(c *cobra.Command, gk groupsig.GroupKey) error {
	switch has := gk.Features().Has(groupsig.Epoch); {
	case has && !c.Flags().Changed("epoch"):
		return failf(ExitUsage, "ask the issuer, or look where it announces it, and give --epoch N", "the group has epochs, and none is given")
	case !has && c.Flags().Changed("epoch"):
		return usagef(c, "--epoch: the group has no epochs")
	}
	return nil
}

func addEpochFlag(c *cobra.Command, epoch *uint64, what string) {
	c.Flags().Uint64Var(epoch, "epoch", 0, what)
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"filippo.io/age"
	"filippo.io/age/armor"
	"filippo.io/age/plugin"
	"github.com/spf13/cobra"

	"github.com/undersign/undersign/keyfile"
	"github.com/undersign/undersign/thresholdrsa"
)

// secretFlags say what opens the secret files of a command.
type secretFlags struct {
	identities []string
	pass       passphraseFlags
	plaintext  bool
}

func addSecretFlags(c *cobra.Command, f *secretFlags) {
	c.Flags().StringArrayVarP(&f.identities, "identity", "i", nil, "open secrets with the age identity `FILE` (repeatable)")
	addPassphraseFlags(c, &f.pass)
	c.Flags().BoolVar(&f.plaintext, "insecure-plaintext", false, "accept secret files that aren't encrypted")
}

// An opener opens the secret files of one run of a command.
type opener struct {
	e          *env
	ctx        context.Context // of the command, for the callbacks that age makes
	flags      secretFlags
	identities []age.Identity
	pass       []byte // from a file or descriptor, which can be read once only
}

// newOpener reads the identity files. Defer wipe.
func (e *env) newOpener(ctx context.Context, f secretFlags) (*opener, error) {
	o := &opener{e: e, ctx: ctx, flags: f}
	for _, name := range f.identities {
		r, err := e.openInput(ctx, name)
		if err != nil {
			return nil, err
		}
		ids, err := keyfile.ParseIdentities(r, &keyfile.Options{
			PluginUI:   e.pluginUI(),
			Passphrase: func() ([]byte, error) { return o.passphrase(inputName(name)) },
		})
		r.Close()
		if err != nil {
			return nil, fileError(name, err)
		}
		o.identities = append(o.identities, ids...)
	}
	return o, nil
}

func (o *opener) wipe() { clear(o.pass) }

// passphrase gets the passphrase for what. The caller wipes it.
func (o *opener) passphrase(what string) ([]byte, error) {
	if o.flags.pass.file == "" && o.flags.pass.fd == -1 {
		return o.e.passphrase(o.ctx, o.flags.pass, what, false)
	}
	if o.pass == nil {
		pass, err := o.e.passphrase(o.ctx, o.flags.pass, what, false)
		if err != nil {
			return nil, err
		}
		o.pass = pass
	}
	return bytes.Clone(o.pass), nil
}

// pluginUI lets age plugins talk to the user on the terminal.
func (e *env) pluginUI() *plugin.ClientUI {
	return plugin.NewTerminalUI(
		func(format string, v ...any) { e.notef("%s", strings.TrimSpace(fmt.Sprintf(format, v...))) },
		func(format string, v ...any) { e.warnf("%s", strings.TrimSpace(fmt.Sprintf(format, v...))) },
	)
}

// A sealedFile is the file that a secret came from: a command that changes the
// secret writes it back for the same reader.
type sealedFile struct {
	path       string
	recipients []age.Recipient // who can read it again; nil if that isn't known
	plaintext  bool
	others     int // recipients of the file whom we can't name
}

// usedIdentity notes that an identity opened a file, and how many it was for.
type usedIdentity struct {
	age.Identity
	used    bool
	stanzas int
}

func (i *usedIdentity) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	key, err := i.Identity.Unwrap(stanzas)
	if err == nil {
		i.used = true
		for _, s := range stanzas {
			if !strings.HasSuffix(s.Type, "-grease") { // meaningless on purpose, as some age programs add
				i.stanzas++
			}
		}
	}
	return key, err
}

// recipient returns the recipient that belongs to an identity, or nil.
func recipient(id age.Identity) age.Recipient {
	switch id := id.(type) {
	case *age.X25519Identity:
		return id.Recipient()
	case *age.HybridIdentity:
		return id.Recipient()
	case *plugin.Identity:
		return id.Recipient()
	}
	return nil
}

// openSecret opens a file with one secret of the type T, such as
// *thresholdrsa.KeyShare.
func openSecret[T keyfile.Object](o *opener, path string) (secret T, file *sealedFile, err error) {
	data, err := o.e.readInput(o.ctx, path, maxObject)
	if err != nil {
		return secret, nil, err
	}
	defer clear(data)
	return parseSecret(o, path, data, keyfile.OpenAs[T])
}

// parseSecret opens the content of a file with open, which is keyfile.Open or one
// of keyfile.OpenAs.
func parseSecret[T keyfile.Object](o *opener, path string, data []byte, open func(io.Reader, ...age.Identity) (T, error)) (secret T, file *sealedFile, err error) {
	file = &sealedFile{path: path}
	if bytes.Contains(data, []byte("-----BEGIN UNDERSIGN INSECURE PLAINTEXT ")) && !isAge(data) {
		file.plaintext = true
		secret, err = openPlaintext[T](o, path, data)
		return secret, file, err
	}
	var ids []age.Identity
	var tracked []*usedIdentity
	for _, id := range o.identities {
		t := &usedIdentity{Identity: id}
		tracked = append(tracked, t)
		ids = append(ids, t)
	}
	var passRecipient age.Recipient
	ids = append(ids, keyfile.PassphraseIdentity(func() ([]byte, error) {
		pass, err := o.passphrase(inputName(path))
		if err == nil {
			passRecipient, err = age.NewScryptRecipient(string(pass))
		}
		return pass, err
	}))
	if secret, err = open(bytes.NewReader(data), ids...); err != nil {
		return secret, nil, wantedHint(secret, o.openError(path, err))
	}
	file.recipients = nonNil(passRecipient)
	for _, t := range tracked {
		if t.used {
			file.recipients = nonNil(recipient(t.Identity))
			file.others = t.stanzas - 1
		}
	}
	return secret, file, nil
}

func nonNil(r age.Recipient) []age.Recipient {
	if r == nil {
		return nil
	}
	return []age.Recipient{r}
}

// openPlaintext reads a secret that isn't encrypted, if that is allowed.
func openPlaintext[T keyfile.Object](o *opener, path string, data []byte) (secret T, err error) {
	if err := o.allowPlaintext(path); err != nil {
		return secret, err
	}
	v, err := keyfile.ParseInsecurePlaintext(data)
	if err != nil {
		return secret, fileError(path, err)
	}
	secret, ok := v.(T)
	if !ok {
		return secret, fileError(path, &keyfile.TypeError{Want: keyfile.Type(secret), Got: keyfile.Type(v)})
	}
	return secret, nil
}

// allowPlaintext refuses a secret file that isn't encrypted, unless the user said
// so and nobody else can read it.
func (o *opener) allowPlaintext(path string) error {
	if !o.flags.plaintext {
		return failf(ExitError, "use --insecure-plaintext if that is meant to be", "%s holds a secret that isn't encrypted", inputName(path))
	}
	if path == "-" || runtime.GOOS == "windows" { // where modes say nothing
		return nil
	}
	fi, err := os.Stat(path)
	if err != nil {
		return inputError(path, err)
	}
	if fi.Mode().IsRegular() && fi.Mode().Perm()&0o077 != 0 {
		return failf(ExitError, "chmod 600 "+path, "%s isn't encrypted, and others may read it (mode %04o)", path, fi.Mode().Perm())
	}
	return nil
}

// openError says what can be done about a file that doesn't open.
func (o *opener) openError(path string, err error) error {
	err = fileError(path, err)
	switch {
	case hintOf(err) != "":
		return err
	case errors.Is(err, keyfile.ErrPassphrase):
		return err
	case errors.Is(err, keyfile.ErrNoIdentity) && len(o.identities) == 0:
		return withHint(err, "name the age identity file that opens it with -i FILE")
	case errors.Is(err, keyfile.ErrNoIdentity):
		return withHint(err, "it was encrypted to somebody else than %s", strings.Join(o.flags.identities, ", "))
	case errors.Is(err, keyfile.ErrNotEncrypted):
		return withHint(err, "a secret is an age file; see \"undersign inspect\"")
	}
	return err
}

// isAge reports whether data is an age file, armoured or binary.
func isAge(data []byte) bool {
	return bytes.HasPrefix(data, []byte("age-encryption.org/")) || bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte(armor.Header))
}

// decrypt returns what is in an age file that isn't ours. The caller wipes it.
func (o *opener) decrypt(path string, data []byte) ([]byte, error) {
	var r io.Reader = bytes.NewReader(data)
	if !bytes.HasPrefix(data, []byte("age-encryption.org/")) {
		r = armor.NewReader(r)
	}
	ids := append(slices.Clone(o.identities), keyfile.PassphraseIdentity(func() ([]byte, error) {
		return o.passphrase(inputName(path))
	}))
	plain, err := age.Decrypt(r, ids...)
	var none *age.NoIdentityMatchError
	if errors.As(err, &none) {
		err = keyfile.ErrNoIdentity
		if slices.Contains(none.StanzaTypes, "scrypt") {
			err = keyfile.ErrPassphrase
		}
	}
	if err != nil {
		return nil, o.openError(path, err)
	}
	out := make([]byte, 0, len(data)) // longer than the plaintext: no copies are left behind
	for {
		n, err := plain.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			clear(out)
			return nil, fileError(path, fmt.Errorf("age file is damaged or truncated: %w", err))
		}
	}
}

// readSecretInput reads a file that may be an age file. The caller wipes it.
func (o *opener) readSecretInput(path string) ([]byte, error) {
	data, err := o.e.readInput(o.ctx, path, maxObject)
	if err != nil || !isAge(data) {
		return data, err
	}
	return o.decrypt(path, data)
}

// openShare opens a key share.
func (o *opener) openShare(path string) (*thresholdrsa.KeyShare, *sealedFile, error) {
	return openSecret[*thresholdrsa.KeyShare](o, path)
}

// writable reports, before a command does anything else, whether replace can
// work. Recipients that the user gave with --to, if any, take the place of the
// file's own.
func (f *sealedFile) writable(e *env, to []age.Recipient) error {
	switch {
	case f.path == "-":
		return failf(ExitUsage, "name the file", "a secret from standard input can't be written back")
	case f.plaintext:
		return nil
	case len(to) > 0:
		f.recipients, f.others = to, 0
	case len(f.recipients) == 0:
		return failf(ExitError, "name a recipients file with --to", "%s: can't tell to whom it is to be encrypted when it is written back", f.path)
	case f.others > 0:
		e.warnf("%s: encrypted to %d more, who are lost when it is written back; name all with --to", f.path, f.others)
	}
	return nil
}

// encode returns the file's new content.
func (f *sealedFile) encode(secret keyfile.Object) ([]byte, error) {
	if f.plaintext {
		return keyfile.EncodeInsecurePlaintext(secret)
	}
	return seal(secret, f.recipients)
}

// replace puts a secret in the place of the one that was read, at once and
// durably: a reader, or whoever finds the disk after a crash, sees one or the other.
func (f *sealedFile) replace(e *env, secret keyfile.Object) error {
	data, err := f.encode(secret)
	if err != nil {
		return err
	}
	return e.writeFile(f.path, data, secretFile, true)
}

// seal returns the age file of a secret.
func seal(secret keyfile.Object, to []age.Recipient) ([]byte, error) {
	var buf bytes.Buffer
	if err := keyfile.Seal(&buf, secret, to...); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

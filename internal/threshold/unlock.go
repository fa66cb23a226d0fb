// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package threshold

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"filippo.io/age"
	"filippo.io/age/plugin"

	"github.com/undersign/undersign/keyfile"
)

// maxShareFile bounds the files that are read whole: a share of 255 holders at 8192 bits,
// with successors, stays below.
const maxShareFile = 16 << 20

// A lock is what opens a node's share files, and closes them again.
type lock struct {
	identities []age.Identity
	pass       []byte
}

// newLock reads what opens share files: an age identity file, which may name plugins, a
// file with a passphrase in its first line, or both: then the identity file is under the
// passphrase, or some shares are.
func newLock(identityFile, passphraseFile string, ui *plugin.ClientUI) (*lock, error) {
	l := new(lock)
	if passphraseFile != "" {
		data, err := readSmall(passphraseFile, 4096)
		if err != nil {
			return nil, err
		}
		defer clear(data)
		line, _, _ := bytes.Cut(data, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 {
			return nil, fmt.Errorf("threshold: the passphrase in %s is empty", passphraseFile)
		}
		l.pass = bytes.Clone(line)
	}
	if identityFile != "" {
		data, err := readSmall(identityFile, 1<<20)
		if err != nil {
			return nil, err
		}
		defer clear(data)
		ids, err := keyfile.ParseIdentities(bytes.NewReader(data), &keyfile.Options{PluginUI: ui, Passphrase: l.passphrase})
		if err != nil {
			return nil, fmt.Errorf("threshold: %s: %w", identityFile, err)
		}
		l.identities = ids
	}
	return l, nil
}

func (l *lock) wipe() { clear(l.pass) }

func (l *lock) passphrase() ([]byte, error) {
	if l.pass == nil {
		return nil, errors.New("threshold: it is under a passphrase, and no passphrase file is configured")
	}
	return bytes.Clone(l.pass), nil
}

// A sealedFile is a file with a secret, and who can read it.
type sealedFile struct {
	path string
	to   []age.Recipient // empty if that isn't known
}

// usedIdentity notes that an identity opened a file.
type usedIdentity struct {
	age.Identity
	used bool
}

func (i *usedIdentity) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	key, err := i.Identity.Unwrap(stanzas)
	i.used = i.used || err == nil
	return key, err
}

// openSecret opens a secret file, and says for whom it is to be encrypted when it is changed.
func openSecret[T keyfile.Object](l *lock, path string) (v T, f *sealedFile, err error) {
	data, err := readSmall(path, maxShareFile)
	if err != nil {
		return v, nil, err
	}
	defer clear(data)
	var ids []age.Identity
	var tracked []*usedIdentity
	for _, id := range l.identities {
		t := &usedIdentity{Identity: id}
		ids, tracked = append(ids, t), append(tracked, t)
	}
	byPass := false
	if l.pass != nil {
		ids = append(ids, keyfile.PassphraseIdentity(func() ([]byte, error) {
			byPass = true
			return l.passphrase()
		}))
	}
	v, err = keyfile.OpenAs[T](bytes.NewReader(data), ids...)
	if err != nil {
		return v, nil, fmt.Errorf("threshold: %s: %w", path, err)
	}
	f = &sealedFile{path: path}
	for _, t := range tracked {
		if r := recipientOf(t.Identity); t.used && r != nil {
			f.to = []age.Recipient{r}
		}
	}
	if byPass && f.to == nil {
		f.to, err = l.byPassphrase()
	}
	return v, f, err
}

// newRecipients returns for whom new secrets are encrypted: the first identity whose
// recipient is known, or the passphrase.
func (l *lock) newRecipients() ([]age.Recipient, error) {
	for _, id := range l.identities {
		if r := recipientOf(id); r != nil {
			return []age.Recipient{r}, nil
		}
	}
	if l.pass != nil {
		return l.byPassphrase()
	}
	return nil, errors.New("threshold: nothing is configured that could open a new share")
}

func (l *lock) byPassphrase() ([]age.Recipient, error) {
	r, err := age.NewScryptRecipient(string(l.pass))
	if err != nil {
		return nil, fmt.Errorf("threshold: %w", err)
	}
	return []age.Recipient{r}, nil
}

func recipientOf(id age.Identity) age.Recipient {
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

// write puts a secret in the place of what the file held, at once and durably.
func (f *sealedFile) write(secret keyfile.Object) error {
	if len(f.to) == 0 {
		return fmt.Errorf("threshold: %s: can't tell for whom it is to be encrypted", f.path)
	}
	var buf bytes.Buffer
	if err := keyfile.Seal(&buf, secret, f.to...); err != nil {
		return err
	}
	return writeFile(f.path, buf.Bytes())
}

// readSmall reads a file of at most max bytes.
func readSmall(path string, max int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("threshold: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err != nil {
		return nil, fmt.Errorf("threshold: %w", err)
	}
	if int64(len(data)) > max {
		return nil, fmt.Errorf("threshold: %s is larger than %d bytes", path, max)
	}
	return data, nil
}

// quietUI is for age plugins of a node that nobody watches: what they say goes to the log,
// and what they ask isn't answered.
func quietUI(log *slog.Logger) *plugin.ClientUI {
	noAnswer := errors.New("threshold: nobody is there to answer an age plugin")
	return &plugin.ClientUI{
		DisplayMessage: func(name, message string) error {
			log.Info("an age plugin says", "plugin", name, "message", message)
			return nil
		},
		RequestValue: func(string, string, bool) (string, error) { return "", noAnswer },
		Confirm:      func(string, string, string, string) (bool, error) { return false, noAnswer },
		WaitTimer:    func(name string) { log.Info("waiting for an age plugin", "plugin", name) },
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"filippo.io/age"
	"filippo.io/age/plugin"
)

// ParseIdentities reads an age identity file: a secret key (AGE-SECRET-KEY-...) a
// line, and comments (#). The file itself may be an age file under a passphrase,
// if opts allows for it. Errors are [*SyntaxError] and never repeat a line.
func ParseIdentities(r io.Reader, opts *Options) ([]age.Identity, error) {
	data, err := readAgeFile(r)
	if err != nil {
		return nil, err
	}
	if isBinaryAge(data) || isArmoredAge(data) {
		if opts == nil || opts.Passphrase == nil {
			return nil, &SyntaxError{Line: 1, Reason: "an encrypted identity file, and no way to ask for its passphrase"}
		}
		return []age.Identity{&encryptedIdentity{data: data, opts: *opts}}, nil
	}
	defer clear(data)
	return parseIdentities(data, opts.pluginUI())
}

func parseIdentities(data []byte, ui *plugin.ClientUI) ([]age.Identity, error) {
	var out []age.Identity
	n, err := ageLines(data, func(line string) error {
		id, err := parseIdentity(line, ui)
		out = append(out, id)
		return err
	})
	if err == nil && len(out) == 0 {
		err = &SyntaxError{Line: n + 1, Reason: "end of file, an identity expected"}
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// parseIdentity reads one line. Its errors are SyntaxErrors without a line.
func parseIdentity(s string, ui *plugin.ClientUI) (id age.Identity, err error) {
	switch {
	case strings.HasPrefix(s, "AGE-SECRET-KEY-PQ-1"):
		id, err = age.ParseHybridIdentity(s)
	case strings.HasPrefix(s, "AGE-SECRET-KEY-1"):
		id, err = age.ParseX25519Identity(s)
	case strings.HasPrefix(s, "AGE-PLUGIN-") && ui == nil:
		return nil, &SyntaxError{Reason: "an identity of an age plugin, which isn't allowed here"}
	case strings.HasPrefix(s, "AGE-PLUGIN-"):
		id, err = plugin.NewIdentity(s, ui)
	case strings.HasPrefix(s, "age1"):
		return nil, &SyntaxError{
			Reason: "a recipient (a public key) where an identity is expected",
			Hint:   "give the file that age-keygen -o wrote",
		}
	case strings.HasPrefix(s, dashes+"BEGIN OPENSSH"):
		return nil, &SyntaxError{
			Reason: "SSH keys aren't supported",
			Hint:   "make an age key with age-keygen -o FILE",
		}
	case strings.HasPrefix(s, dashes):
		return nil, &SyntaxError{Reason: "PEM where an identity is expected"}
	default:
		return nil, &SyntaxError{Reason: "not an age identity"}
	}
	if err != nil {
		// age's own error may have the key in it.
		return nil, &SyntaxError{
			Reason: "malformed age identity",
			Hint:   "it must be copied whole, without white space around it",
		}
	}
	return id, nil
}

// PassphraseIdentity returns an identity for files under a passphrase. It asks only
// once it has met such a file. The passphrase is cleared after use.
func PassphraseIdentity(ask func() ([]byte, error)) age.Identity {
	return &passphraseIdentity{ask}
}

type passphraseIdentity struct {
	ask func() ([]byte, error)
}

func (i *passphraseIdentity) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	if len(stanzas) != 1 || stanzas[0].Type != "scrypt" {
		return nil, age.ErrIncorrectIdentity
	}
	pass, err := i.ask()
	if err != nil {
		return nil, fmt.Errorf("passphrase: %w", err)
	}
	defer clear(pass)
	id, err := age.NewScryptIdentity(string(pass))
	if err != nil {
		return nil, err
	}
	return id.Unwrap(stanzas)
}

// An encryptedIdentity is an identity file inside an age file under a passphrase.
type encryptedIdentity struct {
	data []byte
	opts Options

	mu  sync.Mutex
	ids []age.Identity // once decrypted
}

func (i *encryptedIdentity) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	ids, err := i.identities()
	if err != nil {
		return nil, fmt.Errorf("identity file: %w", err)
	}
	for _, id := range ids {
		key, err := id.Unwrap(stanzas)
		if !errors.Is(err, age.ErrIncorrectIdentity) {
			return key, err
		}
	}
	return nil, age.ErrIncorrectIdentity
}

func (i *encryptedIdentity) identities() ([]age.Identity, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.ids != nil {
		return i.ids, nil
	}
	text, err := decrypt(i.data, PassphraseIdentity(i.opts.Passphrase))
	if errors.Is(err, ErrNoIdentity) {
		return nil, errors.New("it isn't encrypted with a passphrase")
	}
	if err != nil {
		return nil, err
	}
	defer clear(text)
	ids, err := parseIdentities(text, i.opts.PluginUI)
	if err != nil {
		if e, ok := errors.AsType[*SyntaxError](err); ok {
			e.Sealed = true
		}
		return nil, err
	}
	i.ids = ids
	return ids, nil
}

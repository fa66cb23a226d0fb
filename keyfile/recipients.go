// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"
	"filippo.io/age/plugin"
)

const (
	maxAgeFile = 1 << 20 // of recipients or identities
	maxAgeLine = 8 << 10 // a hybrid recipient takes 2 KiB
)

// Options says what reading an age file of recipients or identities may do beyond
// reading. The zero value, and nil, allow nothing more.
type Options struct {
	// PluginUI talks to the user on behalf of age plugins, programs called
	// age-plugin-NAME that a line can name. Without it such lines are refused.
	PluginUI *plugin.ClientUI

	// Passphrase asks for the passphrase of an encrypted identity file. It is called
	// when the identity is first needed. Without it such files are refused.
	Passphrase func() ([]byte, error)
}

func (o *Options) pluginUI() *plugin.ClientUI {
	if o == nil {
		return nil
	}
	return o.PluginUI
}

// ParseRecipients reads an age recipients file: a public key (age1...) a line, and
// comments (#). SSH keys aren't supported, as age advises for what isn't age itself.
// Errors are [*SyntaxError] and never repeat a line, since people do confuse the
// file with the other one.
func ParseRecipients(r io.Reader, opts *Options) ([]age.Recipient, error) {
	data, err := readAgeFile(r)
	if err != nil {
		return nil, err
	}
	defer clear(data) // perhaps the wrong file
	if isBinaryAge(data) || isArmoredAge(data) {
		return nil, &SyntaxError{Line: 1, Reason: "an age file where recipients are expected"}
	}
	var out []age.Recipient
	n, err := ageLines(data, func(line string) (err error) {
		r, err := parseRecipient(line, opts.pluginUI())
		out = append(out, r)
		return err
	})
	if err == nil && len(out) == 0 {
		err = &SyntaxError{Line: n + 1, Reason: "end of file, a recipient expected"}
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// parseRecipient reads one line. Its errors are SyntaxErrors without a line.
func parseRecipient(s string, ui *plugin.ClientUI) (r age.Recipient, err error) {
	switch {
	case looksLikeIdentity(s):
		return nil, &SyntaxError{
			Reason: "a secret key (an age identity) where a recipient is expected",
			Hint:   "give the public key instead: age-keygen -y FILE prints it",
		}
	case strings.HasPrefix(s, "ssh-"):
		return nil, &SyntaxError{
			Reason: "SSH keys aren't supported",
			Hint:   "make an age key with age-keygen -o FILE",
		}
	case strings.HasPrefix(s, dashes):
		return nil, &SyntaxError{Reason: "PEM where a recipient is expected"}
	case !strings.HasPrefix(s, "age1"):
		return nil, &SyntaxError{Reason: "not an age recipient"}
	case strings.Contains(s, " "):
		err = errors.New("white space")
	case strings.HasPrefix(s, "age1pq1"):
		r, err = age.ParseHybridRecipient(s)
	case strings.Count(s, "1") == 1:
		r, err = age.ParseX25519Recipient(s)
	case ui == nil:
		return nil, &SyntaxError{Reason: "a recipient of an age plugin, which isn't allowed here"}
	default:
		r, err = plugin.NewRecipient(s, ui)
	}
	if err != nil {
		return nil, &SyntaxError{
			Reason: "malformed age recipient",
			Hint:   "it must be copied whole, without white space around it",
		}
	}
	return r, nil
}

// looksLikeIdentity catches secrets in any case.
func looksLikeIdentity(s string) bool {
	s = strings.ToUpper(strings.TrimSpace(s))
	return strings.HasPrefix(s, "AGE-SECRET-KEY-") || strings.HasPrefix(s, "AGE-PLUGIN-") ||
		strings.HasPrefix(s, dashes+"BEGIN") && strings.Contains(s, "PRIVATE KEY")
}

// readAgeFile reads a small file.
func readAgeFile(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxAgeFile+1))
	if err == nil && len(data) > maxAgeFile {
		err = fmt.Errorf("keyfile: file is larger than %d KiB", maxAgeFile>>10)
	}
	if err != nil {
		clear(data)
		return nil, err
	}
	return data, nil
}

// ageLines calls f for each line that isn't empty or a comment, and puts the line's
// number in f's error. It returns how many lines there were.
func ageLines(data []byte, f func(line string) error) (int, error) {
	d := decoder{rest: data}
	for d.next() {
		switch {
		case len(d.line) == 0 || d.line[0] == '#':
			continue
		case len(d.line) > maxAgeLine:
			return d.n, d.fail("line too long")
		case bytes.ContainsFunc(d.line, func(r rune) bool { return r < ' ' || r > '~' }):
			return d.n, d.fail("a character that can't be here")
		}
		if err := f(string(d.line)); err != nil {
			if e, ok := errors.AsType[*SyntaxError](err); ok {
				e.Line = d.n
			}
			return d.n, err
		}
	}
	return d.n, nil
}

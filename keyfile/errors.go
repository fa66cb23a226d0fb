// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"errors"
	"fmt"
)

var (
	// ErrNoIdentity is in the error of [Open] when no identity opens the file.
	ErrNoIdentity = errors.New("keyfile: no identity matches the file's recipients")
	// ErrPassphrase is in the error of [Open] when the passphrase is wrong.
	ErrPassphrase = errors.New("keyfile: wrong passphrase")
	// ErrNotEncrypted is in the error of [Open] when the file isn't an age file.
	ErrNotEncrypted = errors.New("keyfile: not an age file")
)

// A SyntaxError says what is wrong with the text of a file, and where. It never
// repeats the text, which may be a secret in the wrong place.
type SyntaxError struct {
	Line   int    // from 1
	Reason string // lower case
	Hint   string // what the user can do, or empty
	Sealed bool   // the line is one of the text inside an age file
}

func (e *SyntaxError) Error() string {
	if e.Sealed {
		return fmt.Sprintf("keyfile: inside the age file: line %d: %s", e.Line, e.Reason)
	}
	return fmt.Sprintf("keyfile: line %d: %s", e.Line, e.Reason)
}

// A TypeError reports a file of another type than the expected one, or of a type
// that isn't known. The strings are PEM labels, without UNDERSIGN where it is ours;
// Want may also be "a public object" or "a secret". A type that is ours but unknown
// was probably written by a newer version.
type TypeError struct {
	Want string // empty if any type would do
	Got  string
}

func (e *TypeError) Error() string {
	if e.Want == "" {
		return fmt.Sprintf("keyfile: unknown type %s", e.Got)
	}
	return fmt.Sprintf("keyfile: expected %s, found %s", e.Want, e.Got)
}

// A SecretError reports a secret outside an age file, be it about to be written
// there or found there.
type SecretError struct {
	Type string
}

func (e *SecretError) Error() string {
	return fmt.Sprintf("keyfile: %s is secret and belongs in an age file", e.Type)
}

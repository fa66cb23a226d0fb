// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"filippo.io/age"
	"filippo.io/age/armor"
)

// Seal writes a secret as PEM inside an armoured age file that each of the
// recipients can open. It writes nothing unless all of them could be encrypted to.
// A passphrase is an [age.ScryptRecipient], which must be the only one.
func Seal(w io.Writer, secret Object, recipients ...age.Recipient) error {
	k, err := kindOf(secret)
	if err != nil {
		return err
	}
	if !k.secret {
		return fmt.Errorf("keyfile: %s is public and isn't sealed", k.label)
	}
	if len(recipients) == 0 {
		return errors.New("keyfile: no recipients to seal to")
	}
	text, err := encode(k.label, secret, nil)
	if err != nil {
		return err
	}
	defer clear(text)

	var out bytes.Buffer
	armored := armor.NewWriter(&out)
	plain, err := age.Encrypt(armored, recipients...)
	if err != nil {
		return fmt.Errorf("keyfile: age: %w", err)
	}
	if _, err := plain.Write(text); err != nil {
		return fmt.Errorf("keyfile: age: %w", err)
	}
	if err := errors.Join(plain.Close(), armored.Close()); err != nil {
		return fmt.Errorf("keyfile: age: %w", err)
	}
	if out.Len() > MaxSize {
		return tooLarge()
	}
	_, err = w.Write(out.Bytes())
	return err
}

// Open returns the secret in an age file, armoured or binary, that one of the
// identities opens. The error is [ErrNotEncrypted] for anything but an age file,
// [ErrNoIdentity] or [ErrPassphrase] when it can't be opened, and a [*TypeError] or
// [*SyntaxError] when what is inside isn't one secret of ours.
func Open(r io.Reader, identities ...age.Identity) (Object, error) {
	return open(r, nil, identities)
}

// OpenAs is [Open] for a caller that expects one type, a pointer such as
// *thresholdrsa.KeyShare. Another type is a [*TypeError] that names both.
func OpenAs[T Object](r io.Reader, identities ...age.Identity) (T, error) {
	return as[T](func(want *kind) (Object, error) {
		if !want.secret {
			return nil, fmt.Errorf("keyfile: %s is public and isn't sealed", want.label)
		}
		return open(r, want, identities)
	})
}

func open(r io.Reader, want *kind, identities []age.Identity) (Object, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxSize {
		return nil, tooLarge()
	}
	text, err := decrypt(data, identities...)
	if err != nil {
		return nil, err
	}
	defer clear(text)
	v, err := parse(text, sealed, want)
	if e, ok := errors.AsType[*SyntaxError](err); ok {
		e.Sealed = true
	}
	return v, err
}

// decrypt returns the plaintext of an age file. The caller should clear it.
func decrypt(data []byte, identities ...age.Identity) ([]byte, error) {
	var src io.Reader = bytes.NewReader(data)
	switch {
	case isBinaryAge(data):
	case isArmoredAge(data):
		src = armor.NewReader(src)
	default:
		return nil, notEncrypted(data)
	}
	if len(identities) == 0 {
		return nil, fmt.Errorf("%w: none given", ErrNoIdentity)
	}

	plain, err := age.Decrypt(src, identities...)
	if e, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return nil, noMatch(e, identities)
	}
	if err != nil {
		return nil, fmt.Errorf("keyfile: age: %w", err)
	}

	// The plaintext is shorter than the file: allocated once, it leaves no copies.
	text := make([]byte, 0, len(data))
	for len(text) < cap(text) {
		n, err := plain.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err == io.EOF {
			return text, nil
		}
		if err != nil {
			clear(text)
			return nil, fmt.Errorf("keyfile: age file is damaged or truncated: %w", err)
		}
	}
	clear(text)
	return nil, errors.New("keyfile: age file is damaged")
}

func isArmoredAge(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte(armor.Header))
}

// notEncrypted says what data is instead of an age file, as far as can be seen.
func notEncrypted(data []byte) error {
	if len(data) == 0 {
		return fmt.Errorf("%w: empty", ErrNotEncrypted)
	}
	d := decoder{rest: data}
	if label, err := d.begin(); err == nil {
		return fmt.Errorf("%w: found %s in plain text", ErrNotEncrypted, label)
	}
	return ErrNotEncrypted
}

// noMatch says why none of the identities fits. Stanza types are the file's
// author's words and aren't repeated.
func noMatch(e *age.NoIdentityMatchError, identities []age.Identity) error {
	needsPass := slices.Contains(e.StanzaTypes, "scrypt")
	pass, keys := false, false
	for _, id := range identities {
		switch id.(type) {
		case *age.ScryptIdentity, *passphraseIdentity:
			pass = true
		default:
			keys = true
		}
	}
	switch {
	case needsPass && pass:
		return ErrPassphrase
	case needsPass:
		return fmt.Errorf("%w: it takes a passphrase", ErrNoIdentity)
	case !keys:
		return fmt.Errorf("%w: it takes a key, not a passphrase", ErrNoIdentity)
	}
	return ErrNoIdentity
}

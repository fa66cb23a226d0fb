// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

// Package keyfile reads and writes undersign's files: one typed, versioned
// envelope for every public object, and an age file around it for every secret.
//
// A public object is strict PEM after RFC 7468, section 3 (the "stricttextualmsg"
// grammar), with the label UNDERSIGN <TYPE> and free comment lines above it. Its
// body is the object's canonical binary encoding: version octet, suite octet,
// fields. [Encode] writes it, [Parse] and [ParseAs] read it. A secret is the same
// PEM inside an armoured age file, so that age -d opens it and age plugins bring
// hardware keys: [Seal] and [Open]. [ParseRecipients] and [ParseIdentities] read
// age's own files. [Fingerprint] gives the short name of an object, us1...
//
// Nothing here is read leniently: unknown types, trailing data, second blocks,
// headers, non-canonical base64 and lines of the wrong length are errors that name
// the line. What any v1.x wrote, every later v1 reads.
//
// Base64 is constant time in the characters, because bodies may be secret; how many
// there are is public. Buffers with secrets are cleared before a function returns.
// Copies that age makes while it encrypts and decrypts are out of reach.
package keyfile

import (
	"encoding"
	"fmt"
	"strings"
)

// MaxSize is the largest file that is read or written, in bytes.
const MaxSize = 64 << 20

// An Object is a value with a file format: one of the types that [Type] names.
type Object interface {
	encoding.BinaryMarshaler
}

// Encode returns the PEM form of a public object, with each comment as a line of
// its own above it. A secret is refused with a [*SecretError]; see [Seal].
func Encode(v Object, comments ...string) ([]byte, error) {
	k, err := kindOf(v)
	if err != nil {
		return nil, err
	}
	if k.secret {
		return nil, &SecretError{Type: k.label}
	}
	return encode(k.label, v, comments)
}

// EncodeInsecurePlaintext returns the unencrypted PEM form of a secret, labelled
// UNDERSIGN INSECURE PLAINTEXT <TYPE>. The caller answers for where it ends up.
func EncodeInsecurePlaintext(v Object, comments ...string) ([]byte, error) {
	k, err := kindOf(v)
	if err != nil {
		return nil, err
	}
	if !k.secret {
		return nil, fmt.Errorf("keyfile: %s is public", k.label)
	}
	return encode(insecurePrefix+k.label, v, comments)
}

// encode marshals v into a PEM block with the given label.
func encode(label string, v Object, comments []string) ([]byte, error) {
	body, err := v.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("keyfile: %s: %w", label, err)
	}
	defer clear(body)
	return encodePEM(label, body, comments)
}

// Parse returns the public object in data, which is one PEM block with comment
// lines above it and white space after it. The error is a [*SyntaxError] when the
// envelope is malformed, a [*TypeError] when the type is unknown, and a
// [*SecretError] when data holds a secret, which never lies in the open: see [Open].
func Parse(data []byte) (Object, error) {
	return parse(data, public, nil)
}

// ParseAs is [Parse] for a caller that expects one type, a pointer such as
// *thresholdrsa.PublicKey. Another type is a [*TypeError] that names both.
func ParseAs[T Object](data []byte) (T, error) {
	return as[T](func(want *kind) (Object, error) {
		if want.secret {
			return nil, &SecretError{Type: want.label}
		}
		return parse(data, public, want)
	})
}

// ParseInsecurePlaintext returns the secret in data, which
// [EncodeInsecurePlaintext] wrote. The caller should clear data.
func ParseInsecurePlaintext(data []byte) (Object, error) {
	return parse(data, plaintext, nil)
}

// as turns the object that read returns into a T.
func as[T Object](read func(want *kind) (Object, error)) (T, error) {
	var zero T
	want, err := kindOf(zero)
	if err != nil {
		return zero, err
	}
	v, err := read(want)
	if err != nil {
		return zero, err
	}
	return v.(T), nil
}

// A class says which of the three homes of a block is being read.
type class int

const (
	public    class = iota // in the open
	plaintext              // a secret in the open, labelled as such
	sealed                 // a secret inside an age file
)

// parse reads one block. want is nil for any type of the class.
func parse(data []byte, c class, want *kind) (Object, error) {
	if len(data) > MaxSize {
		return nil, tooLarge()
	}
	if c != sealed && isBinaryAge(data) {
		return nil, &TypeError{Want: wanted(c, want), Got: ageLabel}
	}
	d := decoder{rest: data}
	full, err := d.begin()
	if err != nil {
		return nil, err
	}
	label, ours := strings.CutPrefix(full, labelPrefix)
	if !ours {
		return nil, &TypeError{Want: wanted(c, want), Got: full}
	}
	k, err := lookup(label, c, want)
	if err != nil {
		return nil, err
	}
	body, err := d.body(full)
	if err != nil {
		return nil, err
	}
	defer clear(body)
	v := k.new()
	if err := v.UnmarshalBinary(body); err != nil {
		return nil, fmt.Errorf("keyfile: %s: %w", k.label, err)
	}
	return v, nil
}

func tooLarge() error {
	return fmt.Errorf("keyfile: file is larger than %d MiB", MaxSize>>20)
}

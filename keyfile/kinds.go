// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package keyfile

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
)

const (
	labelPrefix    = "UNDERSIGN "
	insecurePrefix = "INSECURE PLAINTEXT "
	ageLabel       = "AGE ENCRYPTED FILE"
	ageIntro       = "age-encryption.org/"
)

// An object can be read as well as written.
type object interface {
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// A kind is one type of file.
type kind struct {
	label  string // without UNDERSIGN
	secret bool
	new    func() object
	typ    reflect.Type // of what new returns
}

// entry makes the table's row for *T.
func entry[T any, P interface {
	*T
	object
}](label string, secret bool) kind {
	return kind{
		label:  label,
		secret: secret,
		new:    func() object { return P(new(T)) },
		typ:    reflect.TypeFor[P](),
	}
}

// Type returns the type of v as the PEM label has it, without UNDERSIGN, or the
// empty string if v has no file format.
func Type(v Object) string {
	k, err := kindOf(v)
	if err != nil {
		return ""
	}
	return k.label
}

// IsSecret reports whether v is of a type that is only ever stored encrypted.
func IsSecret(v Object) bool {
	k, err := kindOf(v)
	return err == nil && k.secret
}

// kindOf looks v up by its Go type. v may be a nil pointer.
func kindOf(v Object) (*kind, error) {
	t := reflect.TypeOf(v)
	for i := range kinds {
		if kinds[i].typ == t {
			return &kinds[i], nil
		}
	}
	return nil, fmt.Errorf("keyfile: %T has no file format", v)
}

// lookup finds the kind for a label (without UNDERSIGN) and checks it against the
// class and the wanted kind.
func lookup(label string, c class, want *kind) (*kind, error) {
	name, insecure := strings.CutPrefix(label, insecurePrefix)
	var k *kind
	for i := range kinds {
		if kinds[i].label == name {
			k = &kinds[i]
		}
	}
	switch {
	case k == nil && want == nil && c == public:
		return nil, &TypeError{Got: label}
	case k == nil || insecure && !k.secret:
		return nil, &TypeError{Want: wanted(c, want), Got: label}
	case c == public && k.secret:
		if want != nil {
			return nil, &TypeError{Want: want.label, Got: label}
		}
		return nil, &SecretError{Type: k.label}
	case c == plaintext && k.secret && !insecure:
		// The output of age -d. The label was made for the inside of an age file.
		return nil, &SecretError{Type: k.label}
	case c != public && !k.secret, c == sealed && insecure, want != nil && k != want:
		return nil, &TypeError{Want: wanted(c, want), Got: label}
	}
	return k, nil
}

// wanted says what was expected, for a TypeError.
func wanted(c class, want *kind) string {
	switch {
	case want != nil:
		return want.label
	case c != public:
		return "a secret"
	}
	return "a public object"
}

func isBinaryAge(data []byte) bool {
	return len(data) >= len(ageIntro) && string(data[:len(ageIntro)]) == ageIntro
}

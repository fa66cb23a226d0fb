// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/transcript"
)

// A Scheme says in what the schemes differ, to the code that they share. The zero values
// of their types have none, and are refused.
type Scheme struct {
	Name string // in domain separation tags, and in front of errors

	// Encrypted is that members encrypt their tokens, which are multiples of P2, to the
	// opener, who has two keys more for that. Otherwise they are multiples of Y, and the
	// issuer sees them.
	Encrypted bool

	// Points is that of the scheme's groups.
	Points func(*join.Record) (Points, error)
}

// DST returns the tag of an operation.
func (s *Scheme) DST(operation string) []byte { return transcript.DST(s.Name, operation) }

// errorf returns an error in the scheme's name.
func (s *Scheme) errorf(format string, args ...any) error {
	return fmt.Errorf(s.Name+": "+format, args...)
}

var (
	errNoKey   = errors.New("groupsig: empty key")
	errNoGroup = errors.New("groupsig: empty group key")
)

// ErrWiped is what a wiped key says.
func (s *Scheme) ErrWiped() error { return s.errorf("the key has been wiped") }

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package groupsig

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/wire"
)

const (
	maxDraftField = 1 << 12
)

// A proposal is a draft of a scheme that has an issuer, an opener, and no features
// to choose.
type proposal struct {
	scheme         Scheme
	label          string
	issuer, opener []byte
	consents       [2][]byte // issuer's and opener's

	id       func(p *proposal) ([32]byte, error)
	groupKey func(p *proposal) (GroupKey, error)
}

func (p *proposal) Scheme() Scheme              { return p.scheme }
func (p *proposal) Label() string               { return p.label }
func (p *proposal) Features() Features          { return p.scheme.Required() }
func (p *proposal) ID() ([32]byte, error)       { return p.id(p) }
func (p *proposal) GroupKey() (GroupKey, error) { return p.groupKey(p) }
func (p *proposal) sealed()                     {}

// enroll puts a public key in place, if there is one.
func (p *proposal) enroll(field *[]byte, public []byte) error {
	if public == nil {
		return errors.New("groupsig: the key has been wiped")
	}
	*field = bytes.Clone(public)
	return nil
}

// MarshalBinary returns the canonical encoding.
func (p *proposal) MarshalBinary() ([]byte, error) {
	var e wire.Encoder
	e.U8(version)
	e.U8(suite)
	for _, b := range [][]byte{[]byte(p.scheme.Name()), []byte(p.label), p.issuer, p.opener, p.consents[0], p.consents[1]} {
		e.Bytes(b)
	}
	return e.Data(), nil
}

// unmarshal decodes a draft, of which it checks the form only.
func (p *proposal) unmarshal(data []byte) error {
	d := wire.NewDecoder(data)
	d.Header(version, suite)
	name := d.Bytes("scheme", 32)
	if d.Err() == nil && string(name) != p.scheme.Name() {
		d.Fail("scheme", "the draft is of another scheme")
	}
	p.label = string(d.Bytes("label", join.MaxLabel))
	for _, f := range []struct {
		name string
		b    *[]byte
	}{{"issuer", &p.issuer}, {"opener", &p.opener}, {"issuer's consent", &p.consents[0]}, {"opener's consent", &p.consents[1]}} {
		*f.b = d.Bytes(f.name, maxDraftField)
	}
	if err := join.CheckLabel(p.label); err != nil {
		d.Fail("label", "%v", err)
	}
	if err := d.Finish(); err != nil {
		return fmt.Errorf("groupsig: draft: %w", err)
	}
	return nil
}

// noScope returns the context to sign or verify for.
func noScope(scope, context []byte) ([]byte, error) {
	if len(scope) > 0 {
		return nil, errScope
	}
	return context, nil
}

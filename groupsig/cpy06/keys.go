// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cpy06

import (
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/sdh"
)

// An IssuerKey makes credentials. It can make members that nobody is registered as, and an
// opening proves it, but can't sign as a member. Its register has what traces them.
type IssuerKey struct {
	k *sdh.RoleKeys
}

// GenerateIssuerKey returns a new key.
func GenerateIssuerKey() *IssuerKey { return &IssuerKey{sdh.GenerateIssuerKey(sdh.CPY06)} }

// Enroll puts the public key into a draft.
func (k *IssuerKey) Enroll(d *Draft) error { return k.k.Enroll(&d.d) }

// Consent agrees to a draft in which all roles are enrolled.
func (k *IssuerKey) Consent(d *Draft) error { return k.k.Consent(&d.d) }

// MarshalBinary returns the canonical encoding, which is secret.
func (k *IssuerKey) MarshalBinary() ([]byte, error) { return k.k.MarshalBinary() }

// UnmarshalBinary decodes a key.
func (k *IssuerKey) UnmarshalBinary(data []byte) error {
	q, err := sdh.ParseIssuerKey(sdh.CPY06, data)
	if err != nil {
		return err
	}
	k.k = q
	return nil
}

// Wipe overwrites the key.
func (k *IssuerKey) Wipe() { k.k.Wipe() }

// Issue answers a member's application with a credential. Sessions were opened for members
// that are admitted, with their long-term keys. Times are seconds since 1970.
func (k *IssuerKey) Issue(gk *GroupKey, sessions *Sessions, register *Register, application []byte, now int64) ([]byte, error) {
	return k.k.Issue(gk.k, sessions, register, application, now)
}

// String shows nothing of the key.
func (k IssuerKey) String() string { return "cpy06: secret key" }

// GoString is String.
func (k IssuerKey) GoString() string { return k.String() }

// Format writes String, whatever the verb.
func (k IssuerKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

// An OpenerKey finds out who made a signature.
type OpenerKey struct {
	k *sdh.RoleKeys
}

// GenerateOpenerKey returns a new key.
func GenerateOpenerKey() *OpenerKey { return &OpenerKey{sdh.GenerateOpenerKey(sdh.CPY06)} }

// Enroll puts the public key into a draft.
func (k *OpenerKey) Enroll(d *Draft) error { return k.k.Enroll(&d.d) }

// Consent agrees to a draft in which all roles are enrolled.
func (k *OpenerKey) Consent(d *Draft) error { return k.k.Consent(&d.d) }

// MarshalBinary returns the canonical encoding, which is secret.
func (k *OpenerKey) MarshalBinary() ([]byte, error) { return k.k.MarshalBinary() }

// UnmarshalBinary decodes a key.
func (k *OpenerKey) UnmarshalBinary(data []byte) error {
	q, err := sdh.ParseOpenerKey(sdh.CPY06, data)
	if err != nil {
		return err
	}
	k.k = q
	return nil
}

// Wipe overwrites the key.
func (k *OpenerKey) Wipe() { k.k.Wipe() }

// String shows nothing of the key.
func (k OpenerKey) String() string { return "cpy06: secret key" }

// GoString is String.
func (k OpenerKey) GoString() string { return k.String() }

// Format writes String, whatever the verb.
func (k OpenerKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

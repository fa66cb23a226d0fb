// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package dp06

import (
	"crypto/ed25519"
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/sdh"
	"github.com/undersign/undersign/internal/transcript"
)

// A Pending member has sent its application and waits for the credential. It is
// secret.
type Pending struct {
	gk *GroupKey
	p  *sdh.PendingMember
}

// NewJoin answers an issuer's challenge and returns the application to send. The
// fingerprint is the group's ID as it is published. The key is the member's long-term
// key, which signs the registration.
func (k *GroupKey) NewJoin(fingerprint [32]byte, c *Challenge, member string, key ed25519.PrivateKey) (*Pending, []byte, error) {
	p, m2, err := k.k.NewJoin(fingerprint, c, member, key)
	if err != nil {
		return nil, nil, err
	}
	return &Pending{k, p}, m2, nil
}

// Group returns the group.
func (p *Pending) Group() *GroupKey { return p.gk }

// Finish checks the credential and returns the member's key.
func (p *Pending) Finish(credential []byte) (*MemberKey, error) {
	m, err := p.p.Finish(credential)
	if err != nil {
		return nil, err
	}
	return &MemberKey{m}, nil
}

// MarshalBinary returns the canonical encoding, which is secret.
func (p *Pending) MarshalBinary() ([]byte, error) { return p.p.MarshalBinary() }

// ParsePending decodes a pending member of the group.
func (k *GroupKey) ParsePending(data []byte) (*Pending, error) {
	p, err := k.k.ParsePendingMember(data)
	if err != nil {
		return nil, err
	}
	return &Pending{k, p}, nil
}

// Wipe overwrites the secrets.
func (p *Pending) Wipe() { p.p.Wipe() }

// String shows nothing of the secrets.
func (p Pending) String() string { return "dp06: secret key" }

// GoString is String.
func (p Pending) GoString() string { return p.String() }

// Format writes String, whatever the verb.
func (p Pending) Format(f fmt.State, _ rune) { fmt.Fprint(f, p.String()) }

// A MemberKey signs for the group. It may be used by several goroutines, but not
// while Update or Wipe runs.
type MemberKey struct {
	m *sdh.MemberKey
}

// GroupKey returns the group's key, of the version that the member's is of.
func (m *MemberKey) GroupKey() *GroupKey { return &GroupKey{m.m.Group()} }

// Member returns the member's identity.
func (m *MemberKey) Member() string { return m.m.Member() }

// Sign signs a message for a context, which says what the signature is for, and may be nil.
func (m *MemberKey) Sign(msg, context []byte) ([]byte, error) {
	return m.m.Sign(transcript.MessageOf(msg), context)
}

// MarshalBinary returns the canonical encoding, which is secret.
func (m *MemberKey) MarshalBinary() ([]byte, error) { return m.m.MarshalBinary() }

// ParseMemberKey decodes a member's key and checks its credential.
func (k *GroupKey) ParseMemberKey(data []byte) (*MemberKey, error) {
	m, err := k.k.ParseMemberKey(data)
	if err != nil {
		return nil, err
	}
	return &MemberKey{m}, nil
}

// Wipe overwrites the key.
func (m *MemberKey) Wipe() { m.m.Wipe() }

// String shows nothing of the key.
func (m MemberKey) String() string { return "dp06: secret key" }

// GoString is String.
func (m MemberKey) GoString() string { return m.String() }

// Format writes String, whatever the verb.
func (m MemberKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, m.String()) }

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbsgs

import (
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/bbs"
)

// An IssuerKey makes credentials. It can make members that nobody can trace, but can't
// sign as a member.
//
// A key is for one group. Its credentials are good in each of its groups that has the
// same label, though the opener there knows nothing of the member.
type IssuerKey struct {
	k *bbs.IssuerKey
}

// GenerateIssuerKey returns a new key.
func GenerateIssuerKey() *IssuerKey { return &IssuerKey{bbs.GenerateIssuerKey()} }

// Enroll puts the public key into a draft.
func (k *IssuerKey) Enroll(d *Draft) { d.d.Issuer = k.k.Public() }

// Consent agrees to a draft in which all roles are enrolled.
func (k *IssuerKey) Consent(d *Draft) error { return k.k.Consent(&d.d) }

// MarshalBinary returns the canonical encoding, which is secret.
func (k *IssuerKey) MarshalBinary() ([]byte, error) { return k.k.MarshalBinary() }

// UnmarshalBinary decodes a key.
func (k *IssuerKey) UnmarshalBinary(data []byte) error {
	q := new(bbs.IssuerKey)
	if err := q.UnmarshalBinary(data); err != nil {
		return err
	}
	k.k = q
	return nil
}

// Wipe overwrites the key.
func (k *IssuerKey) Wipe() { k.k.Wipe() }

// String shows nothing of the key.
func (k IssuerKey) String() string { return "bbsgs: secret key" }

// GoString is String.
func (k IssuerKey) GoString() string { return k.String() }

// Format writes String, whatever the verb.
func (k IssuerKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

// Issue answers a member's application with a credential for an epoch, 0 in groups
// without epochs. Sessions were opened for members that are admitted, with their
// long-term keys. Times are seconds since 1970.
func (k *IssuerKey) Issue(gk *GroupKey, sessions *Sessions, register *Register, application []byte, now int64, epoch uint64) ([]byte, error) {
	return k.k.Issue(gk.k, sessions, register, application, now, epoch)
}

// Reissue makes a member's credential for another epoch. It may be published, once
// the register, which notes the epoch, is stored.
func (k *IssuerKey) Reissue(gk *GroupKey, register *Register, member string, epoch uint64) ([]byte, error) {
	return k.k.Reissue(gk.k, register, member, epoch)
}

// Announce signs which epochs verifiers accept, from the oldest to the one that
// members get credentials for.
func (k *IssuerKey) Announce(gk *GroupKey, terms Terms, oldest, epoch uint64) (*Announcement, error) {
	return k.k.Announce(gk.k, terms, oldest, epoch)
}

// RevocationList signs a list of revoked pseudonyms in groups without an opener.
func (k *IssuerKey) RevocationList(gk *GroupKey, terms Terms, v Revoked) (*Revocation, error) {
	return k.k.RevocationList(gk.k, terms, v)
}

// An OpenerKey finds out who made a signature.
type OpenerKey struct {
	k *bbs.OpenerKey
}

// GenerateOpenerKey returns a new key for a group with some features.
func GenerateOpenerKey(features Features) (*OpenerKey, error) {
	k, err := bbs.GenerateOpenerKey(features | required)
	if err != nil {
		return nil, err
	}
	return &OpenerKey{k}, nil
}

// Enroll puts the public key into a draft.
func (k *OpenerKey) Enroll(d *Draft) { d.d.Opener = k.k.Public(&d.d) }

// Consent agrees to a draft in which all roles are enrolled.
func (k *OpenerKey) Consent(d *Draft) error { return k.k.Consent(&d.d) }

// MarshalBinary returns the canonical encoding, which is secret.
func (k *OpenerKey) MarshalBinary() ([]byte, error) { return k.k.MarshalBinary() }

// UnmarshalBinary decodes a key.
func (k *OpenerKey) UnmarshalBinary(data []byte) error {
	q := new(bbs.OpenerKey)
	if err := q.UnmarshalBinary(data); err != nil {
		return err
	}
	k.k = q
	return nil
}

// Wipe overwrites the key.
func (k *OpenerKey) Wipe() { k.k.Wipe() }

// String shows nothing of the key.
func (k OpenerKey) String() string { return "bbsgs: secret key" }

// GoString is String.
func (k OpenerKey) GoString() string { return k.String() }

// Format writes String, whatever the verb.
func (k OpenerKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, k.String()) }

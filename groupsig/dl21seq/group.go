// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package dl21seq

import (
	"github.com/undersign/undersign/groupsig/internal/bbs"
	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/internal/transcript"
)

const (
	scheme   = "dl21seq"
	required = bbs.Plus | bbs.Scope | bbs.Sequence
	optional = Escrow | Epoch | Token
)

// Features are what a group may have beside what the scheme always has. They are
// part of the group's ID.
type Features = bbs.Features

// The features.
const (
	// Escrow is an opener with two keys, who finds out who signed.
	Escrow = bbs.Escrow
	// Epoch is an epoch for which a credential holds; the number shows in signatures.
	Epoch = bbs.Epoch
	// Token lets the opener revoke a member in all scopes. It needs Scope and Escrow.
	Token = bbs.Token
)

// What join protocols have in common.
type (
	// A Register holds the members' signed registrations, one live one for an identity.
	// Who is revoked would have two pseudonyms in a scope, if it could join again while
	// its old credential is accepted: an issuer's register refuses it until a later epoch
	// than any that its old record got a credential for, or until a list in
	// force has its token: see [GroupKey.MarkListed].
	Register = join.Register
	// A Record is one registration.
	Record = join.Record
	// Sessions are an issuer's runs of the join protocol, each for one credential.
	Sessions = join.Sessions
	// A Challenge is the issuer's first message to a member.
	Challenge = join.Challenge
	// A Kind is a way to prove knowledge of the member's secret.
	Kind = join.Kind
)

// Kinds of join proofs. Fischlin is what most callers want: with Schnorr no more than
// one session may be open.
const (
	Fischlin = join.Fischlin
	Schnorr  = join.Schnorr
)

// What signing and verifying have in common.
type (
	// SignOptions say what a signature is for, beside the message.
	SignOptions = bbs.SignOptions
	// VerifyOptions say what a verifier demands.
	VerifyOptions = bbs.VerifyOptions
	// A Revocation is a signed list of those who are revoked.
	Revocation = bbs.Revocation
	// Revoked says whom a list revokes.
	Revoked = bbs.Revoked
	// An Announcement says, signed by the issuer, which epochs are accepted.
	Announcement = bbs.Announcement
	// Terms are the number and the validity of a list or an announcement.
	Terms = bbs.Terms
	// A StaleError says why a list or an announcement can't be used now.
	StaleError = bbs.StaleError
	// A RejoinError says that an identity was revoked, and joins again too early.
	RejoinError = join.RejoinError
	// A BatchError says which signatures of a batch are refused, and why.
	BatchError = bbs.BatchError
)

// The errors that callers act on.
var (
	// ErrSignature: the signature isn't valid.
	ErrSignature = bbs.ErrSignature
	// ErrRevoked: it is, and its signer is revoked.
	ErrRevoked = bbs.ErrRevoked
)

// A Draft is a group key before all its roles have agreed to it. Each role puts its
// public key in (Enroll), and when all are in, each agrees to the whole (Consent).
type Draft struct {
	d bbs.Draft
}

// NewDraft starts a group with some features. The generators are derived from the
// label, which should be unique.
func NewDraft(label string, features Features) (*Draft, error) {
	d := &Draft{bbs.Draft{Scheme: scheme, Label: label, Features: features | required}}
	if err := d.d.Check(scheme, required, optional); err != nil {
		return nil, err
	}
	return d, nil
}

// ID returns the ID that the group has with the keys that are in the draft.
func (d *Draft) ID() [32]byte { return d.d.ID() }

// MarshalBinary returns the canonical encoding.
func (d *Draft) MarshalBinary() ([]byte, error) { return d.d.MarshalBinary() }

// UnmarshalBinary decodes a draft, of which it checks the form only.
func (d *Draft) UnmarshalBinary(data []byte) error {
	var q bbs.Draft
	if err := q.UnmarshalBinary(data); err != nil {
		return err
	}
	if err := q.Check(scheme, required, optional); err != nil {
		return err
	}
	d.d = q
	return nil
}

// A GroupKey is a group's public key. It may be used by several goroutines.
type GroupKey struct {
	k *bbs.GroupKey
}

// NewGroupKey makes the key of a draft to which all roles have agreed, and checks
// that they did.
func NewGroupKey(d *Draft) (*GroupKey, error) {
	if err := d.d.Check(scheme, required, optional); err != nil {
		return nil, err
	}
	k, err := bbs.NewGroupKey(&d.d)
	if err != nil {
		return nil, err
	}
	return &GroupKey{k}, nil
}

// MarshalBinary returns the canonical encoding.
func (k *GroupKey) MarshalBinary() ([]byte, error) { return k.k.MarshalBinary() }

// UnmarshalBinary decodes a key and checks it: generators are derived again from the
// label, and every role's proof of possession is verified. The caller compares the ID
// with the published one.
func (k *GroupKey) UnmarshalBinary(data []byte) error {
	var d Draft
	if err := d.UnmarshalBinary(data); err != nil {
		return err
	}
	q, err := NewGroupKey(&d)
	if err != nil {
		return err
	}
	*k = *q
	return nil
}

// ID returns the group's ID, its fingerprint.
func (k *GroupKey) ID() [32]byte { return k.k.ID() }

// Label returns the group's label.
func (k *GroupKey) Label() string { return k.k.Label() }

// Features returns the group's features.
func (k *GroupKey) Features() Features { return k.k.Features() }

// Equal reports whether x is the same group.
func (k *GroupKey) Equal(x *GroupKey) bool { return x != nil && k.k.Equal(x.k) }

// SignatureSize returns the length of a compact signature.
func (k *GroupKey) SignatureSize() int { return k.k.Features().SignatureSize() }

// NewRegister returns an empty register for the group.
func (k *GroupKey) NewRegister() *Register { return k.k.NewRegister() }

// NewSessions returns an empty table of sessions for the group.
func (k *GroupKey) NewSessions() *Sessions { return k.k.NewSessions() }

// ParseRevocation decodes a list and checks its signature: the opener's, and in groups
// without one the issuer's. Whether it is in force is checked by each verification, and
// whether it may replace the list before by its method Replaces.
func (k *GroupKey) ParseRevocation(data []byte) (*Revocation, error) {
	return k.k.ParseRevocation(data)
}

// MarkListed marks in the issuer's register those revoked members whose tokens a list
// in force has, and returns their number. Their identities may join anew: see
// [Register].
func (k *GroupKey) MarkListed(register *Register, r *Revocation, now int64) (int, error) {
	return k.k.MarkListed(register, r, now)
}

// ParseAnnouncement decodes an announcement and checks the issuer's signature.
func (k *GroupKey) ParseAnnouncement(data []byte) (*Announcement, error) {
	return k.k.ParseAnnouncement(data)
}

// Verify checks a signature, in either layout.
func (k *GroupKey) Verify(msg, sig []byte, opts VerifyOptions) error {
	return k.k.Verify(transcript.MessageOf(msg), sig, opts)
}

// SignatureID names a signature made for a message and a scope, whatever its layout.
func (k *GroupKey) SignatureID(msg, scope, sig []byte) ([32]byte, error) {
	return k.k.SignatureID(transcript.MessageOf(msg), scope, sig)
}

// Compact returns the compact layout of a signature in either.
func (k *GroupKey) Compact(msg, scope, sig []byte) ([]byte, error) {
	return k.k.Compact(transcript.MessageOf(msg), scope, sig)
}

// ForBatch returns the layout for batches of a signature in either. It doesn't verify
// the signature.
func (k *GroupKey) ForBatch(scope, sig []byte) ([]byte, error) { return k.k.ForBatch(scope, sig) }

// A Batch verifies many signatures at once, and decides as Verify does.
type Batch struct {
	b bbs.Batch
}

// Batch returns an empty batch.
func (k *GroupKey) Batch() *Batch { return &Batch{*k.k.Batch()} }

// Add adds a signature.
func (b *Batch) Add(msg, sig []byte, opts VerifyOptions) {
	b.b.Add(transcript.MessageOf(msg), sig, opts)
}

// Len returns the number of signatures.
func (b *Batch) Len() int { return b.b.Len() }

// Verify returns nil if all signatures are valid, and a *BatchError otherwise.
func (b *Batch) Verify() error { return b.b.Verify() }

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs04

import (
	"fmt"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sdh"
	"github.com/undersign/undersign/groupsig/internal/state"
	"github.com/undersign/undersign/groupsig/internal/tokens"
	"github.com/undersign/undersign/internal/transcript"
)

// What join protocols have in common.
type (
	// A Register holds the members' signed registrations, one live one for an identity.
	Register = join.Register
	// A Record is one registration.
	Record = join.Record
	// Sessions are an issuer's runs of the join protocol, each for one credential.
	Sessions = join.Sessions
	// A Challenge is the issuer's first message to a member.
	Challenge = join.Challenge
	// A Kind is a way to prove knowledge of the member's secret.
	Kind = join.Kind
	// A RejoinError says that an identity was revoked, and joins again too early.
	RejoinError = join.RejoinError
	// A BatchError says which signatures of a batch are refused, and why.
	BatchError = state.BatchError
)

// Kinds of join proofs. Fischlin is what most callers want: with Schnorr no more than
// one session may be open.
const (
	Fischlin = join.Fischlin
	Schnorr  = join.Schnorr
)

// What callers act on.
var (
	// ErrSignature is what a signature that isn't valid is refused for.
	ErrSignature = sdh.ErrSignature
	// ErrRevoked is what a revoked member gets for an update.
	ErrRevoked = state.ErrRevoked
	// ErrUnknown is that a signature fits no member of the register, in groups whose key moves.
	ErrUnknown = tokens.ErrUnknown
)

// A Draft is a group key before all its roles have agreed to it. Each role puts its
// public key in (Enroll), and when all are in, each agrees to the whole (Consent).
type Draft struct {
	d sdh.Draft
}

// Features are what a group may have.
type Features uint8

// Static is that the issuer makes the members' whole keys, and can sign in their names.
const Static Features = 1

// NewDraft starts a group. Generators are derived from the label, which should be unique.
func NewDraft(label string, features Features) (*Draft, error) {
	if err := join.CheckLabel(label); err != nil {
		return nil, fmt.Errorf("bbs04: %w", err)
	}
	table := sdh.BBS04
	switch features {
	case 0:
	case Static:
		table = table.Variant
	default:
		return nil, fmt.Errorf("bbs04: features %#x", uint8(features))
	}
	return &Draft{sdh.Draft{Scheme: table, Label: label}}, nil
}

// ID returns the ID that the group has with the keys that are in the draft.
func (d *Draft) ID() [32]byte { return d.d.ID() }

// MarshalBinary returns the canonical encoding.
func (d *Draft) MarshalBinary() ([]byte, error) { return d.d.MarshalBinary() }

// UnmarshalBinary decodes a draft, of which it checks the form only.
func (d *Draft) UnmarshalBinary(data []byte) error {
	q, err := sdh.ParseDraft(sdh.BBS04, data)
	if err != nil {
		return err
	}
	d.d = *q
	return nil
}

// A GroupKey is a group's public key. It may be used by several goroutines.
type GroupKey struct {
	k *sdh.GroupKey
}

// NewGroupKey makes the key of a draft to which all roles have agreed, and checks
// that they did.
func NewGroupKey(d *Draft) (*GroupKey, error) {
	k, err := sdh.NewGroupKey(&d.d)
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
	q, err := sdh.ParseGroupKey(sdh.BBS04, data)
	if err != nil {
		return err
	}
	k.k = q
	return nil
}

// ID returns the group's ID, its fingerprint.
func (k *GroupKey) ID() [32]byte { return k.k.ID() }

// Label returns the group's label.
func (k *GroupKey) Label() string { return k.k.Label() }

// Features returns the group's features.
func (k *GroupKey) Features() Features {
	if k.k.Variant() {
		return Static
	}
	return 0
}

// Equal reports whether x is the same group's key, of the same version.
func (k *GroupKey) Equal(x *GroupKey) bool { return x != nil && k.k.Equal(x.k) }

// SignatureSize returns the length of a signature.
func (k *GroupKey) SignatureSize() int { return k.k.SignatureSize() }

// NewRegister returns an empty register for the group.
func (k *GroupKey) NewRegister() *Register { return k.k.NewRegister() }

// NewSessions returns an empty table of sessions for the group.
func (k *GroupKey) NewSessions() *Sessions { return k.k.NewSessions() }

// Verify checks a signature of a message for a context, which may be nil.
// Where members are revoked, the key is the one that Current returns.
func (k *GroupKey) Verify(msg, sig, context []byte) error {
	return k.k.Verify(transcript.MessageOf(msg), context, sig)
}

// SignatureID names a signature. It doesn't verify it.
func (k *GroupKey) SignatureID(sig []byte) ([32]byte, error) { return k.k.SignatureID(sig) }

// A Batch verifies many signatures, on all processors.
type Batch struct {
	b sdh.Batch
}

// Batch returns an empty batch.
func (k *GroupKey) Batch() *Batch { return &Batch{*k.k.Batch()} }

// Add adds a signature, which mustn't change until Verify returns.
func (b *Batch) Add(msg, sig, context []byte) { b.b.Add(transcript.MessageOf(msg), context, sig) }

// Len returns the number of signatures.
func (b *Batch) Len() int { return b.b.Len() }

// Verify returns nil if all signatures are valid, and a *BatchError otherwise.
func (b *Batch) Verify() error { return b.b.Verify() }

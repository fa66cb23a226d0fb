// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cpy06

import (
	"crypto/ed25519"
	"errors"

	"github.com/undersign/undersign/groupsig/internal/sdh"
	"github.com/undersign/undersign/groupsig/internal/state"
	"github.com/undersign/undersign/internal/transcript"
)

// Terms are the number and the validity of a list, in seconds since 1970.
type Terms = state.Terms

// A StaleError says why a list can't be used now.
type StaleError = state.StaleError

var errNoList = errors.New("cpy06: empty list")

// A List has what traces the revoked members, signed by the opener. It is immutable.
type List struct {
	l *sdh.List
}

// check is what verifiers look at.
func (l *List) check(now int64, minNumber uint64) sdh.Check {
	c := sdh.Check{Now: now, MinNumber: minNumber}
	if l != nil {
		c.List = l.l
	}
	return c
}

// Number returns the list's number, which is higher than those before.
func (l *List) Number() uint64 {
	if l.l == nil {
		return 0
	}
	return l.l.Number()
}

// Issued returns the first second in which the list may be used, since 1970.
func (l *List) Issued() int64 {
	if l.l == nil {
		return 0
	}
	return l.l.Issued()
}

// Expires returns the last second in which the list may be used.
func (l *List) Expires() int64 {
	if l.l == nil {
		return 0
	}
	return l.l.Expires()
}

// Len returns how many members are revoked.
func (l *List) Len() int { return l.l.Len() }

// MarshalBinary returns the canonical encoding.
func (l *List) MarshalBinary() ([]byte, error) {
	if l.l == nil {
		return nil, errNoList
	}
	return l.l.MarshalBinary()
}

// Replaces returns a *[StaleError] unless the list may take the place of one that a verifier
// has, which may be nil.
func (l *List) Replaces(old *List) error {
	if l.l == nil {
		return errNoList
	}
	if old == nil || old.l == nil {
		return nil
	}
	return l.l.Replaces(&old.l.State)
}

// List signs the list of those who are revoked in the opener's register. The list before,
// which may be nil, has a lower number.
func (k *OpenerKey) List(gk *GroupKey, register *Register, terms Terms, base *List) (*List, error) {
	var b *sdh.List
	if base != nil {
		if b = base.l; b == nil {
			return nil, errNoList
		}
	}
	l, err := k.k.List(gk.k, register, terms, b)
	if err != nil {
		return nil, err
	}
	return &List{l}, nil
}

// ParseList decodes a list and checks its signature. Whether it is in force is checked by
// each verification.
func (k *GroupKey) ParseList(data []byte) (*List, error) {
	l, err := k.k.ParseList(data)
	if err != nil {
		return nil, err
	}
	return &List{l}, nil
}

// MarkListed marks in the issuer's register those revoked members whom a list in force has,
// and returns their number: they may join anew.
func (k *GroupKey) MarkListed(register *Register, l *List, now int64) (int, error) {
	if l == nil {
		return 0, errNoList
	}
	return k.k.MarkTraced(register, l.l, now)
}

// A Revealed traces one member. The opener signs it with what it is for.
type Revealed = sdh.Revealed

// Reveal returns what traces a member of the opener's register, for a reason.
func (k *OpenerKey) Reveal(gk *GroupKey, register *Register, member string, reason []byte) (*Revealed, error) {
	return k.k.Reveal(gk.k, register, member, reason)
}

// CheckRevealed checks that what is revealed traces the member that it names, whose long-term
// key the caller knows, and that the opener has revealed it for a reason. It can't be made
// for another member than the one who registered, not by issuer and opener together.
func (k *GroupKey) CheckRevealed(v *Revealed, key ed25519.PublicKey, reason []byte) error {
	return k.k.CheckRevealed(v, key, reason)
}

// A Signed is a signature with what it is verified by.
type Signed struct {
	Message, Signature, Context []byte
}

func signed(set ...Signed) []sdh.Signed {
	out := make([]sdh.Signed, len(set))
	for i, s := range set {
		out[i] = sdh.Signed{Message: transcript.MessageOf(s.Message), Context: s.Context, Signature: s.Signature}
	}
	return out
}

// Trace verifies a signature, and reports whether the member made it of what is revealed,
// which CheckRevealed has checked.
func (k *GroupKey) Trace(v *Revealed, s Signed) (bool, error) { return k.k.Trace(v, signed(s)[0]) }

// Identify reports whether a valid signature is the member's own.
func (m *MemberKey) Identify(s Signed) (bool, error) { return m.m.Identify(signed(s)[0]) }

// Claim proves to anyone that the member made a signature, for a reason.
func (m *MemberKey) Claim(s Signed, reason []byte) ([]byte, error) {
	return m.m.Claim(signed(s)[0], reason)
}

// VerifyClaim checks the proof, and the signature.
func (k *GroupKey) VerifyClaim(s Signed, reason, claim []byte) error {
	return k.k.VerifyClaim(signed(s)[0], reason, claim)
}

// ProveEquality proves to anyone that the member made all signatures of a set, for a reason,
// without saying who it is.
func (m *MemberKey) ProveEquality(set []Signed, reason []byte) ([]byte, error) {
	return m.m.ProveEquality(signed(set...), reason)
}

// VerifyEquality checks the proof, and the signatures.
func (k *GroupKey) VerifyEquality(set []Signed, reason, proof []byte) error {
	return k.k.VerifyEquality(signed(set...), reason, proof)
}

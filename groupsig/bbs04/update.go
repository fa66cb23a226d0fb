// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs04

import (
	"github.com/undersign/undersign/groupsig/internal/sdh"
	"github.com/undersign/undersign/groupsig/internal/state"
)

// Terms are the number and the validity of an update, in seconds since 1970.
type Terms = state.Terms

// A StaleError says why an update can't be used now.
type StaleError = state.StaleError

// An Update says, signed by the issuer, how the group's key has moved since it was made, a
// step for each member that was revoked. It is immutable.
type Update struct {
	u sdh.Update
}

// core returns what is in an update that may be nil.
func (u *Update) core() *sdh.Update {
	if u == nil {
		return nil
	}
	return &u.u
}

// Number returns the update's number, which is higher than those before.
func (u *Update) Number() uint64 { return u.u.Number() }

// Issued returns the first second in which the update may be used, since 1970.
func (u *Update) Issued() int64 { return u.u.Issued() }

// Expires returns the last second in which the update may be used.
func (u *Update) Expires() int64 { return u.u.Expires() }

// Len returns how many members are revoked.
func (u *Update) Len() int { return u.u.Len() }

// MarshalBinary returns the canonical encoding.
func (u *Update) MarshalBinary() ([]byte, error) { return u.u.MarshalBinary() }

// Replaces returns a *[StaleError] unless the update may take the place of one that a
// verifier has, which may be nil: it goes on from it.
func (u *Update) Replaces(old *Update) error { return u.u.Replaces(old.core()) }

// KeyAt returns the group's key after a number of steps, for what is known to have been
// signed then: later steps let anybody sign under it.
func (u *Update) KeyAt(version uint64) (*GroupKey, error) {
	k, err := u.u.KeyAt(version)
	if err != nil {
		return nil, err
	}
	return &GroupKey{k}, nil
}

// Update signs the update that revokes those who are revoked in the register, after those
// whom the update before, which may be nil, has revoked.
func (k *IssuerKey) Update(gk *GroupKey, register *Register, terms Terms, base *Update) (*Update, error) {
	u, err := k.k.Update(gk.k, register, terms, base.core())
	if err != nil {
		return nil, err
	}
	return &Update{*u}, nil
}

// ParseUpdate decodes an update, and checks the issuer's signature and that each step is the
// one before, divided. Whether it is in force is checked by Current.
func (k *GroupKey) ParseUpdate(data []byte) (*Update, error) {
	u, err := k.k.ParseUpdate(data)
	if err != nil {
		return nil, err
	}
	return &Update{*u}, nil
}

// Current returns the key that signatures are to be verified by, or a *[StaleError] unless
// the update is one of the group, in force now, and its number not lower than the highest
// that the verifier has seen.
func (k *GroupKey) Current(u *Update, now int64, minNumber uint64) (*GroupKey, error) {
	z, err := k.k.Fresh(u.core(), now, minNumber)
	if err != nil {
		return nil, err
	}
	return &GroupKey{z}, nil
}

// Version returns how many members have been revoked for the key.
func (k *GroupKey) Version() uint64 { return k.k.Version() }

// MarkListed marks in the issuer's register those revoked members whom an update in force
// has revoked, and returns their number: they may join anew.
func (k *GroupKey) MarkListed(register *Register, u *Update, now int64) (int, error) {
	return k.k.MarkListed(register, u.core(), now)
}

// Version returns how many members have been revoked for the key.
func (m *MemberKey) Version() uint64 { return m.m.Version() }

// Update takes the key along to an update, which is the one that is published for all: one
// that was made for one member is a way to trace it. If the member is revoked, the error is
// [ErrRevoked], and the key stays what it was.
func (m *MemberKey) Update(u *Update) error { return m.m.Update(u.core()) }

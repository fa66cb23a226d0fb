// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs04

import "crypto/ed25519"

// MakeMember makes the whole key of a member of a static group in one step, without the
// protocol for joining, and registers the member. The registration is signed by the key, for
// judges: it is the issuer's own long-term one, which vouches that the name is the member's, or
// the member's if the issuer has that. So is CheckRecord's, and VerifyOpening's.
func (k *IssuerKey) MakeMember(gk *GroupKey, register *Register, member string, key ed25519.PrivateKey) (*MemberKey, error) {
	m, err := k.k.MakeMember(gk.k, register, member, key)
	if err != nil {
		return nil, err
	}
	return &MemberKey{m}, nil
}

// MadeMember returns the key of a member of a static group again, as it was made: the issuer's
// register has it.
func (k *IssuerKey) MadeMember(gk *GroupKey, register *Register, member string) (*MemberKey, error) {
	m, err := k.k.MadeMember(gk.k, register, member)
	if err != nil {
		return nil, err
	}
	return &MemberKey{m}, nil
}

// OpenerRecord returns what the opener is given of a record of the issuer's register: in a
// static group all but the member's secret, and else the whole record.
func (k *GroupKey) OpenerRecord(r *Record) (*Record, error) { return k.k.OpenerRecord(r) }

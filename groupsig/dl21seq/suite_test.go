// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package dl21seq

import (
	"testing"

	"github.com/undersign/undersign/groupsig/internal/bbstest"
)

type group = bbstest.Group[*Draft, *GroupKey, *IssuerKey, *OpenerKey, *Pending, *MemberKey]

var common = &bbstest.Suite[*Draft, *GroupKey, *IssuerKey, *OpenerKey, *Pending, *MemberKey]{
	Features: Escrow, Known: required | optional, SizeFeatures: 0, SignatureSize: 480,
	Scope: []byte("election"),

	NewDraft: NewDraft, NewGroupKey: NewGroupKey, NewIssuer: GenerateIssuerKey, NewOpener: GenerateOpenerKey,
	Batch:     func(k *GroupKey) bbstest.Batch { return k.Batch() },
	ZeroBatch: func() bbstest.Batch { return new(Batch) },
	Zero: func() (*Draft, *GroupKey, *IssuerKey, *OpenerKey, *Pending, *MemberKey) {
		return new(Draft), new(GroupKey), new(IssuerKey), new(OpenerKey), new(Pending), new(MemberKey)
	},
	ZeroOthers: []any{new(Revocation)},
	Links: &bbstest.Links[*GroupKey, *MemberKey]{
		Identify: func(m *MemberKey, s bbstest.Signed) (bool, error) { return m.Identify(Signed(s)) },
		Claim: func(m *MemberKey, s bbstest.Signed, context []byte) ([]byte, error) {
			return m.Claim(Signed(s), context)
		},
		VerifyClaim: func(k *GroupKey, s bbstest.Signed, context, claim []byte) error {
			return k.VerifyClaim(Signed(s), context, claim)
		},
		Link: func(m *MemberKey, set []bbstest.Signed, context []byte) ([]byte, error) {
			return m.Link(bbstest.Set[Signed](set), context)
		},
		VerifyLink: func(k *GroupKey, set []bbstest.Signed, context, link []byte) error {
			return k.VerifyLink(bbstest.Set[Signed](set), context, link)
		},
		SequenceIndex: (*MemberKey).SequenceIndex,
		SequenceLink: func(m *MemberKey, set []bbstest.Signed, context []byte, first bool) ([]byte, error) {
			return m.SequenceLink(bbstest.Set[Signed](set), context, first)
		},
		VerifySequenceLink: func(k *GroupKey, set []bbstest.Signed, context, link []byte, first bool) error {
			return k.VerifySequenceLink(bbstest.Set[Signed](set), context, link, first)
		},
	},
}

func TestCommon(t *testing.T) { common.Run(t) }

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package gl19

import (
	"testing"

	"github.com/undersign/undersign/groupsig/internal/bbstest"
)

type group = bbstest.Group[*Draft, *GroupKey, *IssuerKey, *OpenerKey, *Pending, *MemberKey]

var common = &bbstest.Suite[*Draft, *GroupKey, *IssuerKey, *OpenerKey, *Pending, *MemberKey]{
	Features: Escrow, Known: required | optional, SizeFeatures: Escrow, SignatureSize: 600,
	Epoch: 3,

	NewDraft: NewDraft, NewGroupKey: NewGroupKey, NewIssuer: GenerateIssuerKey, NewOpener: GenerateOpenerKey,
	Converter: func() bbstest.Role[*Draft] { return GenerateConverterKey() },
	Batch:     func(k *GroupKey) bbstest.Batch { return k.Batch() },
	ZeroBatch: func() bbstest.Batch { return new(Batch) },
	Zero: func() (*Draft, *GroupKey, *IssuerKey, *OpenerKey, *Pending, *MemberKey) {
		return new(Draft), new(GroupKey), new(IssuerKey), new(OpenerKey), new(Pending), new(MemberKey)
	},
	ZeroOthers: []any{new(ConverterKey), new(BlindingKey)},
}

func TestCommon(t *testing.T) { common.Run(t) }

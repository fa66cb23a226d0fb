// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package cpy06

import (
	"testing"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/groupsig/internal/sdhtest"
)

type group = sdhtest.Group[*Draft, *GroupKey, *IssuerKey, *OpenerKey, *Pending, *MemberKey]

var common = &sdhtest.Suite[*Draft, *GroupKey, *IssuerKey, *OpenerKey, *Pending, *MemberKey]{
	SignatureSize: 752,

	NewDraft:    NewDraft,
	NewGroupKey: NewGroupKey, NewIssuer: GenerateIssuerKey, NewOpener: GenerateOpenerKey,
	Batch:     func(k *GroupKey) sdhtest.Batch { return k.Batch() },
	ZeroBatch: func() sdhtest.Batch { return new(Batch) },
	Zero: func() (*Draft, *GroupKey, *IssuerKey, *OpenerKey, *Pending, *MemberKey) {
		return new(Draft), new(GroupKey), new(IssuerKey), new(OpenerKey), new(Pending), new(MemberKey)
	},
	ZeroOthers: []any{new(List), new(Revealed)},
	ZeroFine:   []string{"List.Replaces"},
}

func TestCommon(t *testing.T) { common.Run(t) }

// The sealed layer reads the same.
func TestSealed(t *testing.T) {
	g := common.New(t)
	b, err := g.Key.MarshalBinary()
	g.Check(err)
	s, err := groupsig.ByName("cpy06")
	g.Check(err)
	sealed, err := s.ParseGroupKey(b)
	g.Check(err)
	sig := g.Sign(g.Join("ada"), "m")
	g.Check(sealed.Verify([]byte("m"), sig, groupsig.VerifyOptions{Context: sdhtest.Context}))
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package hlccn11

import (
	"testing"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/groupsig/internal/sdhtest"
)

var common = &sdhtest.Suite[*Draft, *GroupKey, *IssuerKey, *OpenerKey, *Pending, *MemberKey]{
	SignatureSize: 304,

	NewDraft:    func(label string) (*Draft, error) { return NewDraft(label, 0) },
	NewGroupKey: NewGroupKey, NewIssuer: GenerateIssuerKey, NewOpener: GenerateOpenerKey,
	Linker:    func() sdhtest.Role[*Draft] { return GenerateLinkerKey() },
	Batch:     func(k *GroupKey) sdhtest.Batch { return k.Batch() },
	ZeroBatch: func() sdhtest.Batch { return new(Batch) },
	Zero: func() (*Draft, *GroupKey, *IssuerKey, *OpenerKey, *Pending, *MemberKey) {
		return new(Draft), new(GroupKey), new(IssuerKey), new(OpenerKey), new(Pending), new(MemberKey)
	},
	ZeroOthers: []any{new(LinkerKey), new(Update)},
}

func TestCommon(t *testing.T) { common.Run(t) }

// The sealed layer reads the same.
func TestSealed(t *testing.T) {
	g := common.New(t)
	b, err := g.Key.MarshalBinary()
	g.Check(err)
	s, err := groupsig.ByName("hlccn11")
	g.Check(err)
	sealed, err := s.ParseGroupKey(b)
	g.Check(err)
	sig := g.Sign(g.Join("ada"), "m")
	g.Check(sealed.Verify([]byte("m"), sig, groupsig.VerifyOptions{Context: sdhtest.Context}))
}

func TestUpdates(t *testing.T) {
	g := common.With(t, func(label string) (*Draft, error) { return NewDraft(label, Rekey) })
	if g.Key.Features() != Rekey || common.New(t).Key.Features() != 0 {
		t.Error("other features")
	}
	sdhtest.Updates[*Update](t, g)
	sdhtest.NoUpdates(t, common.New(t), new(Update))
	if _, err := NewDraft("test", 2); err == nil {
		t.Error("another feature")
	}
}

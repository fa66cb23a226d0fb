// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package bbs04

import (
	"errors"
	"testing"

	"github.com/undersign/undersign/groupsig"
	"github.com/undersign/undersign/groupsig/internal/sdhtest"
)

var common = &sdhtest.Suite[*Draft, *GroupKey, *IssuerKey, *OpenerKey, *Pending, *MemberKey]{
	SignatureSize: 368,

	NewDraft:    func(label string) (*Draft, error) { return NewDraft(label, 0) },
	NewGroupKey: NewGroupKey, NewIssuer: GenerateIssuerKey, NewOpener: GenerateOpenerKey,
	Batch:     func(k *GroupKey) sdhtest.Batch { return k.Batch() },
	ZeroBatch: func() sdhtest.Batch { return new(Batch) },
	Zero: func() (*Draft, *GroupKey, *IssuerKey, *OpenerKey, *Pending, *MemberKey) {
		return new(Draft), new(GroupKey), new(IssuerKey), new(OpenerKey), new(Pending), new(MemberKey)
	},
	ZeroOthers: []any{new(Update)},
}

func static(label string) (*Draft, error) { return NewDraft(label, Static) }

func TestCommon(t *testing.T) { common.Run(t) }

// The sealed layer reads the same.
func TestSealed(t *testing.T) {
	g := common.New(t)
	b, err := g.Key.MarshalBinary()
	g.Check(err)
	s, err := groupsig.ByName("bbs04")
	g.Check(err)
	sealed, err := s.ParseGroupKey(b)
	g.Check(err)
	sig := g.Sign(g.Join("ada"), "m")
	u, err := g.Issuer.Update(g.Key, g.Register, Terms{Number: 1, Issued: sdhtest.Now, Expires: sdhtest.Now + 10}, nil)
	g.Check(err)
	b, err = u.MarshalBinary()
	g.Check(err)
	list, err := sealed.(groupsig.RevocationReader).ParseRevocation(b)
	g.Check(err)
	g.Check(sealed.Verify([]byte("m"), sig, groupsig.VerifyOptions{Context: sdhtest.Context, Revocation: list, Now: sdhtest.Now}))
	if err := sealed.Verify([]byte("m"), sig, groupsig.VerifyOptions{Context: sdhtest.Context}); !errors.As(err, new(*StaleError)) {
		t.Errorf("without a list: %v", err)
	}
}

func TestUpdates(t *testing.T) {
	plain, static := common.New(t), common.With(t, static)
	if plain.Key.Features() != 0 || static.Key.Features() != Static {
		t.Error("other features")
	}
	sdhtest.Updates[*Update](t, plain)
	sdhtest.Updates[*Update](t, static)
	if _, err := NewDraft("test", 2); err == nil {
		t.Error("another feature")
	}
}

// In a static group the issuer makes keys, and what the opener gets is none.
func TestStatic(t *testing.T) {
	g := common.With(t, static)
	ada, err := g.Issuer.MakeMember(g.Key, g.Register, "ada", sdhtest.LongTerm("issuer"))
	g.Check(err)
	sig := g.Sign(ada, "m")
	if len(sig) != 336 || ada.Member() != "ada" {
		t.Errorf("%d bytes", len(sig))
	}
	g.Check(g.Key.Verify([]byte("m"), sig, sdhtest.Context))
	again, err := g.Issuer.MadeMember(g.Key, g.Register, "ada")
	g.Check(err)
	g.Check(g.Key.Verify([]byte("m"), g.Sign(again, "m"), sdhtest.Context))
	r, err := g.Key.OpenerRecord(g.Register.Member("ada"))
	g.Check(err)
	g.Check(g.Opener.CheckRecord(g.Key, r, sdhtest.Public("issuer")))
	if g.Opener.CheckRecord(g.Key, r, sdhtest.Public("ada")) == nil {
		t.Error("a record under another key")
	}
	register := g.Key.NewRegister()
	g.Check(register.Add(r))
	o, err := g.Opener.Open(g.Key, register, []byte("m"), sig, sdhtest.Context, nil)
	g.Check(err)
	if o.Member() != "ada" {
		t.Errorf("opened to %q", o.Member())
	}
	g.Check(g.Key.VerifyOpening([]byte("m"), sig, sdhtest.Context, o, sdhtest.Public("issuer"), nil))
	if _, err := g.Issuer.MakeMember(g.Key, g.Register, "ada", sdhtest.LongTerm("issuer")); err == nil {
		t.Error("made twice")
	}
	if _, err := g.Issuer.MadeMember(g.Key, register, "ada"); err == nil {
		t.Error("made of the opener's record")
	}
	d := common.New(t)
	if _, err := d.Issuer.MakeMember(d.Key, d.Register, "ada", sdhtest.LongTerm("issuer")); err == nil {
		t.Error("made in a group that isn't static")
	}
	if _, err := d.Issuer.MadeMember(d.Key, d.Register, "ada"); err == nil {
		t.Error("made again in a group that isn't static")
	}
	if _, err := g.Key.OpenerRecord(nil); err == nil {
		t.Error("a record of nobody")
	}
}

// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package sdhtest

import (
	"encoding"
	"errors"
	"testing"

	"github.com/undersign/undersign/groupsig/internal/join"
	"github.com/undersign/undersign/groupsig/internal/sdh"
	"github.com/undersign/undersign/groupsig/internal/state"
)

// What the types of packages do whose key moves, with their updates.
type (
	update[U, G any] interface {
		encoding.BinaryMarshaler
		Len() int
		Number() uint64
		Issued() int64
		Expires() int64
		Replaces(U) error
		KeyAt(version uint64) (G, error)
	}
	updatedGroup[U, G, N, M any] interface {
		groupKey[G, N, M]
		Version() uint64
		ParseUpdate([]byte) (U, error)
		Current(u U, now int64, minNumber uint64) (G, error)
		MarkListed(register *join.Register, u U, now int64) (int, error)
	}
	updatingIssuer[U, D, G any] interface {
		issuerKey[D, G]
		Update(g G, register *join.Register, terms state.Terms, base U) (U, error)
	}
	updatedMember[U, G any] interface {
		memberKey[G]
		Version() uint64
		Update(U) error
	}
)

// Updates tests that members are revoked by moving a group's key.
func Updates[U update[U, G], D draft, G updatedGroup[U, G, N, M], I updatingIssuer[U, D, G], O openerKey[D, G], N pending[G, M], M updatedMember[U, G]](
	t *testing.T, g *Group[D, G, I, O, N, M]) {
	msg := []byte("m")
	var noUpdate U
	ada, bob := g.Join("ada"), g.Join("bob")
	old := g.Sign(ada, "m")
	terms := func(n uint64) state.Terms { return state.Terms{Number: n, Issued: Now, Expires: Now + 10} }
	none, err := g.Issuer.Update(g.Key, g.Register, terms(1), noUpdate)
	g.Check(err)
	g.Check(g.Register.Revoke("bob"))
	u, err := g.Issuer.Update(g.Key, g.Register, terms(2), none)
	g.Check(err)
	u = Again(t, u, g.Key.ParseUpdate)
	if u.Len() != 1 || u.Number() != 2 || u.Issued() != Now || u.Expires() != Now+10 || u.Replaces(none) != nil || none.Replaces(u) == nil {
		t.Error("another update")
	}
	g.Check(ada.Update(u))
	if err := bob.Update(u); !errors.Is(err, state.ErrRevoked) {
		t.Errorf("bob: %v", err)
	}
	if ada.Version() != 1 || bob.Version() != 0 {
		t.Error("versions")
	}
	k, err := g.Key.Current(u, Now, 2)
	g.Check(err)
	if _, err := g.Key.Current(u, Now, 3); !errors.As(err, new(*state.StaleError)) {
		t.Errorf("an older update: %v", err)
	}
	sig := g.Sign(ada, "m")
	g.Check(k.Verify(msg, sig, Context))
	for what, err := range map[string]error{
		"the first key": g.Key.Verify(msg, sig, Context), "an old signature": k.Verify(msg, old, Context),
		"bob": k.Verify(msg, g.Sign(bob, "m"), Context),
	} {
		if !errors.Is(err, sdh.ErrSignature) {
			t.Errorf("%s: %v", what, err)
		}
	}
	first, err := u.KeyAt(0)
	g.Check(err)
	if !first.Equal(g.Key) || first.Equal(k) || k.Version() != 1 {
		t.Error("keys of versions")
	}
	o, err := g.Opener.Open(k, g.Register, msg, sig, Context, nil)
	g.Check(err)
	if o.Member() != "ada" {
		t.Errorf("opened to %q", o.Member())
	}
	g.Check(k.VerifyOpening(msg, sig, Context, o, Public("ada"), nil))
	if n, err := g.Key.MarkListed(g.Register, u, Now); err != nil || n != 1 {
		t.Errorf("%d are marked: %v", n, err)
	}
	g.Check(g.Join("bob").Update(u))
}

// NoUpdates tests that a group whose key doesn't move has no updates.
func NoUpdates[U update[U, G], D draft, G updatedGroup[U, G, N, M], I updatingIssuer[U, D, G], O openerKey[D, G], N pending[G, M], M updatedMember[U, G]](
	t *testing.T, g *Group[D, G, I, O, N, M], zero U) {
	var noUpdate U
	ada := g.Join("ada")
	if _, err := g.Issuer.Update(g.Key, g.Register, state.Terms{Number: 1, Issued: Now, Expires: Now}, noUpdate); err == nil {
		t.Error("a group that doesn't rekey has an update")
	}
	if _, err := g.Key.ParseUpdate(nil); err == nil {
		t.Error("a group that doesn't rekey reads an update")
	}
	if ada.Update(noUpdate) == nil || ada.Update(zero) == nil {
		t.Error("no update is taken")
	}
}

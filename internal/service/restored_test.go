// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package service_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/roster"
	"github.com/undersign/undersign/internal/service"
	"github.com/undersign/undersign/internal/store"
)

// The secret of an invitation is good once. A copy of the store from before it was used
// doesn't make it good again.
func TestRestoredInvitations(t *testing.T) {
	s, err := store.Open(filepath.Join(t.TempDir(), "store.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	invite := func(r *roster.Roster, name string) *party.Invitation {
		t.Helper()
		inv := new(party.Invitation)
		copy(inv.Secret[:], name)
		if _, err := r.Invite(inv, name, time.Hour); err != nil {
			t.Fatal(err)
		}
		return inv
	}
	join := func(r *roster.Roster, inv *party.Invitation) error {
		t.Helper()
		key, err := party.GenerateKey()
		if err != nil {
			t.Fatal(err)
		}
		id, err := party.NewIdentity(key)
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Redeem(inv.Secret[:], id.PublicKey(), "")
		return err
	}
	r, err := roster.Open(s, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	old := invite(r, "old")
	if err := service.MarkRestored(s, time.Now()); err != nil {
		t.Fatal(err)
	}
	if r, err = roster.Open(s, time.Now); err != nil {
		t.Fatal(err)
	}
	if n := r.Invitations(); n != 0 {
		t.Errorf("%d invitations are out", n)
	}
	if err := join(r, old); !errors.Is(err, roster.ErrInvitation) {
		t.Errorf("an invitation from before: %v", err)
	}
	if err := join(r, invite(r, "new")); err != nil {
		t.Errorf("an invitation from after: %v", err)
	}
}

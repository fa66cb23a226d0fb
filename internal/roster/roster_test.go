// Copyright 2026 The undersign Authors
// SPDX-License-Identifier: Apache-2.0

package roster

import (
	"crypto/ed25519"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/undersign/undersign/internal/party"
	"github.com/undersign/undersign/internal/policy"
	"github.com/undersign/undersign/internal/store"
	"github.com/undersign/undersign/keyfile"
)

type fixture struct {
	*Roster
	store *store.Store
	now   time.Time
}

func open(t *testing.T) *fixture {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "store.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	f := &fixture{store: s, now: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	f.Roster, err = Open(s, func() time.Time { return f.now })
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func newKey(t *testing.T) (ed25519.PublicKey, string) {
	t.Helper()
	pub, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return pub, keyfile.Fingerprint(&keyfile.Party{Key: pub})
}

func (f *fixture) invite(t *testing.T, name string, valid time.Duration) *party.Invitation {
	t.Helper()
	_, fp := newKey(t)
	inv, err := party.NewInvitation("127.0.0.1:1", fp)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Invite(inv, name, valid); err != nil {
		t.Fatal(err)
	}
	return inv
}

func TestInvitations(t *testing.T) {
	f := open(t)
	inv := f.invite(t, "bob", time.Hour)
	key, fp := newKey(t)
	if f.Known(fp) || f.Invitations() != 1 {
		t.Fatal("known before he joins")
	}
	m, err := f.Redeem(inv.Secret[:], key, "host:1")
	if err != nil || m.Name != "bob" || m.Fingerprint != fp || !f.Known(fp) || f.Invitations() != 0 {
		t.Fatalf("%+v, %v", m, err)
	}
	// The answer may have been lost.
	if again, err := f.Redeem(inv.Secret[:], key, "host:1"); err != nil || again.Name != "bob" {
		t.Errorf("once more: %v", err)
	}
	other, otherFP := newKey(t)
	if _, err := f.Redeem(inv.Secret[:], other, ""); !errors.Is(err, ErrInvitation) || f.Known(otherFP) {
		t.Errorf("another party: %v", err)
	}
	for _, secret := range [][]byte{nil, {}, inv.Secret[:15], append(inv.Secret[:], 0), make([]byte, 16)} {
		if _, err := f.Redeem(secret, other, ""); !errors.Is(err, ErrInvitation) {
			t.Errorf("%x: %v", secret, err)
		}
	}
	// Removed, he doesn't come back by the same invitation.
	if _, err := f.Remove("bob"); err != nil || f.Known(fp) {
		t.Fatal(err)
	}
	if _, err := f.Redeem(inv.Secret[:], key, ""); !errors.Is(err, ErrInvitation) || f.Known(fp) {
		t.Errorf("after removal: %v", err)
	}
	if _, err := f.Remove("bob"); err == nil {
		t.Error("removed twice")
	}
	// By a new one he does, and another may have his name meanwhile.
	inv = f.invite(t, "bobby", time.Hour)
	if m, err := f.Redeem(inv.Secret[:], key, ""); err != nil || m.Name != "bobby" {
		t.Errorf("%+v, %v", m, err)
	}
	f.invite(t, "bob", time.Hour)

	late := f.invite(t, "carol", time.Minute)
	f.now = f.now.Add(time.Minute)
	if _, err := f.Redeem(late.Secret[:], other, ""); !errors.Is(err, ErrInvitation) || f.Known(otherFP) {
		t.Errorf("after its time: %v", err)
	}
	if f.Invitations() != 1 {
		t.Errorf("%d invitations", f.Invitations())
	}
	f.invite(t, "carol", time.Minute) // the name is free again
}

// An invitation is withdrawn by its name, before somebody joins with it.
func TestWithdraw(t *testing.T) {
	f := open(t)
	inv := f.invite(t, "bob", time.Hour)
	other := f.invite(t, "carol", time.Hour)
	key, fp := newKey(t)
	if m, err := f.Remove("bob"); err != nil || m.Name != "bob" || m.Fingerprint != "" || f.Invitations() != 1 {
		t.Fatalf("%+v, %v, %d invitations", m, err, f.Invitations())
	}
	if _, err := f.Redeem(inv.Secret[:], key, ""); !errors.Is(err, ErrInvitation) || f.Known(fp) {
		t.Errorf("after it was withdrawn: %v", err)
	}
	for _, name := range []string{"bob", "", "car", "%"} {
		if _, err := f.Remove(name); !errors.Is(err, ErrUnknown) {
			t.Errorf("Remove(%q): %v", name, err)
		}
	}
	if m, err := f.Redeem(other.Secret[:], key, ""); err != nil || m.Name != "carol" {
		t.Errorf("the other one: %+v, %v", m, err)
	}
	// The names of invitations are compared as those of parties: without capitals.
	f.invite(t, "Dave", time.Hour)
	if _, err := f.Remove("dave"); err != nil || f.Invitations() != 0 {
		t.Errorf("%v, %d invitations", err, f.Invitations())
	}
	// One that has expired isn't out.
	f.invite(t, "erin", time.Minute)
	f.now = f.now.Add(time.Minute)
	if _, err := f.Remove("erin"); !errors.Is(err, ErrUnknown) {
		t.Errorf("after its time: %v", err)
	}
}

// A bad address is refused as a whole: the invitation stays good.
func TestRedeemBadAddress(t *testing.T) {
	f := open(t)
	inv := f.invite(t, "bob", time.Hour)
	key, fp := newKey(t)
	if _, err := f.Redeem(inv.Secret[:], key, "no port"); err == nil || f.Known(fp) {
		t.Errorf("%v", err)
	}
	if _, err := f.Redeem(inv.Secret[:], key, ""); err != nil {
		t.Error(err)
	}
}

func TestRaceForAnInvitation(t *testing.T) {
	f := open(t)
	inv := f.invite(t, "bob", time.Hour)
	var wg sync.WaitGroup
	won := make(chan string, 20)
	for range 20 {
		key, fp := newKey(t)
		wg.Go(func() {
			if _, err := f.Redeem(inv.Secret[:], key, ""); err == nil {
				won <- fp
			} else if !errors.Is(err, ErrInvitation) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 || len(f.List()) != 1 || !f.Known(<-won) {
		t.Errorf("%d parties have joined", len(f.List()))
	}
}

func TestNames(t *testing.T) {
	f := open(t)
	for _, name := range []string{"", "us1x", "US1x", "Us1", ".", ".x", "-x", "a b", "a/b", "ü", "*", "a\n", strings.Repeat("a", 65)} {
		if CheckName(name) == nil {
			t.Errorf("%q is a name", name)
		}
		key, _ := newKey(t)
		if f.Add(Member{Key: key, Name: name}) == nil {
			t.Errorf("a member is called %q", name)
		}
	}
	for _, name := range []string{"a", "bob", "node-1.example_org", strings.Repeat("a", 64), "0"} {
		if err := CheckName(name); err != nil {
			t.Error(err)
		}
	}
	key, fp := newKey(t)
	if err := f.Add(Member{Key: key, Name: "bob", Address: "h:1"}); err != nil {
		t.Fatal(err)
	}
	other, _ := newKey(t)
	if err := f.Add(Member{Key: other, Name: "bob"}); !errors.Is(err, ErrName) {
		t.Errorf("a second bob: %v", err)
	}
	if err := f.Add(Member{Key: other, Name: "BOB"}); !errors.Is(err, ErrName) {
		t.Errorf("a bob in capital letters: %v", err)
	}
	_, nodeFP := newKey(t)
	inv, err := party.NewInvitation("h:1", nodeFP)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Invite(inv, "Bob", time.Hour); !errors.Is(err, ErrName) {
		t.Errorf("an invitation for a Bob: %v", err)
	}
	if _, err := f.Invite(inv, "bob", time.Hour); !errors.Is(err, ErrName) {
		t.Errorf("an invitation for a second bob: %v", err)
	}
	if err := f.Add(Member{Key: key, Name: "robert", Address: "h:2"}); err != nil {
		t.Fatal(err)
	}
	if m, _ := f.Lookup(fp); m.Name != "robert" || m.Address != "h:2" || len(f.List()) != 1 {
		t.Errorf("%+v", m)
	}
	if err := f.Add(Member{Name: "nobody"}); err == nil {
		t.Error("a member without a key")
	}
	for _, valid := range []time.Duration{0, -1, 400 * 24 * time.Hour} {
		if _, err := f.Invite(inv, "x", valid); err == nil {
			t.Errorf("an invitation for %v", valid)
		}
	}
}

func TestResolve(t *testing.T) {
	f := open(t)
	key, fp := newKey(t)
	if err := f.Add(Member{Key: key, Name: "bob"}); err != nil {
		t.Fatal(err)
	}
	_, otherFP := newKey(t)
	rules := []policy.Rule{
		{Parties: []string{"bob", "carol", strings.ToUpper(otherFP)}, Operations: []string{"a"}},
		{Parties: []string{"carol", "dave"}, Operations: []string{"b"}},
		{Parties: []string{"*"}, Operations: []string{"c"}},
	}
	got, unknown := f.Resolve(rules)
	if len(got) != 2 || !slices.Equal(got[0].Parties, []string{fp, otherFP}) || got[1].Parties[0] != "*" {
		t.Errorf("%+v", got)
	}
	if !slices.Equal(unknown, []string{"carol", "dave"}) {
		t.Errorf("unknown: %v", unknown)
	}
	if rules[0].Parties[0] != "bob" {
		t.Error("the rules were changed")
	}
}

func TestDamage(t *testing.T) {
	f := open(t)
	key, _ := newKey(t)
	if err := f.Add(Member{Key: key, Name: "bob"}); err != nil {
		t.Fatal(err)
	}
	other, _ := newKey(t)
	if err := f.store.Update(func(tx *store.Tx) error {
		_, err := tx.Exec("UPDATE party SET key = ?", []byte(other))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(f.store, time.Now); err == nil {
		t.Error("a key under another's fingerprint is read")
	}
}
